//! A contraction, worked out: reusable for any operands of the same shapes and dtype.
//!
//! Promises that what it reports (operations, steps, copies, peak bytes) is what running it does.
//! Knows nothing of tensors or devices.

use super::error::EinsumError;
use super::find;
use super::lower;
use super::network::{Network, Sizes};
use super::order;
use super::path::{Pair, Path};
use super::program::{Instruction, Kind, Program, elements};
use super::spec::Spec;
use super::tree::{Step, Tree};
use gpu_seam::DType;
use std::fmt;

/// Which way a contraction takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Route<'a> {
    /// One that planning finds by itself.
    #[default]
    Found,
    /// This one.
    Given(&'a Path),
}

/// A plan for contracting operands of given shapes.
#[derive(Debug, Clone)]
pub struct Plan {
    spec: Spec,
    dtype: DType,
    shapes: Vec<Sizes>,
    output_shape: Sizes,
    path: Path,
    steps: Vec<PlannedStep>,
    pub(super) program: Program,
    flops: u128,
    operand_bytes: usize,
    peak_bytes: usize,
    copied_bytes: u128,
}

/// What one step of a plan does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedStep {
    /// What it computes.
    pub kind: StepKind,
    /// The dims of its result, in the order in which they lie in memory.
    pub result: Vec<usize>,
    /// How many of its operands are copied to another order first.
    pub copies: usize,
    /// How many sums go before, over what only one operand has.
    pub sums: usize,
    /// Operations, counted as in [`Plan::flops`].
    pub flops: u128,
}

/// What a step computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepKind {
    /// Sums and views of one operand.
    Reduce,
    /// A broadcast multiply: nothing is summed.
    Multiply,
    /// A batch of matrix products.
    Matmul {
        /// How many.
        batch: usize,
        /// Rows of the result.
        m: usize,
        /// Columns of the result.
        n: usize,
        /// The summed length.
        k: usize,
    },
    /// Zeros: some index has size 0.
    Zeros,
}

impl Plan {
    /// Plans `spec` over operands of these shapes and this element type.
    ///
    /// Planning time is about linear in what the spec and the path say, and `O(n log n)` in the number
    /// of operands when a path must be found.
    ///
    /// # Errors
    /// [`EinsumError`]: the spec does not parse, does not fit the shapes, or the path does not fit
    /// the operands; something would be too large to address; the dtype is bool.
    pub fn new<S: AsRef<[usize]>>(
        spec: &str,
        shapes: &[S],
        dtype: DType,
        route: Route<'_>,
    ) -> Result<Self, EinsumError> {
        if dtype == DType::Bool {
            return Err(EinsumError::DType { dtype });
        }
        let spec = Spec::parse(spec)?;
        let network = Network::bind(&spec, shapes, dtype.size())?;
        let pairs = match route {
            Route::Found => find::find(&network),
            Route::Given(path) => path.pairs(shapes.len())?,
        };
        let path = match route {
            Route::Found => Path::from_pairs(shapes.len(), &pairs),
            Route::Given(path) => path.clone(),
        };
        let mut plan = Self {
            spec,
            dtype,
            shapes: network
                .operands
                .iter()
                .map(|operand| operand.shape.clone())
                .collect(),
            output_shape: network.output_shape.clone(),
            path,
            steps: Vec::new(),
            program: lower::zeros(&network),
            flops: 0,
            operand_bytes: 0,
            peak_bytes: 0,
            copied_bytes: 0,
        };
        if network.empty {
            plan.steps.push(plan.report_zeros());
        } else {
            plan.fill(&network, pairs)?;
        }
        plan.measure()?;
        Ok(plan)
    }

    /// The spec.
    #[must_use]
    pub const fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The element type of all operands and of the result.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// The shape of each operand.
    pub fn shapes(&self) -> impl ExactSizeIterator<Item = &[usize]> {
        self.shapes.iter().map(|shape| shape.as_slice())
    }

    /// The shape of the result.
    #[must_use]
    pub fn output_shape(&self) -> &[usize] {
        &self.output_shape
    }

    /// The path it takes.
    #[must_use]
    pub const fn path(&self) -> &Path {
        &self.path
    }

    /// What each step does: one for each pair, in order.
    #[must_use]
    pub fn steps(&self) -> &[PlannedStep] {
        &self.steps
    }

    /// Operations, counted as opt_einsum counts them: a step of two operands costs the product of the
    /// sizes of all its indices, twice that when it sums any (a multiplication and an addition); a
    /// step of one operand costs one addition for each element when it sums. A complex operation
    /// counts as one. The einsum-benchmark files' `log10_flops` is the logarithm of the same count.
    #[must_use]
    pub const fn flops(&self) -> u128 {
        self.flops
    }

    /// The bytes of all operands.
    #[must_use]
    pub const fn operand_bytes(&self) -> usize {
        self.operand_bytes
    }

    /// The most bytes that are in use at any one time: the operands, which are the caller's and live
    /// throughout, the intermediates that are still to be read, and permuted copies.
    #[must_use]
    pub const fn peak_bytes(&self) -> usize {
        self.peak_bytes
    }

    /// How many permuted copies are made.
    #[must_use]
    pub fn copies(&self) -> usize {
        self.steps.iter().map(|step| step.copies).sum()
    }

    /// The bytes of all permuted copies together.
    #[must_use]
    pub const fn copied_bytes(&self) -> u128 {
        self.copied_bytes
    }

    /// How many instructions [`run`](Self::run) carries out, views included.
    #[must_use]
    pub fn instructions(&self) -> usize {
        self.program.instructions.len()
    }

    fn fill(&mut self, network: &Network, pairs: Vec<Pair>) -> Result<(), EinsumError> {
        let tree = Tree::build(network, pairs, self.dtype.size())?;
        let arrangements = order::arrange(network, &tree, &lower::leaves(network));
        let (program, ranges) = lower::lower(network, &tree, &arrangements);
        for (step, (range, arrangement)) in
            tree.steps.iter().zip(ranges.into_iter().zip(&arrangements))
        {
            let instructions = &program.instructions[range];
            let count = |kind: &Kind| {
                instructions
                    .iter()
                    .filter(|other| other.kind == *kind)
                    .count()
            };
            let size = |index: &u32| network.sizes[*index as usize];
            self.steps.push(PlannedStep {
                kind: kind(network, step),
                result: arrangement.result.iter().map(size).collect(),
                copies: count(&Kind::Copy),
                sums: count(&Kind::Sum),
                flops: step.flops(),
            });
            self.flops = self.flops.saturating_add(step.flops());
        }
        self.program = program;
        Ok(())
    }

    fn report_zeros(&self) -> PlannedStep {
        PlannedStep {
            kind: StepKind::Zeros,
            result: self.output_shape.to_vec(),
            copies: 0,
            sums: 0,
            flops: 0,
        }
    }

    fn measure(&mut self) -> Result<(), EinsumError> {
        let too_large = |what| EinsumError::TooLarge {
            what,
            detail: format!("more than {} bytes", usize::MAX),
        };
        let element_size = self.dtype.size();
        let bytes = |shape: &[usize]| elements(shape)?.checked_mul(element_size);
        self.operand_bytes = self
            .shapes
            .iter()
            .try_fold(0usize, |sum, shape| sum.checked_add(bytes(shape)?))
            .ok_or_else(|| too_large("all operands together"))?;
        let integers = self.dtype.is_integer();
        let scratch = |instruction: &Instruction| sum_scratch(instruction, integers, element_size);
        self.peak_bytes = self
            .program
            .peak(element_size, scratch)
            .and_then(|peak| peak.checked_add(self.operand_bytes))
            .ok_or_else(|| too_large("what is in use at a time"))?;
        let copied = |instruction: &Instruction| match instruction.kind {
            Kind::Copy => bytes(&instruction.dims).unwrap_or_default() as u128,
            _ => 0,
        };
        self.copied_bytes = self.program.instructions.iter().map(copied).sum();
        Ok(())
    }
}

/// Integers are summed as i64 and cast back to their type: the i64 sum is beside the output.
fn sum_scratch(instruction: &Instruction, integers: bool, element_size: usize) -> Option<usize> {
    let wide = DType::I64.size();
    match instruction.kind {
        Kind::Sum if integers && element_size < wide => {
            elements(&instruction.dims)?.checked_mul(wide)
        }
        _ => Some(0),
    }
}

fn kind(network: &Network, step: &Step) -> StepKind {
    let size = |set: &[u32]| {
        set.iter()
            .map(|index| network.sizes[*index as usize])
            .product()
    };
    match step.pair {
        Pair::One(_) => StepKind::Reduce,
        Pair::Two(..) if step.summed.is_empty() => StepKind::Multiply,
        Pair::Two(..) => StepKind::Matmul {
            batch: size(&step.batch),
            m: size(&step.left),
            n: size(&step.right),
            k: size(&step.summed),
        },
    }
}

impl fmt::Display for StepKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reduce => f.write_str("reduce"),
            Self::Multiply => f.write_str("multiply"),
            Self::Matmul { batch, m, n, k } => {
                write!(f, "{batch} matmul of {m} x {k} by {k} x {n}")
            }
            Self::Zeros => f.write_str("zeros"),
        }
    }
}

impl fmt::Display for Plan {
    /// A line for each step, and the totals.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.steps.iter().enumerate() {
            write!(f, "{at:>4}  {} -> {:?}", step.kind, step.result)?;
            if step.sums > 0 {
                write!(f, ", after {} sums", step.sums)?;
            }
            if step.copies > 0 {
                write!(f, ", after {} copies", step.copies)?;
            }
            writeln!(f)?;
        }
        write!(
            f,
            "{} operations, {} copies of {} bytes, {} bytes at the peak ({} of them operands)",
            self.flops,
            self.copies(),
            self.copied_bytes,
            self.peak_bytes,
            self.operand_bytes
        )
    }
}
