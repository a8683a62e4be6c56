//! Matrix products: one gemm wherever strides allow it.
//!
//! Promises the fewest copies that a leading-dimension form needs. In this order:
//! 1. an empty inner dimension is no product: the output is 0, or `beta * bias`;
//! 2. the bias, if `beta` is not 0, is copied into the output, which the gemm then adds to;
//! 3. a product of one row or column whose *left* factor is shared by the batch is transposed, so
//!    that the shared factor is the right one;
//! 4. a factor without a leading-dimension form is copied, without its repeated batches;
//! 5. batches that share the right factor become rows of one larger product;
//! 6. batch dimensions that still do not merge into one become separate steps, if these are few or
//!    each is large, and otherwise the factors that stand in the way are copied in full.
//!
//! Knows nothing of limits.

use super::draft::{Draft, Loop, Loops, VIEWS, lay_out, merge, shift};
use super::matrix::Side;
use super::plan::{Part, Plan, blank};
use super::validate::shape;
use super::{Slot, broadcast, validate};
use crate::call::{Dims, Factor};
use crate::error::Error;
use gpu_seam::{BinaryOp, DType, Gemm, Matrix, Op, Operand, Scalar, View};

/// Batches that do not merge become steps without further thought up to this number …
const FEW_STEPS: usize = 8;
/// … and up to this number where each step multiplies at least [`LARGE_STEP`] pairs of elements: a
/// launch is then small beside the work, while a full copy of a factor may be huge.
const MANY_STEPS: usize = 1024;
/// See [`MANY_STEPS`].
const LARGE_STEP: usize = 1 << 22;

/// Which view of the batch loops is which.
const LHS: usize = 1;
const RHS: usize = 2;

/// `alpha * lhs · rhs + beta * bias`.
pub(super) fn matmul(
    plan: &mut Plan<'_>,
    lhs: Factor<'_>,
    rhs: Factor<'_>,
    alpha: Scalar,
    bias: Option<(View<'_>, Scalar)>,
) -> Result<(), Error> {
    let dims = check(plan, &lhs.view, &rhs.view, alpha, bias)?;
    let dtype = lhs.view.dtype;
    let bias = bias.filter(|(_, beta)| !is_zero(*beta));
    if plan.output(&dims, dtype)? == 0 {
        return Ok(());
    }
    let mut product = Product::new(&dims, lhs, rhs);
    if product.lhs.cols == 0 {
        return match bias {
            Some((bias, beta)) => scaled(plan, bias, beta, &dims),
            None => plan.fill(Scalar::zero(dtype)),
        };
    }
    let mut beta = Scalar::zero(dtype);
    if let Some((bias, factor)) = bias {
        beta = factor;
        let from = Part::input(2, &bias);
        plan.copy((Part::output(dtype), from), over(&bias, &dims))?;
    }
    product.share_on_the_right();
    product.copy_formless(plan)?;
    product.fold_batches_into_rows();
    product.emit(plan, alpha, beta)
}

/// Validates, and gives the dims of the output.
fn check(
    plan: &Plan<'_>,
    lhs: &View<'_>,
    rhs: &View<'_>,
    alpha: Scalar,
    bias: Option<(View<'_>, Scalar)>,
) -> Result<Dims, Error> {
    let name = plan.name;
    let dtype = lhs.dtype;
    validate::same(name, ("lhs", dtype), ("rhs", rhs.dtype))?;
    validate::same(name, ("alpha", alpha.dtype()), ("lhs", dtype))?;
    if let Some((bias, beta)) = bias {
        validate::same(name, ("the bias", bias.dtype), ("lhs", dtype))?;
        validate::same(name, ("beta", beta.dtype()), ("lhs", dtype))?;
    }
    let number = dtype != DType::Bool;
    validate::defined(name, dtype, number, "integers, floats and complex numbers")?;
    let &[ref left @ .., m, k] = lhs.dims else {
        return Err(no_matrix(plan, "lhs", lhs));
    };
    let &[ref right @ .., inner, n] = rhs.dims else {
        return Err(no_matrix(plan, "rhs", rhs));
    };
    if k != inner {
        return Err(plan.invalid(format!(
            "lhs has dims {} and rhs has dims {}; the inner dims {k} and {inner} must be equal",
            shape(lhs.dims),
            shape(rhs.dims)
        )));
    }
    let Ok(mut dims) = broadcast::dims(name, &[left, right]) else {
        return Err(plan.invalid(format!(
            "lhs has dims {} and rhs has dims {}; the batch dims {} and {} do not broadcast",
            shape(lhs.dims),
            shape(rhs.dims),
            shape(left),
            shape(right)
        )));
    };
    dims.extend([m, n]);
    match bias {
        Some((bias, _)) if !broadcast::fits(bias.dims, &dims) => Err(plan.invalid(format!(
            "the bias has dims {}, which do not broadcast to the product's {}",
            shape(bias.dims),
            shape(&dims)
        ))),
        _ => Ok(dims),
    }
}

fn no_matrix(plan: &Plan<'_>, what: &str, view: &View<'_>) -> Error {
    let dims = shape(view.dims);
    plan.invalid(format!(
        "{what} has dims {dims}; a matrix has rank 2 or more"
    ))
}

/// Whether `scalar` is 0, of either sign.
fn is_zero(scalar: Scalar) -> bool {
    let signs = match scalar.dtype() {
        DType::F16 | DType::BF16 => 1 << 15,
        DType::F32 => 1 << 31,
        DType::F64 => 1 << 63,
        DType::Complex64 => 1 << 63 | 1 << 31,
        DType::Complex128 => 1 << 127 | 1 << 63,
        _ => 0,
    };
    scalar.bits() & !signs == 0
}

/// `input` broadcast over the output's `dims`.
fn over(input: &View<'_>, dims: &[usize]) -> Loops {
    let loops = dims.iter().enumerate().map(|(at, &len)| {
        let stride = broadcast::stride(input, dims.len(), at);
        Loop::pair(len, 0, stride)
    });
    let mut loops: Loops = loops.collect();
    lay_out(&mut loops, 0);
    loops
}

/// The output as `beta * bias`.
fn scaled(plan: &mut Plan<'_>, bias: View<'_>, beta: Scalar, dims: &[usize]) -> Result<(), Error> {
    let from = Part::input(2, &bias);
    let loops = over(&bias, dims);
    if beta == Scalar::one(bias.dtype) {
        return plan.copy((Part::output(bias.dtype), from), loops);
    }
    let op = Op::Binary {
        op: BinaryOp::Mul,
        out: blank(bias.dtype),
        lhs: Operand::View(blank(bias.dtype)),
        rhs: Operand::Scalar(beta),
    };
    let mut draft = Draft::new(op, loops, &[Slot::Output, from.slot]);
    draft.offsets = [0, from.offset, 0, 0];
    draft.merge();
    plan.emit(&draft)
}

/// A batched product; view 0 of the batch loops is the output.
struct Product {
    batch: Loops,
    lhs: Side,
    rhs: Side,
}

impl Product {
    /// The product whose output has `dims`.
    fn new(dims: &[usize], lhs: Factor<'_>, rhs: Factor<'_>) -> Self {
        let rank = dims.len();
        let loops = dims.iter().enumerate().map(|(at, &len)| {
            let mut strides = [0; VIEWS];
            for (view, factor) in [(LHS, &lhs), (RHS, &rhs)] {
                strides[view] = broadcast::stride(&factor.view, rank, at);
            }
            Loop { len, strides }
        });
        let mut batch: Loops = loops.collect();
        lay_out(&mut batch, 0);
        batch.truncate(rank - 2);
        merge(&mut batch);
        Self {
            batch,
            lhs: side(0, lhs),
            rhs: side(1, rhs),
        }
    }

    /// Transposes a product of one row or column, where that lets the right factor be shared.
    fn share_on_the_right(&mut self) {
        let shared = |view: usize| self.batch.iter().all(|each| each.strides[view] == 0);
        let vector = self.lhs.rows == 1 || self.rhs.cols == 1;
        if vector && shared(LHS) && !shared(RHS) {
            (self.lhs, self.rhs) = (self.rhs.transpose(), self.lhs.transpose());
            for each in &mut self.batch {
                each.strides.swap(LHS, RHS);
            }
        }
    }

    /// Copies each factor that has no leading-dimension form.
    fn copy_formless(&mut self, plan: &mut Plan<'_>) -> Result<(), Error> {
        for view in [LHS, RHS] {
            if self.side(view).form().is_none() {
                self.copy(plan, view, false)?;
            }
        }
        merge(&mut self.batch);
        Ok(())
    }

    fn side(&mut self, view: usize) -> &mut Side {
        if view == LHS {
            &mut self.lhs
        } else {
            &mut self.rhs
        }
    }

    /// Copies factor `view` into a contiguous temporary, with or without its repeated batches.
    fn copy(&mut self, plan: &mut Plan<'_>, view: usize, repeats: bool) -> Result<(), Error> {
        let from = *self.side(view);
        let mut loops = Loops::new();
        for each in &self.batch {
            if repeats || each.strides[view] != 0 {
                loops.push(Loop::pair(each.len, 0, each.strides[view]));
            }
        }
        loops.push(Loop::pair(from.rows, 0, from.row));
        loops.push(Loop::pair(from.cols, 0, from.col));
        let part = plan.copied(from.part, &mut loops)?;
        let mut copied = loops.iter().map(|each| each.strides[1]);
        for each in &mut self.batch {
            if repeats || each.strides[view] != 0 {
                each.strides[view] = copied.next().unwrap_or(0);
            }
        }
        *self.side(view) = Side {
            part,
            row: copied.next().unwrap_or(0),
            col: copied.next().unwrap_or(1),
            ..from
        };
        Ok(())
    }

    /// Makes rows of the innermost batches that share the right factor.
    fn fold_batches_into_rows(&mut self) {
        while let Some(last) = self.batch.last() {
            let lhs = self.lhs;
            let step = last.strides[LHS];
            let adjoins = step.checked_div(lhs.row) == Some(lhs.rows.cast_signed())
                && step.checked_rem(lhs.row) == Some(0);
            if last.strides[RHS] != 0 || (lhs.rows != 1 && !adjoins) {
                return;
            }
            let folded = Side {
                rows: lhs.rows * last.len,
                row: if lhs.rows == 1 { step } else { lhs.row },
                ..lhs
            };
            if folded.form().is_none() {
                return;
            }
            self.lhs = folded;
            self.batch.pop();
        }
    }

    /// Emits one gemm, or one for each of the outer batches.
    fn emit(mut self, plan: &mut Plan<'_>, alpha: Scalar, beta: Scalar) -> Result<(), Error> {
        if self.batch.len() > 1 && !self.splits_well() {
            for view in [LHS, RHS] {
                if !self.merges(view) {
                    self.copy(plan, view, true)?;
                }
            }
            merge(&mut self.batch);
        }
        let mut outer = self.batch.clone();
        let inner = longest(&outer).map(|at| outer.remove(at));
        let steps = outer.iter().map(|each| each.len).product();
        for step in 0..steps {
            let mut offsets = [0, self.lhs.part.offset, self.rhs.part.offset];
            let mut rest: usize = step;
            for each in outer.iter().rev() {
                for (offset, stride) in offsets.iter_mut().zip(each.strides) {
                    *offset = shift(*offset, rest % each.len, stride);
                }
                rest /= each.len;
            }
            let gemm = self.gemm(inner, offsets, (alpha, beta));
            let Some(gemm) = gemm else {
                return Err(plan.unsupported("a factor has no leading-dimension form"));
            };
            plan.gemm(
                &gemm,
                [Slot::Output, self.lhs.part.slot, self.rhs.part.slot],
            )?;
        }
        Ok(())
    }

    /// Whether one step for each of the outer batches beats copying factors.
    fn splits_well(&self) -> bool {
        let batches: usize = self.batch.iter().map(|each| each.len).product();
        let inner = longest(&self.batch).map_or(1, |at| self.batch[at].len);
        let steps = batches / inner;
        let work = [self.lhs.rows, self.lhs.cols, self.rhs.cols]
            .iter()
            .fold(inner, |work, &len| work.saturating_mul(len));
        steps <= FEW_STEPS || (steps <= MANY_STEPS && work >= LARGE_STEP)
    }

    /// Whether the batches of factor `view` alone are one stride apart.
    fn merges(&self, view: usize) -> bool {
        let own = self
            .batch
            .iter()
            .map(|each| Loop::pair(each.len, 0, each.strides[view]));
        let mut own: Loops = own.collect();
        merge(&mut own);
        own.len() <= 1
    }

    /// The gemm over the batches of `inner`.
    fn gemm(
        &self,
        inner: Option<Loop>,
        offsets: [usize; 3],
        (alpha, beta): (Scalar, Scalar),
    ) -> Option<Gemm> {
        let (m, n) = (self.lhs.rows, self.rhs.cols);
        let stride = |view: usize| inner.map_or(0, |each: Loop| each.strides[view]);
        let out = Matrix {
            offset: offsets[0],
            ld: n,
            batch_stride: inner.map_or((m * n).cast_signed(), |each| each.strides[0]),
            transposed: false,
            conjugated: false,
        };
        Some(Gemm {
            dtype: self.lhs.part.dtype,
            batch: inner.map_or(1, |each| each.len),
            m,
            n,
            k: self.lhs.cols,
            alpha,
            beta,
            out,
            lhs: Matrix {
                offset: offsets[LHS],
                ..self.lhs.matrix(stride(LHS))?
            },
            rhs: Matrix {
                offset: offsets[RHS],
                ..self.rhs.matrix(stride(RHS))?
            },
        })
    }
}

/// The position of the longest loop.
fn longest(loops: &[Loop]) -> Option<usize> {
    (0..loops.len()).max_by_key(|&at| loops[at].len)
}

/// The matrices of the call's view number `at`, of rank 2 or more.
fn side(at: usize, factor: Factor<'_>) -> Side {
    let view = factor.view;
    let row = view.dims.len() - 2;
    Side {
        part: Part::input(at, &view),
        rows: view.dims[row],
        cols: view.dims[row + 1],
        row: view.strides[row],
        col: view.strides[row + 1],
        conjugated: factor.conjugated,
    }
}
