//! What an operation computes: one small enum a family, each with its names.
//!
//! Promises the spelling used in messages, tests and tables. Knows nothing of layouts.

#[cfg(doc)]
use super::Op;
use core::fmt;

macro_rules! kinds {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            /// Every variant, in declaration order.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// The lower-case name, the same in `Display`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

kinds! {
    /// The families of operations: what a vendor has one small set of kernels for.
    Family {
        /// [`Op::Fill`].
        Fill = "fill",
        /// [`Op::Copy`], casts included.
        Copy = "copy",
        /// [`Op::Unary`].
        Unary = "unary",
        /// [`Op::Binary`].
        Binary = "binary",
        /// [`Op::Compare`].
        Compare = "compare",
        /// [`Op::Select`].
        Select = "select",
        /// [`Op::Reduce`].
        Reduce = "reduce",
        /// [`Op::ArgReduce`].
        ArgReduce = "arg-reduce",
        /// [`Op::Scan`].
        Scan = "scan",
        /// [`Op::Gather`].
        Gather = "gather",
        /// [`Op::Scatter`].
        Scatter = "scatter",
        /// [`Op::Gemm`].
        Gemm = "gemm",
        /// [`Op::Random`].
        Random = "random",
    }
}

kinds! {
    /// Functions of one element.
    UnaryOp {
        /// `-x`; integers wrap. Not for bool.
        Neg = "neg",
        /// `|x|`; integers wrap; complex gives its real type, without overflow on the way.
        Abs = "abs",
        /// `e^x`. Floats and complex.
        Exp = "exp",
        /// Natural logarithm. Floats and complex.
        Log = "log",
        /// Square root. Floats and complex.
        Sqrt = "sqrt",
        /// Hyperbolic tangent. Floats and complex.
        Tanh = "tanh",
        /// `1 / x`. Floats and complex.
        Recip = "recip",
        /// Complex conjugate; the identity on what is real.
        Conj = "conj",
        /// Whether x is NaN (either part, for complex), as bool; decided on bits.
        IsNan = "is_nan",
        /// `!x` of bool; bitwise complement of integers.
        Not = "not",
    }
}

kinds! {
    /// Functions of two elements of one dtype, giving that dtype.
    BinaryOp {
        /// `a + b`; of bool, or.
        Add = "add",
        /// `a - b`. Not for bool.
        Sub = "sub",
        /// `a * b`; of bool, and.
        Mul = "mul",
        /// `a / b`; integers truncate, `x / 0 = 0`, `MIN / -1` wraps. Not for bool.
        Div = "div",
        /// The remainder that follows the dividend; integers give `x % 0 = 0`. Real types, not bool.
        Rem = "rem",
        /// The smaller; NaN if either is. Not for complex.
        Min = "min",
        /// The larger; NaN if either is. Not for complex.
        Max = "max",
    }
}

kinds! {
    /// Comparisons of two elements of one dtype, giving bool. Any comparison with NaN is false, but
    /// for `Ne`.
    CompareOp {
        /// `a == b`.
        Eq = "eq",
        /// `a != b`.
        Ne = "ne",
        /// `a < b`. Not for complex.
        Lt = "lt",
        /// `a <= b`. Not for complex.
        Le = "le",
        /// `a > b`. Not for complex.
        Gt = "gt",
        /// `a >= b`. Not for complex.
        Ge = "ge",
    }
}

kinds! {
    /// Reductions of a line of elements to one.
    ReduceOp {
        /// The sum.
        Sum = "sum",
        /// The product.
        Prod = "prod",
        /// The smallest; NaN if any is. Not for complex.
        Min = "min",
        /// The largest; NaN if any is. Not for complex.
        Max = "max",
        /// Whether any is non-zero (NaN is).
        Any = "any",
        /// Whether all are non-zero (NaN is).
        All = "all",
    }
}

kinds! {
    /// Positions of extremes. NaN wins at its first place; the first of equals wins; `-0.0 == 0.0`.
    ArgOp {
        /// Position of the smallest.
        ArgMin = "argmin",
        /// Position of the largest.
        ArgMax = "argmax",
    }
}

kinds! {
    /// Running reductions along a line.
    ScanOp {
        /// Running sum.
        Sum = "cumsum",
        /// Running product.
        Prod = "cumprod",
        /// Running minimum; NaN from its first place on. Not for complex.
        Min = "cummin",
        /// Running maximum; NaN from its first place on. Not for complex.
        Max = "cummax",
    }
}

kinds! {
    /// What a scatter does to its target.
    ScatterMode {
        /// Replaces it.
        Set = "scatter",
        /// Adds to it.
        Add = "scatter_add",
    }
}

kinds! {
    /// What is drawn from the four Philox words `w0..w3` of an element.
    ///
    /// A 32-bit word becomes `u = (w >> 8) * 2^-24` and a pair of words
    /// `u = ((low | high << 32) >> 11) * 2^-53`, both in `[0, 1)`. f16, bf16 and f32 draw from w0
    /// (the f32 value rounded down to the narrow type, so that it stays below 1); f64 from (w0, w1);
    /// complex64 from w0 and w1; complex128 from (w0, w1) and (w2, w3).
    Distribution {
        /// `u`, in `[0, 1)`; for complex, one for each part.
        Uniform = "uniform",
        /// Box and Muller's pair from the two `u` of the matching complex type:
        /// `r = sqrt(-2 ln(1 - u0))`; `r cos(2π u1)` for real types, `r cos + i r sin` for complex.
        Normal = "normal",
    }
}

#[cfg(test)]
mod tests {
    use super::Family;

    #[test]
    fn families_index_their_own_place() {
        for (at, family) in Family::ALL.into_iter().enumerate() {
            assert_eq!(family as usize, at);
        }
    }
}
