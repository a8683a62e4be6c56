//! Judging what a device computed against what the reference says.

use crate::outcome::{Outcome, Stop};
use crate::value::{Val, epsilon, least_normal};
use gpu_seam::{DType, Subnormals};

/// How near a result must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Tolerance {
    /// The same value, the sign of zero included; any NaN for a NaN.
    Exact,
    /// The same value; zeros of either sign are equal.
    Value,
    /// Within so many units in the last place (of a complex number: of its magnitude), or within an
    /// absolute distance; zeros of either sign are equal.
    Near {
        /// Units of the type's epsilon times the magnitude.
        ulps: f64,
        /// Absolute distance that is always allowed.
        abs: f64,
    },
}

/// Fails the check at the first element that is not near enough.
pub(crate) fn judge(
    dtype: DType,
    got: &[Val],
    want: &[Val],
    tolerance: Tolerance,
    subnormals: Subnormals,
) -> Outcome {
    let near = |at: &usize| near(dtype, got[*at], want[*at], tolerance, subnormals);
    match (0..want.len()).find(|at| !near(at)) {
        None => Ok(()),
        Some(at) => Err(Stop::Failed(format!(
            "element {at} of {} is {:?} where {:?} is right ({tolerance:?})",
            want.len(),
            got[at],
            want[at]
        ))),
    }
}

fn near(dtype: DType, got: Val, want: Val, tolerance: Tolerance, subnormals: Subnormals) -> bool {
    match (got, want) {
        (Val::Real(got), Val::Real(want)) => real(dtype, got, want, tolerance, subnormals),
        (Val::Complex(a, b), Val::Complex(c, d)) => match tolerance {
            Tolerance::Near { ulps, abs } => {
                // A part that is infinite, and rightly so, leaves the other to be judged alone.
                let finite = [c, d].into_iter().filter(|part| part.is_finite());
                let size = finite.fold(0.0, f64::hypot);
                let part = |got, want| if same(got, want) { 0.0 } else { got - want };
                let wrong = part(a, c).hypot(part(b, d));
                wrong == 0.0
                    || got.is_nan() && want.is_nan()
                    || wrong <= ulps * epsilon(dtype) * size + abs
            }
            _ => {
                real(dtype, a, c, tolerance, subnormals) && real(dtype, b, d, tolerance, subnormals)
            }
        },
        (got, want) => got == want,
    }
}

fn real(dtype: DType, got: f64, want: f64, tolerance: Tolerance, subnormals: Subnormals) -> bool {
    let flushed = subnormals == Subnormals::Flushed && want.abs() < least_normal(dtype);
    if flushed && got == 0.0 && got.is_sign_negative() == want.is_sign_negative() {
        return true;
    }
    match tolerance {
        Tolerance::Exact => same(got, want),
        Tolerance::Value => got == want || got.is_nan() && want.is_nan(),
        Tolerance::Near { ulps, abs } => {
            let floor = if subnormals == Subnormals::Flushed {
                least_normal(dtype)
            } else {
                0.0
            };
            let allowed = ulps * epsilon(dtype) * want.abs() + abs + floor;
            got == want
                || got.is_nan() && want.is_nan()
                || want.is_finite() && (got - want).abs() <= allowed
        }
    }
}

fn same(got: f64, want: f64) -> bool {
    got.is_nan() && want.is_nan()
        || got == want && got.is_sign_negative() == want.is_sign_negative()
}

#[cfg(test)]
mod tests {
    use super::{Tolerance, near};
    use crate::value::Val;
    use gpu_seam::{DType, Subnormals};

    #[test]
    fn tolerances_tell_apart_what_they_say() {
        let close = |got, want, tolerance| {
            near(
                DType::F32,
                Val::Real(got),
                Val::Real(want),
                tolerance,
                Subnormals::Kept,
            )
        };
        let ulp = Tolerance::Near {
            ulps: 1.0,
            abs: 0.0,
        };
        assert!(close(f64::NAN, f64::NAN, Tolerance::Exact));
        assert!(!close(-0.0, 0.0, Tolerance::Exact));
        assert!(close(-0.0, 0.0, Tolerance::Value));
        assert!(close(1.0 + 1e-7, 1.0, ulp));
        assert!(!close(1.0 + 2e-7, 1.0, ulp));
        assert!(!close(f64::MAX, f64::INFINITY, ulp));
        assert!(!close(f64::NAN, 1.0, ulp));
        assert!(!close(1.0, f64::NAN, ulp));
        let parts = |a, b, want| {
            let got = Val::Complex(a, b);
            near(DType::Complex64, got, want, ulp, Subnormals::Kept)
        };
        let half_infinite = Val::Complex(f64::INFINITY, 1e30);
        assert!(parts(f64::INFINITY, 1e30 * (1.0 + 1e-7), half_infinite));
        assert!(!parts(f64::INFINITY, 1.1e30, half_infinite));
        assert!(!parts(f64::MAX, 1e30, half_infinite));
        assert!(!parts(f64::INFINITY, f64::NAN, half_infinite));
        let flushed = |got| {
            near(
                DType::F32,
                Val::Real(got),
                Val::Real(-1e-40),
                Tolerance::Exact,
                Subnormals::Flushed,
            )
        };
        assert!(flushed(-0.0) && !flushed(0.0) && !flushed(-1e-39));
    }
}
