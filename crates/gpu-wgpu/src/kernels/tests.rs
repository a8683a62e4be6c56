//! Every kernel that an operation can ask for is valid WGSL, and one of each family is shown.

use super::testing::validate;
use super::{Kernel, lower};
use gpu_seam::{
    ArgOp, BinaryOp, CompareOp, DType, Distribution, Gemm, Matrix, Op, Operand, ReduceOp, Scalar,
    ScanOp, ScatterMode, UnaryOp, View,
};
use std::collections::HashSet;

/// Dims and strides: contiguous, apart, turned, of high rank.
const LAYOUTS: [(&[usize], &[isize]); 4] = [
    (&[5], &[1]),
    (&[5], &[3]),
    (&[2, 3, 4], &[1, 2, 6]),
    (&[2, 2, 2, 2, 2], &[1, 2, 4, 8, 16]),
];

fn kernels(op: &Op<'_>) -> Vec<Kernel> {
    let lowered = [false, true].map(|tiles| lower(op, tiles).unwrap());
    let launches = lowered
        .into_iter()
        .flatten()
        .flat_map(|(launches, _)| launches);
    let mut kernels = Vec::new();
    for launch in launches {
        if !kernels.contains(&launch.kernel) {
            kernels.push(launch.kernel);
        }
    }
    kernels
}

fn valid(ops: &[Op<'_>]) -> usize {
    let all: HashSet<_> = ops.iter().flat_map(kernels).collect();
    for kernel in &all {
        validate(&kernel.source());
    }
    all.len()
}

fn view(dtype: DType, (dims, strides): (&'static [usize], &'static [isize])) -> View<'static> {
    View::new(dtype, 1, dims, strides)
}

#[test]
fn moves_and_casts() {
    let mut ops = Vec::new();
    for to in DType::ALL {
        for layout in LAYOUTS {
            let out = view(to, layout);
            ops.push(Op::Fill {
                out,
                value: Scalar::one(to),
            });
            ops.push(Op::Select {
                out,
                condition: view(DType::Bool, layout),
                on_true: Operand::View(out),
                on_false: Operand::Scalar(Scalar::one(to)),
            });
            for from in DType::ALL {
                ops.push(Op::Copy {
                    out,
                    input: view(from, layout),
                });
            }
        }
    }
    assert!(valid(&ops) > 132);
}

#[test]
fn functions_of_elements() {
    let mut ops = Vec::new();
    for dtype in DType::ALL {
        for layout in LAYOUTS {
            let input = view(dtype, layout);
            let scalar = Operand::Scalar(Scalar::one(dtype));
            for op in UnaryOp::ALL {
                for dtype in [dtype, dtype.real(), DType::Bool] {
                    let out = view(dtype, layout);
                    ops.push(Op::Unary { op, out, input });
                }
            }
            for op in BinaryOp::ALL {
                let (lhs, rhs) = (Operand::View(input), Operand::View(input));
                let out = input;
                ops.push(Op::Binary { op, out, lhs, rhs });
                let rhs = scalar;
                ops.push(Op::Binary { op, out, lhs, rhs });
            }
            for op in CompareOp::ALL {
                let (lhs, rhs) = (scalar, Operand::View(input));
                let out = view(DType::Bool, layout);
                ops.push(Op::Compare { op, out, lhs, rhs });
            }
        }
    }
    assert!(valid(&ops) > 222);
}

#[test]
fn lines() {
    let mut ops = Vec::new();
    let inputs: [([usize; 3], [isize; 3]); 3] = [
        ([3, 10, 4], [40, 4, 1]),
        ([3, 100, 4], [400, 4, 1]),
        ([1, 1 << 20, 2], [1 << 21, 1, 1 << 20]),
    ];
    let outs = inputs.map(|(dims, _)| [dims[0], dims[2]]);
    let apart = outs.map(|outs| [2 * outs[1].cast_signed(), 2]);
    for (at, (dims, strides)) in inputs.iter().enumerate() {
        for dtype in DType::ALL {
            let input = View::new(dtype, 1, dims, strides);
            for to in DType::ALL {
                let out = View::new(to, 1, &outs[at], &apart[at]);
                for op in ReduceOp::ALL {
                    ops.push(Op::Reduce { op, out, input });
                }
                for op in ArgOp::ALL {
                    ops.push(Op::ArgReduce { op, out, input });
                }
                let out = View::new(to, 1, dims, strides);
                for op in ScanOp::ALL {
                    ops.push(Op::Scan { op, out, input });
                }
            }
        }
    }
    assert!(valid(&ops) > 100);
}

#[test]
fn lookups() {
    let mut ops = Vec::new();
    for dtype in DType::ALL {
        for layout in LAYOUTS {
            let input = view(dtype, layout);
            for index in [DType::I64, DType::I32, DType::U32, DType::U8] {
                let index = view(index, layout);
                let (out, src, axis) = (input, input, 0);
                ops.push(Op::Gather {
                    out,
                    input,
                    index,
                    axis,
                });
                for mode in ScatterMode::ALL {
                    ops.push(Op::Scatter {
                        mode,
                        out,
                        index,
                        src,
                        axis,
                    });
                }
            }
        }
    }
    assert!(valid(&ops) > 100);
}

fn product(dtype: DType, [m, n, k]: [usize; 3], beta: Scalar, transposed: bool) -> Op<'static> {
    let matrix = Matrix {
        offset: 1,
        ld: 256,
        batch_stride: 1 << 16,
        transposed,
        conjugated: transposed,
    };
    Op::Gemm(Gemm {
        dtype,
        batch: 2,
        m,
        n,
        k,
        alpha: Scalar::one(dtype),
        beta,
        out: Matrix {
            transposed: false,
            conjugated: false,
            ..matrix
        },
        lhs: matrix,
        rhs: matrix,
    })
}

#[test]
fn products_and_random_numbers() {
    let mut ops = Vec::new();
    for dtype in DType::ALL {
        for transposed in [false, true] {
            for sizes in [[1, 2, 0], [1, 2, 7], [40, 200, 0], [40, 200, 7]] {
                ops.push(product(dtype, sizes, Scalar::zero(dtype), transposed));
                ops.push(product(dtype, sizes, Scalar::one(dtype), transposed));
            }
        }
        for distribution in Distribution::ALL {
            for layout in &LAYOUTS[..1] {
                ops.push(Op::Random {
                    distribution,
                    out: view(dtype, *layout),
                    seed: 1,
                    first: 2,
                });
            }
        }
    }
    // In tiles; straight from memory, in large blocks and in small ones, where conjugation counts but no transposition.
    assert_eq!(valid(&ops), 12 * 6 + 2 * (12 * 4 + 2 * 2) + 6 * 2);
    validate(&Kernel::Bytes.source());
}

/// What the texts look like: one of each family.
#[test]
fn texts() {
    let flat = LAYOUTS[0];
    let show = |name: &str, op: &Op<'_>| {
        for (at, kernel) in kernels(op).iter().enumerate() {
            insta::assert_snapshot!(format!("{name}_{at}"), kernel.source());
        }
    };
    let f32s = view(DType::F32, flat);
    show(
        "add_f32",
        &Op::Binary {
            op: BinaryOp::Add,
            out: f32s,
            lhs: Operand::View(f32s),
            rhs: Operand::View(f32s),
        },
    );
    show(
        "equal_u8_strided",
        &Op::Compare {
            op: CompareOp::Eq,
            out: view(DType::Bool, LAYOUTS[2]),
            lhs: Operand::View(view(DType::U8, LAYOUTS[2])),
            rhs: Operand::Scalar(Scalar::one(DType::U8)),
        },
    );
    let dims = [1, 1 << 20, 1];
    let input = View::new(DType::F16, 0, &dims, &[1 << 20, 1, 1]);
    show(
        "sum_f16",
        &Op::Reduce {
            op: ReduceOp::Sum,
            out: View::new(DType::F32, 0, &[1, 1], &[1, 1]),
            input,
        },
    );
    show(
        "argmax_f16",
        &Op::ArgReduce {
            op: ArgOp::ArgMax,
            out: View::new(DType::I64, 0, &[1, 1], &[1, 1]),
            input,
        },
    );
    show(
        "cumsum_i32",
        &Op::Scan {
            op: ScanOp::Sum,
            out: View::new(DType::I64, 0, &dims, &[1 << 20, 1, 1]),
            input: View::new(DType::I32, 0, &dims, &[1 << 20, 1, 1]),
        },
    );
    show(
        "gather_f32",
        &Op::Gather {
            out: f32s,
            input: f32s,
            index: view(DType::I64, flat),
            axis: 0,
        },
    );
    show(
        "scatter_c64",
        &Op::Scatter {
            mode: ScatterMode::Set,
            out: view(DType::Complex64, flat),
            index: view(DType::I32, flat),
            src: view(DType::Complex64, flat),
            axis: 0,
        },
    );
    show(
        "scatter_add_f16",
        &Op::Scatter {
            mode: ScatterMode::Add,
            out: view(DType::F16, flat),
            index: view(DType::I32, flat),
            src: view(DType::F16, flat),
            axis: 0,
        },
    );
    show(
        "gemm_f32",
        &product(DType::F32, [40, 200, 7], Scalar::zero(DType::F32), false),
    );
    show(
        "uniform_f16",
        &Op::Random {
            distribution: Distribution::Uniform,
            out: view(DType::F16, flat),
            seed: 0,
            first: 0,
        },
    );
    insta::assert_snapshot!("bytes", Kernel::Bytes.source());
}
