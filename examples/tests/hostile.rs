//! What a network file may say and must not: each refusal names the value, and allocates little.

use allocation_counter::measure;
use examples::network::Network;

fn file(spec: &str, shapes: &str, paths: &str) -> String {
    format!(r#"{{"format_string": "{spec}", "shapes": {shapes}, "paths": {paths}}}"#)
}

/// One path over three matrices.
fn path(steps: &str) -> String {
    let paths = format!(r#"{{"opt_flops": {{"path": {steps}}}}}"#);
    file("ab,bc,cd->ad", "[[2, 3], [3, 4], [4, 5]]", &paths)
}

/// Fails with a text that contains every one of `parts`, without memory out of proportion.
fn refused(text: &str, parts: &[&str]) {
    let mut said = String::new();
    let counted = measure(|| {
        said = match Network::parse(text.as_bytes()) {
            Ok(_) => "nothing was wrong".to_owned(),
            Err(error) => error.to_string(),
        };
    });
    let start: String = text.chars().take(120).collect();
    for part in parts {
        assert!(said.contains(part), "no {part:?} in {said:?} of {start}");
    }
    assert!(said.len() < 600, "{} bytes of {start}", said.len());
    let limit = 64 * text.len() as u64 + (64 << 10);
    assert!(
        counted.bytes_max <= limit,
        "{} bytes, {limit} are in proportion: {start}",
        counted.bytes_max
    );
}

#[test]
fn shapes() {
    let huge = "4294967296";
    for (spec, shapes, parts) in [
        (
            "ab->",
            format!("[[{huge}, {huge}]]"),
            ["shapes[0]", "4294967296 x 4294967296] overflows"],
        ),
        ("a->", format!("[[{huge}]]"), ["shapes[0]", huge]),
        (
            "a->a",
            "[[18446744073709551616]]".to_owned(),
            ["1.8446744073709552e+19", "line 1"],
        ),
        ("a->", "[[-3]]".to_owned(), ["-3", "line 1"]),
        ("a->", "[[2.5]]".to_owned(), ["2.5", "line 1"]),
        ("a->", r#"[["two"]]"#.to_owned(), ["two", "line 1"]),
        (
            "a,b->ab",
            "[[100000000], [100000000]]".to_owned(),
            ["100000000 x 100000000", "output"],
        ),
        ("ab,bc->ac", "[[2, 3]]".to_owned(), ["2 terms", "lists 1"]),
        (
            "ab,bc->ac",
            "[[2, 3], [4, 5]]".to_owned(),
            ["shapes[1][0]", "'b' has size 4 here, but 3"],
        ),
        (
            "abc->a",
            "[[2, 3]]".to_owned(),
            ["shapes[0]", "2 dimensions"],
        ),
    ] {
        refused(&file(spec, &shapes, "{}"), &parts);
    }
}

#[test]
fn specs() {
    for (spec, parts) in [
        ("ab,bc->aa", ["format_string", "'a' is in the output twice"]),
        ("ab,bc->az", ["format_string", "'z' is in no input"]),
        ("ab,bc", ["format_string", "`->`"]),
        ("a.,bc->a", ["format_string", "'.' is no index"]),
        ("ab,bc->a->c", ["format_string", "is no index"]),
    ] {
        refused(&file(spec, "[[2, 3], [3, 4]]", "{}"), &parts);
    }
}

#[test]
fn paths() {
    for (steps, parts) in [
        (
            "[[0, 3], [0, 1]]",
            ["opt_flops.path[0]", "position 3 is out of range with 3"],
        ),
        (
            "[[0, 1], [0, 18446744073709551615]]",
            ["opt_flops.path[1]", "18446744073709551615"],
        ),
        (
            "[[1, 1], [0, 1]]",
            ["opt_flops.path[0]", "position 1 is listed twice"],
        ),
        ("[[0, 1]]", ["opt_flops.path", "2 operands are left"]),
        ("[]", ["opt_flops.path", "3 operands are left"]),
        ("[[], [0, 1, 2]]", ["opt_flops.path[0]", "no operand"]),
        ("[[0, -1], [0, 1]]", ["-1", "line 1"]),
        (
            "[[0, 1], [0, 1], [0, 1]]",
            ["opt_flops.path[2]", "position 1"],
        ),
    ] {
        refused(&path(steps), &parts);
    }
    let twice = r#"{"p": {"path": [[0]]}, "p": {"path": [[0]]}}"#;
    refused(&file("a->", "[[2]]", twice), &["duplicate path `p`"]);
    let many: Vec<String> = (0..100)
        .map(|at| format!(r#""p{at}": {{"path": [[0]]}}"#))
        .collect();
    let many = format!("{{{}}}", many.join(", "));
    refused(&file("a->", "[[2]]", &many), &["more than 64 paths"]);
}

#[test]
fn a_million_operands() {
    let operands = 1_000_000;
    let spec = vec!["a"; operands].join(",") + "->";
    let shapes = format!("[{}]", vec!["[2]"; operands].join(","));
    refused(
        &file(&spec, &shapes, "{}"),
        &["shapes", "1000000 operands", "524288"],
    );
}

#[test]
fn text_that_is_cut_off_anywhere_is_refused() {
    let whole = path("[[0, 1], [0, 1]]");
    Network::parse(whole.as_bytes()).expect("the whole is a network");
    for end in 0..whole.len() {
        refused(&whole[..end], &["line 1 column"]);
    }
    for (text, part) in [
        ("[]", "not in the format"),
        ("{}", "format_string"),
        (r#"{"format_string": "a->"}"#, "shapes"),
    ] {
        refused(text, &[part]);
    }
}

#[test]
fn deep_nesting_is_refused_and_does_not_overflow_the_stack() {
    let deep = "[".repeat(1 << 20);
    refused(&deep, &["not in the format"]);
    refused(&format!(r#"{{"shapes": {deep}"#), &["line 1"]);
    refused(&format!(r#"{{"unknown": {deep}"#), &["line 1"]);
    refused(&r#"{"paths":"#.repeat(1 << 18), &["line 1"]);
}

#[test]
fn steps_of_one_two_and_more_positions_are_accepted() {
    for steps in [
        "[[0, 1, 2]]",
        "[[0, 1], [0, 1]]",
        "[[1, 0], [1, 0]]",
        "[[0], [0], [0], [2, 1, 0]]",
        "[[2, 0], [1], [0, 1]]",
    ] {
        let network = Network::parse(path(steps).as_bytes());
        assert!(network.is_ok(), "{steps}: {:?}", network.err());
    }
}

#[test]
fn copies_and_unknown_fields_are_ignored() {
    let text = r#"{"format_string": "ab,bc->ac", "shapes": [[2, 3], [3, 4]],
        "format_string_rowmajor": 7, "shapes_colmajor": [[3, 2], [4, 3]], "tags": {"x": [null]}}"#;
    let network = Network::parse(text.as_bytes()).expect("a network");
    assert_eq!(network.output_shape(), [2, 4]);
}
