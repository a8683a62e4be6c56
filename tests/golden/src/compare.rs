//! Whether what was found is what must be: bit by bit, or within what the case allows.
//!
//! Any NaN is as good as another. Knows nothing of operations.

use crate::book::Case;
use gpu_seam::DType;
use half::{bf16, f16};

/// Compares the bytes of two arrays of `dtype`.
///
/// # Errors
/// The first element that differs, in words.
pub(crate) fn compare(
    case: &Case,
    dtype: DType,
    want: &[u8],
    got: &[u8],
    flushes: bool,
) -> Result<(), String> {
    assert_eq!(want.len(), got.len(), "the shapes were compared before");
    let size = dtype.size();
    let pairs = want.chunks_exact(size).zip(got.chunks_exact(size));
    for (at, (want, got)) in pairs.enumerate() {
        if !element(case, dtype, want, got, flushes) {
            return Err(format!(
                "element {at}: must be {}, is {}",
                shown(dtype, want),
                shown(dtype, got)
            ));
        }
    }
    Ok(())
}

fn element(case: &Case, dtype: DType, want: &[u8], got: &[u8], flushes: bool) -> bool {
    if want == got {
        return true;
    }
    let part = dtype.real();
    if !part.is_float() {
        return false;
    }
    if !dtype.is_complex() || (case.ulp == 0.0 && case.abs == 0.0 && !case.class) {
        let parts = want
            .chunks_exact(part.size())
            .zip(got.chunks_exact(part.size()));
        return parts
            .map(|(want, got)| (real(part, want), real(part, got)))
            .all(|(want, got)| close(case, part, want, got, flushes));
    }
    let of = |bytes: &[u8]| {
        let (re, im) = bytes.split_at(part.size());
        (real(part, re), real(part, im))
    };
    let (want, got) = (of(want), of(got));
    let finite = |z: (f64, f64)| z.0.is_finite() && z.1.is_finite();
    if case.class && !finite(want) {
        return !finite(got);
    }
    // The error of a complex number is measured against its modulus. Halves, so that the modulus
    // of the largest numbers does not overflow.
    let modulus = (want.0 / 2.0).hypot(want.1 / 2.0) * 2.0;
    let error = (want.0 - got.0).hypot(want.1 - got.1);
    let flushed = if flushes { least(part) } else { 0.0 };
    error <= case.abs + case.ulp.max(1.0) * unit(part, modulus) + flushed
}

fn close(case: &Case, dtype: DType, want: f64, got: f64, flushes: bool) -> bool {
    if want.is_nan() || got.is_nan() {
        return want.is_nan() && got.is_nan();
    }
    if want == got {
        let same_sign = want.is_sign_negative() == got.is_sign_negative();
        return same_sign || case.zero || case.ulp > 0.0;
    }
    if !want.is_finite() || !got.is_finite() {
        return false;
    }
    if flushes && got == 0.0 && want.abs() < least(dtype) {
        return true;
    }
    (want - got).abs() <= case.abs + case.ulp * unit(dtype, want)
}

/// The distance from `value` to the next number of `dtype`, outward.
fn unit(dtype: DType, value: f64) -> f64 {
    let (bits, lowest) = format(dtype);
    let value = value.abs().min(f64::MAX);
    // The exponent of a subnormal f64 reads as -1023, which is below every lowest.
    let exponent = (value.to_bits() >> 52) as i32 - 1023;
    power(exponent.max(lowest) - bits + 1)
}

/// The least normal number.
fn least(dtype: DType) -> f64 {
    power(format(dtype).1)
}

/// Significant bits and the lowest exponent of a normal number.
const fn format(dtype: DType) -> (i32, i32) {
    match dtype {
        DType::F16 => (11, -14),
        DType::BF16 => (8, -126),
        DType::F32 => (24, -126),
        _ => (53, -1022),
    }
}

/// `2^exponent`, subnormal results included.
fn power(exponent: i32) -> f64 {
    if exponent < -1022 {
        f64::MIN_POSITIVE * 2f64.powi(exponent + 1022)
    } else {
        2f64.powi(exponent)
    }
}

fn real(dtype: DType, bytes: &[u8]) -> f64 {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let [a, b, c, d, ..] = wide;
    match dtype {
        DType::F16 => f16::from_le_bytes([a, b]).into(),
        DType::BF16 => bf16::from_le_bytes([a, b]).into(),
        DType::F32 => f32::from_le_bytes([a, b, c, d]).into(),
        _ => f64::from_le_bytes(wide),
    }
}

fn shown(dtype: DType, bytes: &[u8]) -> String {
    let part = dtype.real();
    if part.is_float() {
        let parts = bytes.chunks_exact(part.size());
        let parts: Vec<String> = parts
            .map(|bytes| format!("{:?}", real(part, bytes)))
            .collect();
        return parts.join(" + i ");
    }
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(wide);
    let unused = 64 - 8 * bytes.len();
    match dtype {
        DType::Bool | DType::U8 | DType::U32 => bits.to_string(),
        _ => (bits.cast_signed() << unused >> unused).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{least, unit};
    use gpu_seam::DType;

    #[test]
    fn units_are_those_of_the_format() {
        assert_eq!(unit(DType::F64, 1.0), f64::EPSILON);
        assert_eq!(unit(DType::F32, -1.5), f64::from(f32::EPSILON));
        assert_eq!(unit(DType::F16, 0.0), 2f64.powi(-24));
        assert_eq!(unit(DType::F64, 0.0), f64::from_bits(1));
        assert_eq!(least(DType::BF16), f64::from(f32::MIN_POSITIVE));
    }
}
