//! That no case is forgotten: each of groups 1 and 2 is a test of this crate by its number, or waits
//! in `tests/faults.toml` for what it needs; and what waits has no test here.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Every case of groups 1 and 2, by number. The numbering has gaps.
const GROUPS: [(u8, &[u16]); 2] = [
    (
        1,
        &[
            1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19, 20, 22, 23, 25, 26, 28, 29, 31, 32, 34,
            35,
        ],
    ),
    (
        2,
        &[
            37, 38, 40, 41, 43, 44, 46, 47, 49, 50, 52, 53, 55, 56, 58, 59, 61, 62, 64, 65, 67, 68,
            70, 71, 73, 74, 76, 77, 79, 80, 82, 83, 85,
        ],
    ),
];

/// The cases that wait, with what for.
fn waiting() -> BTreeMap<String, String> {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/faults.toml");
    let text = fs::read_to_string(list).unwrap();
    let mut waiting = BTreeMap::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', '[']) {
            continue;
        }
        let (id, reason) = line.split_once(" = ").unwrap_or_else(|| panic!("{line}"));
        let reason = reason.trim_matches('"');
        assert!(reason.len() > 10, "{id} waits for {reason:?}: say for what");
        let before = waiting.insert(id.to_owned(), reason.to_owned());
        assert_eq!(before, None, "{id} is listed twice");
    }
    waiting
}

/// The text of every Rust file below a folder.
fn sources(folder: &Path, text: &mut String) {
    let entries = fs::read_dir(folder).unwrap();
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}

/// `G1-001` as the beginning of a test's name.
fn as_test(id: &str) -> String {
    format!("fn {}_", id.to_lowercase().replace('-', "_"))
}

#[test]
fn every_case_is_tested_or_waits() {
    let mut text = String::new();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    sources(&here.join("src"), &mut text);
    sources(&here.join("tests"), &mut text);
    let waiting = waiting();
    for (group, numbers) in GROUPS {
        for number in numbers {
            let id = format!("G{group}-{number:03}");
            let tested = text.contains(&as_test(&id));
            assert!(
                tested || waiting.contains_key(&id),
                "{id} is neither a test nor in tests/faults.toml"
            );
        }
    }
    for id in waiting.keys() {
        assert!(
            !text.contains(&as_test(id)),
            "{id} has a test: take it out of tests/faults.toml"
        );
    }
}
