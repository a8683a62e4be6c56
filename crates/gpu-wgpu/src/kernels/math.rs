//! The functions of f32 and f64, and of the complex types over them, from one text each.
//!
//! `lib/real.wgsl` and `lib/complex.wgsl` have places for the type, for constants and for
//! polynomials; this fills them. The polynomials are the Taylor series, cut where what is left out
//! is below a unit in the last place of the type. Promises that both types are computed by the same
//! steps. Knows nothing of kernels.

use std::fmt::Write as _;

/// A type of real numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Real {
    F32,
    F64,
}

const REAL: &str = include_str!("lib/real.wgsl");
const COMPLEX: &str = include_str!("lib/complex.wgsl");

/// The functions of `real` and of the complex type over it.
pub(crate) fn text(real: Real) -> String {
    let own = match real {
        Real::F32 => include_str!("lib/float32.wgsl"),
        Real::F64 => include_str!("lib/float64.wgsl"),
    };
    let mut text = own.to_owned();
    for template in [REAL, COMPLEX] {
        for line in template.lines().filter(|line| !line.starts_with("//")) {
            fill(&mut text, line, real);
            text.push('\n');
        }
    }
    text
}

impl Real {
    const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    const fn complex(self) -> &'static str {
        match self {
            Self::F32 => "c64",
            Self::F64 => "c128",
        }
    }

    /// A literal of the type: the shortest that gives the number back.
    fn literal(self, value: f64) -> String {
        match self {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "rounds to the nearest f32, which is meant"
            )]
            Self::F32 => format!("{:?}f", value as f32),
            Self::F64 => format!("{value:?}lf"),
        }
    }

    /// One of two numbers.
    const fn pick<T: Copy>(self, single: T, double: T) -> T {
        match self {
            Self::F32 => single,
            Self::F64 => double,
        }
    }
}

/// Fills the places of a template.
fn fill(text: &mut String, template: &str, real: Real) {
    let mut rest = template;
    while let Some(at) = rest.find(|c: char| c.is_alphanumeric() || "_@~".contains(c)) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let (marked, from) = match rest.as_bytes()[0] {
            b'@' | b'~' => (true, 1),
            _ => (false, 0),
        };
        let end = rest[from..]
            .find(|c: char| {
                !(c.is_alphanumeric()
                    || c == '_'
                    || marked && rest.starts_with('~') && ".-".contains(c))
            })
            .map_or(rest.len(), |end| end + from);
        let (token, behind) = rest.split_at(end);
        rest = behind;
        if let Some(name) = token.strip_prefix('@') {
            let argument = rest
                .strip_prefix('(')
                .and_then(|inside| inside.split_once(')'));
            match (polynomial(name, real), argument) {
                (Some(coefficients), Some((variable, behind))) => {
                    text.push_str(&horner(variable, &coefficients, real));
                    rest = behind;
                }
                _ => text.push_str(&constant(name, real)),
            }
        } else if let Some(number) = token.strip_prefix('~') {
            let _ = match number.parse::<f64>() {
                Ok(value) => write!(text, "{}", real.literal(value)),
                // The complement of an expression.
                Err(_) => write!(text, "{token}"),
            };
        } else if token == "T" {
            text.push_str(real.name());
        } else if let Some(name) = token.strip_suffix("_T") {
            let _ = write!(text, "{name}_{}", real.name());
        } else if let Some(name) = token.strip_suffix("_C") {
            let _ = write!(text, "{name}_{}", real.complex());
        } else {
            text.push_str(token);
        }
    }
    text.push_str(rest);
}

/// `c0 + x * (c1 + x * (…))`.
fn horner(variable: &str, coefficients: &[f64], real: Real) -> String {
    let mut text = String::new();
    for coefficient in coefficients.iter().rev() {
        let literal = real.literal(*coefficient);
        text = match text.is_empty() {
            true => literal,
            false => format!("({literal} + {variable} * {text})"),
        };
    }
    text
}

/// The coefficients of a series, lowest first.
fn polynomial(name: &str, real: Real) -> Option<Vec<f64>> {
    let inverse_factorial = |n: u32| 1.0 / (1..=n).map(f64::from).product::<f64>();
    let sign = |n: u32| if n.is_multiple_of(2) { 1.0 } else { -1.0 };
    Some(match name {
        // (e^r - 1) / r, |r| <= ln 2 / 2.
        "EXP" => (1..=real.pick(7, 14)).map(inverse_factorial).collect(),
        // (e^x - 1) / x, |x| < 1/2.
        "EXPM1" => (1..=real.pick(8, 16)).map(inverse_factorial).collect(),
        // (2 artanh(s) - 2 s) / s^3 in z = s^2 < 0.0295.
        "LOG" => (1..=real.pick(4, 11))
            .map(|n| 2.0 / f64::from(2 * n + 1))
            .collect(),
        // (cos r - 1) / z and (sin r - r) / (r z) in z = r^2, |r| <= pi / 4.
        "COS" => (1..=real.pick(5, 9))
            .map(|n| sign(n) * inverse_factorial(2 * n))
            .collect(),
        "SIN" => (1..=real.pick(4, 8))
            .map(|n| sign(n) * inverse_factorial(2 * n + 1))
            .collect(),
        // (arctan u - u) / (u z) in z = u^2, |u| <= 1/8.
        "ATAN" => (1..=real.pick(4, 9))
            .map(|n| sign(n) / f64::from(2 * n + 1))
            .collect(),
        _ => return None,
    })
}

/// A constant as a literal.
fn constant(name: &str, real: Real) -> String {
    use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, LN_2, LOG2_E, PI};
    let integer = match name {
        "EXPONENT_LEAST" => Some(real.pick(-126, -1022)),
        "MANTISSA" => Some(real.pick(23, 52)),
        "SCALE_MOST" => Some(real.pick(125, 1021)),
        _ => None,
    };
    if let Some(integer) = integer {
        return format!("{integer}i");
    }
    // ln 2 and pi / 2 in pieces: times a whole number of the size that occurs, every piece but the
    // last is exact. The low pieces are what a double of the whole does not hold.
    let (ln_2_high, ln_2_low) = real.pick(
        (0.693_359_375, LN_2 - 0.693_359_375),
        (0.693_147_180_485_539_1, 7.440_617_110_012_397e-11),
    );
    let (turn_high, turn_middle, turn_low) = real.pick(
        (
            1.570_312_5,
            4.837_512_969_970_703e-4,
            FRAC_PI_2 - 1.570_312_5 - 4.837_512_969_970_703e-4,
        ),
        (
            1.570_796_326_734_125_6,
            6.077_100_506_303_966e-11,
            2.022_266_248_795_950_6e-21,
        ),
    );
    real.literal(match name {
        "EXP_MOST" => real.pick(89.0, 710.0),
        "EXP_LEAST" => real.pick(-104.0, -746.0),
        "LOG2_E" => LOG2_E,
        "LN2_HIGH" => ln_2_high,
        "LN2_LOW" => ln_2_low,
        "TURN_MOST" => real.pick(10_000.0, 1_000_000.0),
        "TWO_OVER_PI" => FRAC_2_PI,
        "TURN_HIGH" => turn_high,
        "TURN_MIDDLE" => turn_middle,
        "TURN_LOW" => turn_low,
        "WORD1" => 2f64.powi(-32),
        "WORD2" => 2f64.powi(-64),
        "WORD3" => 2f64.powi(-96),
        "PI" => PI,
        "HALF_PI" => FRAC_PI_2,
        "ATAN1" => 0.25f64.atan(),
        "ATAN2" => 0.5f64.atan(),
        "ATAN3" => 0.75f64.atan(),
        "ATAN4" => PI / 4.0,
        // A misspelt name fails the validation of every kernel that uses it.
        other => return format!("UNKNOWN_{other}"),
    })
}

#[cfg(test)]
mod tests {
    use super::{Real, constant, fill, horner, text};

    #[test]
    fn templates_are_filled() {
        let mut filled = String::new();
        fill(
            &mut filled,
            "fn a_T(x: T) { ~0.5 * @PI + b_C(~-2.0) ~middle; }",
            Real::F64,
        );
        assert_eq!(
            filled,
            "fn a_f64(x: f64) { 0.5lf * 3.141592653589793lf + b_c128(-2.0lf) ~middle; }"
        );
        assert_eq!(
            horner("z", &[1.0, 0.5, 0.25], Real::F32),
            "(1.0f + z * (0.5f + z * 0.25f))"
        );
    }

    #[test]
    fn no_name_is_unknown() {
        for real in [Real::F32, Real::F64] {
            assert!(!text(real).contains("UNKNOWN"));
        }
        assert!(constant("NO_SUCH", Real::F32).contains("UNKNOWN"));
    }

    /// The pieces add up to the constant, and their high parts end in zeros.
    #[test]
    fn pieces_of_constants_are_exact() {
        let parse = |name| {
            let literal = constant(name, Real::F64);
            literal.trim_end_matches("lf").parse::<f64>().unwrap()
        };
        let ln_2 = parse("LN2_HIGH");
        assert_eq!(ln_2.to_bits() & 0xf_ffff, 0);
        assert_eq!(ln_2 + parse("LN2_LOW"), std::f64::consts::LN_2);
        for name in ["TURN_HIGH", "TURN_MIDDLE"] {
            assert_eq!(parse(name).to_bits() & 0xf_ffff, 0, "{name}");
        }
        let sum = parse("TURN_HIGH") + (parse("TURN_MIDDLE") + parse("TURN_LOW"));
        assert_eq!(sum, std::f64::consts::FRAC_PI_2);
    }
}
