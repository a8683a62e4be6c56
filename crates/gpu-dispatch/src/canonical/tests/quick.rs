//! The short way gives what the long way gives, and leaves all else to it.

use super::{Tensor, free, limited, lower};
use crate::call::{Call, Dims};
use crate::canonical::plan::Plan;
use crate::canonical::{Lowered, family, quick, validate};
use gpu_seam::{BinaryOp, Capabilities, CompareOp, DType, Operand, Scalar, UnaryOp, View};
use smallvec::SmallVec;

fn empty() -> Lowered {
    Lowered {
        dims: Dims::new(),
        dtype: DType::Bool,
        bytes: 0,
        temporaries: SmallVec::new(),
        steps: SmallVec::new(),
    }
}

fn is_quick(call: &Call<'_>, lengths: &[usize], capabilities: &Capabilities) -> bool {
    let mut lowered = empty();
    let taken = quick::lower(call, lengths, capabilities, &mut lowered).is_some();
    assert!(taken || lowered == empty(), "a refusal leaves nothing");
    taken
}

#[test]
fn both_ways_agree() {
    let capabilities = limited(3, 4096, 256);
    for dims in [&[][..], &[1], &[7], &[2, 3, 4], &[1, 5, 1], &[2; 6]] {
        let mut lhs = Tensor::range(DType::F32, dims);
        lhs.elements.extend([0; 5]);
        lhs.offset = 3;
        let rhs = Tensor::range(DType::F32, dims);
        let (left, right) = (Operand::View(lhs.view()), Operand::View(rhs.view()));
        let one = Operand::Scalar(Scalar::one(DType::F32));
        let binary = |lhs, rhs| Call::Binary {
            op: BinaryOp::Rem,
            lhs,
            rhs,
        };
        let compare = |lhs, rhs| Call::Compare {
            op: CompareOp::Lt,
            lhs,
            rhs,
        };
        let input = lhs.view();
        let unary = |op| Call::Unary { op, input };
        let dtype = DType::F16;
        let calls: [(Call<'_>, &[&Tensor]); 9] = [
            (Call::Copy { input, dtype }, &[&lhs]),
            (unary(UnaryOp::Exp), &[&lhs]),
            (unary(UnaryOp::IsNan), &[&lhs]),
            (binary(left, right), &[&lhs, &rhs]),
            (binary(left, one), &[&lhs]),
            (binary(one, right), &[&rhs]),
            (compare(left, right), &[&lhs, &rhs]),
            (compare(right, one), &[&rhs]),
            (compare(one, left), &[&lhs]),
        ];
        for (call, inputs) in calls {
            let lengths: Vec<usize> = inputs.iter().map(|input| input.bytes()).collect();
            assert!(is_quick(&call, &lengths, &capabilities), "{call:?}");
            let mut long = empty();
            validate::inputs(&call, &lengths).unwrap();
            let plan = Plan::new(call.name(), &lengths, &capabilities, &mut long);
            family(&call, plan).unwrap();
            assert_eq!(lower(&call, &lengths, &capabilities).unwrap(), long);
        }
    }
}

#[test]
fn what_is_not_of_the_kind_goes_the_long_way() {
    let copy = |offset, dims, strides| Call::Copy {
        input: View::new(DType::F32, offset, dims, strides),
        dtype: DType::F64,
    };
    let quick = |call: &Call<'_>, bytes: usize, limit: usize| {
        is_quick(call, &[bytes], &limited(3, limit, 1))
    };
    assert!(quick(&copy(1, &[3], &[1]), 16, 24));
    assert!(!quick(&copy(1, &[3], &[1]), 15, 24), "leaves its storage");
    assert!(!quick(&copy(usize::MAX, &[3], &[1]), 15, 24));
    assert!(
        !quick(&copy(1, &[3], &[1]), 16, 23),
        "the output is too long"
    );
    assert!(
        !quick(&copy(1, &[3], &[1]), 25, 24),
        "the input is too long"
    );
    assert!(!quick(&copy(1, &[3], &[-1]), 16, 24));
    assert!(!quick(&copy(0, &[2, 2], &[1, 2]), 16, 64));
    assert!(!quick(&copy(0, &[0], &[1]), 16, 64));
    assert!(!quick(&copy(0, &[2], &[]), 16, 64));
    assert!(!quick(&copy(0, &[1; 65], &[1; 65]), 16, 64));
    let huge = [usize::MAX, 2];
    assert!(!quick(&copy(0, &huge, &[2, 1]), 16, usize::MAX));
    let call = copy(0, &[3], &[1]);
    assert!(!is_quick(&call, &[16, 16], &free()) && !is_quick(&call, &[], &free()));
    let (one, two) = ([4], [2, 2]);
    let operand = |dims, strides| Operand::View(View::new(DType::F32, 0, dims, strides));
    let add = |lhs, rhs| Call::Binary {
        op: BinaryOp::Add,
        lhs,
        rhs,
    };
    let lhs = operand(&one, &[1]);
    assert!(is_quick(&add(lhs, lhs), &[16, 16], &free()));
    let rhs = operand(&two, &[2, 1]);
    assert!(!is_quick(&add(lhs, rhs), &[16, 16], &free()));
    let other = Operand::Scalar(Scalar::one(DType::F64));
    assert!(!is_quick(&add(lhs, other), &[16], &free()));
    assert!(!is_quick(&add(other, other), &[], &free()));
}
