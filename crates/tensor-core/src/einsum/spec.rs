//! The text of an einsum, `"ab,bc->ac"`, as terms.
//!
//! # The grammar
//!
//! - An index is any one `char` except white space and `, . - >`. Two indices are the same when
//!   their code points are; nothing is normalised.
//! - A term is a run of indices with at most one `...`; terms are separated by `,`. An empty term
//!   stands for an operand without dimensions.
//! - `->` may follow, and then the output's term. Its indices are distinct and occur in the inputs.
//! - Without `->` the output is the ellipsis, if any input has one, and then every index that occurs
//!   once, by code point: NumPy's rule.
//! - White space may stand between indices and marks, and means nothing. `...` and `->` are written
//!   without any inside.
//!
//! Work and memory are linear in the text. Knows nothing of shapes.

use super::error::{EinsumError, shorten};
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

/// A parsed spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The indices of all terms, one term after the other, the output last.
    indices: Vec<char>,
    inputs: Vec<Span>,
    output: Span,
}

/// Where one term lies in [`Spec::indices`].
#[derive(Debug, Clone, PartialEq, Eq)]
struct Span {
    range: Range<usize>,
    ellipsis: Option<usize>,
}

/// One term of a spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term<'a> {
    /// The named indices, in order.
    pub indices: &'a [char],
    /// How many of them stand before the ellipsis, where there is one.
    pub ellipsis: Option<usize>,
}

impl Spec {
    /// Reads `text` as a spec.
    ///
    /// # Errors
    /// [`EinsumError::Spec`], naming the place.
    pub fn parse(text: &str) -> Result<Self, EinsumError> {
        let mut parser = Parser::new(text);
        let mut spec = Self {
            indices: Vec::new(),
            inputs: Vec::new(),
            output: Span {
                range: 0..0,
                ellipsis: None,
            },
        };
        let explicit = loop {
            let (span, end) = parser.term(&mut spec.indices)?;
            spec.inputs.push(span);
            match end {
                End::Comma => {}
                End::Arrow => break true,
                End::Text => break false,
            }
        };
        if explicit {
            spec.output = parser.output(&mut spec.indices)?;
        } else {
            spec.output = implied(&mut spec.indices, &spec.inputs);
        }
        Ok(spec)
    }

    /// How many operands it takes: at least one.
    #[must_use]
    pub fn operands(&self) -> usize {
        self.inputs.len()
    }

    /// The term of each operand.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = Term<'_>> {
        self.inputs.iter().map(|span| self.term(span))
    }

    /// The output's term, implied or given.
    #[must_use]
    pub fn output(&self) -> Term<'_> {
        self.term(&self.output)
    }

    fn term(&self, span: &Span) -> Term<'_> {
        Term {
            indices: &self.indices[span.range.clone()],
            ellipsis: span.ellipsis,
        }
    }
}

impl fmt::Display for Spec {
    /// The spec with its output written out and no white space.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, term) in self.inputs().enumerate() {
            write!(f, "{}{term}", if at == 0 { "" } else { "," })?;
        }
        write!(f, "->{}", self.output())
    }
}

impl fmt::Display for Term<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, index) in self.indices.iter().enumerate() {
            if self.ellipsis == Some(at) {
                f.write_str("...")?;
            }
            write!(f, "{index}")?;
        }
        if self.ellipsis == Some(self.indices.len()) {
            f.write_str("...")?;
        }
        Ok(())
    }
}

/// NumPy's output for a spec without `->`.
fn implied(indices: &mut Vec<char>, inputs: &[Span]) -> Span {
    let mut counts: HashMap<char, usize> = HashMap::new();
    for index in indices.iter() {
        *counts.entry(*index).or_default() += 1;
    }
    let mut once: Vec<char> = counts
        .into_iter()
        .filter(|(_, count)| *count == 1)
        .map(|(index, _)| index)
        .collect();
    once.sort_unstable();
    let start = indices.len();
    indices.extend(once);
    let ellipsis = inputs
        .iter()
        .any(|span| span.ellipsis.is_some())
        .then_some(0);
    Span {
        range: start..indices.len(),
        ellipsis,
    }
}

/// What ended a term.
enum End {
    Comma,
    Arrow,
    Text,
}

struct Parser<'a> {
    text: &'a str,
    chars: std::iter::Peekable<std::iter::Enumerate<std::str::Chars<'a>>>,
    /// Where the mark that ended the last term stands.
    last: usize,
    in_output: bool,
    /// Where each index of the output stands.
    output_at: Vec<usize>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        let chars = text.chars().enumerate().peekable();
        Self {
            text,
            chars,
            last: 0,
            in_output: false,
            output_at: Vec::new(),
        }
    }

    /// Reads one term and what ends it.
    fn term(&mut self, indices: &mut Vec<char>) -> Result<(Span, End), EinsumError> {
        let start = indices.len();
        let mut ellipsis = None;
        let end = loop {
            let Some((at, char)) = self.chars.next() else {
                break End::Text;
            };
            self.last = at;
            match char {
                ',' => break End::Comma,
                '-' => {
                    if !self.follows('>') {
                        return Err(self.broken(at, "`-` without `>` after it"));
                    }
                    break End::Arrow;
                }
                '>' => return Err(self.broken(at, "`>` without `-` before it")),
                '.' => {
                    if !(self.follows('.') && self.follows('.')) {
                        return Err(self.broken(at, "`.` that is not part of `...`"));
                    }
                    if ellipsis.replace(indices.len() - start).is_some() {
                        return Err(self.broken(at, "a second `...` in one term"));
                    }
                }
                space if space.is_whitespace() => {}
                index => {
                    indices.push(index);
                    if self.in_output {
                        self.output_at.push(at);
                    }
                }
            }
        };
        Ok((
            Span {
                range: start..indices.len(),
                ellipsis,
            },
            end,
        ))
    }

    /// Reads the output's term, to the end of the text, and checks it against the inputs' indices.
    fn output(&mut self, indices: &mut Vec<char>) -> Result<Span, EinsumError> {
        self.in_output = true;
        let inputs = indices.len();
        let (span, end) = self.term(indices)?;
        match end {
            End::Text => {}
            End::Comma => return Err(self.broken(self.last, "a `,` in the output")),
            End::Arrow => return Err(self.broken(self.last, "a second `->`")),
        }
        let mut seen: HashMap<char, bool> = indices[..inputs]
            .iter()
            .map(|index| (*index, false))
            .collect();
        for (index, at) in indices[inputs..].iter().zip(&self.output_at) {
            let name = index.escape_debug();
            match seen.get_mut(index) {
                None => {
                    let detail = format!("the output index `{name}` occurs in no input");
                    return Err(EinsumError::Spec {
                        position: *at,
                        detail,
                    });
                }
                Some(true) => {
                    let detail = format!("the output index `{name}` occurs twice in the output");
                    return Err(EinsumError::Spec {
                        position: *at,
                        detail,
                    });
                }
                Some(used) => *used = true,
            }
        }
        Ok(span)
    }

    fn follows(&mut self, char: char) -> bool {
        self.chars.next_if(|(_, next)| *next == char).is_some()
    }

    fn broken(&self, position: usize, what: &str) -> EinsumError {
        let from = self
            .text
            .char_indices()
            .nth(position)
            .map_or(self.text.len(), |(byte, _)| byte);
        let detail = match &self.text[from..] {
            "" => what.to_owned(),
            rest => format!("{what}, at `{}`", shorten(rest).escape_debug()),
        };
        EinsumError::Spec { position, detail }
    }
}
