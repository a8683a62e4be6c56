//! Devices that take fewer dimensions or bytes than a call has.

use super::{Tensor, checked, free, limited, lower};
use crate::call::{Call, Factor};
use crate::canonical::Lowered;
use gpu_seam::{
    ArgOp, BinaryOp, Capabilities, DType, GpuError, Op, Operand, ReduceOp, Scalar, ScanOp,
    ScatterMode, View,
};
use rstest::rstest;

const F32: DType = DType::F32;
const MIB: usize = 1 << 20;

fn names(lowered: &Lowered) -> Vec<&'static str> {
    let steps = lowered.steps.iter();
    steps.map(|step| step.op().name()).collect()
}

/// The steps of a call on contiguous operands too large to hold in a test.
fn planned(call: &Call<'_>, bytes: &[usize], capabilities: &Capabilities) -> Lowered {
    let lowered = lower(call, bytes, capabilities).unwrap();
    super::promises::check(&lowered, bytes, capabilities);
    lowered
}

fn unsupported(call: &Call<'_>, inputs: &[&Tensor], capabilities: &Capabilities) -> String {
    let lengths: Vec<usize> = inputs.iter().map(|input| input.bytes()).collect();
    let error = lower(call, &lengths, capabilities).unwrap_err();
    assert!(matches!(error.cause(), Some(GpuError::Unsupported { .. })));
    error.to_string()
}

#[test]
fn an_argument_is_the_whole_storage_where_that_fits() {
    let input = Tensor::range(F32, &[100]).viewed(9, &[10], &[-1]);
    let call = Call::Copy {
        input: input.view(),
        dtype: F32,
    };
    let lowered = checked(&call, &[&input], &limited(3, 400, 256));
    let arg = lowered.steps[0].args[1];
    assert_eq!((arg.offset, arg.len), (0, 400));
}

#[test]
fn an_argument_is_a_window_where_the_storage_does_not_fit() {
    let input = Tensor::range(F32, &[300]).viewed(209, &[10], &[-1]);
    let call = Call::Copy {
        input: input.view(),
        dtype: F32,
    };
    let lowered = checked(&call, &[&input], &limited(3, 512, 256));
    let arg = lowered.steps[0].args[1];
    // Elements 200 to 209 are bytes 800 to 839.
    assert_eq!((lowered.steps.len(), arg.offset, arg.len), (1, 768, 72));
}

#[test]
fn large_operands_take_few_pieces() {
    let device = limited(8, 128 * MIB, 256);
    let dims = [1280 * MIB];
    let view = Operand::View(View::new(F32, 0, &dims, &[1]));
    let add = Call::Binary {
        op: BinaryOp::Add,
        lhs: view,
        rhs: view,
    };
    let bytes = 4 * dims[0];
    assert_eq!(planned(&add, &[bytes, bytes], &device).steps.len(), 40);
    let square = [16_384, 16_384];
    let copy = Call::Copy {
        input: View::new(F32, 0, &square, &[1, 16_384]),
        dtype: F32,
    };
    // Eight windows of rows for one side, times eight of columns for the other.
    assert_eq!(planned(&copy, &[1024 * MIB], &device).steps.len(), 64);
    let sum = Call::Reduce {
        op: ReduceOp::Sum,
        input: View::new(F32, 0, &dims, &[1]),
        axes: &[0],
        dtype: F32,
    };
    assert_eq!(planned(&sum, &[bytes], &device).steps.len(), 41);
    let factor = Factor::plain(View::new(F32, 0, &square, &[16_384, 1]));
    let product = Call::Matmul {
        lhs: factor,
        rhs: factor,
        alpha: Scalar::one(F32),
        bias: None,
    };
    let steps = planned(&product, &[1024 * MIB; 2], &device).steps;
    assert_eq!(steps.len(), 64);
}

#[rstest]
#[case::f16(DType::F16, DType::F16, &["sum", "sum", "sum", "sum", "copy"])]
#[case::f16_to_f32(DType::F16, F32, &["sum", "sum", "sum", "sum"])]
#[case::f32(F32, F32, &["sum", "sum", "sum", "sum", "sum", "sum"])]
#[case::i32(DType::I32, DType::I64, &["sum", "sum", "sum", "sum", "sum", "sum"])]
fn a_long_line_is_summed_in_parts(
    #[case] dtype: DType,
    #[case] out: DType,
    #[case] expected: &[&str],
) {
    let input = Tensor::range(dtype, &[600]);
    let call = Call::Reduce {
        op: ReduceOp::Sum,
        input: input.view(),
        axes: &[0],
        dtype: out,
    };
    let lowered = checked(&call, &[&input], &limited(3, 512, 4));
    assert_eq!(names(&lowered), expected);
}

#[rstest]
#[case::columns(&[40, 30], &[0])]
#[case::middle(&[5, 40, 6], &[1])]
#[case::outer_and_inner(&[40, 5, 40], &[0, 2])]
fn lines_are_cut_whatever_is_around_them(#[case] dims: &[usize], #[case] axes: &[usize]) {
    for dtype in [DType::BF16, DType::F64] {
        let input = Tensor::range(dtype, dims);
        let call = Call::Reduce {
            op: ReduceOp::Sum,
            input: input.view(),
            axes,
            dtype,
        };
        for bytes in [64, 300, 1000] {
            checked(&call, &[&input], &limited(3, bytes, 16));
        }
    }
}

#[test]
fn positions_and_running_sums_are_cut_between_lines_only() {
    let input = Tensor::range(F32, &[6, 100]);
    let arg = Call::ArgReduce {
        op: ArgOp::ArgMax,
        input: input.view(),
        axes: &[1],
    };
    let scan = Call::Scan {
        op: ScanOp::Sum,
        input: input.view(),
        axis: 1,
        dtype: F32,
    };
    for call in [arg, scan] {
        let lowered = checked(&call, &[&input], &limited(3, 900, 4));
        assert_eq!(lowered.steps.len(), 3);
    }
    let narrow = limited(3, 300, 4);
    insta::assert_snapshot!(unsupported(&arg, &[&input], &narrow), @"argmax: argmax is not served: an operand spans 100 elements of f32 that stay together, and one argument may have 300 bytes on this device");
    insta::assert_snapshot!(unsupported(&scan, &[&input], &narrow), @"cumsum: cumsum is not served: an operand spans 100 elements of f32 that stay together, and one argument may have 300 bytes on this device");
}

#[test]
fn lookups_are_cut_around_the_axis() {
    let input = Tensor::range(F32, &[20, 3, 5]);
    let rows = Tensor::new(DType::I32, &[200], (0..200).map(|at| at * 7 % 20).collect());
    let select = |axis| Call::IndexSelect {
        input: input.view(),
        index: rows.view(),
        axis,
    };
    // The looked-up side is small enough, the output is not.
    let lowered = checked(&select(0), &[&input, &rows], &limited(3, 1300, 4));
    assert!(lowered.steps.len() > 8);
    let narrow = limited(3, 600, 4);
    insta::assert_snapshot!(unsupported(&select(0), &[&input, &rows], &narrow), @"index_select: index_select is not served: an operand spans 286 elements of f32 that stay together, and one argument may have 600 bytes on this device");
    let many = Tensor::new(DType::I32, &[2000], vec![3; 2000]);
    let select = Call::IndexSelect {
        input: input.view(),
        index: many.view(),
        axis: 0,
    };
    let device = limited(3, 1300, 4);
    insta::assert_snapshot!(unsupported(&select, &[&input, &many], &device), @"index_select: index_select is not served: takes more than 32 lookups of 1300 bytes an argument");
    let few = Tensor::new(DType::I32, &[9], (0..9).map(|at| at % 5).collect());
    let last = Call::IndexSelect {
        input: input.view(),
        index: few.view(),
        axis: 2,
    };
    checked(&last, &[&input, &few], &limited(3, 100, 4));
    let base = Tensor::range(F32, &[7, 60]);
    let src = Tensor::range(F32, &[7, 90]);
    let index = Tensor::new(
        DType::I64,
        &[7, 90],
        (0..630).map(|at| at * 11 % 60).collect(),
    );
    let scatter = Call::Scatter {
        mode: ScatterMode::Add,
        base: base.view(),
        index: index.view(),
        src: src.view(),
        axis: 1,
    };
    let inputs = [&base, &index, &src];
    checked(&scatter, &inputs, &limited(3, 500, 4));
    insta::assert_snapshot!(unsupported(&scatter, &inputs, &limited(3, 200, 4)), @"scatter_add: scatter_add is not served: an operand spans 60 elements of f32 that stay together, and one argument may have 200 bytes on this device");
}

#[test]
fn a_narrowed_scatter_of_many_dimensions_works_on_a_copy() {
    let base = Tensor::range(F32, &[3; 8]);
    let src = Tensor::range(F32, &[2; 8]);
    let index = Tensor::new(DType::I64, &[2; 8], (0..256).map(|at| at % 3).collect());
    let call = Call::Scatter {
        mode: ScatterMode::Add,
        base: base.view(),
        index: index.view(),
        src: src.view(),
        axis: 3,
    };
    for rank in [3, 4, 6] {
        checked(&call, &[&base, &index, &src], &limited(rank, usize::MAX, 1));
    }
}

#[rstest]
#[case::plain(&[30, 200], &[0, 1], &[200, 9], &[0, 1])]
#[case::left_transposed(&[200, 30], &[1, 0], &[200, 9], &[0, 1])]
#[case::right_transposed(&[30, 200], &[0, 1], &[9, 200], &[1, 0])]
#[case::batched(&[5, 60, 7], &[0, 2, 1], &[60, 40], &[0, 1])]
#[case::one_row(&[1, 200], &[0, 1], &[200, 9], &[0, 1])]
#[case::batch_backwards(&[4, 3, 200], &[0, 1, 2], &[4, 200, 3], &[0, 1, 2])]
fn products_are_cut(
    #[case] lhs: &[usize],
    #[case] left: &[usize],
    #[case] rhs: &[usize],
    #[case] right: &[usize],
) {
    for dtype in [F32, DType::BF16, DType::I64, DType::Complex64] {
        let lhs = Tensor::range(dtype, lhs).permuted(left);
        let rhs = Tensor::range(dtype, rhs).permuted(right);
        let bias = Tensor::range(dtype, &[rhs.dims[rhs.dims.len() - 1]]);
        let call = Call::Matmul {
            lhs: Factor {
                view: lhs.view(),
                conjugated: true,
            },
            rhs: Factor::plain(rhs.view()),
            alpha: Scalar::from_bits(dtype, 3),
            bias: Some((bias.view(), Scalar::from_bits(dtype, 2))),
        };
        for bytes in [512, 1000, 4096] {
            let lowered = checked(&call, &[&lhs, &rhs, &bias], &limited(3, bytes, 16));
            let sums = lowered.steps.iter().filter(|step| match step.op() {
                Op::Gemm(gemm) => gemm.beta == Scalar::one(dtype),
                _ => false,
            });
            let narrow = matches!(dtype, DType::BF16);
            assert!(
                !narrow || sums.count() == 0,
                "bf16 is summed in one product"
            );
        }
    }
}

#[test]
fn a_narrow_product_whose_rows_do_not_fit_is_refused() {
    let lhs = Tensor::range(DType::F16, &[2, 400]);
    let rhs = Tensor::range(DType::F16, &[400, 2]);
    let call = Call::Matmul {
        lhs: Factor::plain(lhs.view()),
        rhs: Factor::plain(rhs.view()),
        alpha: Scalar::one(DType::F16),
        bias: None,
    };
    insta::assert_snapshot!(unsupported(&call, &[&lhs, &rhs], &limited(3, 512, 4)), @"matmul: matmul is not served: an operand spans 400 elements of f16 that stay together, and one argument may have 512 bytes on this device");
}

#[test]
fn what_takes_absurdly_many_steps_is_refused() {
    let device = limited(3, 1 << 10, 1);
    let dims = [1 << 40];
    let call = Call::Fill {
        dims: &dims,
        value: Scalar::one(F32),
    };
    insta::assert_snapshot!(unsupported(&call, &[], &device), @"fill: fill is not served: takes at least 4294967296 steps on this device (views of rank 3, 1024 bytes an argument); the most is 65536");
    // Every other element along each of 20 dimensions: no two dimensions merge.
    let strides: Vec<isize> = (0..20).map(|at| 3isize.pow(19 - at)).collect();
    let bytes = 4 * strides.iter().sum::<isize>().cast_unsigned() + 4;
    let call = Call::Copy {
        input: View::new(F32, 0, &[2; 20], &strides),
        dtype: F32,
    };
    assert_eq!(lower(&call, &[bytes], &free()).unwrap().steps.len(), 1);
    let error = lower(&call, &[bytes], &limited(3, usize::MAX, 1)).unwrap_err();
    insta::assert_snapshot!(error.to_string(), @"copy: copy is not served: takes at least 131072 steps on this device (views of rank 3, 18446744073709551615 bytes an argument); the most is 65536");
}
