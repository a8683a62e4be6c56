//! The library of WGSL functions, and the linking of those that a kernel reaches.
//!
//! The texts are in `lib/`, plain WGSL, one subject a file; [`math`](super::math) writes those that
//! exist for f32 and for f64. Promises that a kernel gets every function it names, directly or
//! through another, once, in an order that does not depend on chance. Knows nothing of kernels.

use super::math;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The WGSL files.
const FILES: [&str; 6] = [
    include_str!("lib/int64.wgsl"),
    include_str!("lib/half.wgsl"),
    include_str!("lib/order.wgsl"),
    include_str!("lib/cast.wgsl"),
    include_str!("lib/philox.wgsl"),
    include_str!("lib/turn.wgsl"),
];

/// The functions (and structs) of the library by name.
fn items() -> &'static BTreeMap<String, String> {
    static ITEMS: OnceLock<BTreeMap<String, String>> = OnceLock::new();
    ITEMS.get_or_init(|| {
        let mut items = BTreeMap::new();
        for file in FILES {
            items.extend(split(file));
        }
        for text in [math::text(math::Real::F32), math::text(math::Real::F64)] {
            items.extend(split(&text));
        }
        items
    })
}

/// `body` without the functions that nothing in it calls, and behind it the library's functions that
/// it reaches.
pub(crate) fn link(body: &str) -> String {
    let own = split(body);
    let mut text = String::new();
    let mut reached: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue: Vec<&str> = Vec::new();
    // The entry point and everything that is no function of its own.
    let rest = unsplit(body);
    queue.push(&rest);
    while let Some(part) = queue.pop() {
        for name in names(part) {
            if reached.contains_key(name) {
                continue;
            }
            let found = own
                .iter()
                .find(|(own, _)| own == name)
                .map(|(name, item)| (name.as_str(), item.as_str()))
                .or_else(|| {
                    items()
                        .get_key_value(name)
                        .map(|(name, item)| (name.as_str(), item.as_str()))
                });
            if let Some((name, item)) = found {
                reached.insert(name, item);
                queue.push(item);
            }
        }
    }
    for (name, item) in &own {
        if reached.contains_key(name.as_str()) {
            text.push_str(item);
        }
    }
    text.push_str(&rest);
    for (name, item) in &reached {
        if !own.iter().any(|(own, _)| own == name) {
            text.push_str(item);
        }
    }
    text
}

/// The top-level functions and structs of a text, in order: from a line that begins with `fn` or
/// `struct` to the line that is a closing brace. The entry point, which begins with an attribute,
/// is none of them.
fn split(text: &str) -> Vec<(String, String)> {
    let mut items = Vec::new();
    let mut item: Option<(String, String)> = None;
    let mut entry = false;
    for line in text.lines() {
        entry |= line.starts_with('@');
        if item.is_none() && !entry {
            let name = line
                .strip_prefix("fn ")
                .or_else(|| line.strip_prefix("struct "))
                .and_then(|rest| names(rest).next());
            if let Some(name) = name {
                item = Some((name.to_owned(), String::new()));
            }
        }
        if let Some((_, text)) = &mut item {
            text.push_str(line);
            text.push('\n');
        }
        if line == "}" {
            entry = false;
            items.extend(item.take());
        }
    }
    items
}

/// What [`split`] leaves of a text.
fn unsplit(text: &str) -> String {
    let mut rest = String::new();
    let mut inside = false;
    let mut entry = false;
    for line in text.lines() {
        entry |= line.starts_with('@');
        if !entry && (line.starts_with("fn ") || line.starts_with("struct ")) {
            inside = true;
        }
        if !inside {
            rest.push_str(line);
            rest.push('\n');
        }
        if line == "}" {
            inside = false;
            entry = false;
        }
    }
    rest
}

/// The identifiers of a text.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{items, link};

    #[test]
    fn a_body_gets_what_it_reaches_and_nothing_else() {
        let body = "fn unused(x: u32) -> u32 {\n    return x;\n}\n\
                    fn used(x: u32) -> u32 {\n    return f32_to_f16(bitcast<f32>(x));\n}\n\
                    @compute @workgroup_size(1)\nfn main() {\n    let a = used(1u);\n}\n";
        let text = link(body);
        assert!(text.contains("fn used(") && text.contains("fn f32_to_f16("));
        assert!(!text.contains("fn unused(") && !text.contains("fn add64("));
        assert_eq!(text.matches("fn used(").count(), 1);
    }

    #[test]
    fn no_two_functions_have_one_name() {
        let total: usize = super::FILES
            .iter()
            .map(|file| super::split(file).len())
            .sum();
        let math = super::split(&super::math::text(super::math::Real::F32)).len();
        assert_eq!(items().len(), total + 2 * math);
    }
}
