//! What functions of elements are in WGSL.
//!
//! Promises an expression exactly for what the operations' documentation allows, and `None` for the
//! rest: the support table and every kernel ask here. Knows nothing of loops or layouts.

use super::element::{Reg, Width, decode, encode};
use gpu_seam::{BinaryOp, CompareOp, DType, ReduceOp, ScanOp, UnaryOp};

/// `op(a)`, and the dtype that it gives; `a` is a value of `dtype`.
pub(crate) fn unary(op: UnaryOp, dtype: DType) -> Option<(String, DType)> {
    let reg = Reg::of(dtype);
    let suffix = reg.suffix();
    let analytic = dtype.is_float() || dtype.is_complex();
    let expression = match op {
        UnaryOp::Neg => match reg {
            Reg::Bool => return None,
            Reg::U32 => "0u - a".to_owned(),
            Reg::I32 => "-a".to_owned(),
            Reg::F32 | Reg::F64 => format!("flipped_{suffix}(a)"),
            Reg::I64 | Reg::Complex64 | Reg::Complex128 => format!("neg_{suffix}(a)"),
        },
        UnaryOp::Abs => match reg {
            Reg::Bool | Reg::U32 => "a".to_owned(),
            Reg::I32 => "abs(a)".to_owned(),
            Reg::F32 | Reg::F64 => format!("magnitude_{suffix}(a)"),
            Reg::I64 | Reg::Complex64 | Reg::Complex128 => format!("abs_{suffix}(a)"),
        },
        UnaryOp::Exp | UnaryOp::Log | UnaryOp::Sqrt | UnaryOp::Tanh | UnaryOp::Recip => {
            if !analytic {
                return None;
            }
            format!("{}_{suffix}(a)", op.name())
        }
        UnaryOp::Conj if dtype.is_complex() => format!("conj_{suffix}(a)"),
        UnaryOp::Conj => "a".to_owned(),
        UnaryOp::IsNan => format!("select(0u, 1u, nan_{suffix}(a))"),
        UnaryOp::Not => match reg {
            Reg::Bool => "a ^ 1u".to_owned(),
            Reg::U32 | Reg::I32 | Reg::I64 => "~a".to_owned(),
            _ => return None,
        },
        _ => return None,
    };
    let out = match op {
        UnaryOp::Abs => dtype.real(),
        UnaryOp::IsNan => DType::Bool,
        _ => dtype,
    };
    Some((expression, out))
}

/// `op(a, b)` of two values of `dtype`.
pub(crate) fn binary(op: BinaryOp, dtype: DType) -> Option<String> {
    let reg = Reg::of(dtype);
    let suffix = reg.suffix();
    let named = |name: &str| Some(format!("{name}_{suffix}(a, b)"));
    match op {
        BinaryOp::Add => match reg {
            Reg::Bool => Some("a | b".to_owned()),
            Reg::I64 => named("add"),
            _ => Some("a + b".to_owned()),
        },
        BinaryOp::Mul => match reg {
            Reg::Bool => Some("a & b".to_owned()),
            Reg::I64 | Reg::Complex64 | Reg::Complex128 => named("mul"),
            _ => Some("a * b".to_owned()),
        },
        BinaryOp::Sub => match reg {
            Reg::Bool => None,
            Reg::I64 => named("sub"),
            _ => Some("a - b".to_owned()),
        },
        BinaryOp::Div => match reg {
            Reg::Bool => None,
            Reg::F32 | Reg::F64 => Some("a / b".to_owned()),
            _ => named("div"),
        },
        BinaryOp::Rem if dtype == DType::Bool || dtype.is_complex() => None,
        BinaryOp::Rem => named("rem"),
        BinaryOp::Min | BinaryOp::Max if dtype.is_complex() => None,
        BinaryOp::Min => extreme("b", "a", suffix),
        BinaryOp::Max => extreme("a", "b", suffix),
        _ => None,
    }
}

/// `b` where `lower` is less than `upper` (the two are `a` and `b`) or `b` is NaN; a NaN `a` stays.
fn extreme(lower: &str, upper: &str, suffix: &str) -> Option<String> {
    Some(format!(
        "pick_{suffix}(a, b, (less_{suffix}({lower}, {upper}) || nan_{suffix}(b)) && !nan_{suffix}(a))"
    ))
}

/// `op(a, b)` as 0 or 1.
pub(crate) fn compare(op: CompareOp, dtype: DType) -> Option<String> {
    let suffix = Reg::of(dtype).suffix();
    let test = match op {
        CompareOp::Eq => format!("equal_{suffix}(a, b)"),
        CompareOp::Ne => format!("!equal_{suffix}(a, b)"),
        _ if dtype.is_complex() => return None,
        CompareOp::Lt => format!("less_{suffix}(a, b)"),
        CompareOp::Gt => format!("less_{suffix}(b, a)"),
        CompareOp::Le => format!("less_{suffix}(a, b) || equal_{suffix}(a, b)"),
        CompareOp::Ge => format!("less_{suffix}(b, a) || equal_{suffix}(a, b)"),
        _ => return None,
    };
    Some(format!("select(0u, 1u, {test})"))
}

/// How a line of elements is folded: what is computed in, from where, and how a step goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fold {
    /// What is accumulated in.
    pub(crate) acc: DType,
    /// The accumulator of an element: an expression of its value `a`.
    pub(crate) lift: String,
    /// The accumulator of nothing.
    pub(crate) start: String,
    /// The accumulator of `a` and then `b`.
    pub(crate) step: String,
}

/// The fold of `op` over elements of `input` to an output of `out`.
pub(crate) fn fold(op: ReduceOp, input: DType, out: DType) -> Option<Fold> {
    let reg = Reg::of(input);
    let suffix = reg.suffix();
    match op {
        ReduceOp::Sum | ReduceOp::Prod => {
            if !sums_to(input, out) {
                return None;
            }
            let acc = if out == DType::I64 || out == DType::F64 {
                out
            } else {
                reg.dtype()
            };
            let step = match op {
                ReduceOp::Sum => binary(BinaryOp::Add, acc),
                _ => binary(BinaryOp::Mul, acc),
            };
            Some(Fold {
                acc,
                lift: lift(input, acc)?,
                start: Reg::of(acc).number(u8::from(op == ReduceOp::Prod)),
                step: step?,
            })
        }
        ReduceOp::Min | ReduceOp::Max => {
            if out != input || input.is_complex() {
                return None;
            }
            let (op, start) = match op {
                ReduceOp::Min => (BinaryOp::Min, bound(input, true)),
                _ => (BinaryOp::Max, bound(input, false)),
            };
            Some(Fold {
                acc: reg.dtype(),
                lift: "a".to_owned(),
                start,
                step: binary(op, input)?,
            })
        }
        ReduceOp::Any | ReduceOp::All => {
            if out != DType::Bool {
                return None;
            }
            let any = op == ReduceOp::Any;
            Some(Fold {
                acc: DType::U32,
                lift: format!("select(0u, 1u, truth_{suffix}(a))"),
                start: if any { "0u" } else { "1u" }.to_owned(),
                step: if any { "a | b" } else { "a & b" }.to_owned(),
            })
        }
        _ => None,
    }
}

/// The reduction whose running values a scan gives.
pub(crate) const fn running(op: ScanOp) -> Option<ReduceOp> {
    match op {
        ScanOp::Sum => Some(ReduceOp::Sum),
        ScanOp::Prod => Some(ReduceOp::Prod),
        ScanOp::Min => Some(ReduceOp::Min),
        ScanOp::Max => Some(ReduceOp::Max),
        _ => None,
    }
}

/// Whether sums and products of `from` may be given as `to`.
const fn sums_to(from: DType, to: DType) -> bool {
    match from {
        DType::F16 => matches!(to, DType::F16 | DType::F32),
        DType::BF16 => matches!(to, DType::BF16 | DType::F32),
        DType::F32 => matches!(to, DType::F32),
        DType::F64 => matches!(to, DType::F64),
        DType::Complex64 => matches!(to, DType::Complex64),
        DType::Complex128 => matches!(to, DType::Complex128),
        _ => matches!(to, DType::I64 | DType::F64),
    }
}

/// `a` of `input` as a value of the accumulator's type.
fn lift(input: DType, acc: DType) -> Option<String> {
    if Reg::of(input) == Reg::of(acc) {
        return Some("a".to_owned());
    }
    let raw = cast_value(input, acc)?;
    Some(decode(acc, &raw))
}

/// What no value of `dtype` is above (`top`) or below.
fn bound(dtype: DType, top: bool) -> String {
    let reg = Reg::of(dtype);
    match reg {
        Reg::Bool => if top { "1u" } else { "0u" }.to_owned(),
        Reg::U32 => if top { "0xffffffffu" } else { "0u" }.to_owned(),
        Reg::I32 => if top {
            "2147483647i"
        } else {
            "(-2147483647i - 1i)"
        }
        .to_owned(),
        Reg::I64 if top => "vec2<u32>(0xffffffffu, 0x7fffffffu)".to_owned(),
        Reg::I64 => "vec2<u32>(0u, 0x80000000u)".to_owned(),
        _ => {
            let infinity = format!("infinity_{}()", reg.suffix());
            match top {
                true => infinity,
                false => format!("flipped_{}({infinity})", reg.suffix()),
            }
        }
    }
}

/// The raw element of `to` of a raw element `raw` of `from`.
pub(crate) fn cast(from: DType, to: DType, raw: &str) -> Option<String> {
    if from == to {
        return Some(raw.to_owned());
    }
    if to == DType::Bool {
        // On bits throughout: f64 need not be there.
        return Some(match Width::of(from.real()) {
            Width::W8 if from.is_complex() => {
                format!(
                    "select(0u, 1u, any(({raw} & vec4<u32>(0xffffffffu, 0x7fffffffu, 0xffffffffu, 0x7fffffffu)) != vec4<u32>()))"
                )
            }
            Width::W8 if from == DType::F64 => {
                format!(
                    "select(0u, 1u, any(({raw} & vec2<u32>(0xffffffffu, 0x7fffffffu)) != vec2<u32>()))"
                )
            }
            Width::W8 => format!("select(0u, 1u, any({raw} != vec2<u32>()))"),
            _ if from.is_complex() => {
                format!(
                    "select(0u, 1u, any(({raw} & vec2<u32>(0x7fffffffu, 0x7fffffffu)) != vec2<u32>()))"
                )
            }
            Width::W2 => format!("select(0u, 1u, ({raw} & 0x7fffu) != 0u)"),
            _ if from == DType::F32 => format!("select(0u, 1u, ({raw} & 0x7fffffffu) != 0u)"),
            _ => format!("select(0u, 1u, {raw} != 0u)"),
        });
    }
    if from.is_complex() {
        let parts = |swizzles: [&str; 2]| swizzles.map(|part| format!("({raw}).{part}"));
        let [re, im] = parts(match from {
            DType::Complex64 => ["x", "y"],
            _ => ["xy", "zw"],
        });
        let re = cast(from.real(), to.real(), &re)?;
        if !to.is_complex() {
            return Some(re);
        }
        let im = cast(from.real(), to.real(), &im)?;
        return Some(match to {
            DType::Complex64 => format!("vec2<u32>({re}, {im})"),
            _ => format!("vec4<u32>({re}, {im})"),
        });
    }
    if to.is_complex() {
        let re = cast(from, to.real(), raw)?;
        return Some(match to {
            DType::Complex64 => format!("vec2<u32>({re}, 0u)"),
            _ => format!("vec4<u32>({re}, 0u, 0u)"),
        });
    }
    let from_float = from.is_float();
    if !from_float && !to.is_float() {
        // Integers (and bool) wrap: the low bits of the value.
        let value = decode(from, raw);
        let wide = match Reg::of(from) {
            Reg::I64 if to == DType::I64 => value,
            Reg::I64 => format!("({value}).x"),
            Reg::I32 => format!("bitcast<u32>({value})"),
            _ => value,
        };
        return Some(match to {
            DType::I64 if from == DType::I8 || from == DType::I32 => {
                format!("vec2<u32>({wide}, 0u - ({wide} >> 31u))")
            }
            DType::I64 => format!("vec2<u32>({wide}, 0u)"),
            DType::U8 | DType::I8 => format!("({wide} & 0xffu)"),
            _ => wide,
        });
    }
    match (from, to) {
        (DType::F16, DType::F32) => return Some(format!("bitcast<u32>(f16_to_f32({raw}))")),
        (DType::BF16, DType::F32) => return Some(format!("({raw} << 16u)")),
        (DType::F32, DType::F16) => return Some(format!("f32_to_f16(bitcast<f32>({raw}))")),
        (DType::F32, DType::BF16) => return Some(format!("f32_to_bf16(bitcast<f32>({raw}))")),
        _ => {}
    }
    let exact = match from {
        DType::Bool | DType::U8 | DType::U32 => format!("exact_u32({raw})"),
        DType::I8 | DType::I32 => format!("exact_i32({})", decode(from, raw)),
        DType::I64 | DType::F16 | DType::BF16 | DType::F32 | DType::F64 => {
            format!("exact_{}({raw})", from.name())
        }
        _ => return None,
    };
    let made = format!("{}_from({exact})", to.name());
    Some(match to {
        // What these make is a value; what floats make is raw.
        DType::U8 | DType::U32 | DType::I8 | DType::I32 | DType::I64 => encode(to, &made),
        _ => made,
    })
}

/// The raw element of `to` of a value `a` of `from`.
fn cast_value(from: DType, to: DType) -> Option<String> {
    // Values of narrow types are cast as the type that they are computed in.
    let held = Reg::of(from).dtype();
    cast(held, to, &encode(held, "a"))
}

#[cfg(test)]
mod tests {
    use super::{binary, cast, compare, fold, unary};
    use crate::kernels::element::Width;
    use crate::kernels::element::{Reg, decode, encode, raw_type};
    use crate::kernels::testing::validate;
    use gpu_seam::{BinaryOp, CompareOp, DType, ReduceOp, UnaryOp};

    fn function(name: &str, dtype: DType, body: &str, result: &str) -> String {
        let ty = Reg::of(dtype).wgsl();
        format!("fn {name}(a: {ty}, b: {ty}) -> {result} {{\n    return {body};\n}}\n")
    }

    fn check(text: &str, call: &str) {
        let text = format!(
            "@group(1) @binding(0) var<uniform> P: array<vec4<u32>, 16>;\n{text}\
             @compute @workgroup_size(1)\nfn main() {{\n    {call}\n}}\n"
        );
        validate(&super::super::library::link(&text));
    }

    /// Every function of every dtype is valid WGSL of the right type.
    #[test]
    fn every_function_is_valid() {
        let mut count = 0;
        for dtype in DType::ALL {
            let ty = Reg::of(dtype).wgsl();
            let call = format!("var x: {ty}; let y = f(x, x);");
            for op in UnaryOp::ALL {
                if let Some((body, out)) = unary(op, dtype) {
                    check(&function("f", dtype, &body, Reg::of(out).wgsl()), &call);
                    count += 1;
                }
            }
            for op in BinaryOp::ALL {
                if let Some(body) = binary(op, dtype) {
                    check(&function("f", dtype, &body, ty), &call);
                    count += 1;
                }
            }
            for op in CompareOp::ALL {
                if let Some(body) = compare(op, dtype) {
                    check(&function("f", dtype, &body, "u32"), &call);
                    count += 1;
                }
            }
        }
        assert_eq!(count, 222);
    }

    #[test]
    fn every_cast_is_valid() {
        for from in DType::ALL {
            for to in DType::ALL {
                let body = cast(from, to, "a").unwrap();
                let (a, b) = (raw_type(Width::of(from)), raw_type(Width::of(to)));
                let text = format!("fn f(a: {a}) -> {b} {{\n    return {body};\n}}\n");
                check(&text, &format!("var x: {a}; let y = f(x);"));
            }
        }
    }

    #[test]
    fn every_fold_is_valid() {
        for op in ReduceOp::ALL {
            for input in DType::ALL {
                for out in DType::ALL {
                    let Some(fold) = fold(op, input, out) else {
                        continue;
                    };
                    let (ty, acc) = (Reg::of(input).wgsl(), Reg::of(fold.acc).wgsl());
                    let (lift, start, step) = (fold.lift, fold.start, fold.step);
                    let text = format!(
                        "fn lift(a: {ty}) -> {acc} {{\n    return {lift};\n}}\n\
                         fn step(a: {acc}, b: {acc}) -> {acc} {{\n    return {step};\n}}\n"
                    );
                    check(
                        &text,
                        &format!("var x: {ty}; let y = step({start}, lift(x));"),
                    );
                }
            }
        }
    }

    #[test]
    fn decoding_undoes_encoding() {
        for dtype in DType::ALL {
            let raw = raw_type(Width::of(dtype));
            let body = encode(dtype, &decode(dtype, "a"));
            let text = format!("fn f(a: {raw}) -> {raw} {{\n    return {body};\n}}\n");
            check(&text, &format!("var x: {raw}; let y = f(x);"));
        }
    }
}
