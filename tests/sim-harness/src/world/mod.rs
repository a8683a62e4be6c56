//! Carrying out a case: the engine beside the model, step by step, on one thread.
//!
//! Promises that whatever the engine answers is compared: bytes with the model's, errors with the
//! plan, the budget and the ledger with what must be left. Knows nothing of how cases are drawn.

mod end;
mod select;

use crate::case::{Case, LANES, PENDING, SLOTS, Step};
use crate::judge::{Excuse, explain};
use gpu_dispatch::{
    Admission, Call, Engine, Error, Face, Lane, Options, Pending, Rejected, Storage,
};
use gpu_seam::{BinaryOp, DType, Operand, Scalar, SeamError, View};
use gpu_sim::device::{Machine, Violation};
use gpu_sim::face::Sim;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What came of a case.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Report {
    /// Steps that did something.
    pub steps: u64,
    /// Planned faults that came to pass.
    pub faults: u64,
    /// The kinds of step with the kinds of answer.
    pub outcomes: BTreeSet<String>,
    /// What two equal histories share.
    pub digest: u64,
    /// What did not hold.
    pub problems: Vec<String>,
}

/// Carries out a case.
#[must_use]
pub fn run(case: &Case) -> Report {
    run_kept(case).0
}

/// As [`run`], with the machine for its history.
#[must_use]
pub fn run_kept(case: &Case) -> (Report, Machine) {
    let machine = Machine::new(case.seed, case.config.clone(), case.plan.clone());
    let mut report = Report::default();
    let ran = catch_unwind(AssertUnwindSafe(|| {
        let mut part = Report::default();
        if let Some(mut world) = World::open(case, &machine, &mut part) {
            for step in &case.steps {
                world.step(*step);
            }
            world.end();
            std::mem::swap(&mut part, &mut world.report);
        }
        part
    }));
    match ran {
        Ok(part) => report = part,
        Err(panic) => {
            let words = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied());
            let text = format!("panic: {}", words.unwrap_or("without words"));
            report.problems.push(text);
        }
    }
    let broken = machine.violations();
    let broken = broken.iter().map(|it: &Violation| format!("rule {it}"));
    report.problems.extend(broken);
    report.faults = machine.fired_count() as u64;
    report.digest = machine.digest();
    (report, machine)
}

/// A storage beside its model.
#[derive(Clone)]
struct Value {
    storage: Storage<Sim>,
    engine: usize,
    model: Vec<u8>,
    /// Failures that it may have.
    known: Vec<Error>,
    /// Bad indices that it depends on: its bytes may not be seen.
    bad: Vec<i64>,
}

struct Download {
    pending: Pending<Vec<u8>>,
    source: Value,
    since: usize,
}

struct World<'a> {
    case: &'a Case,
    machine: &'a Machine,
    engines: Vec<Engine<Sim>>,
    lanes: [[Option<Lane<Sim>>; LANES]; 2],
    values: [Option<Value>; SLOTS],
    pending: [Option<Download>; PENDING],
    closed: bool,
    forgotten: bool,
    /// How many bad indices there were.
    bad: usize,
    since: usize,
    kind: &'static str,
    report: Report,
}

fn bytes(n: usize, salt: u32) -> Vec<u8> {
    let words = (0u32..).take(n);
    words
        .flat_map(|at| (at.wrapping_mul(0x9E37_79B9) ^ salt).to_le_bytes())
        .collect()
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word))
}

fn from_words(words: impl Iterator<Item = u32>) -> Vec<u8> {
    words.flat_map(u32::to_le_bytes).collect()
}

fn scalar(value: u32) -> Scalar {
    Scalar::from_bits(DType::I32, value.into())
}

impl<'a> World<'a> {
    fn open(case: &'a Case, machine: &'a Machine, report: &mut Report) -> Option<Self> {
        let mut engines = Vec::new();
        for number in 0..2 {
            let ordinal = if case.shared_device { 0 } else { number };
            let opened = Sim::open_on(machine, ordinal, &case.traits).map_err(|it| it.to_string());
            let mut options = Options::default();
            options.pending_budget = case.budget;
            options.staging_chunk = Some(case.staging.0);
            options.staging_chunks = Some(case.staging.1);
            if case.rejects {
                options.admission = Admission::Reject;
            }
            let opened = opened.and_then(|sim| {
                Engine::with_options(sim, options).map_err(|error| error.to_string())
            });
            match opened {
                Ok(engine) => engines.push(engine),
                Err(words) if words.contains("planned fault") => return None,
                Err(words) => {
                    let words = format!("opening, without a planned fault: {words}");
                    report.problems.push(words);
                    return None;
                }
            }
        }
        Some(Self {
            case,
            machine,
            engines,
            lanes: Default::default(),
            values: Default::default(),
            pending: Default::default(),
            closed: false,
            forgotten: false,
            bad: 0,
            since: 0,
            kind: "",
            report: Report::default(),
        })
    }

    fn problem(&mut self, text: impl Into<String>) {
        let text = format!("{}: {}", self.kind, text.into());
        self.report.problems.push(text);
    }

    /// The answer, if it is one; an error must be explained.
    fn settle<T>(&mut self, answer: Result<T, Error>, known: &[Error], bad: &[i64]) -> Option<T> {
        let kind = self.kind;
        match answer {
            Ok(value) => {
                self.report.outcomes.insert(format!("{kind} ok"));
                Some(value)
            }
            Err(error) => {
                let class = error
                    .kind()
                    .map_or(error.op().to_owned(), |kind| format!("{kind:?}"));
                self.report.outcomes.insert(format!("{kind} {class}"));
                let excuse = Excuse {
                    since: self.since,
                    known,
                    bad,
                    closed: self.closed,
                };
                let explained = explain(self.case, self.machine, &self.engines, &error, excuse);
                let breaks = error.kind() == Some(SeamError::Broken);
                if breaks && self.engines.iter().all(|engine| engine.failure().is_none()) {
                    self.problem(format!("no engine is broken by {error}"));
                }
                if let Err(problem) = explained {
                    self.problem(problem);
                }
                None
            }
        }
    }

    fn lane(&self, engine: usize, lane: usize) -> Lane<Sim> {
        self.lanes[engine][lane]
            .clone()
            .unwrap_or_else(|| self.engines[engine].lane())
    }

    fn put(&mut self, to: usize, storage: Option<Storage<Sim>>, engine: usize, model: Vec<u8>) {
        self.values[to] = storage.map(|storage| Value {
            storage,
            engine,
            model,
            known: Vec::new(),
            bad: Vec::new(),
        });
    }

    /// Submits, and keeps what comes of it in slot `to`.
    fn submit(
        &mut self,
        to: usize,
        lane: usize,
        engine: usize,
        call: &Call<'_>,
        inputs: &[&Value],
        model: Vec<u8>,
    ) {
        let known: Vec<Error> = inputs.iter().flat_map(|it| it.known.clone()).collect();
        let bad: Vec<i64> = inputs.iter().flat_map(|it| it.bad.clone()).collect();
        let storages: Vec<&Storage<Sim>> = inputs.iter().map(|it| &it.storage).collect();
        let answer = self.lane(engine, lane).submit(call, &storages);
        let Some(output) = self.settle(answer, &known, &bad) else {
            return;
        };
        let charged = self.case.budget.is_none() && self.case.plan.faults.is_empty();
        if charged && !model.is_empty() && self.case.config.devices[0] > 32 << 20 {
            let pending = self.engines[engine].memory_report().pending;
            if pending < model.len().max(4096) {
                self.problem(format!("{pending} bytes are pending behind a submission"));
            }
        }
        self.values[to] = Some(Value {
            storage: output.storage,
            engine,
            model,
            known,
            bad,
        });
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each kind of step")]
    fn step(&mut self, step: Step) {
        self.since = self.machine.fired_count();
        self.report.steps += 1;
        // New values go to the second engine from a quarter of the slots.
        let home = |to: usize| usize::from(to % 4 == 3);
        match step {
            Step::Upload { to, lane, n, salt } => {
                self.kind = "upload";
                let model = bytes(n, salt);
                let answer = self.lane(home(to), lane).upload(&model);
                let storage = self.settle(answer, &[], &[]);
                self.put(to, storage, home(to), model);
            }
            Step::Allocate { to, lane, n, salt } => {
                self.kind = "allocate";
                let model = bytes(n, salt);
                let lane = self.lane(home(to), lane);
                let answer = lane
                    .allocate(model.len())
                    .and_then(|mut storage| lane.write(&mut storage, 0, &model).map(|()| storage));
                let storage = self.settle(answer, &[], &[]);
                self.put(to, storage, home(to), model);
            }
            Step::Fill { to, lane, n, value } => {
                self.kind = "fill";
                let call = Call::Fill {
                    dims: &[n],
                    value: scalar(value),
                };
                let model = from_words(std::iter::repeat_n(value, n));
                self.submit(to, lane, home(to), &call, &[], model);
            }
            Step::Add { to, a, b, lane } => {
                self.kind = "add";
                let (Some(a), Some(b)) = (self.values[a].clone(), self.values[b].clone()) else {
                    return;
                };
                if a.engine != b.engine || a.model.len() != b.model.len() {
                    return;
                }
                let dims = [a.model.len() / 4];
                let view = Operand::View(View::new(DType::I32, 0, &dims, &[1]));
                let call = Call::Binary {
                    op: BinaryOp::Add,
                    lhs: view,
                    rhs: view,
                };
                let sums = words(&a.model).zip(words(&b.model));
                let model = from_words(sums.map(|(a, b)| a.wrapping_add(b)));
                self.submit(to, lane, a.engine, &call, &[&a, &b], model);
            }
            Step::AddScalar { to, a, lane, value } => {
                self.kind = "add scalar";
                let Some(a) = self.values[a].clone() else {
                    return;
                };
                let dims = [a.model.len() / 4];
                let call = Call::Binary {
                    op: BinaryOp::Add,
                    lhs: Operand::View(View::new(DType::I32, 0, &dims, &[1])),
                    rhs: Operand::Scalar(scalar(value)),
                };
                let model = from_words(words(&a.model).map(|word| word.wrapping_add(value)));
                self.submit(to, lane, a.engine, &call, &[&a], model);
            }
            Step::Select {
                to,
                a,
                lane,
                n,
                salt,
                bad,
            } => self.select(to, a, lane, (n, salt, bad)),
            Step::Clone { to, a } => self.values[to] = self.values[a].clone(),
            Step::Drop { a } => self.values[a] = None,
            Step::Forget { a } => {
                if let Some(value) = &self.values[a] {
                    self.forgotten = true;
                    std::mem::forget(value.storage.clone());
                }
            }
            Step::Write {
                a,
                lane,
                at,
                n,
                salt,
            } => {
                self.kind = "write";
                let Some(mut value) = self.values[a].take() else {
                    return;
                };
                let at = at.min(value.model.len());
                let mut piece = bytes(n, salt);
                piece.truncate(value.model.len() - at);
                let lane = self.lane(value.engine, lane);
                let answer = lane.write(&mut value.storage, at, &piece);
                let error = answer.as_ref().err().cloned();
                match self.settle(answer, &value.known, &value.bad) {
                    Some(()) => value.model[at..at + piece.len()].copy_from_slice(&piece),
                    None => value.known.extend(error),
                }
                self.values[a] = Some(value);
            }
            Step::Read { a, at } => {
                self.kind = "read";
                if let Some(value) = self.values[a].clone() {
                    self.read(&value, at);
                }
            }
            Step::Glance { a } => {
                self.kind = "glance";
                if let Some(value) = self.values[a].clone() {
                    self.glance(&value);
                }
            }
            Step::Poll { a } => {
                self.kind = "poll";
                if let Some(value) = self.values[a].clone() {
                    let answer = value.storage.poll();
                    let ready = self.settle(answer, &value.known, &value.bad);
                    if ready == Some(true) && !value.bad.is_empty() {
                        self.problem("ready, with a bad index");
                    }
                }
            }
            Step::Wait { a } => {
                self.kind = "wait";
                if let Some(value) = self.values[a].clone() {
                    let answer = value.storage.wait();
                    let ready = self.settle(answer, &value.known, &value.bad);
                    if ready.is_some() && !value.bad.is_empty() {
                        self.problem("ready, with a bad index");
                    }
                }
            }
            Step::Download { p, a } => {
                self.kind = "download";
                let Some(source) = self.values[a].clone() else {
                    return;
                };
                let lane = self.engines[source.engine].lane();
                let into = vec![0u8; source.model.len()];
                let answer = lane.download(&source.storage, 0, into);
                let answer = answer.map_err(|rejected: Rejected<_>| rejected.cause);
                let since = self.since;
                let pending = self.settle(answer, &source.known, &source.bad);
                self.pending[p] = pending.map(|pending| Download {
                    pending,
                    source,
                    since,
                });
            }
            Step::PollPending { p } => {
                if let Some(download) = &self.pending[p] {
                    // Its outcome is looked at by a wait.
                    let _ = download.pending.poll();
                }
            }
            Step::WaitPending { p } => self.wait_pending(p),
            Step::DropPending { p } => self.pending[p] = None,
            Step::NewLane { lane } => {
                self.kind = "new lane";
                for engine in 0..2 {
                    let answer = self.engines[engine].new_lane();
                    self.lanes[engine][lane] = self.settle(answer, &[], &[]);
                }
            }
            Step::DropLane { lane } => {
                for lanes in &mut self.lanes {
                    lanes[lane] = None;
                }
            }
            Step::Synchronize { engine } => {
                self.kind = "synchronize";
                let answer = self.engines[engine].synchronize();
                if self.settle(answer, &[], &[]).is_some() {
                    let pending = self.engines[engine].memory_report().pending;
                    // The engine zeroes a bad slot of its own accord.
                    if pending != 0 && self.bad == 0 {
                        self.problem(format!("{pending} bytes are pending after it"));
                    }
                }
            }
            Step::Trim { engine } => drop(self.engines[engine].trim()),
            Step::Across { to, a } => {
                self.kind = "across";
                let Some(value) = self.values[a].clone() else {
                    return;
                };
                let there = 1 - value.engine;
                let (from, into) = (self.lane(value.engine, 0), self.lane(there, 0));
                let (from, into): (&dyn Face, &dyn Face) = (&from, &into);
                let answer = into.receive(from, &value.storage.clone().erase());
                let arrived = self.settle(answer, &value.known, &value.bad);
                let Some((storage, report)) = arrived else {
                    return;
                };
                if !report.staged || !value.bad.is_empty() && !value.model.is_empty() {
                    self.problem(format!("it arrived: {report:?}, bad {:?}", value.bad));
                }
                self.put(to, storage.typed(), there, value.model);
            }
            Step::Close { engine } => {
                self.kind = "close";
                let answer = self.engines[engine].close();
                self.settle(answer, &[], &[]);
                self.closed = true;
            }
        }
    }
}
