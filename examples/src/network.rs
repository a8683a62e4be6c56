//! Networks from files: einsum-benchmark JSON.
//!
//! Promises that a network that was read is consistent (every index has one size, every path leads to
//! one operand) and within the limits below, so that nothing of absurd size is allocated for it; and
//! that a file that is not is an error naming the value. Used are `format_string`, `shapes`
//! (row-major), `dtype`, `paths` and `name`; everything else is ignored. Knows nothing of tensors or
//! devices, nor of tensor-core's own reading of specs: the two check each other.

use crate::walk::{Walk, walk};
use serde::Deserialize;
use serde::de::{Error as _, MapAccess, Visitor};
use std::collections::HashMap;
use std::fmt;
use std::io::Read as _;
use std::path::Path;

/// The longest file that is read, in bytes.
pub const MAX_FILE_BYTES: u64 = 64 << 20;
/// The most operands.
pub const MAX_OPERANDS: usize = 1 << 19;
/// The most dimensions of an operand.
pub const MAX_RANK: usize = 64;
/// The most elements of all operands together, and of the output.
pub const MAX_ELEMENTS: usize = 1 << 28;

/// A network of a file.
#[derive(Debug, Clone)]
pub struct Network {
    /// What the file calls it; empty when it does not.
    pub name: String,
    /// The spec, `ab,bc->ac`.
    pub format_string: String,
    /// The shape of each operand.
    pub shapes: Vec<Vec<usize>>,
    /// The element type by its NumPy name, where the file says one.
    pub dtype: Option<String>,
    /// The file's paths by name, in the file's order.
    pub paths: Vec<(String, FilePath)>,
    /// The index of each dimension of each operand.
    pub terms: Vec<Vec<usize>>,
    /// The index of each dimension of the output.
    pub output: Vec<usize>,
    /// The size of each index.
    pub sizes: Vec<usize>,
}

/// A path of a file.
#[derive(Debug, Clone, Deserialize)]
pub struct FilePath {
    /// Positions in the current list of operands.
    #[serde(rename = "path")]
    pub steps: Vec<Vec<usize>>,
    /// The authors' figure for the largest intermediate, for information.
    pub log2_size: Option<f64>,
    /// The authors' figure for the operations, for information.
    pub log10_flops: Option<f64>,
    /// The steps with numbers that last.
    #[serde(skip)]
    pub walk: Walk,
}

/// Why a file gave no network.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// The file could not be read.
    #[error("cannot be read: {0}")]
    Read(#[from] std::io::Error),
    /// The file is longer than [`MAX_FILE_BYTES`].
    #[error("is longer than {MAX_FILE_BYTES} bytes, the most that is read")]
    TooLong,
    /// The text is not JSON of the format.
    #[error("is not in the format: {0}")]
    Json(String),
    /// What the text says is no network.
    #[error("{field}: {detail}")]
    Invalid {
        /// Which part of the file.
        field: String,
        /// What is wrong with it.
        detail: String,
    },
}

pub(crate) fn invalid(field: impl Into<String>, detail: impl Into<String>) -> NetworkError {
    NetworkError::Invalid {
        field: field.into(),
        detail: detail.into(),
    }
}

impl Network {
    /// Reads the network in the file at `path`.
    ///
    /// # Errors
    /// [`NetworkError`], naming the value.
    pub fn read(path: &Path) -> Result<Self, NetworkError> {
        let file = std::fs::File::open(path)?;
        let mut text = Vec::new();
        // The limit holds for what has no length too, such as a pipe.
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut text)?;
        if text.len() as u64 > MAX_FILE_BYTES {
            return Err(NetworkError::TooLong);
        }
        Self::parse(&text)
    }

    /// The network that `text` describes.
    ///
    /// # Errors
    /// [`NetworkError`], naming the value.
    pub fn parse(text: &[u8]) -> Result<Self, NetworkError> {
        let file: File = serde_json::from_slice(text).map_err(|error| json(&error))?;
        let operands = file.shapes.len();
        if operands > MAX_OPERANDS {
            let detail = format!("{operands} operands are more than the {MAX_OPERANDS} allowed");
            return Err(invalid("shapes", detail));
        }
        let mut network = Self {
            name: file.name,
            format_string: file.format_string,
            shapes: file.shapes,
            dtype: file.dtype,
            paths: file.paths.0,
            terms: Vec::with_capacity(operands),
            output: Vec::new(),
            sizes: Vec::new(),
        };
        network.read_spec()?;
        network.check_sizes()?;
        for (name, path) in &mut network.paths {
            path.walk = walk(operands, &path.steps).map_err(|broken| {
                invalid(format!("paths.{name}.path{}", broken.place), broken.detail)
            })?;
        }
        Ok(network)
    }

    /// The file's path of this name.
    #[must_use]
    pub fn path(&self, name: &str) -> Option<&FilePath> {
        self.paths
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, path)| path)
    }

    /// The shape of the output.
    #[must_use]
    pub fn output_shape(&self) -> Vec<usize> {
        self.output.iter().map(|index| self.sizes[*index]).collect()
    }

    fn read_spec(&mut self) -> Result<(), NetworkError> {
        let spec = |detail: String| invalid("format_string", detail);
        let Some((inputs, output)) = self.format_string.split_once("->") else {
            return Err(spec("it has no `->`".to_owned()));
        };
        let terms = inputs.split(',').count();
        if terms != self.shapes.len() {
            let detail = format!("{terms} terms, but `shapes` lists {}", self.shapes.len());
            return Err(spec(detail));
        }
        let mut numbers: HashMap<char, usize> = HashMap::new();
        for (at, (term, shape)) in inputs.split(',').zip(&self.shapes).enumerate() {
            let mut indices = Vec::with_capacity(shape.len());
            for name in names(term) {
                let name = name.map_err(spec)?;
                let Some(size) = shape.get(indices.len()) else {
                    break;
                };
                let next = self.sizes.len();
                let index = *numbers.entry(name).or_insert(next);
                if index == next {
                    self.sizes.push(*size);
                } else if self.sizes[index] != *size {
                    let detail = format!(
                        "index {name:?} has size {size} here, but {} in an earlier operand",
                        self.sizes[index]
                    );
                    return Err(invalid(format!("shapes[{at}][{}]", indices.len()), detail));
                }
                indices.push(index);
            }
            let rank = names(term).count();
            if rank != shape.len() || rank > MAX_RANK {
                let detail = format!(
                    "{} dimensions, where the spec has {rank} indices (and {MAX_RANK} are the most)",
                    shape.len()
                );
                return Err(invalid(format!("shapes[{at}]"), detail));
            }
            self.terms.push(indices);
        }
        for name in names(output) {
            let name = name.map_err(spec)?;
            match numbers.get(&name) {
                None => return Err(spec(format!("the output index {name:?} is in no input"))),
                Some(index) if self.output.contains(index) => {
                    return Err(spec(format!(
                        "the output index {name:?} is in the output twice"
                    )));
                }
                Some(index) => self.output.push(*index),
            }
            if self.output.len() > MAX_RANK {
                return Err(spec(format!("the output has more than {MAX_RANK} indices")));
            }
        }
        Ok(())
    }

    fn check_sizes(&self) -> Result<(), NetworkError> {
        let mut total = 0usize;
        for (at, shape) in self.shapes.iter().enumerate() {
            let elements = elements(shape);
            total = total.saturating_add(elements.unwrap_or(usize::MAX));
            if total > MAX_ELEMENTS {
                let detail = match elements {
                    None => format!("the product of {} overflows", shown(shape)),
                    Some(elements) => format!(
                        "with the {elements} elements of {} the operands exceed {MAX_ELEMENTS}, the \
                         most that are filled",
                        shown(shape)
                    ),
                };
                return Err(invalid(format!("shapes[{at}]"), detail));
            }
        }
        let output = self.output_shape();
        if elements(&output).is_none_or(|elements| elements > MAX_ELEMENTS) {
            let detail = format!(
                "an output of {} exceeds {MAX_ELEMENTS} elements",
                shown(&output)
            );
            return Err(invalid("format_string", detail));
        }
        Ok(())
    }
}

/// The product of `shape`, unless it overflows.
pub(crate) fn elements(shape: &[usize]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape
        .iter()
        .try_fold(1usize, |product, size| product.checked_mul(*size))
}

/// The indices of a term.
fn names(term: &str) -> impl Iterator<Item = Result<char, String>> {
    term.chars()
        .filter(|name| !name.is_whitespace())
        .map(|name| match name {
            '.' | '-' | '>' | ',' => Err(format!("{name:?} is no index")),
            name => Ok(name),
        })
}

/// A shape in a message.
fn shown(shape: &[usize]) -> String {
    format!("{shape:?}").replace(", ", " x ")
}

/// A serde error, shortened: it quotes the value that it met, however long.
fn json(error: &serde_json::Error) -> NetworkError {
    const SHOWN: usize = 200;
    let text = error.to_string();
    let mut short: String = text.chars().take(SHOWN).collect();
    if short.len() < text.len() {
        short.push_str(&format!(
            "… at line {} column {}",
            error.line(),
            error.column()
        ));
    }
    NetworkError::Json(short)
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    name: String,
    format_string: String,
    shapes: Vec<Vec<usize>>,
    dtype: Option<String>,
    #[serde(default)]
    paths: Paths,
}

/// Paths by name; a name that comes twice is refused, as serde refuses a field that does.
#[derive(Default)]
struct Paths(Vec<(String, FilePath)>);

impl<'de> Deserialize<'de> for Paths {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Named;
        impl<'de> Visitor<'de> for Named {
            type Value = Paths;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("paths by name")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Paths, M::Error> {
                let mut paths: Vec<(String, FilePath)> = Vec::new();
                while let Some((name, path)) = map.next_entry::<String, FilePath>()? {
                    if paths.iter().any(|(other, _)| *other == name) {
                        return Err(M::Error::custom(format!("duplicate path `{name}`")));
                    }
                    paths.push((name, path));
                    if paths.len() > MAX_PATHS {
                        return Err(M::Error::custom(format!("more than {MAX_PATHS} paths")));
                    }
                }
                Ok(Paths(paths))
            }
        }
        deserializer.deserialize_map(Named)
    }
}

/// The most paths of one file.
const MAX_PATHS: usize = 64;
