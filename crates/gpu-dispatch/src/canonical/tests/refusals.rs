//! Calls that are refused, and in what words.

use super::{Tensor, free, lower};
use crate::call::{Call, Factor};
use crate::error::Error;
use gpu_seam::{
    ArgOp, BinaryOp, CompareOp, DType, Distribution, Operand, ReduceOp, Scalar, ScanOp,
    ScatterMode, UnaryOp, View,
};
use rstest::rstest;

fn refused(call: &Call<'_>, lengths: &[usize]) -> String {
    match lower(call, lengths, &free()) {
        Err(error @ Error::Invalid { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

fn copy(offset: usize, dims: &[usize], strides: &[isize], bytes: usize) -> String {
    let call = Call::Copy {
        input: View::new(DType::F32, offset, dims, strides),
        dtype: DType::F32,
    };
    refused(&call, &[bytes])
}

#[test]
fn views_must_lie_in_their_storage() {
    insta::assert_snapshot!(copy(0, &[2, 3], &[3, 1], 23), @"copy: input 0 has dims (2, 3), strides (3, 1) and offset 0 of f32, which leave its 23 bytes");
    insta::assert_snapshot!(copy(1, &[2, 3], &[-3, 1], 400), @"copy: input 0 has dims (2, 3), strides (-3, 1) and offset 1 of f32, which leave its 400 bytes");
    insta::assert_snapshot!(copy(101, &[0], &[1], 400), @"copy: input 0 has dims (0), strides (1) and offset 101 of f32, which leave its 400 bytes");
    insta::assert_snapshot!(copy(0, &[2, 3], &[1], 400), @"copy: input 0 has dims (2, 3) and strides (1), which differ in number");
    insta::assert_snapshot!(copy(0, &[usize::MAX, 2], &[0, 0], 400), @"copy: input 0 has dims (18446744073709551615, 2): too many elements to count");
    insta::assert_snapshot!(copy(0, &[1; 65], &[0; 65], 400), @"copy: input 0 has rank 65; the highest is 64");
    insta::assert_snapshot!(copy(0, &[1 << 61], &[0], 400), @"copy: an output of dims (2305843009213693952) of f32 is too large");
    let lots = [usize::MAX, usize::MAX];
    insta::assert_snapshot!(refused(&Call::Fill { dims: &lots, value: Scalar::one(DType::U8) }, &[]), @"fill: an output of dims (18446744073709551615, 18446744073709551615) of u8 is too large");
    insta::assert_snapshot!(refused(&Call::Fill { dims: &[1; 65], value: Scalar::one(DType::U8) }, &[]), @"fill: the output has rank 65; the highest is 64");
    insta::assert_snapshot!(refused(&Call::Fill { dims: &[1], value: Scalar::one(DType::U8) }, &[4]), @"fill: takes 0 inputs, was given 1");
}

#[test]
fn an_empty_view_may_reach_anywhere_in_its_storage() {
    let call = Call::Copy {
        input: View::new(DType::F32, 100, &[0, usize::MAX], &[isize::MIN, isize::MAX]),
        dtype: DType::F32,
    };
    assert_eq!(lower(&call, &[400], &free()).unwrap().bytes, 0);
}

fn of(dtype: DType) -> Tensor {
    Tensor::range(dtype, &[2, 3])
}

#[rstest]
#[case(
    UnaryOp::Neg,
    DType::Bool,
    "neg: is not defined for bool, only for integers, floats and complex numbers"
)]
#[case(
    UnaryOp::Exp,
    DType::I32,
    "exp: is not defined for i32, only for floats and complex numbers"
)]
#[case(
    UnaryOp::Recip,
    DType::Bool,
    "recip: is not defined for bool, only for floats and complex numbers"
)]
#[case(
    UnaryOp::Not,
    DType::F64,
    "not: is not defined for f64, only for bool and integers"
)]
fn unary(#[case] op: UnaryOp, #[case] dtype: DType, #[case] text: &str) {
    let input = of(dtype);
    let call = Call::Unary {
        op,
        input: input.view(),
    };
    assert_eq!(refused(&call, &[input.bytes()]), text);
}

#[rstest]
#[case(
    BinaryOp::Sub,
    DType::Bool,
    "sub: is not defined for bool, only for integers, floats and complex numbers"
)]
#[case(
    BinaryOp::Div,
    DType::Bool,
    "div: is not defined for bool, only for integers, floats and complex numbers"
)]
#[case(
    BinaryOp::Rem,
    DType::Bool,
    "rem: is not defined for bool, only for integers and real floats"
)]
#[case(
    BinaryOp::Rem,
    DType::Complex64,
    "rem: is not defined for complex64, only for integers and real floats"
)]
#[case(
    BinaryOp::Max,
    DType::Complex128,
    "max: is not defined for complex128, only for types that have an order"
)]
fn binary(#[case] op: BinaryOp, #[case] dtype: DType, #[case] text: &str) {
    let input = of(dtype);
    let operand = Operand::View(input.view());
    let call = Call::Binary {
        op,
        lhs: operand,
        rhs: operand,
    };
    assert_eq!(refused(&call, &[input.bytes(); 2]), text);
}

#[test]
fn operands_must_agree() {
    let (f32, f64) = (of(DType::F32), of(DType::F64));
    let (lhs, rhs) = (Operand::View(f32.view()), Operand::View(f64.view()));
    let op = BinaryOp::Add;
    insta::assert_snapshot!(refused(&Call::Binary { op, lhs, rhs }, &[24, 48]), @"add: lhs is f32 and rhs is f64; cast one of them");
    insta::assert_snapshot!(refused(&Call::Binary { op, lhs, rhs: lhs }, &[24]), @"add: takes 2 inputs, was given 1");
    let rhs = Operand::Scalar(Scalar::one(DType::I64));
    insta::assert_snapshot!(refused(&Call::Binary { op, lhs, rhs }, &[24]), @"add: lhs is f32 and rhs is i64; cast one of them");
    insta::assert_snapshot!(refused(&Call::Binary { op, lhs: rhs, rhs }, &[]), @"add: both operands are scalars; at least one must be a view");
    let other = Tensor::range(DType::F32, &[4, 5]);
    let rhs = Operand::View(other.view());
    insta::assert_snapshot!(refused(&Call::Binary { op, lhs, rhs }, &[24, 80]), @"add: dims (2, 3) and (4, 5) do not broadcast to one shape");
    let op = CompareOp::Lt;
    let complex = of(DType::Complex64);
    let lhs = Operand::View(complex.view());
    insta::assert_snapshot!(refused(&Call::Compare { op, lhs, rhs: lhs }, &[48, 48]), @"lt: is not defined for complex64, only for types that have an order");
    let one = Operand::Scalar(Scalar::one(DType::F32));
    let select = Call::Select {
        condition: f32.view(),
        on_true: one,
        on_false: one,
    };
    insta::assert_snapshot!(refused(&select, &[24]), @"select: the condition is f32; it must be bool");
    let truth = of(DType::Bool);
    let select = Call::Select {
        condition: truth.view(),
        on_true: one,
        on_false: Operand::View(f64.view()),
    };
    insta::assert_snapshot!(refused(&select, &[6, 48]), @"select: the true branch is f32 and the false branch is f64; cast one of them");
    let select = Call::Select {
        condition: truth.view(),
        on_true: one,
        on_false: Operand::View(other.view()),
    };
    insta::assert_snapshot!(refused(&select, &[6, 80]), @"select: dims (2, 3) and (4, 5) do not broadcast to one shape");
    let random = Call::Random {
        distribution: Distribution::Normal,
        dims: &[2],
        dtype: DType::I32,
        seed: 0,
        first: 0,
    };
    insta::assert_snapshot!(refused(&random, &[]), @"normal: is not defined for i32, only for floats and complex numbers");
}

#[rstest]
#[case(ReduceOp::Sum, DType::F32, DType::F64, &[0], "sum: of f32 cannot give f64, only f32")]
#[case(ReduceOp::Sum, DType::F16, DType::F64, &[0], "sum: of f16 cannot give f64, only f16 or f32")]
#[case(ReduceOp::Prod, DType::Bool, DType::Bool, &[0], "prod: of bool cannot give bool, only i64 or f64")]
#[case(ReduceOp::Min, DType::I32, DType::I64, &[0], "min: of i32 cannot give i64, only i32")]
#[case(ReduceOp::Max, DType::Complex64, DType::Complex64, &[0], "max: is not defined for complex64, only for types that have an order")]
#[case(ReduceOp::Any, DType::I32, DType::I32, &[0], "any: of i32 cannot give i32, only bool")]
#[case(ReduceOp::Sum, DType::F32, DType::F32, &[2], "sum: axis 2 is out of range for dims (2, 3)")]
#[case(ReduceOp::Sum, DType::F32, DType::F32, &[1, 0, 1], "sum: axis 1 is named twice in (1, 0, 1)")]
fn reduce(
    #[case] op: ReduceOp,
    #[case] dtype: DType,
    #[case] out: DType,
    #[case] axes: &[usize],
    #[case] text: &str,
) {
    let input = of(dtype);
    let call = Call::Reduce {
        op,
        input: input.view(),
        axes,
        dtype: out,
    };
    assert_eq!(refused(&call, &[input.bytes()]), text);
}

#[test]
fn lines() {
    let complex = of(DType::Complex64);
    let arg = Call::ArgReduce {
        op: ArgOp::ArgMin,
        input: complex.view(),
        axes: &[0],
    };
    insta::assert_snapshot!(refused(&arg, &[48]), @"argmin: is not defined for complex64, only for types that have an order");
    let scan = Call::Scan {
        op: ScanOp::Max,
        input: complex.view(),
        axis: 0,
        dtype: DType::Complex64,
    };
    insta::assert_snapshot!(refused(&scan, &[48]), @"cummax: is not defined for complex64, only for types that have an order");
    let scan = Call::Scan {
        op: ScanOp::Sum,
        input: complex.view(),
        axis: 2,
        dtype: DType::Complex64,
    };
    insta::assert_snapshot!(refused(&scan, &[48]), @"cumsum: axis 2 is out of range for dims (2, 3)");
}

#[test]
fn indices() {
    let input = of(DType::F32);
    let float = of(DType::F32);
    let gather = Call::Gather {
        input: input.view(),
        index: float.view(),
        axis: 0,
    };
    insta::assert_snapshot!(refused(&gather, &[24, 24]), @"gather: the index is f32; it must be i64, i32, u32 or u8");
    let index = Tensor::range(DType::I64, &[2, 4]);
    let gather = Call::Gather {
        input: input.view(),
        index: index.view(),
        axis: 0,
    };
    insta::assert_snapshot!(refused(&gather, &[24, 64]), @"gather: the index has dims (2, 4) and input has dims (2, 3); the ranks must be equal, and the index no longer except along axis 0");
    let select = Call::IndexSelect {
        input: input.view(),
        index: index.view(),
        axis: 0,
    };
    insta::assert_snapshot!(refused(&select, &[24, 64]), @"index_select: the index has dims (2, 4); it must have rank 1");
    let flat = Tensor::range(DType::I64, &[4]);
    let select = Call::IndexSelect {
        input: input.view(),
        index: flat.view(),
        axis: 2,
    };
    insta::assert_snapshot!(refused(&select, &[24, 32]), @"index_select: axis 2 is out of range for dims (2, 3)");
    let scatter = |src: &Tensor, axis| {
        refused(
            &Call::Scatter {
                mode: ScatterMode::Add,
                base: input.view(),
                index: index.view(),
                src: src.view(),
                axis,
            },
            &[24, 64, src.bytes()],
        )
    };
    insta::assert_snapshot!(scatter(&of(DType::F32), 1), @"scatter_add: the index has dims (2, 4) and src has dims (2, 3); they must be equal");
    insta::assert_snapshot!(scatter(&of(DType::F64), 1), @"scatter_add: base is f32 and src is f64; cast one of them");
    insta::assert_snapshot!(scatter(&of(DType::F32), 0), @"scatter_add: the index has dims (2, 4) and base has dims (2, 3); the ranks must be equal, and the index no longer except along axis 0");
}

#[test]
fn products() {
    let call = |lhs: &Tensor, rhs: &Tensor, alpha, bias: Option<(&Tensor, DType)>| {
        let mut lengths = vec![lhs.bytes(), rhs.bytes()];
        lengths.extend(bias.map(|(bias, _)| bias.bytes()));
        let call = Call::Matmul {
            lhs: Factor::plain(lhs.view()),
            rhs: Factor::plain(rhs.view()),
            alpha: Scalar::one(alpha),
            bias: bias.map(|(bias, beta)| (bias.view(), Scalar::one(beta))),
        };
        refused(&call, &lengths)
    };
    let f32 = DType::F32;
    let (lhs, rhs) = (of(f32), Tensor::range(f32, &[3, 2]));
    insta::assert_snapshot!(call(&Tensor::range(f32, &[3]), &rhs, f32, None), @"matmul: lhs has dims (3); a matrix has rank 2 or more");
    insta::assert_snapshot!(call(&lhs, &Tensor::range(f32, &[]), f32, None), @"matmul: rhs has dims (); a matrix has rank 2 or more");
    insta::assert_snapshot!(call(&lhs, &rhs, DType::F64, None), @"matmul: alpha is f64 and lhs is f32; cast one of them");
    insta::assert_snapshot!(call(&of(DType::Bool), &of(DType::Bool), DType::Bool, None), @"matmul: is not defined for bool, only for integers, floats and complex numbers");
    let batch = |n| Tensor::range(f32, &[n, 2, 2]);
    insta::assert_snapshot!(call(&batch(2), &batch(3), f32, None), @"matmul: lhs has dims (2, 2, 2) and rhs has dims (3, 2, 2); the batch dims (2) and (3) do not broadcast");
    insta::assert_snapshot!(call(&lhs, &rhs, f32, Some((&Tensor::range(f32, &[3]), f32))), @"matmul: the bias has dims (3), which do not broadcast to the product's (2, 2)");
    insta::assert_snapshot!(call(&lhs, &rhs, f32, Some((&batch(1), f32))), @"matmul: the bias has dims (1, 2, 2), which do not broadcast to the product's (2, 2)");
    insta::assert_snapshot!(call(&lhs, &rhs, f32, Some((&of(DType::F64), f32))), @"matmul: the bias is f64 and lhs is f32; cast one of them");
    insta::assert_snapshot!(call(&lhs, &rhs, f32, Some((&Tensor::range(f32, &[2]), DType::F64))), @"matmul: beta is f64 and lhs is f32; cast one of them");
}

#[test]
fn concats() {
    let call = |inputs: &[&Tensor], axis| {
        let lengths: Vec<usize> = inputs.iter().map(|input| input.bytes()).collect();
        let views: Vec<View<'_>> = inputs.iter().map(|input| input.view()).collect();
        refused(
            &Call::Concat {
                inputs: &views,
                axis,
            },
            &lengths,
        )
    };
    let f32 = DType::F32;
    insta::assert_snapshot!(call(&[], 0), @"concat: was given no input");
    insta::assert_snapshot!(call(&[&of(f32), &of(DType::F64)], 0), @"concat: input 0 is f32 and input 1 is f64; cast one of them");
    insta::assert_snapshot!(call(&[&of(f32), &Tensor::range(f32, &[2, 4])], 0), @"concat: input 0 has dims (2, 3) and input 1 has dims (2, 4); they may differ only at axis 0");
    insta::assert_snapshot!(call(&[&of(f32), &Tensor::range(f32, &[3])], 0), @"concat: input 0 has dims (2, 3) and input 1 has dims (3); they may differ only at axis 0");
    insta::assert_snapshot!(call(&[&of(f32)], 2), @"concat: axis 2 is out of range for dims (2, 3)");
}
