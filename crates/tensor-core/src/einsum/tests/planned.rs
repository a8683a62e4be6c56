//! What plans promise of their shape: which steps, how few copies, which order of work.

use super::{Route, path, plan};
use crate::einsum::StepKind;
use rstest::rstest;

/// The only step of a plan of two operands.
fn only(spec: &str, left: &[usize], right: &[usize]) -> (StepKind, usize, usize) {
    let plan = plan(spec, &[left, right], Route::Found).unwrap();
    let [step] = plan.steps() else {
        panic!("{plan}")
    };
    (step.kind, step.copies, step.sums)
}

const fn matmul(batch: usize, m: usize, n: usize, k: usize) -> StepKind {
    StepKind::Matmul { batch, m, n, k }
}

#[rstest]
// Every way to transpose two matrices and their product.
#[case("ij,jk->ik", &[2, 3], &[3, 5])]
#[case("ij,jk->ki", &[2, 3], &[3, 5])]
#[case("ij,kj->ik", &[2, 3], &[5, 3])]
#[case("ij,kj->ki", &[2, 3], &[5, 3])]
#[case("ji,jk->ik", &[3, 2], &[3, 5])]
#[case("ji,kj->ik", &[3, 2], &[5, 3])]
fn transposes_are_read_in_place(
    #[case] spec: &str,
    #[case] left: &[usize],
    #[case] right: &[usize],
) {
    assert_eq!(only(spec, left, right), (matmul(1, 2, 5, 3), 0, 0));
}

#[rstest]
#[case("bij,bjk->bik", &[7, 2, 3], &[7, 3, 5], 0)]
#[case("ibj,jbk->bik", &[2, 7, 3], &[3, 7, 5], 0)] // a batch in the middle is a stride
#[case("bji,bkj->bki", &[7, 3, 2], &[7, 5, 3], 0)]
#[case("ijb,bjk->bik", &[2, 3, 7], &[7, 3, 5], 1)] // a batch innermost leaves no unit stride
#[case("ijb,jkb->bik", &[2, 3, 7], &[3, 5, 7], 2)]
fn batches(
    #[case] spec: &str,
    #[case] left: &[usize],
    #[case] right: &[usize],
    #[case] copies: usize,
) {
    assert_eq!(only(spec, left, right), (matmul(7, 2, 5, 3), copies, 0));
}

#[rstest]
#[case("abc,cd->abd", &[2, 3, 5], &[5, 7], matmul(1, 6, 7, 5), 0)] // groups are one dimension
#[case("abc,bcd->ad", &[2, 3, 5], &[3, 5, 7], matmul(1, 2, 7, 15), 0)]
#[case("abc,cbd->ad", &[2, 3, 5], &[5, 3, 7], matmul(1, 2, 7, 15), 1)] // the sums' orders differ
#[case("acb,cd->abd", &[2, 5, 3], &[5, 7], matmul(1, 6, 7, 5), 1)] // a group that is torn apart
#[case("bi,bi->b", &[4, 3], &[4, 3], matmul(4, 1, 1, 3), 0)]
#[case("i,i->", &[3], &[3], matmul(1, 1, 1, 3), 0)]
fn groups(
    #[case] spec: &str,
    #[case] left: &[usize],
    #[case] right: &[usize],
    #[case] kind: StepKind,
    #[case] copies: usize,
) {
    assert_eq!(only(spec, left, right), (kind, copies, 0));
}

#[rstest]
#[case("i,j->ij", &[2], &[3])]
#[case("i,j->ji", &[2], &[3])]
#[case("ij,ij->ij", &[2, 3], &[2, 3])]
#[case("ij,ji->ji", &[2, 3], &[3, 2])]
#[case("ij,j->ij", &[2, 3], &[3])]
#[case(",ij->ij", &[], &[2, 3])]
#[case("ij,jk->ik", &[2, 1], &[1, 3])] // what is summed has one element: nothing is summed
#[case("bij,bjk->bik", &[4, 2, 1], &[4, 1, 3])]
fn nothing_summed_is_a_multiply(
    #[case] spec: &str,
    #[case] left: &[usize],
    #[case] right: &[usize],
) {
    assert_eq!(only(spec, left, right), (StepKind::Multiply, 0, 0));
}

#[test]
fn what_one_operand_alone_has_is_summed_first() {
    assert_eq!(
        only("ija,jk->ik", &[2, 3, 4], &[3, 5]),
        (matmul(1, 2, 5, 3), 0, 1)
    );
    assert_eq!(
        only("iaja,jk->ik", &[2, 4, 3, 4], &[3, 5]),
        (matmul(1, 2, 5, 3), 0, 1)
    );
    assert_eq!(
        only("ia,jb->ij", &[2, 4], &[3, 5]),
        (StepKind::Multiply, 0, 2)
    );
    // Two runs apart are two sums, the longer first.
    assert_eq!(
        only("aibj,j->ij", &[2, 3, 4, 5], &[5]),
        (StepKind::Multiply, 0, 2)
    );
}

#[test]
fn one_operand_is_summed_or_seen_otherwise() {
    for (spec, sums) in [("iij->j", 1), ("iij->ij", 0), ("iij->ji", 0), ("iij->", 2)] {
        let plan = plan(spec, &[&[3, 3, 4]], Route::Found).unwrap();
        let [step] = plan.steps() else {
            panic!("{plan}")
        };
        assert_eq!(
            (step.kind, step.sums, step.copies),
            (StepKind::Reduce, sums, 0),
            "{spec}"
        );
    }
}

#[test]
fn operations_are_counted_as_opt_einsum_counts() {
    let flops = |spec, shapes: &[&[usize]]| plan(spec, shapes, Route::Found).unwrap().flops();
    assert_eq!(flops("ij,jk->ik", &[&[2, 3], &[3, 5]]), 2 * 2 * 3 * 5);
    assert_eq!(flops("i,j->ij", &[&[2], &[3]]), 2 * 3);
    assert_eq!(flops("ij->i", &[&[2, 3]]), 2 * 3);
    assert_eq!(flops("ij->ji", &[&[2, 3]]), 0);
    assert_eq!(flops("ij,jk->ik", &[&[2, 0], &[0, 5]]), 0);
}

#[test]
fn the_peak_is_operands_intermediates_and_copies() {
    let steps = path(&[&[0, 1], &[0, 1]]);
    let chain = plan(
        "ij,jk,kl->il",
        &[&[10, 20], &[20, 30], &[30, 5]],
        Route::Given(&steps),
    )
    .unwrap();
    // (kl stays), ij·jk is 10 x 30, then the result 10 x 5.
    assert_eq!(chain.operand_bytes(), 8 * (200 + 600 + 150));
    assert_eq!(chain.peak_bytes(), chain.operand_bytes() + 8 * (300 + 50));
    let copied = plan("ijb,bjk->bik", &[&[2, 3, 7], &[7, 3, 5]], Route::Found).unwrap();
    assert_eq!((copied.copies(), copied.copied_bytes()), (1, 8 * 42));
    assert_eq!(copied.peak_bytes(), copied.operand_bytes() + 8 * (42 + 70));
}

#[test]
fn integers_are_summed_in_eight_bytes_and_cast_back() {
    let shapes: [&[usize]; 1] = [&[6, 4]];
    let plan = super::Plan::new("ij->i", &shapes, gpu_seam::DType::I32, Route::Found).unwrap();
    assert_eq!(plan.peak_bytes(), 4 * 24 + 8 * 6 + 4 * 6);
}

#[test]
fn a_chain_of_matrices_is_never_copied() {
    let names: Vec<char> = ('a'..='z').collect();
    let spec: Vec<String> = names.windows(2).map(|pair| pair.iter().collect()).collect();
    let spec = format!("{}->az", spec.join(","));
    let shapes: Vec<Vec<usize>> = (0..25)
        .map(|at| vec![3 + at % 5, 3 + (at + 1) % 5])
        .collect();
    let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
    let plan = plan(&spec, &shapes, Route::Found).unwrap();
    assert_eq!((plan.steps().len(), plan.copies()), (24, 0), "{plan}");
}

#[test]
fn a_plan_reads_as_lines() {
    let plan = plan("iij,jk,k->i", &[&[4, 4, 3], &[3, 5], &[5]], Route::Found).unwrap();
    insta::assert_snapshot!(plan, @r"
       0  1 matmul of 3 x 5 by 5 x 1 -> [3]
       1  1 matmul of 4 x 3 by 3 x 1 -> [4]
    54 operations, 0 copies of 0 bytes, 600 bytes at the peak (544 of them operands)
    ");
}
