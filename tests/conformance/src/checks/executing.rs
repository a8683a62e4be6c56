//! What `execute` promises beside values: what it touches, what it keeps, faults and order.

use crate::compare::{Tolerance, judge};
use crate::cx::{Cx, range};
use crate::data::number;
use crate::layout::{Array, Form, Layout, pattern};
use crate::outcome::{Outcome, Stop, equal, same_bytes};
use crate::reference;
use crate::value::Val;
use gpu_seam::{BinaryOp, DType, Execute, Family, Op, Operand, Subnormals, View};

/// Bytes around the output view and in the gaps of its strides keep their value, and so do inputs:
/// core operations in every form, with the guards that every launch has.
pub(crate) fn execute_touches_only_the_output<V: Execute>(cx: &Cx<V>) -> Outcome {
    let dtype = DType::F32;
    let values: Vec<_> = (0..60).map(|at| Val::Real(f64::from(at))).collect();
    for to in Form::OUTPUTS {
        for from in Form::INPUTS {
            let dims = [3, 4, 5];
            let out = Array::blank(dtype, to.of(&dims));
            let input = Array::new(dtype, from.of(&dims), &values);
            let operand = Operand::View(input.view());
            let rhs = Operand::Scalar(Val::Real(1.0).scalar(dtype));
            let op = Op::Binary {
                op: BinaryOp::Add,
                out: out.view(),
                lhs: operand,
                rhs,
            };
            let launched = cx.launch(&op, &out, &[&input])?;
            let want = input.values().into_iter();
            let want: Vec<_> = want
                .map(|x| reference::binary(BinaryOp::Add, dtype, x, Val::Real(1.0)))
                .collect();
            judge(
                dtype,
                &launched.out.values(),
                &want,
                Tolerance::Exact,
                Subnormals::Kept,
            )
            .map_err(|stop| stop.within(format!("{from:?} to {to:?}")))?;
            let op = Op::Fill {
                out: out.view(),
                value: Val::Real(2.0).scalar(dtype),
            };
            cx.launch(&op, &out, &[])?;
        }
    }
    Ok(())
}

/// Dims, strides and the list of arguments may change right after the call.
pub(crate) fn execute_keeps_no_borrow<V: Execute>(cx: &Cx<V>) -> Outcome {
    let count = 1000;
    let bytes = |value: f32| value.to_le_bytes().repeat(count);
    let (lhs, rhs) = (cx.buffer_of(&bytes(1.0))?, cx.buffer_of(&bytes(2.0))?);
    let out = cx.buffer_of(&bytes(0.0))?;
    let stream = cx.driver().create_stream()?;
    let mut dims = vec![10, 100];
    let mut strides = vec![100isize, 1];
    {
        let view = View::new(DType::F32, 0, &dims, &strides);
        let (a, b) = (Operand::View(view), Operand::View(view));
        let op = Op::Binary {
            op: BinaryOp::Add,
            out: view,
            lhs: a,
            rhs: b,
        };
        let scratch = match cx.claim(&op)? {
            0 => None,
            bytes => Some(cx.driver().allocate(bytes)?),
        };
        let mut args: Vec<_> = [&out, &lhs, &rhs]
            .map(|buffer| range(buffer, 0, 4 * count))
            .into();
        cx.execute(&stream, &op, &args, scratch.as_ref().map(crate::cx::whole))?;
        args.reverse();
        args.truncate(1);
        drop(args);
        if let Some(scratch) = scratch {
            cx.finish(&stream)?;
            cx.free(scratch)?;
        }
    }
    dims.fill(1);
    strides.fill(7);
    cx.finish(&stream)?;
    same_bytes("the sum", &cx.read(&out, 0, 4 * count)?, &bytes(3.0))?;
    cx.driver().destroy_stream(stream)?;
    [lhs, rhs, out]
        .into_iter()
        .try_for_each(|buffer| cx.free(buffer))
}

/// Of several bad indices the first is noted, or one of them whole; without one the slot keeps its
/// zeros; and after a fault the device serves the next operation.
pub(crate) fn execute_fault_is_noted_once<V: Execute>(cx: &Cx<V>) -> Outcome {
    let served = cx.capabilities().support.dtypes(Family::Gather);
    let dtype = if served.contains(DType::F32) {
        Some(DType::F32)
    } else {
        served.iter().next()
    };
    let by = crate::checks::index::INDICES
        .into_iter()
        .find(|by| served.contains(*by));
    let (Some(dtype), Some(by)) = (dtype, by) else {
        let text = "the table has no gather with its indices; scatter has checks of its own";
        return Err(Stop::Unsupported(String::from(text)));
    };
    let input = Array::line(dtype, &[number(dtype, 1); 5]);
    for (indices, bad) in [
        ([0, 4, 2], None),
        ([0, 5, 2], Some(5)),
        ([9, 1, 9], Some(9)),
        ([1, 1, 1], None),
    ] {
        let index = Array::line(by, &indices.map(Val::Int));
        let out = Array::blank(dtype, Layout::contiguous(&[3]));
        let op = Op::Gather {
            out: out.view(),
            input: input.view(),
            index: index.view(),
            axis: 0,
        };
        let launched = cx.launch(&op, &out, &[&input, &index])?;
        let want = bad.map_or([0; 4], |index| [1, index, 0, 0]);
        equal(
            &format!("the fault slot of {indices:?}"),
            launched.slot,
            want,
        )?;
        let want = indices.map(|at| {
            if at < 5 {
                number(dtype, 1)
            } else {
                Val::zero(dtype)
            }
        });
        equal("the output", launched.out.values(), want.to_vec())?;
    }
    Ok(())
}

/// All arguments of one operation are ranges of one buffer, as a pool grants them.
pub(crate) fn arguments_share_a_buffer<V: Execute>(cx: &Cx<V>) -> Outcome {
    let part = 4 * 33usize;
    let step = part.next_multiple_of(cx.granule());
    let mut bytes = pattern(cx.round_up(4 * step), 1);
    let line = |value: f32| value.to_le_bytes().repeat(33);
    bytes[..part].copy_from_slice(&line(1.5));
    bytes[2 * step..2 * step + part].copy_from_slice(&line(2.25));
    let buffer = cx.buffer_of(&bytes)?;
    let dims = [33];
    let view = View::new(DType::F32, 0, &dims, &[1]);
    let (lhs, rhs) = (Operand::View(view), Operand::View(view));
    let op = Op::Binary {
        op: BinaryOp::Add,
        out: view,
        lhs,
        rhs,
    };
    let scratch = match cx.claim(&op)? {
        0 => None,
        bytes => Some(cx.driver().allocate(bytes)?),
    };
    let args = [step, 0, 2 * step].map(|at| range(&buffer, at, part));
    cx.execute(
        cx.stream(),
        &op,
        &args,
        scratch.as_ref().map(crate::cx::whole),
    )?;
    cx.finish(cx.stream())?;
    bytes[step..step + part].copy_from_slice(&line(3.75));
    same_bytes("the buffer", &cx.read_all(&buffer)?, &bytes)?;
    if let Some(scratch) = scratch {
        cx.free(scratch)?;
    }
    cx.free(buffer)
}

/// Operations of one stream see each other's results in order, copies among them.
pub(crate) fn operations_run_in_order<V: Execute>(cx: &Cx<V>) -> Outcome {
    let count = 100;
    let zero = cx.buffer_of(&vec![0; 4 * count])?;
    let sum = cx.buffer_of(&vec![0; 4 * count])?;
    let copy = cx.buffer_of(&vec![0; 4 * count])?;
    let dims = [count];
    let view = View::new(DType::F32, 0, &dims, &[1]);
    let rhs = Operand::Scalar(Val::Real(1.0).scalar(DType::F32));
    let op = Op::Binary {
        op: BinaryOp::Add,
        out: view,
        lhs: Operand::View(view),
        rhs,
    };
    let scratch = match cx.claim(&op)? {
        0 => None,
        bytes => Some(cx.driver().allocate(bytes)?),
    };
    let all = |buffer| range(buffer, 0, 4 * count);
    cx.copy_device(cx.stream(), all(&zero), all(&sum))?;
    for _ in 0..50 {
        let scratch = scratch.as_ref().map(crate::cx::whole);
        cx.execute(cx.stream(), &op, &[all(&copy), all(&sum)], scratch)?;
        cx.copy_device(cx.stream(), all(&copy), all(&sum))?;
    }
    cx.finish(cx.stream())?;
    same_bytes(
        "fifty ones",
        &cx.read(&sum, 0, 4 * count)?,
        &50f32.to_le_bytes().repeat(count),
    )?;
    if let Some(scratch) = scratch {
        cx.free(scratch)?;
    }
    [zero, sum, copy]
        .into_iter()
        .try_for_each(|buffer| cx.free(buffer))
}
