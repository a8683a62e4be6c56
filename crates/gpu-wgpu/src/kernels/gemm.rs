//! Matrix products.
//!
//! A workgroup makes one tile of the output: the tiles of the factors that it needs go through
//! workgroup memory, a slice of the summed length at a time, and every invocation keeps a square of
//! sums. Elements outside a factor count as zero, so edges need no kernels of their own; element
//! positions are affine, so a transposed factor differs only in the order in which it is loaded.
//! Promises that what the output held is read only where beta is not zero. Knows nothing of
//! buffers.

use super::direct::Direct;
use super::element::{Reg, Width, decode, encode};
use super::functions;
use super::launch::{Launch, Operand, TURNS};
use super::text::{Seen, Text, indent, param, raw_param, word};
use super::{GROUP, Kernel};
use gpu_seam::{BinaryOp, DType, Gemm as Product, GpuError, Matrix, Scalar, UnaryOp};
use std::fmt::Write as _;

/// Invocations along each side of a tile.
const SIDE: usize = 16;
/// Elements of the summed length that are in workgroup memory at a time.
const SLICE: usize = 16;

/// One product kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Gemm {
    dtype: DType,
    /// Whether anything is summed; if not, there are no factors.
    summed: bool,
    /// Whether what the output held is read.
    updated: bool,
    lhs: Factor,
    rhs: Factor,
}

/// How a factor is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Factor {
    pub(super) transposed: bool,
    pub(super) conjugated: bool,
}

/// The parameters: sizes, then for output and factors the strides of rows, columns and batches.
pub(super) const M: usize = word::EXTRA;
pub(super) const N: usize = word::EXTRA + 1;
pub(super) const K: usize = word::EXTRA + 2;
pub(super) const ACROSS: usize = word::EXTRA + 3;
pub(super) const DOWN: usize = word::EXTRA + 4;
pub(super) const ROW: usize = word::STRIDES;
pub(super) const COLUMN: usize = word::STRIDES + 1;
pub(super) const BATCH: usize = word::STRIDES + 2;

impl Gemm {
    /// Output elements that an invocation makes along each side: fewer of the widest type, so that
    /// the tiles fit in workgroup memory.
    const fn square(dtype: DType) -> usize {
        match dtype {
            DType::Complex128 => 2,
            _ => 4,
        }
    }

    /// Steps of a slice that are written out in a row: fewer of the type whose products are long.
    const fn row(dtype: DType) -> usize {
        match dtype {
            DType::I64 => 4,
            _ => SLICE,
        }
    }

    /// Summed elements that one kernel can go through: a slice takes a turn of its loop, and one
    /// for each row of steps but where there is only one.
    const fn most(dtype: DType) -> usize {
        let rows = match SLICE / Self::row(dtype) {
            1 => 0,
            // The last turn sees that there is no further row.
            rows => rows + 1,
        };
        TURNS / (1 + rows) * SLICE
    }

    /// The text of the kernel. Bindings: the output, then the factors if anything is summed.
    pub(crate) fn source(&self) -> String {
        let width = Width::of(self.dtype);
        let out = match width.is_narrow() {
            true => Seen::Atomic(width),
            false => Seen::Plain(width),
        };
        let mut bindings = vec![out];
        if self.summed {
            bindings.extend([Seen::Plain(width), Seen::Plain(width)]);
        }
        let mut text = Text::new(&bindings);
        let reg = Reg::of(self.dtype);
        let ty = reg.wgsl();
        let square = Self::square(self.dtype);
        let tile = SIDE * square;
        arithmetic(&mut text, self.dtype);
        let mut body = format!(
            "let across = group % {across};\n\
             let down = (group / {across}) % {down};\n\
             let batch = group / ({across} * {down});\n\
             // Whole workgroups are in excess, never single invocations.\n\
             if batch >= {count} {{\n    return;\n}}\n\
             let x = local % {SIDE}u;\n\
             let y = local / {SIDE}u;\n",
            across = param(ACROSS),
            down = param(DOWN),
            count = param(word::COUNT),
        );
        let zero = reg.number(0);
        for i in 0..square {
            for j in 0..square {
                let _ = writeln!(body, "var s{i}{j}: {ty} = {zero};");
            }
        }
        if self.summed {
            self.load(&mut text, 1, ty);
            self.load(&mut text, 2, ty);
            text.line(&format!(
                "var<workgroup> left: array<{ty}, {size}>;\n\
                 var<workgroup> right: array<{ty}, {size}>;",
                size = tile * SLICE
            ));
            body.push_str(&self.sums(square, tile));
        }
        body.push_str(&scales(self.dtype, self.updated));
        // Of the output an invocation has every SIDE-th row and column, so that neighbours write
        // neighbours.
        for i in 0..square {
            for j in 0..square {
                let made = scaled(self.dtype, self.updated, &format!("s{i}{j}"));
                let _ = write!(
                    body,
                    "{{\n    let row = down * {tile}u + y + {};\n    \
                     let column = across * {tile}u + x + {};\n    \
                     if row < {m} && column < {n} {{\n        \
                     let at = {base} + batch * {batch} + row * {ld} + column;\n        \
                     let made = {made};\n        \
                     store0(at, {});\n    }}\n}}\n",
                    format_args!("{}u", i * SIDE),
                    format_args!("{}u", j * SIDE),
                    encode(self.dtype, "made"),
                    m = param(M),
                    n = param(N),
                    base = param(word::BASE),
                    batch = param(BATCH),
                    ld = param(ROW),
                );
            }
        }
        text.main(GROUP, &body);
        text.finish()
    }

    /// `factor{bound}(batch, row, column)`: the element, or zero outside.
    fn load(&self, text: &mut Text, bound: usize, ty: &str) {
        let (factor, rows, columns) = match bound {
            1 => (self.lhs, M, K),
            _ => (self.rhs, K, N),
        };
        let strides = word::RANK * bound;
        let value = value(self.dtype, factor, bound);
        text.line(&format!(
            "fn factor{bound}(batch: u32, row: u32, column: u32) -> {ty} {{\n    \
             if row >= {rows} || column >= {columns} {{\n        return {zero};\n    }}\n    \
             let at = {base} + batch * {batch} + row * {row} + column * {column};\n    \
             {value}\n}}",
            rows = param(rows),
            columns = param(columns),
            zero = Reg::of(self.dtype).number(0),
            base = param(word::BASE + bound),
            batch = param(BATCH + strides),
            row = param(ROW + strides),
            column = param(COLUMN + strides),
        ));
    }

    /// The loop over the summed length.
    fn sums(&self, square: usize, tile: usize) -> String {
        let loads = tile * SLICE / GROUP as usize;
        let mut inner = String::new();
        for load in 0..loads {
            let at = load * GROUP as usize;
            // Neighbouring invocations load what lies side by side in memory.
            let (row, step) = match self.lhs.transposed {
                true => (format!("at % {tile}u"), format!("at / {tile}u")),
                false => (format!("at / {SLICE}u"), format!("at % {SLICE}u")),
            };
            let _ = write!(
                inner,
                "{{\n    let at = local + {at}u;\n    let row = {row};\n    let step = {step};\n    \
                 left[step * {tile}u + row] = factor1(batch, down * {tile}u + row, slice + step);\n}}\n"
            );
            let (column, step) = match self.rhs.transposed {
                true => (format!("at / {SLICE}u"), format!("at % {SLICE}u")),
                false => (format!("at % {tile}u"), format!("at / {tile}u")),
            };
            let _ = write!(
                inner,
                "{{\n    let at = local + {at}u;\n    let column = {column};\n    \
                 let step = {step};\n    \
                 right[step * {tile}u + column] = \
                 factor2(batch, slice + step, across * {tile}u + column);\n}}\n"
            );
        }
        inner.push_str("workgroupBarrier();\n");
        let row = Self::row(self.dtype);
        let mut steps = String::new();
        for ahead in 0..row {
            let mut step = String::new();
            for i in 0..square {
                let at = ahead * tile + i * SIDE;
                let _ = writeln!(step, "let a{i} = left[first + y + {at}u];");
                let _ = writeln!(step, "let b{i} = right[first + x + {at}u];");
            }
            for i in 0..square {
                for j in 0..square {
                    let _ = writeln!(step, "s{i}{j} = add(s{i}{j}, mul(a{i}, b{j}));");
                }
            }
            let _ = write!(steps, "{{\n{}}}\n", indent(&step));
        }
        let steps = match row {
            SLICE => format!("{{\n    let first = 0u;\n{}}}\n", indent(&steps)),
            _ => format!(
                "for (var first = 0u; first < {}u; first += {}u) {{\n{}}}\n",
                SLICE * tile,
                row * tile,
                indent(&steps)
            ),
        };
        inner.push_str(&steps);
        inner.push_str("workgroupBarrier();\n");
        format!(
            "for (var slice = 0u; slice < {}; slice += {SLICE}u) {{\n{}}}\n",
            param(K),
            indent(&inner)
        )
    }
}

/// Adds `add(a, b)` and `mul(a, b)`.
pub(super) fn arithmetic(text: &mut Text, dtype: DType) {
    let ty = Reg::of(dtype).wgsl();
    for (name, op) in [("add", BinaryOp::Add), ("mul", BinaryOp::Mul)] {
        let body = functions::binary(op, dtype).unwrap_or_default();
        text.line(&format!(
            "fn {name}(a: {ty}, b: {ty}) -> {ty} {{\n    return {body};\n}}"
        ));
    }
}

/// The lines that read `alpha`, and `beta` where it is used.
pub(super) fn scales(dtype: DType, updated: bool) -> String {
    let width = Width::of(dtype);
    let scalar = |at| decode(dtype, &raw_param(at, width));
    let mut text = format!("let alpha = {};\n", scalar(word::SCALAR));
    if updated {
        let _ = writeln!(text, "let beta = {};", scalar(word::SECOND));
    }
    text
}

/// The expression for what a sum leaves at position `at` of the output.
pub(super) fn scaled(dtype: DType, updated: bool, sum: &str) -> String {
    match updated {
        true => format!(
            "add(mul(alpha, {sum}), mul(beta, {}))",
            decode(dtype, "load0(at)")
        ),
        false => format!("mul(alpha, {sum})"),
    }
}

/// The lines that return the element at position `at` of a factor.
pub(super) fn value(dtype: DType, factor: Factor, bound: usize) -> String {
    let value = decode(dtype, &format!("load{bound}(at)"));
    let conjugate = match factor.conjugated {
        true => functions::unary(UnaryOp::Conj, dtype),
        false => None,
    };
    match conjugate {
        Some((conjugate, _)) => format!("let a = {value};\n    return {conjugate};"),
        None => format!("return {value};"),
    }
}

/// The launches of a product: more than one where a single kernel cannot go through the summed
/// length. `None` when it is not served.
pub(crate) fn lower(
    name: &'static str,
    product: &Product,
    tiles: bool,
) -> Result<Option<(Vec<Launch>, usize)>, GpuError> {
    let dtype = product.dtype;
    let form = match tiles && product.m >= SIDE && product.n >= SIDE {
        true => Form::Tiled,
        false => Form::Direct,
    };
    let most = match form {
        Form::Tiled => Gemm::most(dtype),
        Form::Direct => Direct::most(dtype),
    };
    if product.k > most && matches!(dtype, DType::F16 | DType::BF16) {
        // What one kernel leaves for the next would be rounded in between.
        let detail = format!(
            "{dtype} with {} summed elements; this vendor sums {most}",
            product.k
        );
        return Err(GpuError::unsupported(name, detail));
    }
    let mut launches = Vec::new();
    for first in (0..product.k.max(1)).step_by(most) {
        let mut piece = *product;
        piece.k = most.min(product.k - first);
        if first > 0 {
            piece.beta = Scalar::one(dtype);
        }
        piece.lhs.offset += first
            * if product.lhs.transposed {
                product.lhs.ld
            } else {
                1
            };
        piece.rhs.offset += first
            * if product.rhs.transposed {
                1
            } else {
                product.rhs.ld
            };
        match launch(name, &piece, form)? {
            Some(launch) => launches.push(launch),
            None => return Ok(None),
        }
    }
    Ok(Some((launches, 0)))
}

/// Which kernel makes a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// This file's: tiles in workgroup memory.
    Tiled,
    /// Straight from memory: for small outputs, and where workgroup memory is no nearer.
    Direct,
}

fn launch(name: &'static str, product: &Product, form: Form) -> Result<Option<Launch>, GpuError> {
    let dtype = product.dtype;
    if product.alpha.dtype() != dtype || product.beta.dtype() != dtype {
        return Ok(None);
    }
    let sizes = [product.batch, product.m, product.n, product.k];
    let block = Direct::block(dtype, product.m, product.n);
    let (down, across) = match form {
        Form::Tiled => {
            let tile = SIDE * Gemm::square(dtype);
            (product.m.div_ceil(tile), product.n.div_ceil(tile))
        }
        Form::Direct => (
            product.m.div_ceil(block.0.into()),
            product.n.div_ceil(block.1.into()),
        ),
    };
    let pieces = down
        .checked_mul(across)
        .and_then(|tiles| tiles.checked_mul(product.batch));
    let groups = match form {
        Form::Direct => pieces.map(|pieces| pieces.div_ceil(GROUP as usize)),
        Form::Tiled => pieces,
    };
    let groups = groups.filter(|groups| *groups < 1 << 24);
    let small = |size: &usize| *size < 1 << 31;
    let (Some(groups), true) = (groups, sizes.iter().all(small)) else {
        let detail = format!("batch, m, n, k of {sizes:?} exceed what 32-bit positions hold");
        return Err(GpuError::unsupported(name, detail));
    };
    let word = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
    let summed = product.k > 0;
    let factor = |matrix: &Matrix| match summed {
        true => Factor {
            transposed: matrix.transposed,
            conjugated: matrix.conjugated && dtype.is_complex(),
        },
        false => Factor::default(),
    };
    let updated = product.beta != Scalar::zero(dtype) && !is_negative_zero(product.beta);
    let (lhs, rhs) = (factor(&product.lhs), factor(&product.rhs));
    let kernel = match form {
        Form::Tiled => Kernel::Gemm(Gemm {
            dtype,
            summed,
            updated,
            lhs,
            rhs,
        }),
        Form::Direct => Kernel::Direct(Direct::new(dtype, block, summed, updated, lhs, rhs)),
    };
    let mut launch = Launch::new(kernel, word(groups));
    launch.param(word::COUNT, word(product.batch));
    for (at, size) in [
        (M, product.m),
        (N, product.n),
        (K, product.k),
        (ACROSS, across),
        (DOWN, down),
    ] {
        launch.param(at, word(size));
    }
    launch.raw(word::SCALAR, &product.alpha);
    launch.raw(word::SECOND, &product.beta);
    let matrices = [&product.out, &product.lhs, &product.rhs];
    for (bound, matrix) in matrices.into_iter().enumerate() {
        if bound > 0 && !summed {
            break;
        }
        let (row, column) = match matrix.transposed {
            true => (1, matrix.ld),
            false => (matrix.ld, 1),
        };
        let strides = word::RANK * bound;
        launch.param(ROW + strides, wrapped(row.cast_signed()));
        launch.param(COLUMN + strides, wrapped(column.cast_signed()));
        launch.param(BATCH + strides, wrapped(matrix.batch_stride));
        launch.bind(Operand::argument(bound, dtype, matrix.offset));
    }
    Ok(Some(launch))
}

/// A stride modulo 2^32: positions wrap, and come out right where they are used.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the low 32 bits are meant"
)]
const fn wrapped(stride: isize) -> u32 {
    stride as u32
}

/// Whether a scalar is minus zero, in every part that is not zero.
fn is_negative_zero(scalar: Scalar) -> bool {
    let dtype = scalar.dtype();
    let top = 1u128 << (8 * dtype.real().size() - 1);
    let tops = match dtype.is_complex() {
        true => top | top << (8 * dtype.real().size()),
        false => top,
    };
    (dtype.is_float() || dtype.is_complex()) && scalar.bits() & !tops == 0
}
