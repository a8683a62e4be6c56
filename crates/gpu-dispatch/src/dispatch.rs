//! Dispatch: from a call to enqueued, published work.
//!
//! In this order: state, domains, canonical form, failed inputs, `plan`, admission, allocation of
//! outputs and scratch, device-side waits, `execute`, publication. Promises one vendor call an
//! operation on one lane in steady state and no heap allocation, and that a refused call leaves
//! nothing behind. Knows nothing of what a step computes.

use crate::budget::{Admission, Budget};
use crate::call::Call;
use crate::canonical::{Slot, Step, lower};
use crate::engine::Shared;
use crate::error::Error;
use crate::face::Output;
use crate::faults::Taken;
use crate::lane::Track;
use crate::mutant;
use crate::record::Record;
use crate::storage::Storage;
use crate::sync::Arc;
use crate::verdict::Verdicts;
use gpu_seam::{Arg, Execute, FAULT_SLOT_BYTES, GpuError, Op};
use smallvec::SmallVec;

/// What one submission holds until it is published.
struct Submission<'a, B: Execute> {
    op: &'static str,
    track: &'a Arc<Track<B>>,
    inputs: &'a [&'a Record<B>],
    output: Storage<B>,
    temporaries: SmallVec<[Storage<B>; 2]>,
    scratch: Option<(Storage<B>, usize)>,
    /// The slots of the indexing steps, in their order.
    faults: SmallVec<[Taken<B>; 1]>,
    /// How many of those have been executed.
    looked_up: usize,
}

/// The size of the dimension that an indexing step looks up.
fn looked_up(step: &Step) -> Option<usize> {
    let at = |view: usize, axis: usize| step.layouts.get(view)?.dims.get(axis).copied();
    match step.shape {
        Op::Gather { axis, .. } => at(1, axis),
        Op::Scatter { axis, .. } => at(0, axis),
        _ => None,
    }
}

impl<B: Execute> Shared<B> {
    /// Submits `call` on `track`.
    pub(crate) fn submit(
        self: &Arc<Self>,
        track: &Arc<Track<B>>,
        call: &Call<'_>,
        inputs: &[&Record<B>],
        policy: Admission,
    ) -> Result<Output<Storage<B>>, Error> {
        let op = call.name();
        let _span = tracing::trace_span!("dispatch", op, lane = track.id).entered();
        self.check(op)?;
        if inputs
            .iter()
            .any(|record| !std::ptr::eq(&*record.engine, &**self))
        {
            return Err(Error::gpu(op, GpuError::ForeignDomain));
        }
        let lengths: SmallVec<[usize; 4]> = inputs.iter().map(|record| record.bytes()).collect();
        let lowered = lower(call, &lengths, self.capabilities())?;
        let mut verdicts = Verdicts::new();
        for record in inputs {
            record.inspect(&mut verdicts)?;
        }
        let mut scratch = 0;
        for step in &lowered.steps {
            let plan = self
                .vendor
                .plan(&step.op())
                .map_err(|cause| self.failed(op, cause))?;
            scratch = scratch.max(plan.bytes);
        }
        let bytes = lowered
            .temporaries
            .iter()
            .try_fold(lowered.bytes, |sum, &bytes| sum.checked_add(bytes))
            .and_then(|sum| sum.checked_add(scratch))
            .ok_or_else(|| Error::invalid(op, "its temporaries exceed the address space"))?;
        let charge = Budget::charge(bytes);
        if !lowered.steps.is_empty() {
            self.admit(op, charge, policy)?;
        }
        let prepared = self.prepare(op, track, inputs, &lowered, scratch, policy);
        let mut submission = match prepared {
            Ok(submission) => submission,
            Err(error) => {
                if !lowered.steps.is_empty() {
                    self.budget.give_back(charge);
                }
                return Err(error);
            }
        };
        let output = if lowered.steps.is_empty() {
            submission.output
        } else {
            self.run(&mut submission, &lowered.steps, charge)?;
            verdicts.extend(
                submission
                    .faults
                    .iter()
                    .map(|taken| Arc::clone(&taken.verdict)),
            );
            submission.output.record().add_verdicts(verdicts);
            submission.output
        };
        Ok(Output {
            storage: output,
            dims: lowered.dims,
            dtype: lowered.dtype,
        })
    }

    /// Allocates what the submission needs, and orders its lane behind its inputs.
    fn prepare<'a>(
        self: &Arc<Self>,
        op: &'static str,
        track: &'a Arc<Track<B>>,
        inputs: &'a [&'a Record<B>],
        lowered: &crate::canonical::Lowered,
        scratch: usize,
        policy: Admission,
    ) -> Result<Submission<'a, B>, Error> {
        let output = self.allocate(track, lowered.bytes, op, policy)?;
        let mut temporaries = SmallVec::new();
        for &bytes in &lowered.temporaries {
            temporaries.push(self.allocate(track, bytes, op, policy)?);
        }
        let scratch = match scratch {
            0 => None,
            bytes => Some((self.allocate(track, bytes, op, policy)?, bytes)),
        };
        for record in inputs {
            self.order_read(track, record, op)?;
        }
        // Last: from here to the publication nothing is waited for, so slots always come back.
        let lookups: SmallVec<[usize; 1]> = lowered.steps.iter().filter_map(looked_up).collect();
        Ok(Submission {
            op,
            track,
            inputs,
            output,
            temporaries,
            scratch,
            faults: self.take_fault_slots(track, op, &lookups, policy)?,
            looked_up: 0,
        })
    }

    /// Executes the steps and publishes the submission, whole or as far as it came.
    fn run(
        self: &Arc<Self>,
        submission: &mut Submission<'_, B>,
        steps: &[Step],
        charge: usize,
    ) -> Result<(), Error> {
        let (op, track) = (submission.op, submission.track);
        let mut enqueued = 0;
        let inside = self.status.enter();
        let mut outcome = match &inside {
            Ok(_) => Ok(()),
            Err(cause) => Err(Error::gpu(op, cause.clone())),
        };
        while outcome.is_ok() && enqueued < steps.len() {
            outcome = self.execute(submission, &steps[enqueued]);
            enqueued += usize::from(outcome.is_ok());
        }
        for unused in submission.faults.drain(submission.looked_up..) {
            self.return_fault_slot(track, &unused);
        }
        // A vendor that broke may have enqueued something all the same.
        if inside.is_err() || enqueued == 0 && !self.status.is_broken() {
            self.budget
                .give_back(if mutant::on("charge-kept") { 0 } else { charge });
            return outcome;
        }
        let extent = track.publish(op, charge);
        if mutant::on("bytes-return-early") {
            self.budget.give_back(charge);
        }
        tracing::trace!(
            op,
            lane = track.id,
            seq = extent.seq,
            bytes = charge,
            "published"
        );
        submission.output.record().set_written(track, extent.seq);
        for record in submission.inputs {
            record.add_reader(track, extent.seq);
        }
        for taken in &submission.faults {
            taken.ring.record().set_written(track, extent.seq);
            self.publish_fault_slot(track, taken);
        }
        drop(inside);
        outcome?;
        if track.unmarked(extent.bytes) >= (self.budget.limit() / 4) as u64 {
            // So that admission learns of completion without draining the lane.
            self.mark(track, extent.seq)
                .map_err(|cause| Error::gpu(op, cause))?;
            self.progress().map_err(|cause| Error::gpu(op, cause))?;
        }
        Ok(())
    }

    fn execute(
        self: &Arc<Self>,
        submission: &mut Submission<'_, B>,
        step: &Step,
    ) -> Result<(), Error> {
        let (op, track) = (submission.op, submission.track);
        let canonical = step.op();
        let taken = looked_up(step).and_then(|_| submission.faults.get(submission.looked_up));
        let executed = (|| {
            let mut args: SmallVec<[Arg<'_, B>; 5]> = SmallVec::new();
            for arg in &step.args {
                let record: &Record<B> = match arg.slot {
                    Slot::Output => submission.output.record(),
                    Slot::Input(at) => submission.inputs[at],
                    Slot::Temporary(at) => submission.temporaries[at].record(),
                };
                args.push(record.arg(arg.offset, arg.len)?);
            }
            if let Some(taken) = taken {
                args.push(taken.ring.record().arg(taken.offset, FAULT_SLOT_BYTES)?);
            }
            let scratch = match &submission.scratch {
                Some((storage, bytes)) => Some(storage.record().arg(0, *bytes)?),
                None => None,
            };
            self.vendor
                .execute(track.stream()?, &canonical, &args, scratch)
        })();
        let is_lookup = taken.is_some();
        executed.map_err(|cause| self.failed(op, cause))?;
        submission.looked_up += usize::from(is_lookup);
        Ok(())
    }

    /// Makes later work on `track` see what was last written to `record`.
    pub(crate) fn order_read(
        &self,
        track: &Arc<Track<B>>,
        record: &Record<B>,
        op: &'static str,
    ) -> Result<(), Error> {
        if record.is_ordered_on(track) {
            return Ok(());
        }
        match record.pending_writer() {
            Some((writer, seq)) if !Arc::ptr_eq(&writer, track) => {
                self.order_after(track, &writer, seq, op)
            }
            _ => Ok(()),
        }
    }

    /// Makes later work on `track` come after everything that touches `record`.
    pub(crate) fn order_write(
        &self,
        track: &Arc<Track<B>>,
        record: &Record<B>,
        op: &'static str,
    ) -> Result<(), Error> {
        for (other, seq) in record.frontier() {
            if mutant::on("readers-overtaken") {
                continue;
            }
            if !Arc::ptr_eq(&other, track) {
                self.order_after(track, &other, seq, op)?;
            }
        }
        Ok(())
    }

    /// Makes later work on `track` start only once `other` has passed `seq`.
    pub(crate) fn order_after(
        &self,
        track: &Track<B>,
        other: &Track<B>,
        seq: u64,
        op: &'static str,
    ) -> Result<(), Error> {
        let event = self
            .mark(other, seq)
            .map_err(|cause| Error::gpu(op, cause))?;
        let event = event.filter(|_| !mutant::on("wait-skipped"));
        if let Some(event) = event {
            let waited = track
                .stream()
                .and_then(|stream| self.vendor.wait(stream, &event));
            waited.map_err(|cause| self.failed(op, cause))?;
        }
        Ok(())
    }
}
