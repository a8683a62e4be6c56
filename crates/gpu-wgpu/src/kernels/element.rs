//! How element types lie in words, and in what WGSL type a kernel computes on them.
//!
//! Promises that decoding and encoding an element gives the element back, NaN bits included where
//! the type computed on has the same width. f16 and bf16 are computed on in f32 (which holds the
//! exact sum, difference, product, quotient and root closely enough that rounding twice is rounding
//! once); i64 in pairs of words, so that it needs no feature of the adapter. Knows nothing of
//! kernels.

use gpu_seam::DType;

/// Bytes of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Width {
    W1,
    W2,
    W4,
    W8,
    W16,
}

impl Width {
    pub(crate) const fn of(dtype: DType) -> Self {
        match dtype.size() {
            1 => Self::W1,
            2 => Self::W2,
            4 => Self::W4,
            8 => Self::W8,
            _ => Self::W16,
        }
    }

    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::W1 => 1,
            Self::W2 => 2,
            Self::W4 => 4,
            Self::W8 => 8,
            Self::W16 => 16,
        }
    }

    /// Whether several elements share a word.
    pub(crate) const fn is_narrow(self) -> bool {
        matches!(self, Self::W1 | Self::W2)
    }
}

/// The WGSL type of an element as it lies in memory; narrow elements in the low bits of a word.
pub(crate) const fn raw_type(width: Width) -> &'static str {
    match width {
        Width::W1 | Width::W2 | Width::W4 => "u32",
        Width::W8 => "vec2<u32>",
        Width::W16 => "vec4<u32>",
    }
}

/// The zero of a raw type.
pub(crate) const fn raw_zero(width: Width) -> &'static str {
    match width {
        Width::W1 | Width::W2 | Width::W4 => "0u",
        Width::W8 => "vec2<u32>(0u, 0u)",
        Width::W16 => "vec4<u32>(0u, 0u, 0u, 0u)",
    }
}

/// What a kernel computes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Reg {
    /// A bool as 0 or 1.
    Bool,
    /// u8 and u32.
    U32,
    /// i8 and i32.
    I32,
    /// i64: low word, high word.
    I64,
    /// f16, bf16 and f32.
    F32,
    F64,
    Complex64,
    Complex128,
}

impl Reg {
    pub(crate) const fn of(dtype: DType) -> Self {
        match dtype {
            DType::Bool => Self::Bool,
            DType::U8 | DType::U32 => Self::U32,
            DType::I8 | DType::I32 => Self::I32,
            DType::I64 => Self::I64,
            DType::F64 => Self::F64,
            DType::Complex64 => Self::Complex64,
            DType::Complex128 => Self::Complex128,
            // F16, BF16, F32; a type that is added later is refused before it comes here.
            _ => Self::F32,
        }
    }

    /// The WGSL type.
    pub(crate) const fn wgsl(self) -> &'static str {
        match self {
            Self::Bool | Self::U32 => "u32",
            Self::I32 => "i32",
            Self::I64 => "vec2<u32>",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Complex64 => "vec2<f32>",
            Self::Complex128 => "vec2<f64>",
        }
    }

    /// The ending of the names of library functions on it.
    pub(crate) const fn suffix(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Complex64 => "c64",
            Self::Complex128 => "c128",
        }
    }

    /// The dtype that holds it whole: what partial results are kept as.
    pub(crate) const fn dtype(self) -> DType {
        match self {
            Self::Bool | Self::U32 => DType::U32,
            Self::I32 => DType::I32,
            Self::I64 => DType::I64,
            Self::F32 => DType::F32,
            Self::F64 => DType::F64,
            Self::Complex64 => DType::Complex64,
            Self::Complex128 => DType::Complex128,
        }
    }

    /// The expression for the value of an integer literal.
    pub(crate) fn number(self, value: u8) -> String {
        match self {
            Self::Bool | Self::U32 => format!("{value}u"),
            Self::I32 => format!("{value}i"),
            Self::I64 => format!("vec2<u32>({value}u, 0u)"),
            Self::F32 => format!("{value}.0f"),
            Self::F64 => format!("{value}.0lf"),
            Self::Complex64 => format!("vec2<f32>({value}.0f, 0.0f)"),
            Self::Complex128 => format!("vec2<f64>({value}.0lf, 0.0lf)"),
        }
    }
}

/// The expression for the value of a raw element.
pub(crate) fn decode(dtype: DType, raw: &str) -> String {
    match dtype {
        DType::I8 => format!("(bitcast<i32>({raw} << 24u) >> 24u)"),
        DType::I32 => format!("bitcast<i32>({raw})"),
        DType::F16 => format!("f16_to_f32({raw})"),
        DType::BF16 => format!("bitcast<f32>({raw} << 16u)"),
        DType::F32 => format!("bitcast<f32>({raw})"),
        DType::F64 => format!("f64_of({raw})"),
        DType::Complex64 => format!("bitcast<vec2<f32>>({raw})"),
        DType::Complex128 => format!("c128_of({raw})"),
        _ => raw.to_owned(),
    }
}

/// The expression for the raw element of a value.
pub(crate) fn encode(dtype: DType, value: &str) -> String {
    match dtype {
        DType::U8 => format!("({value} & 0xffu)"),
        DType::I8 => format!("(bitcast<u32>({value}) & 0xffu)"),
        DType::I32 | DType::F32 => format!("bitcast<u32>({value})"),
        DType::F16 => format!("f32_to_f16({value})"),
        DType::BF16 => format!("f32_to_bf16({value})"),
        DType::F64 => format!("bits_f64({value})"),
        DType::Complex64 => format!("bitcast<vec2<u32>>({value})"),
        DType::Complex128 => format!("bits_c128({value})"),
        _ => value.to_owned(),
    }
}
