//! Matrix products straight from memory.
//!
//! An invocation makes a block of a few rows and columns of the output, without workgroup memory and
//! without barriers: what is best for small outputs, and on a processor for all. What of a block
//! lies past the end is computed from the last row or column and not stored. Promises what the tiled products promise. Knows nothing of buffers.

use super::GROUP;
use super::element::{Reg, Width, encode};
use super::gemm::{
    ACROSS, BATCH, COLUMN, DOWN, Factor, K, M, N, ROW, arithmetic, scaled, scales, value,
};
use super::launch::TURNS;
use super::text::{Seen, Text, indent, param, word};
use gpu_seam::DType;
use std::fmt::Write as _;

/// One direct product kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Direct {
    dtype: DType,
    /// Rows and columns of a block.
    block: (u8, u8),
    summed: bool,
    updated: bool,
    /// Whether the factors are conjugated; transposition is in the strides.
    conjugated: [bool; 2],
}

impl Direct {
    pub(super) const fn new(
        dtype: DType,
        block: (u8, u8),
        summed: bool,
        updated: bool,
        lhs: Factor,
        rhs: Factor,
    ) -> Self {
        Self {
            dtype,
            block,
            summed,
            updated,
            conjugated: [lhs.conjugated, rhs.conjugated],
        }
    }

    /// The block for an output of so many rows and columns: each element that is loaded serves a
    /// whole side of it.
    pub(super) const fn block(dtype: DType, m: usize, n: usize) -> (u8, u8) {
        const fn side(size: usize, most: u8) -> u8 {
            match size {
                1 => 1,
                2 | 3 => 2,
                4..8 => 4,
                _ => most,
            }
        }
        match dtype {
            DType::I64 | DType::F64 | DType::Complex64 | DType::Complex128 => {
                (side(m, 4), side(n, 2))
            }
            _ => (side(m, 8), side(n, 4)),
        }
    }

    /// Steps of the sum that are written out in a row: fewer of the type whose products are long.
    const fn steps(dtype: DType) -> usize {
        match dtype {
            DType::I64 => 1,
            _ => 4,
        }
    }

    /// Summed elements that one kernel can go through: some turns are for what the rows leave.
    pub(super) const fn most(dtype: DType) -> usize {
        let steps = Self::steps(dtype);
        (TURNS - 2 * steps) * steps
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
        arithmetic(&mut text, self.dtype);
        let reg = Reg::of(self.dtype);
        let (rows, columns) = self.block;
        let mut body = format!(
            "let piece = group * {GROUP}u + local;\n\
             let down = (piece / {across}) % {down};\n\
             let batch = piece / ({across} * {down});\n\
             if batch >= {count} {{\n    return;\n}}\n\
             let row = down * {rows}u;\n\
             let column = (piece % {across}) * {columns}u;\n",
            across = param(ACROSS),
            down = param(DOWN),
            count = param(word::COUNT),
        );
        for (row, column) in self.places() {
            let _ = writeln!(
                body,
                "var s{row}{column}: {} = {};",
                reg.wgsl(),
                reg.number(0)
            );
        }
        if self.summed {
            for (bound, conjugated) in (1..).zip(self.conjugated) {
                let factor = Factor {
                    transposed: false,
                    conjugated,
                };
                text.line(&format!(
                    "fn factor{bound}(at: u32) -> {} {{\n    {}\n}}",
                    reg.wgsl(),
                    value(self.dtype, factor, bound)
                ));
            }
            self.sum(&mut body);
        }
        body.push_str(&scales(self.dtype, self.updated));
        for (row, column) in self.places() {
            let made = scaled(self.dtype, self.updated, &format!("s{row}{column}"));
            let _ = write!(
                body,
                "if row + {row}u < {m} && column + {column}u < {n} {{\n    \
                 let at = {base} + batch * {batch} + (row + {row}u) * {ld} + column + {column}u;\n    \
                 let made = {made};\n    \
                 store0(at, {raw});\n}}\n",
                m = param(M),
                n = param(N),
                base = param(word::BASE),
                batch = param(BATCH),
                ld = param(ROW),
                raw = encode(self.dtype, "made"),
            );
        }
        text.main(GROUP, &body);
        text.finish()
    }

    /// The rows and columns of a block.
    fn places(&self) -> impl Iterator<Item = (u8, u8)> + use<> {
        let (rows, columns) = self.block;
        (0..rows).flat_map(move |row| (0..columns).map(move |column| (row, column)))
    }

    /// The sums over the common length.
    fn sum(&self, body: &mut String) {
        let (rows, columns) = self.block;
        let steps = Self::steps(self.dtype);
        let (lhs, rhs) = (word::RANK, 2 * word::RANK);
        let mut step = String::new();
        for row in 0..rows {
            let _ = writeln!(
                body,
                "var a{row} = {base} + batch * {batch} + min(row + {row}u, {m} - 1u) * {stride};",
                base = param(word::BASE + 1),
                batch = param(BATCH + lhs),
                m = param(M),
                stride = param(ROW + lhs),
            );
            let _ = writeln!(step, "let left{row} = factor1(a{row});");
        }
        for column in 0..columns {
            let _ = writeln!(
                body,
                "var b{column} = {base} + batch * {batch} + min(column + {column}u, {n} - 1u) * {stride};",
                base = param(word::BASE + 2),
                batch = param(BATCH + rhs),
                n = param(N),
                stride = param(COLUMN + rhs),
            );
            let _ = writeln!(step, "let right{column} = factor2(b{column});");
        }
        for (row, column) in self.places() {
            let sum = format!("s{row}{column}");
            let _ = writeln!(step, "{sum} = add({sum}, mul(left{row}, right{column}));");
        }
        for row in 0..rows {
            let _ = writeln!(step, "a{row} += {};", param(COLUMN + lhs));
        }
        for column in 0..columns {
            let _ = writeln!(step, "b{column} += {};", param(ROW + rhs));
        }
        let k = param(K);
        let once = format!("{{\n{}}}\n", indent(&step));
        let _ = write!(
            body,
            "var k = 0u;\n\
             for (; k + {}u < {k}; k += {steps}u) {{\n{}}}\n\
             for (; k < {k}; k++) {{\n{}}}\n",
            steps - 1,
            indent(&once.repeat(steps)),
            indent(&step)
        );
    }
}
