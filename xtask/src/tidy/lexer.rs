//! Just enough of Rust's lexical rules to tell code from comments and literals.
//!
//! Promises the rules a text of the same length and lines in which everything that is not code is
//! blank. Knows nothing of syntax.

/// `text` with comments and the insides of string and character literals replaced by spaces, byte
/// for byte; newlines stay.
pub(super) fn code_only(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = vec![b' '; bytes.len()];
    for (at, byte) in bytes.iter().enumerate() {
        if *byte == b'\n' {
            code[at] = b'\n';
        }
    }
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let skipped = comment(rest).or_else(|| literal(rest, before(bytes, at)));
        match skipped {
            Some(length) => at += length,
            None => {
                code[at] = bytes[at];
                at += 1;
            }
        }
    }
    // What was kept was copied byte for byte, and literals and comments end between characters.
    String::from_utf8_lossy(&code).into_owned()
}

/// The identifiers and keywords of a code-only text, each with the offset where it starts.
pub(super) fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + code[at..].find(part)?;
        let length = code[start..]
            .find(|c| !part(c))
            .unwrap_or(code.len() - start);
        at = start + length;
        Some((start, &code[start..at]))
    })
}

/// The line of a byte offset, from 1.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
        + 1
}

fn before(bytes: &[u8], at: usize) -> Option<u8> {
    at.checked_sub(1).map(|previous| bytes[previous])
}

/// The length of the comment at the start of `rest`.
fn comment(rest: &[u8]) -> Option<usize> {
    if rest.starts_with(b"//") {
        return Some(
            rest.iter()
                .position(|byte| *byte == b'\n')
                .unwrap_or(rest.len()),
        );
    }
    if !rest.starts_with(b"/*") {
        return None;
    }
    let (mut at, mut depth) = (2, 1);
    while depth > 0 && at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            (at, depth) = (at + 2, depth + 1);
        } else if rest[at..].starts_with(b"*/") {
            (at, depth) = (at + 2, depth - 1);
        } else {
            at += 1;
        }
    }
    Some(at)
}

/// The length of the string or character literal at the start of `rest`.
fn literal(rest: &[u8], previous: Option<u8>) -> Option<usize> {
    let in_word = previous.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if rest.starts_with(b"\"") {
        return Some(quoted(rest, b'"'));
    }
    if !in_word && let Some(length) = raw(rest) {
        return Some(length);
    }
    if rest.starts_with(b"'") && is_character(rest) {
        return Some(quoted(rest, b'\''));
    }
    None
}

/// The length of a quoted literal with its two quotes.
fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length of a raw string such as `r#".."#`, `br".."` or `cr".."`.
fn raw(rest: &[u8]) -> Option<usize> {
    let mut at = usize::from(rest.starts_with(b"b") || rest.starts_with(b"c"));
    if rest.get(at) != Some(&b'r') {
        return None;
    }
    at += 1;
    let hashes = rest[at..].iter().take_while(|byte| **byte == b'#').count();
    at += hashes;
    if rest.get(at) != Some(&b'"') {
        return None;
    }
    at += 1;
    let mut end = vec![b'"'];
    end.extend(std::iter::repeat_n(b'#', hashes));
    let length = rest[at..]
        .windows(end.len())
        .position(|window| window == end);
    Some(length.map_or(rest.len(), |length| at + length + end.len()))
}

/// Whether the quote at the start of `rest` opens a character and not a lifetime.
fn is_character(rest: &[u8]) -> bool {
    match rest.get(1) {
        Some(b'\\') => true,
        Some(first) if first.is_ascii() => rest.get(2) == Some(&b'\''),
        Some(_) => rest.iter().skip(2).take(4).any(|byte| *byte == b'\''),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{code_only, line_of, words};

    #[test]
    fn only_code_is_left() {
        let text = "a /* b /* c */ d */ e // f\n\"g \\\" h\" i r#\"j\" k\"# l 'm' n '\\'' o 'p>(q) br\"s\"";
        let code = code_only(text);
        let left: Vec<&str> = words(&code).map(|(_, word)| word).collect();
        assert_eq!(left, ["a", "e", "i", "l", "n", "o", "p", "q"]);
        assert_eq!(code.len(), text.len());
        assert_eq!(line_of(&code, code.find('i').expect("i is code")), 2);
    }

    #[test]
    fn characters_beyond_ascii_and_open_ends_are_no_trouble() {
        for text in [
            "'é' x",
            "\"é\" x",
            "// é\nx",
            "x \"open",
            "x /* open",
            "x r#\"open",
            "'",
        ] {
            let code = code_only(text);
            assert_eq!(code.len(), text.len(), "{text}");
            assert!(
                !code.contains('é') && !code.contains("open"),
                "{text}: {code}"
            );
        }
    }
}
