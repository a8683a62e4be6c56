//! Everything that is served runs, and nothing else does.

use crate::ops::support_table;
use crate::testing::{bytes, run, run_in_place, run_indexed, values};
use gpu_seam::{
    ArgOp, BinaryOp, CompareOp, DType, Distribution, Gemm, GpuError, Matrix, Op, Operand, ReduceOp,
    Scalar, ScanOp, ScatterMode, UnaryOp, View,
};

/// Every operation of every dtype in one small form, each output dtype included.
fn all_operations(mut visit: impl FnMut(Op<'_>)) {
    let line = |dtype| View::new(dtype, 0, &[2], &[1]);
    let cube = |dtype| View::new(dtype, 0, &[1, 2, 1], &[2, 1, 1]);
    let plane = |dtype| View::new(dtype, 0, &[1, 1], &[1, 1]);
    let matrix = Matrix {
        offset: 0,
        ld: 1,
        batch_stride: 1,
        transposed: false,
        conjugated: false,
    };
    for dtype in DType::ALL {
        let (view, one) = (line(dtype), Scalar::one(dtype));
        let operand = Operand::View(view);
        visit(Op::Fill {
            out: view,
            value: one,
        });
        visit(Op::Select {
            out: view,
            condition: line(DType::Bool),
            on_true: operand,
            on_false: Operand::Scalar(one),
        });
        visit(Op::Gemm(Gemm {
            dtype,
            batch: 1,
            m: 1,
            n: 1,
            k: 1,
            alpha: one,
            beta: one,
            out: matrix,
            lhs: matrix,
            rhs: matrix,
        }));
        for distribution in Distribution::ALL {
            visit(Op::Random {
                distribution,
                out: view,
                seed: 1,
                first: 2,
            });
        }
        for other in DType::ALL {
            let out = line(other);
            visit(Op::Copy { out, input: view });
            for op in UnaryOp::ALL {
                visit(Op::Unary {
                    op,
                    out,
                    input: view,
                });
            }
            for op in BinaryOp::ALL {
                visit(Op::Binary {
                    op,
                    out,
                    lhs: operand,
                    rhs: Operand::Scalar(one),
                });
            }
            for op in CompareOp::ALL {
                visit(Op::Compare {
                    op,
                    out,
                    lhs: Operand::Scalar(one),
                    rhs: operand,
                });
            }
            for op in ReduceOp::ALL {
                visit(Op::Reduce {
                    op,
                    out: plane(other),
                    input: cube(dtype),
                });
            }
            for op in ArgOp::ALL {
                visit(Op::ArgReduce {
                    op,
                    out: plane(other),
                    input: cube(dtype),
                });
            }
            for op in ScanOp::ALL {
                visit(Op::Scan {
                    op,
                    out: cube(other),
                    input: cube(dtype),
                });
            }
            visit(Op::Gather {
                out: view,
                input: view,
                index: line(other),
                axis: 0,
            });
            for mode in ScatterMode::ALL {
                visit(Op::Scatter {
                    mode,
                    out: view,
                    index: line(other),
                    src: view,
                    axis: 0,
                });
            }
        }
    }
}

#[test]
fn what_is_planned_executes_and_nothing_else_does() {
    let zeros = [0; 32];
    let table = support_table();
    let mut served = 0;
    all_operations(|op| {
        let inputs: usize = match op {
            Op::Fill { .. } | Op::Random { .. } => 0,
            Op::Gemm(_) | Op::Select { .. } => 2,
            _ => 1,
        };
        let ran = match op {
            Op::Gather { .. } | Op::Scatter { .. } => {
                run_indexed(&op, &zeros, [&zeros, &zeros]).map(|_| ())
            }
            _ => run(&op, &zeros, &vec![&zeros[..]; inputs]).map(|_| ()),
        };
        match ran {
            Ok(()) => {
                served += 1;
                assert!(
                    table.serves(op.family(), op.dtype()),
                    "{op:?} against the table"
                );
            }
            Err(GpuError::Unsupported { op: name, detail }) => {
                assert_eq!(name, op.name());
                assert!(detail.contains(op.dtype().name()), "{detail}");
                assert!(!detail.contains("bug"), "{op:?}: {detail}");
            }
            Err(other) => panic!("{op:?}: {other}"),
        }
    });
    assert!(served > 500, "{served}");
}

#[test]
fn the_table_claims_only_what_some_operation_serves() {
    let table = support_table();
    let mut seen = gpu_seam::SupportTable::default();
    all_operations(|op| {
        if crate::ops::plan(&op).is_ok() {
            let known = seen.dtypes(op.family()).iter().chain([op.dtype()]);
            let known: Vec<DType> = known.collect();
            seen = seen.with(op.family(), gpu_seam::DTypeSet::of(&known));
        }
    });
    assert_eq!(seen, table);
}

#[test]
fn a_strided_add() {
    let op = Op::Binary {
        op: BinaryOp::Add,
        out: View::new(DType::F32, 0, &[2, 2], &[2, 1]),
        lhs: Operand::View(View::new(DType::F32, 1, &[2, 2], &[1, 2])),
        rhs: Operand::View(View::new(DType::F32, 1, &[2, 2], &[0, -1])),
    };
    let (a, b) = ([0f32, 1., 2., 3., 4.], [10f32, 20.]);
    let out = run(&op, &[0; 16], &[&bytes(&a), &bytes(&b)]);
    let out: Vec<f32> = values(&out.unwrap());
    assert_eq!(out, [21., 13., 22., 14.]);
}

#[test]
fn an_input_may_be_the_output() {
    // 600 elements: more than two blocks. `x = x + x` reads what it writes.
    let numbers: Vec<f32> = (0u16..600).map(f32::from).collect();
    let view = View::new(DType::F32, 0, &[600], &[1]);
    let op = Op::Binary {
        op: BinaryOp::Add,
        out: view,
        lhs: Operand::View(view),
        rhs: Operand::View(view),
    };
    let out = run_in_place(&op, &bytes(&numbers), 2, &[]).unwrap();
    let doubled: Vec<f32> = numbers.iter().map(|x| x * 2.0).collect();
    assert_eq!(values::<f32>(&out), doubled);
}
