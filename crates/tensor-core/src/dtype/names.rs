//! The names that NumPy, PyTorch and this workspace give to dtypes.
//!
//! Promises that a name means one dtype wherever it is used: names on which NumPy and PyTorch
//! differ (`int`, `float`, `long`) are refused rather than guessed.

use crate::error::Error;
use gpu_seam::DType;

/// The dtype called `name`: a short name (`f32`, `complex64`), a NumPy and PyTorch name
/// (`float32`), or an alias on which both agree (`half`, `double`).
///
/// # Errors
/// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) with the names that are known.
pub fn dtype_from_name(name: &str) -> Result<DType, Error> {
    let dtype = match name {
        "bool" | "bool_" => DType::Bool,
        "u8" | "uint8" => DType::U8,
        "i8" | "int8" => DType::I8,
        "u32" | "uint32" => DType::U32,
        "i32" | "int32" => DType::I32,
        "i64" | "int64" => DType::I64,
        "f16" | "float16" | "half" => DType::F16,
        "bf16" | "bfloat16" => DType::BF16,
        "f32" | "float32" => DType::F32,
        "f64" | "float64" | "double" => DType::F64,
        "c64" | "complex64" => DType::Complex64,
        "c128" | "complex128" => DType::Complex128,
        other => return Err(unknown(other)),
    };
    Ok(dtype)
}

fn unknown(name: &str) -> Error {
    let known: Vec<&str> = DType::ALL.into_iter().map(DType::name).collect();
    // A hostile file may hold a name of any length: quote its start.
    let shown: String = name.chars().take(32).collect();
    let cut = if shown.len() < name.len() { "…" } else { "" };
    Error::invalid(
        "dtype_from_name",
        format!(
            "{:?} names no element type; known are {} and NumPy's names for them",
            shown + cut,
            known.join(", ")
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::dtype_from_name;
    use gpu_seam::DType;
    use rstest::rstest;

    #[test]
    fn every_dtype_is_known_by_its_own_name() {
        for dtype in DType::ALL {
            assert_eq!(dtype_from_name(dtype.name()).ok(), Some(dtype));
        }
    }

    #[rstest]
    #[case("float32", DType::F32)]
    #[case("bfloat16", DType::BF16)]
    #[case("uint8", DType::U8)]
    #[case("complex128", DType::Complex128)]
    #[case("double", DType::F64)]
    fn numpy_names_are_known(#[case] name: &str, #[case] dtype: DType) {
        assert_eq!(dtype_from_name(name).ok(), Some(dtype));
    }

    #[rstest]
    #[case("float")]
    #[case("int")]
    #[case("F32")]
    #[case("")]
    fn what_is_ambiguous_or_unknown_is_refused(#[case] name: &str) {
        assert!(dtype_from_name(name).is_err());
    }

    #[test]
    fn a_long_name_is_quoted_in_part() {
        let text = dtype_from_name(&"x".repeat(1 << 20)).map_err(|error| error.to_string());
        assert!(text.is_err_and(|text| text.len() < 300));
    }
}
