//! Element-wise kernels: fill, copy and cast, unary, binary, compare, select.
//!
//! Promises that an element is read before it is written, and by the same invocation alone, so that
//! an input may be the output. Knows nothing of buffers.

use super::Kernel;
use super::each::{Each, measured};
use super::element::{Reg, Width, decode, encode, raw_type};
use super::functions;
use super::launch::{Launch, Operand as Bound};
use super::space::{Space, View32};
use super::text::{Seen, Text, raw_param, word};
use gpu_seam::{BinaryOp, CompareOp, DType, GpuError, Op, Operand, Scalar, UnaryOp, View};
use std::fmt::Write as _;

/// What is made of the inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Function {
    /// The first input, bit by bit.
    Move,
    /// The first input in another type.
    Cast,
    Unary(UnaryOp),
    Binary(BinaryOp),
    Compare(CompareOp),
    /// The second or the third input, as the first says.
    Select,
}

/// Where an input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    /// The next binding.
    View(DType),
    /// The next scalar of the parameters.
    Scalar(DType),
}

impl Source {
    const fn dtype(self) -> DType {
        match self {
            Self::View(dtype) | Self::Scalar(dtype) => dtype,
        }
    }
}

/// One element-wise kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Map {
    function: Function,
    out: DType,
    inputs: [Option<Source>; 3],
    space: Space,
    each: Each,
}

/// A dtype of the same width that stands for all that are only moved.
pub(crate) const fn mover(dtype: DType) -> DType {
    match Width::of(dtype) {
        Width::W1 => DType::U8,
        Width::W2 => DType::F16,
        Width::W4 => DType::U32,
        Width::W8 => DType::Complex64,
        Width::W16 => DType::Complex128,
    }
}

impl Map {
    /// The text of the kernel.
    pub(crate) fn source(&self) -> String {
        let views = self
            .inputs
            .iter()
            .flatten()
            .filter_map(|input| match input {
                Source::View(dtype) => Some(Seen::Plain(Width::of(*dtype))),
                Source::Scalar(_) => None,
            });
        let mut text = Text::new(
            &std::iter::once(self.each.seen())
                .chain(views)
                .collect::<Vec<_>>(),
        );
        self.function(&mut text);
        self.element(&mut text);
        self.each.main(&mut text, self.space);
        text.finish()
    }

    /// `made(a, b, c)`: the raw output of the raw inputs.
    fn function(&self, text: &mut Text) {
        let names = ["a", "b", "c"];
        let inputs: Vec<_> = self.inputs.iter().flatten().zip(names).collect();
        let raw_params: Vec<_> = inputs
            .iter()
            .map(|(input, name)| format!("raw_{name}: {}", raw_type(Width::of(input.dtype()))))
            .collect();
        let mut values = String::new();
        for (input, name) in &inputs {
            let value = decode(input.dtype(), &format!("raw_{name}"));
            let _ = writeln!(values, "    let {name} = {value};");
        }
        let dtype = inputs[0].0.dtype();
        let body = match self.function {
            Function::Move => "    return raw_a;".to_owned(),
            Function::Cast => {
                let cast = functions::cast(dtype, self.out, "raw_a").unwrap_or_default();
                format!("    return {cast};")
            }
            Function::Select => "    if raw_a != 0u {\n        return raw_b;\n    }\n    \
                                 return raw_c;"
                .to_owned(),
            Function::Unary(op) => {
                let value = functions::unary(op, dtype).map(|(value, _)| value);
                self.returned(&values, value)
            }
            Function::Binary(op) => self.returned(&values, functions::binary(op, dtype)),
            Function::Compare(op) => self.returned(&values, functions::compare(op, dtype)),
        };
        text.line(&format!(
            "fn made({}) -> {} {{\n{body}\n}}",
            raw_params.join(", "),
            raw_type(Width::of(self.out))
        ));
    }

    fn returned(&self, values: &str, value: Option<String>) -> String {
        let reg = Reg::of(self.out).wgsl();
        let value = value.unwrap_or_default();
        format!(
            "{values}    let made: {reg} = {value};\n    return {};",
            encode(self.out, "made")
        )
    }

    /// `element(i)`: the raw output element number i in row-major order.
    fn element(&self, text: &mut Text) {
        let mut arguments = Vec::new();
        let mut bound = 1;
        let mut scalars = [word::SCALAR, word::SECOND].into_iter();
        for input in self.inputs.iter().flatten() {
            arguments.push(match input {
                Source::View(_) => {
                    let at = self.space.position("i", bound);
                    bound += 1;
                    format!("load{}({at})", bound - 1)
                }
                Source::Scalar(dtype) => {
                    raw_param(scalars.next().unwrap_or(word::SECOND), Width::of(*dtype))
                }
            });
        }
        let coordinates = match bound {
            1 => String::new(),
            _ => super::text::indent(&self.space.coordinates("i")),
        };
        text.line(&format!(
            "fn element(i: u32) -> {} {{\n{coordinates}    return made({});\n}}",
            raw_type(Width::of(self.out)),
            arguments.join(", ")
        ));
    }
}

/// The launch of an element-wise operation; `None` when it is none, or is not served.
pub(crate) fn lower(op: &Op<'_>) -> Result<Option<Launch>, GpuError> {
    let plan = match *op {
        Op::Fill { out, value } => Plan {
            function: Function::Move,
            out,
            inputs: [Some(Operand::Scalar(value)), None, None],
        },
        Op::Copy { out, input } => Plan {
            function: match out.dtype == input.dtype {
                true => Function::Move,
                false => Function::Cast,
            },
            out,
            inputs: [Some(Operand::View(input)), None, None],
        },
        Op::Unary { op, out, input } => {
            match functions::unary(op, input.dtype) {
                Some((_, dtype)) if dtype == out.dtype => {}
                _ => return Ok(None),
            }
            Plan {
                function: Function::Unary(op),
                out,
                inputs: [Some(Operand::View(input)), None, None],
            }
        }
        Op::Binary { op, out, lhs, rhs } => {
            let same = lhs.dtype() == out.dtype && rhs.dtype() == out.dtype;
            if !same || functions::binary(op, out.dtype).is_none() {
                return Ok(None);
            }
            Plan {
                function: Function::Binary(op),
                out,
                inputs: [Some(lhs), Some(rhs), None],
            }
        }
        Op::Compare { op, out, lhs, rhs } => {
            let same = lhs.dtype() == rhs.dtype() && out.dtype == DType::Bool;
            if !same || functions::compare(op, lhs.dtype()).is_none() {
                return Ok(None);
            }
            Plan {
                function: Function::Compare(op),
                out,
                inputs: [Some(lhs), Some(rhs), None],
            }
        }
        Op::Select {
            out,
            condition,
            on_true,
            on_false,
        } => {
            let same = on_true.dtype() == out.dtype && on_false.dtype() == out.dtype;
            if !same || condition.dtype != DType::Bool {
                return Ok(None);
            }
            Plan {
                function: Function::Select,
                out,
                inputs: [
                    Some(Operand::View(condition)),
                    Some(on_true),
                    Some(on_false),
                ],
            }
        }
        _ => return Ok(None),
    };
    plan.launch(op.name()).map(Some)
}

/// The launch that fills scratch with `count` words of zero.
pub(crate) fn zeros(name: &'static str, count: usize) -> Result<Launch, GpuError> {
    let dims = [count];
    let out = View::new(DType::U32, 0, &dims, &[1]);
    let value = Scalar::zero(DType::U32);
    let plan = Plan {
        function: Function::Move,
        out,
        inputs: [Some(Operand::Scalar(value)), None, None],
    };
    let mut launch = plan.launch(name)?;
    launch.rebind(Bound::scratch(Width::W4, 0));
    Ok(launch)
}

/// An element-wise operation in one form.
struct Plan<'a> {
    function: Function,
    out: View<'a>,
    inputs: [Option<Operand<'a>>; 3],
}

impl Plan<'_> {
    fn launch(&self, name: &'static str) -> Result<Launch, GpuError> {
        let moves = matches!(self.function, Function::Move | Function::Select);
        let stands = |dtype| if moves { mover(dtype) } else { dtype };
        let mut sources = [None; 3];
        let mut scalars: [Option<Scalar>; 2] = [None; 2];
        let (count, out) = measured(name, &self.out)?;
        let mut views: [Option<View32<'_>>; 4] = [Some(out), None, None, None];
        let mut bound = 1;
        let mut named = 0;
        for (source, input) in sources.iter_mut().zip(self.inputs.iter().flatten()) {
            *source = Some(match input {
                Operand::View(view) => {
                    views[bound] = Some(View32::of(name, view)?);
                    bound += 1;
                    Source::View(stands(view.dtype))
                }
                Operand::Scalar(scalar) => {
                    scalars[named] = Some(*scalar);
                    named += 1;
                    Source::Scalar(stands(scalar.dtype()))
                }
            });
        }
        let views = || views.iter().flatten();
        let space = Space::of(views());
        let each = Each::of(&self.out);
        let map = Map {
            function: self.function,
            out: stands(self.out.dtype),
            inputs: sources,
            space,
            each,
        };
        let groups = each.groups(name, &self.out, count)?;
        let mut launch = Launch::new(Kernel::Map(map), groups);
        launch.param(word::COUNT, count);
        for (at, view) in views().enumerate() {
            launch.bind(Bound::argument(at, view.dtype(), view.offset()));
            space.strides(&mut launch, at, view);
        }
        space.dims(&mut launch, &out);
        for (scalar, at) in scalars.iter().flatten().zip([word::SCALAR, word::SECOND]) {
            launch.raw(at, scalar);
        }
        Ok(launch)
    }
}
