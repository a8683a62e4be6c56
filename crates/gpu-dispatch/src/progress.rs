//! Seeing that work has completed, and what follows when it fails.
//!
//! Promises that a wait ends when its work has completed, failed, or the deadline has passed; that
//! every wait and poll moves all of the engine's transfers forward; and that a failure breaks the
//! engine once, with its own words. Knows nothing of how work was submitted.

use crate::budget::{Admission, Refusal};
use crate::engine::Shared;
use crate::error::Error;
use crate::lane::Track;
use crate::mutant;
use crate::record::Record;
use crate::status::Failure;
use crate::sync::{Arc, Backoff, Instant};
use crate::verdict::Verdicts;
use gpu_seam::{Execute, GpuError};

impl<B: Execute> Shared<B> {
    /// The error of a failed vendor call made for `op`. `Broken` breaks the engine.
    pub(crate) fn failed(&self, op: &'static str, cause: GpuError) -> Error {
        if matches!(cause, GpuError::Broken { .. }) && !mutant::on("broken-stays-open") {
            self.break_with(op, None, cause.clone());
        }
        Error::gpu(op, cause)
    }

    /// Breaks the engine: everything pending fails with `cause`, everything later with `Broken`.
    pub(crate) fn break_with(&self, op: &'static str, track: Option<&Track<B>>, cause: GpuError) {
        let lane = track.map(|track| track.id);
        let unfinished = track.map(Track::unfinished_ops).unwrap_or_default();
        tracing::error!(op, ?lane, ?unfinished, %cause, "the device failed");
        self.status.break_with(Failure {
            op,
            lane,
            unfinished,
            cause,
        });
    }

    /// What a wait for `op` is told when its work can no longer complete.
    pub(crate) fn lost(&self, op: &'static str) -> Option<Error> {
        if self.status.is_broken() {
            return self
                .status
                .failure()
                .map(|failure| Error::gpu(op, failure.cause));
        }
        self.status
            .is_closed()
            .then(|| Error::gpu(op, GpuError::Closed))
    }

    /// Looks at one lane's recorded events.
    pub(crate) fn poll_track(&self, track: &Track<B>) -> Result<(), GpuError> {
        track.poll(&self.vendor, &self.budget).inspect_err(|cause| {
            self.break_with("poll", Some(track), cause.clone());
        })
    }

    /// Looks at every lane's recorded events, and moves every transfer forward.
    pub(crate) fn progress(&self) -> Result<(), GpuError> {
        self.poll_tracks()?;
        self.pump();
        Ok(())
    }

    /// Looks at every lane's recorded events.
    pub(crate) fn poll_tracks(&self) -> Result<(), GpuError> {
        if self.status.is_broken() {
            return Err(self
                .status
                .failure()
                .map_or(GpuError::Closed, |failure| failure.cause));
        }
        let only = {
            let tracks = crate::sync::lock(&self.tracks);
            match &tracks[..] {
                [only] => Some(Arc::clone(only)),
                _ => None,
            }
        };
        if let Some(only) = only {
            return self.poll_track(&only);
        }
        self.all_tracks()
            .iter()
            .try_for_each(|track| self.poll_track(track))
    }

    /// Makes bytes come back: records an event on every lane that owes some, and looks at them.
    pub(crate) fn drive(&self) -> Result<(), GpuError> {
        if let Some(cause) = self.status.refusal() {
            return Err(cause);
        }
        for track in self.all_tracks() {
            self.mark(&track, track.published_seq())?;
        }
        self.progress()
    }

    /// Has an event recorded behind submission `seq` of `track`.
    pub(crate) fn mark(
        &self,
        track: &Track<B>,
        seq: u64,
    ) -> Result<Option<Arc<B::Event>>, GpuError> {
        track.mark(&self.vendor, seq).inspect_err(|cause| {
            // A record that fails leaves submitted work without any witness.
            self.break_with("record", Some(track), cause.clone());
        })
    }

    /// Admits `bytes` for `op`.
    pub(crate) fn admit(
        &self,
        op: &'static str,
        bytes: usize,
        policy: Admission,
    ) -> Result<(), Error> {
        self.budget
            .admit(bytes, policy, || self.drive())
            .map_err(|refusal| match refusal {
                Refusal::Full(cause) | Refusal::Failed(cause) => Error::gpu(op, cause),
                Refusal::Deadline => Error::Deadline { op },
            })
    }

    /// Whether a storage's bytes may be seen now.
    pub(crate) fn poll_storage(&self, record: &Record<B>) -> Result<bool, Error> {
        const OP: &str = "poll";
        self.check_fork(OP)?;
        let mut open = Verdicts::new();
        record.inspect(&mut open)?;
        while let Some((track, seq)) = record.pending_writer() {
            let looked = self
                .lost(OP)
                .map_or(Ok(()), Err)
                .and_then(|()| {
                    self.mark(&track, seq)
                        .map_err(|cause| Error::gpu(OP, cause))
                })
                .and_then(|_| self.progress().map_err(|cause| Error::gpu(OP, cause)));
            looked?;
            if !track.is_complete(seq) {
                return Ok(false);
            }
        }
        if open.is_empty() || mutant::on("verdict-unread") {
            return Ok(true);
        }
        self.collect_verdicts()?;
        open.clear();
        record.inspect(&mut open)?;
        Ok(open.is_empty())
    }

    /// Waits until a storage's bytes may be seen.
    pub(crate) fn wait_storage(
        &self,
        record: &Record<B>,
        deadline: Option<Instant>,
    ) -> Result<(), Error> {
        const OP: &str = "wait";
        let mut backoff = Backoff::new();
        while !self.poll_storage(record)? {
            if deadline.is_none()
                && backoff.is_spent()
                && self.transfers.is_empty()
                && let Some((track, seq)) = record.pending_writer()
            {
                self.sleep_in(&track, seq)
                    .map_err(|cause| Error::gpu(OP, cause))?;
            }
            if !backoff.pause(deadline) {
                return Err(Error::Deadline { op: OP });
            }
        }
        Ok(())
    }

    /// Sleeps in the vendor until `track` is done, if `seq` is the last that it was given: then
    /// nothing is waited for that was not asked for.
    pub(crate) fn sleep_in(&self, track: &Track<B>, seq: u64) -> Result<(), GpuError> {
        if track.published_seq() != seq {
            return Ok(());
        }
        track
            .synchronize(&self.vendor, &self.budget)
            .inspect_err(|cause| {
                self.break_with("synchronize", Some(track), cause.clone());
            })
    }

    /// Waits for a set of points; `Ok(false)` when the deadline passed first.
    pub(crate) fn wait_points(
        &self,
        op: &'static str,
        points: &[(Arc<Track<B>>, u64)],
        deadline: Option<Instant>,
    ) -> Result<bool, Error> {
        let mut backoff = Backoff::new();
        loop {
            let mut open = points
                .iter()
                .filter(|(track, seq)| !track.is_complete(*seq));
            let Some((track, seq)) = open.next() else {
                return Ok(true);
            };
            if let Some(error) = self.lost(op) {
                return Err(error);
            }
            let alone = open.next().is_none();
            for (track, seq) in points {
                self.mark(track, *seq)
                    .map_err(|cause| Error::gpu(op, cause))?;
            }
            self.progress().map_err(|cause| Error::gpu(op, cause))?;
            if track.is_complete(*seq) {
                continue;
            }
            if alone && deadline.is_none() && backoff.is_spent() && self.transfers.is_empty() {
                self.sleep_in(track, *seq)
                    .map_err(|cause| Error::gpu(op, cause))?;
            }
            if !backoff.pause(deadline) {
                return Ok(false);
            }
        }
    }

    /// Waits until every lane is idle, whatever the state; `Ok(false)` when the deadline passed first.
    pub(crate) fn settle(
        &self,
        op: &'static str,
        deadline: Option<Instant>,
    ) -> Result<bool, Error> {
        let failed = |cause| Error::gpu(op, cause);
        let mut backoff = Backoff::new();
        loop {
            let tracks = self.all_tracks();
            let idle = || tracks.iter().all(|track| track.is_idle());
            if idle() {
                return Ok(true);
            }
            for track in &tracks {
                self.mark(track, track.published_seq()).map_err(failed)?;
            }
            self.poll_tracks().map_err(failed)?;
            if !backoff.pause(deadline) {
                return Ok(idle());
            }
        }
    }

    /// Waits for everything submitted so far and for every transfer; `Ok(false)` when the deadline
    /// passed first.
    pub(crate) fn drain(&self, deadline: Option<Instant>) -> Result<bool, Error> {
        const OP: &str = "synchronize";
        self.check_fork(OP)?;
        let mut backoff = Backoff::new();
        loop {
            let points: Vec<_> = self
                .all_tracks()
                .into_iter()
                .map(|track| (track.published_seq(), track))
                .collect();
            let points: Vec<_> = points
                .into_iter()
                .map(|(seq, track)| (track, seq))
                .collect();
            if !self.wait_points(OP, &points, deadline)? {
                return Ok(false);
            }
            if let Some(error) = self.lost(OP) {
                return Err(error);
            }
            self.pump();
            if self.transfers.is_empty() {
                return Ok(true);
            }
            if !backoff.pause(deadline) {
                return Ok(false);
            }
        }
    }
}
