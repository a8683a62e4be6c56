//! A vendor of the plainest kind: runs canonical steps on `i64` elements, as [`Op`] describes them.

use super::evaluate::each;
use super::{Tensor, elements};
use crate::canonical::{Lowered, Slot, Step};
use gpu_seam::{DType, Gemm, Matrix, Op, Operand, View};

/// What fresh memory holds: nothing that a computation gives.
const POISON: i64 = 0x5bad_5bad_5bad_5bad;

struct Memory {
    output: Vec<i64>,
    inputs: Vec<Vec<i64>>,
    temporaries: Vec<Vec<i64>>,
}

/// Runs the steps and gives the output's elements.
pub(super) fn run(lowered: &Lowered, inputs: &[&Tensor]) -> Vec<i64> {
    let mut memory = Memory {
        output: vec![POISON; lowered.bytes / lowered.dtype.size()],
        inputs: inputs.iter().map(|input| input.elements.clone()).collect(),
        // One element a byte is enough for every dtype.
        temporaries: lowered
            .temporaries
            .iter()
            .map(|&bytes| vec![POISON; bytes])
            .collect(),
    };
    for step in &lowered.steps {
        memory.execute(step);
    }
    memory.output
}

impl Memory {
    fn slot(&mut self, slot: Slot) -> &mut Vec<i64> {
        match slot {
            Slot::Output => &mut self.output,
            Slot::Input(at) => &mut self.inputs[at],
            Slot::Temporary(at) => &mut self.temporaries[at],
        }
    }

    fn get(&mut self, step: &Step, arg: usize, dtype: DType, position: isize) -> i64 {
        let base = (step.args[arg].offset / dtype.size()).cast_signed();
        self.slot(step.args[arg].slot)[(base + position).cast_unsigned()]
    }

    fn set(&mut self, step: &Step, dtype: DType, position: isize, value: i64) {
        let base = (step.args[0].offset / dtype.size()).cast_signed();
        self.slot(step.args[0].slot)[(base + position).cast_unsigned()] = value;
    }

    fn read(&mut self, step: &Step, arg: usize, view: &View<'_>, index: &[usize]) -> i64 {
        self.get(step, arg, view.dtype, position(view, index))
    }

    fn write(&mut self, step: &Step, view: &View<'_>, index: &[usize], value: i64) {
        let value = if view.dtype == DType::Bool {
            assert!((0..2).contains(&value) || value == POISON);
            value
        } else {
            value
        };
        self.set(step, view.dtype, position(view, index), value);
    }

    /// The operand's value; a view takes the next argument.
    fn operand(
        &mut self,
        step: &Step,
        arg: &mut usize,
        operand: &Operand<'_>,
        index: &[usize],
    ) -> i64 {
        match operand {
            Operand::View(view) => {
                *arg += 1;
                self.read(step, *arg, view, index)
            }
            Operand::Scalar(value) => elements::scalar(*value),
        }
    }

    fn execute(&mut self, step: &Step) {
        match step.op() {
            Op::Fill { out, value } => each(out.dims, |index| {
                self.write(step, &out, index, elements::scalar(value));
            }),
            Op::Copy { out, input } => each(out.dims, |index| {
                let mut value = self.read(step, 1, &input, index);
                if out.dtype != input.dtype {
                    value = elements::cast(value, out.dtype);
                }
                self.write(step, &out, index, value);
            }),
            Op::Unary { op, out, input } => each(out.dims, |index| {
                let value = elements::unary(op, self.read(step, 1, &input, index));
                self.set(step, out.dtype, position(&out, index), value);
            }),
            Op::Binary { op, out, lhs, rhs } => each(out.dims, |index| {
                let mut arg = 0;
                let lhs = self.operand(step, &mut arg, &lhs, index);
                let rhs = self.operand(step, &mut arg, &rhs, index);
                let value = elements::binary(op, lhs, rhs);
                self.set(step, out.dtype, position(&out, index), value);
            }),
            Op::Compare { op, out, lhs, rhs } => each(out.dims, |index| {
                let mut arg = 0;
                let lhs = self.operand(step, &mut arg, &lhs, index);
                let rhs = self.operand(step, &mut arg, &rhs, index);
                self.write(step, &out, index, elements::compare(op, lhs, rhs));
            }),
            Op::Select {
                out,
                condition,
                on_true,
                on_false,
            } => each(out.dims, |index| {
                let mut arg = 1;
                let on_true = self.operand(step, &mut arg, &on_true, index);
                let on_false = self.operand(step, &mut arg, &on_false, index);
                let chosen = match self.read(step, 1, &condition, index) {
                    0 => on_false,
                    _ => on_true,
                };
                self.set(step, out.dtype, position(&out, index), chosen);
            }),
            Op::Reduce { op, out, input } => each(out.dims, |index| {
                let line = self.line(step, &input, index);
                let value = elements::reduce(op, &line);
                self.write(step, &out, index, elements::cast(value, out.dtype));
            }),
            Op::ArgReduce { op, out, input } => each(out.dims, |index| {
                let line = self.line(step, &input, index);
                self.write(step, &out, index, elements::arg_reduce(op, &line));
            }),
            Op::Scan { op, out, input } => each(out.dims, |index| {
                let line = self.line(step, &input, &[index[0], index[2]]);
                let so_far = line[..=index[1]].iter().copied();
                let value = so_far.reduce(|so_far, next| elements::scan(op, so_far, next));
                self.write(step, &out, index, value.unwrap());
            }),
            Op::Gather {
                out,
                input,
                index,
                axis,
            } => each(out.dims, |at| {
                let mut from = at.to_vec();
                from[axis] = usize::try_from(self.read(step, 2, &index, at)).unwrap();
                assert!(from[axis] < input.dims[axis]);
                let value = self.read(step, 1, &input, &from);
                self.set(step, out.dtype, position(&out, at), value);
            }),
            Op::Scatter {
                mode,
                out,
                index,
                src,
                axis,
            } => each(src.dims, |at| {
                let mut to = at.to_vec();
                to[axis] = usize::try_from(self.read(step, 1, &index, at)).unwrap();
                assert!(to[axis] < out.dims[axis]);
                let held = self.read(step, 0, &out, &to);
                let value = elements::scatter(mode, held, self.read(step, 2, &src, at));
                self.set(step, out.dtype, position(&out, &to), value);
            }),
            Op::Gemm(gemm) => self.gemm(step, &gemm),
            Op::Random {
                out, seed, first, ..
            } => each(out.dims, |index| {
                let value = elements::random(seed, first.wrapping_add(index[0] as u64));
                self.write(step, &out, index, value);
            }),
            other => panic!("no step is {other:?}"),
        }
    }

    /// The line of a rank-3 input at `[outer, inner]`.
    fn line(&mut self, step: &Step, input: &View<'_>, index: &[usize]) -> Vec<i64> {
        (0..input.dims[1])
            .map(|along| self.read(step, 1, input, &[index[0], along, index[1]]))
            .collect()
    }

    fn gemm(&mut self, step: &Step, gemm: &Gemm) {
        each(&[gemm.batch, gemm.m, gemm.n], |index| {
            let (batch, row, col) = (index[0], index[1], index[2]);
            let mut sum = 0i64;
            for inner in 0..gemm.k {
                let lhs = self.element(step, 1, gemm.dtype, &gemm.lhs, (batch, row, inner));
                let rhs = self.element(step, 2, gemm.dtype, &gemm.rhs, (batch, inner, col));
                sum = sum.wrapping_add(lhs.wrapping_mul(rhs));
            }
            let mut value = elements::scalar(gemm.alpha).wrapping_mul(sum);
            let place = place(&gemm.out, (batch, row, col));
            if elements::scalar(gemm.beta) != 0 {
                let held = self.get(step, 0, gemm.dtype, place);
                value = value.wrapping_add(elements::scalar(gemm.beta).wrapping_mul(held));
            }
            self.set(step, gemm.dtype, place, value);
        });
    }

    fn element(
        &mut self,
        step: &Step,
        arg: usize,
        dtype: DType,
        matrix: &Matrix,
        at: (usize, usize, usize),
    ) -> i64 {
        let value = self.get(step, arg, dtype, place(matrix, at));
        elements::conjugate(value, dtype, matrix.conjugated)
    }
}

fn position(view: &View<'_>, index: &[usize]) -> isize {
    assert_eq!(view.dims.len(), index.len());
    let steps = index.iter().zip(view.strides);
    steps.fold(view.offset.cast_signed(), |position, (&at, &stride)| {
        position + at.cast_signed() * stride
    })
}

fn place(matrix: &Matrix, (batch, row, col): (usize, usize, usize)) -> isize {
    let (row, col) = if matrix.transposed {
        (col, row)
    } else {
        (row, col)
    };
    (matrix.offset + row * matrix.ld + col).cast_signed()
        + batch.cast_signed() * matrix.batch_stride
}
