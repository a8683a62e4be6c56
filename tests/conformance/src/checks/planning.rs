//! The support table, `plan` and `execute` say the same.

use crate::checks::elementwise::{has_binary, has_compare, has_unary, unary_output};
use crate::checks::lines::sums_to;
use crate::claim::Claim;
use crate::cx::Cx;
use crate::data::number;
use crate::layout::{Array, Form, Layout};
use crate::outcome::{Outcome, Stop, ensure, equal};
use crate::value::Val;
use gpu_seam::{
    ArgOp, BinaryOp, CompareOp, DType, Distribution, Execute, Family, Gemm, GpuError, Matrix, Op,
    Operand, ReduceOp, Scalar, ScanOp, ScatterMode, UnaryOp, View,
};

const LINE: [usize; 1] = [6];
const STEP: [isize; 1] = [1];
const CUBE: [usize; 3] = [1, 6, 1];
const CUBE_STEPS: [isize; 3] = [6, 1, 1];
const POINT: [usize; 2] = [1, 1];
const POINT_STEPS: [isize; 2] = [1, 1];

const SQUARE: [usize; 2] = [2, 2];
const SQUARE_STEPS: [isize; 2] = [2, 1];

const fn line(dtype: DType) -> View<'static> {
    View::new(dtype, 0, &LINE, &STEP)
}

const fn cube(dtype: DType) -> View<'static> {
    View::new(dtype, 0, &CUBE, &CUBE_STEPS)
}

const fn point(dtype: DType) -> View<'static> {
    View::new(dtype, 0, &POINT, &POINT_STEPS)
}

/// Every operation of a family that there is for a type, small and contiguous.
fn operations(family: Family, dtype: DType) -> Vec<Op<'static>> {
    let view = Operand::View(line(dtype));
    let out = line(dtype);
    let input = line(dtype);
    let scalar = Operand::Scalar(Scalar::one(dtype));
    let condition = line(DType::Bool);
    match family {
        Family::Fill => vec![Op::Fill {
            out,
            value: Scalar::one(dtype),
        }],
        Family::Copy => {
            let casts = DType::ALL.into_iter().map(|to| Op::Copy {
                out: line(to),
                input,
            });
            std::iter::once(Op::Copy { out, input })
                .chain(casts)
                .collect()
        }
        Family::Unary => {
            let ops = UnaryOp::ALL.into_iter().filter(|op| has_unary(*op, dtype));
            ops.map(|op| Op::Unary {
                op,
                out: line(unary_output(op, dtype)),
                input,
            })
            .collect()
        }
        Family::Binary => {
            let ops = BinaryOp::ALL
                .into_iter()
                .filter(|op| has_binary(*op, dtype));
            ops.flat_map(|op| {
                [(view, view), (view, scalar), (scalar, view)].map(|(lhs, rhs)| Op::Binary {
                    op,
                    out,
                    lhs,
                    rhs,
                })
            })
            .collect()
        }
        Family::Compare => {
            let ops = CompareOp::ALL
                .into_iter()
                .filter(|op| has_compare(*op, dtype));
            let out = line(DType::Bool);
            ops.flat_map(|op| {
                [(view, view), (view, scalar), (scalar, view)].map(|(lhs, rhs)| Op::Compare {
                    op,
                    out,
                    lhs,
                    rhs,
                })
            })
            .collect()
        }
        Family::Select => [
            (view, view),
            (view, scalar),
            (scalar, view),
            (scalar, scalar),
        ]
        .map(|(on_true, on_false)| Op::Select {
            out,
            condition,
            on_true,
            on_false,
        })
        .to_vec(),
        Family::Reduce => reductions(dtype),
        Family::ArgReduce if !dtype.is_complex() => ArgOp::ALL
            .map(|op| Op::ArgReduce {
                op,
                out: point(DType::I64),
                input: cube(dtype),
            })
            .to_vec(),
        Family::Scan => scans(dtype),
        Family::Gather => indices(|index| Op::Gather {
            out,
            input,
            index,
            axis: 0,
        }),
        Family::Scatter => ScatterMode::ALL
            .into_iter()
            .flat_map(|mode| {
                indices(|index| Op::Scatter {
                    mode,
                    out,
                    index,
                    src: input,
                    axis: 0,
                })
            })
            .collect(),
        Family::Gemm => vec![Op::Gemm(gemm(dtype))],
        Family::Random if dtype.is_float() || dtype.is_complex() => Distribution::ALL
            .map(|distribution| Op::Random {
                distribution,
                out,
                seed: 1,
                first: 2,
            })
            .to_vec(),
        _ => Vec::new(),
    }
}

fn reductions(dtype: DType) -> Vec<Op<'static>> {
    let input = cube(dtype);
    let mut all = Vec::new();
    for &to in sums_to(dtype) {
        for op in [ReduceOp::Sum, ReduceOp::Prod] {
            all.push(Op::Reduce {
                op,
                out: point(to),
                input,
            });
        }
    }
    if !dtype.is_complex() {
        for op in [ReduceOp::Min, ReduceOp::Max] {
            all.push(Op::Reduce {
                op,
                out: point(dtype),
                input,
            });
        }
    }
    for op in [ReduceOp::Any, ReduceOp::All] {
        all.push(Op::Reduce {
            op,
            out: point(DType::Bool),
            input,
        });
    }
    all
}

fn scans(dtype: DType) -> Vec<Op<'static>> {
    let input = cube(dtype);
    let mut all = Vec::new();
    for &to in sums_to(dtype) {
        for op in [ScanOp::Sum, ScanOp::Prod] {
            all.push(Op::Scan {
                op,
                out: cube(to),
                input,
            });
        }
    }
    if !dtype.is_complex() {
        for op in [ScanOp::Min, ScanOp::Max] {
            all.push(Op::Scan {
                op,
                out: cube(dtype),
                input,
            });
        }
    }
    all
}

fn indices(op: impl Fn(View<'static>) -> Op<'static>) -> Vec<Op<'static>> {
    crate::checks::index::INDICES
        .map(|by| op(line(by)))
        .to_vec()
}

fn gemm(dtype: DType) -> Gemm {
    let matrix = Matrix {
        offset: 0,
        ld: 2,
        batch_stride: 4,
        transposed: false,
        conjugated: false,
    };
    let (alpha, beta) = (Scalar::one(dtype), Scalar::zero(dtype));
    Gemm {
        dtype,
        batch: 1,
        m: 2,
        n: 2,
        k: 2,
        alpha,
        beta,
        out: matrix,
        lhs: matrix,
        rhs: matrix,
    }
}

/// What the table claims is planned, what it denies is refused by name, and a claim of something
/// that does not exist is told on.
pub(crate) fn plan_agrees_with_support_table<V: Execute>(cx: &Cx<V>) -> Outcome {
    let table = cx.capabilities().support;
    for family in Family::ALL {
        for dtype in DType::ALL {
            let all = operations(family, dtype);
            ensure(!table.serves(family, dtype) || !all.is_empty(), || {
                format!("the table claims {family} of {dtype}, which does not exist")
            })?;
            for op in all {
                match cx.claim(&op) {
                    Ok(_) | Err(Stop::Unsupported(_)) => {}
                    Err(stop) => return Err(stop.within(format!("{op:?}"))),
                }
            }
        }
    }
    Ok(())
}

/// Whatever plan accepts executes, and touches what it may.
pub(crate) fn plan_agrees_with_execute<V: Execute>(cx: &Cx<V>) -> Outcome {
    let mut ran = 0;
    for family in Family::ALL {
        for dtype in DType::ALL {
            for op in operations(family, dtype) {
                if cx.driver().plan(&op).is_err() {
                    continue;
                }
                run(cx, &op).map_err(|stop| stop.within(format!("{op:?}")))?;
                ran += 1;
            }
        }
    }
    ensure(ran > 0, || String::from("plan accepts nothing at all"))
}

/// Runs an operation of this file on ones.
fn run<V: Execute>(cx: &Cx<V>, op: &Op<'static>) -> Outcome {
    let mut arrays = Vec::new();
    let mut ones = |view: View<'static>| {
        let layout = Layout {
            dims: view.dims.to_vec(),
            strides: view.strides.to_vec(),
            offset: 0,
            span: 6,
        };
        let values = vec![number(view.dtype, 1); layout.elements()];
        arrays.push(Array::new(view.dtype, layout, &values));
        view
    };
    if let Op::Gemm(gemm) = op {
        let view = View::new(gemm.dtype, 0, &SQUARE, &SQUARE_STEPS);
        let _ = [view; 3].map(&mut ones);
    } else {
        // The visit is wanted, not the operation it gives back.
        let _ = op.map_views(&mut ones);
    }
    let Some((out, inputs)) = arrays.split_first() else {
        return Err(Stop::failed(
            "an operation without output: a slip of the suite",
        ));
    };
    let inputs: Vec<_> = inputs.iter().collect();
    cx.launch(op, out, &inputs).map(drop)
}

/// The same operation gets the same answer, whenever asked, and asking allocates nothing.
pub(crate) fn plan_is_pure<V: Execute>(cx: &Cx<V>) -> Outcome {
    let answer = |op: &Op<'_>| cx.driver().plan(op).map(|scratch| scratch.bytes);
    for family in Family::ALL {
        for dtype in DType::ALL {
            for op in operations(family, dtype) {
                let first = answer(&op);
                equal(&format!("the second answer for {op:?}"), answer(&op), first)?;
            }
        }
    }
    // Far larger than any memory, and planned all the same, or refused as unsupported.
    let dims = [1usize << 40];
    let view = View::new(DType::F32, 0, &dims, &[1]);
    let value = Scalar::one(DType::F32);
    match cx.driver().plan(&Op::Fill { out: view, value }) {
        Ok(_) | Err(GpuError::Unsupported { .. }) => Ok(()),
        Err(other) => Err(Stop::Failed(format!("plan of a huge fill answers {other}"))),
    }
}

/// A view of the rank that the capabilities name is served by fill and copy.
pub(crate) fn highest_rank<V: Execute>(cx: &Cx<V>) -> Outcome {
    let rank = cx.capabilities().strided_rank;
    ensure((3..=gpu_seam::MAX_RANK).contains(&rank), || {
        format!("strided_rank is {rank}")
    })?;
    // Twos where they fit in a small buffer, ones elsewhere, each dimension walked backwards.
    let mut dims = vec![1; rank];
    dims.iter_mut()
        .rev()
        .step_by(rank.div_ceil(8))
        .for_each(|dim| *dim = 2);
    let layout = Form::Reversed.of(&dims);
    let values: Vec<_> = (0..layout.elements())
        .map(|at| Val::Real(at as f64))
        .collect();
    let input = Array::new(DType::F32, layout, &values);
    let out = Array::blank(DType::F32, Form::Transposed.of(&dims));
    let op = Op::Copy {
        out: out.view(),
        input: input.view(),
    };
    if cx.claim_of(&op) == Claim::Denied {
        return cx.claim(&op).map(drop);
    }
    let launched = cx.launch(&op, &out, &[&input])?;
    equal("the values", launched.out.values(), values)
}
