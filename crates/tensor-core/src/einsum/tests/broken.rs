//! What is refused, and what the refusal says.

use super::{Route, plan};
use crate::einsum::{EinsumError, Plan, Spec};
use gpu_seam::DType;
use rstest::rstest;

#[rstest]
#[case(
    "i.j",
    "the spec is broken at character 1: `.` that is not part of `...`, at `.j`"
)]
#[case(
    "i..j",
    "the spec is broken at character 1: `.` that is not part of `...`, at `..j`"
)]
#[case(
    ".. .i",
    "the spec is broken at character 0: `.` that is not part of `...`, at `.. .i`"
)]
#[case(
    "...i...",
    "the spec is broken at character 4: a second `...` in one term, at `...`"
)]
#[case(
    "i- >i",
    "the spec is broken at character 1: `-` without `>` after it, at `- >i`"
)]
#[case(
    "i>",
    "the spec is broken at character 1: `>` without `-` before it, at `>`"
)]
#[case(
    "i->i->i",
    "the spec is broken at character 4: a second `->`, at `->i`"
)]
#[case(
    "i,j->i,j",
    "the spec is broken at character 6: a `,` in the output, at `,j`"
)]
#[case(
    "i->ii",
    "the spec is broken at character 4: the output index `i` occurs twice in the output"
)]
#[case(
    "i->j",
    "the spec is broken at character 3: the output index `j` occurs in no input"
)]
#[case(
    "é->\u{301}",
    "the spec is broken at character 3: the output index `\\u{301}` occurs in no input"
)]
fn broken_specs_name_the_place(#[case] spec: &str, #[case] text: &str) {
    assert_eq!(Spec::parse(spec).unwrap_err().to_string(), text);
}

#[rstest]
#[case(
    " i j , j k - > i k ",
    "the spec is broken at character 11: `-` without `>` after it, at `- > i k `"
)]
fn marks_are_written_in_one(#[case] spec: &str, #[case] text: &str) {
    assert_eq!(Spec::parse(spec).unwrap_err().to_string(), text);
}

#[rstest]
#[case("ab,bc", "ab,bc->ac")]
#[case("ba", "ba->ab")]
#[case("bAa", "bAa->Aab")]
#[case("a...,...b", "a...,...b->...ab")]
#[case("...ii", "...ii->...")]
#[case(" i j ,\tj\u{2003}k -> i k\n", "ij,jk->ik")]
#[case("", "->")]
#[case(",", ",->")]
#[case("->", "->")]
#[case("ij->...ij", "ij->...ij")]
#[case("0+,+*->*0", "0+,+*->*0")]
#[case("\u{65}\u{301},\u{e9}", "\u{65}\u{301},\u{e9}->\u{65}\u{e9}\u{301}")] // nothing is normalised
fn specs_that_parse(#[case] spec: &str, #[case] written: &str) {
    assert_eq!(Spec::parse(spec).unwrap().to_string(), written);
}

#[test]
fn shapes_that_do_not_fit() {
    let cases: [(&str, &[&[usize]], &str); 12] = [
        (
            "i,j",
            &[&[2]],
            "the spec has 2 terms, but there are 1 operands",
        ),
        ("", &[], "the spec has 1 terms, but there are 0 operands"),
        (
            "ij,jk",
            &[&[2, 3], &[4, 5]],
            "index `j` has size 4 in operand 1, but size 3 in operand 0",
        ),
        (
            "ij,jk",
            &[&[2, 1], &[4, 5]],
            "index `j` has size 4 in operand 1, but size 1 in operand 0",
        ),
        (
            "ii",
            &[&[2, 3]],
            "index `i` has size 3 in operand 0, but size 2 in operand 0",
        ),
        (
            "...,...",
            &[&[2, 3], &[4, 3]],
            "index `...` (dimension 1 from its end) has size 4 in operand 1, but size 2 in operand 0",
        ),
        (
            "ij",
            &[&[2]],
            "operand 0 has 1 dimensions, but its term `ij` takes 2",
        ),
        (
            "i",
            &[&[2, 2]],
            "operand 0 has 2 dimensions, but its term `i` takes 1",
        ),
        (
            "...ij",
            &[&[2]],
            "operand 0 has 1 dimensions, but its term `...ij` takes 2 or more",
        ),
        (
            "...i->i",
            &[&[2, 3]],
            "the operands have 1 dimensions under their ellipses, but the output has no ellipsis to hold them",
        ),
        (
            "ij",
            &[&[1 << 33, 1 << 33]],
            "an operand is too large: [8589934592, 8589934592] elements of 8 bytes",
        ),
        (
            "i,j->ij",
            &[&[1 << 33], &[1 << 33]],
            "the output is too large: [8589934592, 8589934592] elements of 8 bytes",
        ),
    ];
    for (spec, shapes, text) in cases {
        let refused = plan(spec, shapes, Route::Found).unwrap_err();
        assert_eq!(refused.to_string(), text, "{spec} {shapes:?}");
    }
}

#[test]
fn products_that_overflow_on_the_way_are_refused() {
    let steps = super::path(&[&[0, 1], &[0, 1], &[0, 1]]);
    let size: &[usize] = &[1 << 40];
    // The finder goes round what cannot be addressed.
    assert!(plan("i,j,i,j->", &[size; 4], Route::Found).is_ok());
    let refused = plan("i,j,i,j->", &[size; 4], Route::Given(&steps)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "an intermediate is too large: [1099511627776, 1099511627776] elements of 8 bytes"
    );
    let huge: &[usize] = &[1 << 60];
    let refused = plan("i,i,i,i,i->i", &[huge; 5], Route::Found).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "an operand is too large: [1152921504606846976] elements of 8 bytes"
    );
}

#[test]
fn ranks_beyond_the_limit_are_refused() {
    let wide = vec![1; 65];
    let refused = plan("...", &[&wide], Route::Found).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the rank of an operand is too large: operand 0 has 65 dimensions of at most 64"
    );
    // Forty vectors of one kind and forty of another, each index held twice: contracted in order,
    // sixty-five indices of size 2 are open at once, which no address reaches before.
    let names: Vec<char> = (0..70)
        .filter_map(|at| char::from_u32(0x100 + at))
        .collect();
    let once: Vec<String> = names.iter().map(ToString::to_string).collect();
    let spec = format!("{},{}->", once.join(","), once.join(","));
    let shapes: Vec<&[usize]> = vec![&[2]; 140];
    let steps = super::path(&vec![&[0usize, 1][..]; 139]);
    let refused = plan(&spec, &shapes, Route::Given(&steps));
    assert!(
        matches!(refused, Err(EinsumError::TooLarge { .. })),
        "{refused:?}"
    );
    assert!(plan(&spec, &shapes, Route::Found).is_ok());
}

#[test]
fn bool_is_refused_and_integers_are_not() {
    let shapes: [&[usize]; 1] = [&[2]];
    let refused = Plan::new("i->", &shapes, DType::Bool, Route::Found).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "there is no einsum of bool: cast the operands to an integer or float type first"
    );
    for dtype in DType::ALL.into_iter().filter(|dtype| *dtype != DType::Bool) {
        Plan::new("i->", &shapes, dtype, Route::Found).unwrap();
    }
}

#[test]
fn a_million_operands_are_parsed_or_refused_in_linear_time() {
    let many = 1_000_000;
    let commas = ",".repeat(many - 1);
    assert_eq!(Spec::parse(&commas).unwrap().operands(), many);
    let scalars: Vec<&[usize]> = vec![&[]; many - 1];
    let refused = plan(&commas, &scalars, Route::Found).unwrap_err();
    let operands = many - 1;
    let expected = EinsumError::Operands {
        terms: many,
        operands,
    };
    assert_eq!(refused, expected);
    assert!(Spec::parse(&"a".repeat(many)).is_ok());
    assert!(Spec::parse(&"-".repeat(many)).is_err());
    assert!(Spec::parse(&format!("{}->{}", "a,".repeat(many), "b".repeat(many))).is_err());
}

#[test]
fn a_hundred_thousand_operands_are_planned() {
    let many = 100_000;
    let commas = ",".repeat(many - 1);
    let scalars: Vec<&[usize]> = vec![&[]; many];
    let steps = super::path(&vec![&[0usize, 1][..]; many - 1]);
    for route in [Route::Given(&steps), Route::Found] {
        let plan = plan(&commas, &scalars, route).unwrap();
        assert_eq!(plan.steps().len(), many - 1);
    }
}
