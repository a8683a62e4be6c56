//! Functions of one or two elements.

use crate::value::{Val, bounds, truncated};
use gpu_seam::{BinaryOp, CompareOp, DType, UnaryOp};

/// A value of `from` as `to`: the cast of `Op::Copy`.
pub(crate) fn cast(value: Val, from: DType, to: DType) -> Val {
    if from == to {
        return value;
    }
    if to == DType::Bool {
        return Val::Bool(value.truth());
    }
    let value = match value {
        Val::Bool(x) => Val::Int(i128::from(x)),
        Val::Complex(re, _) if !to.is_complex() => Val::Real(re),
        other => other,
    };
    let cast = match value {
        Val::Int(x) if to.is_float() => Val::Real(of_integer(x, to)),
        Val::Int(x) if to.is_complex() => Val::Complex(of_integer(x, to.real()), 0.0),
        Val::Real(x) if to.is_integer() => Val::Int(saturated(x, to)),
        Val::Real(x) if to.is_complex() => Val::Complex(x, 0.0),
        other => other,
    };
    cast.rounded(to)
}

/// Rounded once: `as` rounds to nearest even, and f64 holds what the narrow types are rounded from.
fn of_integer(x: i128, to: DType) -> f64 {
    match to {
        DType::F32 => f64::from(x as f32),
        _ => x as f64,
    }
}

fn saturated(x: f64, to: DType) -> i128 {
    let (least, greatest) = bounds(to);
    truncated(x).clamp(least, greatest)
}

/// `op(x)` of `dtype`, as the output's type (see [`UnaryOp`]).
pub(crate) fn unary(op: UnaryOp, dtype: DType, x: Val) -> Val {
    let value = match (op, x) {
        (UnaryOp::IsNan, x) => return Val::Bool(x.is_nan()),
        (UnaryOp::Abs, Val::Complex(re, im)) => {
            return Val::Real(re.hypot(im)).rounded(dtype.real());
        }
        (UnaryOp::Neg, Val::Int(x)) => Val::Int(-x),
        (UnaryOp::Abs, Val::Int(x)) => Val::Int(x.abs()),
        (UnaryOp::Not, Val::Int(x)) => Val::Int(!x),
        (UnaryOp::Not, Val::Bool(x)) => Val::Bool(!x),
        (op, Val::Real(x)) => Val::Real(match op {
            UnaryOp::Neg => -x,
            UnaryOp::Abs => x.abs(),
            UnaryOp::Exp => x.exp(),
            UnaryOp::Log => x.ln(),
            UnaryOp::Sqrt => x.sqrt(),
            UnaryOp::Tanh => x.tanh(),
            UnaryOp::Recip => x.recip(),
            _ => x,
        }),
        (op, Val::Complex(re, im)) => {
            let (re, im) = complex(op, re, im);
            Val::Complex(re, im)
        }
        (_, x) => x,
    };
    value.rounded(dtype)
}

/// Textbook formulas, arranged so that nothing overflows on the way (tanh: Abramowitz and Stegun
/// 4.5.51 with its denominator written as a sum of squares; sqrt: half angles).
fn complex(op: UnaryOp, re: f64, im: f64) -> (f64, f64) {
    match op {
        UnaryOp::Neg => (-re, -im),
        UnaryOp::Conj => (re, -im),
        UnaryOp::Exp => (re.exp() * im.cos(), re.exp() * im.sin()),
        UnaryOp::Log => (re.hypot(im).ln(), im.atan2(re)),
        UnaryOp::Sqrt => {
            let large = ((re.hypot(im) + re.abs()) / 2.0).sqrt();
            let small = if large == 0.0 {
                0.0
            } else {
                im.abs() / (2.0 * large)
            };
            let (re, size) = if re >= 0.0 {
                (large, small)
            } else {
                (small, large)
            };
            (re, size.copysign(im))
        }
        UnaryOp::Tanh => {
            if re.abs() > 300.0 {
                return (re.signum(), 0.0f64.copysign((2.0 * im).sin()));
            }
            // A sum of squares: nothing cancels near the poles.
            let below = re.sinh() * re.sinh() + im.cos() * im.cos();
            (re.sinh() * re.cosh() / below, im.sin() * im.cos() / below)
        }
        UnaryOp::Recip => quotient((1.0, 0.0), (re, im)),
        _ => (re, im),
    }
}

/// Smith's division (CACM 5, 1962).
fn quotient((a, b): (f64, f64), (c, d): (f64, f64)) -> (f64, f64) {
    if c.abs() >= d.abs() {
        let ratio = d / c;
        let below = c + d * ratio;
        ((a + b * ratio) / below, (b - a * ratio) / below)
    } else {
        let ratio = c / d;
        let below = c * ratio + d;
        ((a * ratio + b) / below, (b * ratio - a) / below)
    }
}

/// `op(a, b)` of `dtype`.
pub(crate) fn binary(op: BinaryOp, dtype: DType, a: Val, b: Val) -> Val {
    let value = match (a, b) {
        (Val::Bool(a), Val::Bool(b)) => Val::Bool(match op {
            BinaryOp::Add | BinaryOp::Max => a | b,
            _ => a & b,
        }),
        (Val::Int(a), Val::Int(b)) => Val::Int(match op {
            BinaryOp::Add => a.wrapping_add(b),
            BinaryOp::Sub => a.wrapping_sub(b),
            BinaryOp::Mul => a.wrapping_mul(b),
            // In 128 bits MIN / -1 is no overflow; rounding to the type wraps it.
            BinaryOp::Div => a.checked_div(b).unwrap_or(0),
            BinaryOp::Rem => a.checked_rem(b).unwrap_or(0),
            BinaryOp::Min => a.min(b),
            _ => a.max(b),
        }),
        (Val::Real(a), Val::Real(b)) => Val::Real(match op {
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::Mul => a * b,
            BinaryOp::Div => a / b,
            BinaryOp::Rem => a % b,
            _ if a.is_nan() || b.is_nan() => f64::NAN,
            BinaryOp::Min => a.min(b),
            _ => a.max(b),
        }),
        (Val::Complex(a, b), Val::Complex(c, d)) => {
            let (re, im) = match op {
                BinaryOp::Add => (a + c, b + d),
                BinaryOp::Sub => (a - c, b - d),
                BinaryOp::Mul => (a * c - b * d, a * d + b * c),
                _ => quotient((a, b), (c, d)),
            };
            Val::Complex(re, im)
        }
        (a, _) => a,
    };
    value.rounded(dtype)
}

/// `op(a, b)` as a truth.
pub(crate) fn compare(op: CompareOp, a: Val, b: Val) -> Val {
    let order = match (a, b) {
        (Val::Bool(a), Val::Bool(b)) => Some(a.cmp(&b)),
        (Val::Int(a), Val::Int(b)) => Some(a.cmp(&b)),
        (Val::Real(a), Val::Real(b)) => a.partial_cmp(&b),
        // Of complex numbers only equality is asked.
        (a, b) if a.is_nan() || b.is_nan() => None,
        (a, b) if a == b => Some(std::cmp::Ordering::Equal),
        _ => Some(std::cmp::Ordering::Less),
    };
    Val::Bool(match op {
        CompareOp::Eq => order.is_some_and(|order| order.is_eq()),
        CompareOp::Ne => order.is_none_or(|order| order.is_ne()),
        CompareOp::Lt => order.is_some_and(|order| order.is_lt()),
        CompareOp::Le => order.is_some_and(|order| order.is_le()),
        CompareOp::Gt => order.is_some_and(|order| order.is_gt()),
        _ => order.is_some_and(|order| order.is_ge()),
    })
}

#[cfg(test)]
mod tests {
    use super::{binary, cast, unary};
    use crate::value::Val;
    use gpu_seam::{BinaryOp, DType, UnaryOp};

    #[test]
    fn integers_divide_as_settled() {
        let least = Val::Int(i128::from(i32::MIN));
        let divide = |a, b| binary(BinaryOp::Div, DType::I32, a, b);
        assert_eq!(divide(Val::Int(-7), Val::Int(2)), Val::Int(-3));
        assert_eq!(divide(Val::Int(-7), Val::Int(0)), Val::Int(0));
        assert_eq!(divide(least, Val::Int(-1)), least);
        assert_eq!(unary(UnaryOp::Abs, DType::I32, least), least);
        assert_eq!(
            binary(BinaryOp::Rem, DType::I32, Val::Int(-7), Val::Int(2)),
            Val::Int(-1)
        );
    }

    #[test]
    fn casts_saturate_wrap_and_test_for_zero() {
        let table = [
            (Val::Real(-1.0), DType::F32, DType::U8, Val::Int(0)),
            (Val::Real(259_999.0), DType::F32, DType::U8, Val::Int(255)),
            (Val::Real(f64::NAN), DType::F64, DType::I32, Val::Int(0)),
            (Val::Real(-1.9), DType::F32, DType::I64, Val::Int(-1)),
            (Val::Int(300), DType::I64, DType::U8, Val::Int(44)),
            (Val::Int(-1), DType::I8, DType::U8, Val::Int(255)),
            (
                Val::Real(f64::NAN),
                DType::F32,
                DType::Bool,
                Val::Bool(true),
            ),
            (Val::Real(-0.0), DType::F32, DType::Bool, Val::Bool(false)),
            (
                Val::Complex(2.0, 3.0),
                DType::Complex64,
                DType::F32,
                Val::Real(2.0),
            ),
            (
                Val::Bool(true),
                DType::Bool,
                DType::Complex64,
                Val::Complex(1.0, 0.0),
            ),
        ];
        for (value, from, to, want) in table {
            assert_eq!(cast(value, from, to), want, "{value:?} {from} {to}");
        }
    }

    #[test]
    fn complex_functions_undo_each_other() {
        for (re, im) in [(0.3, 0.4), (-1.5, 0.2), (2.0, -3.0), (0.0, 1.0)] {
            let z = Val::Complex(re, im);
            let root = unary(UnaryOp::Sqrt, DType::Complex128, z);
            let square = binary(BinaryOp::Mul, DType::Complex128, root, root);
            let log = unary(UnaryOp::Log, DType::Complex128, z);
            let exp = unary(UnaryOp::Exp, DType::Complex128, log);
            let inverse = unary(UnaryOp::Recip, DType::Complex128, z);
            let one = binary(BinaryOp::Mul, DType::Complex128, inverse, z);
            for (got, want) in [(square, z), (exp, z), (one, Val::Complex(1.0, 0.0))] {
                let (Val::Complex(a, b), Val::Complex(c, d)) = (got, want) else {
                    panic!()
                };
                assert!((a - c).hypot(b - d) < 1e-14, "{got:?} {want:?}");
            }
        }
    }
}
