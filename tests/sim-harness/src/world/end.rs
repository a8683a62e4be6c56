//! What is compared when bytes are seen, and what must be left at the end.
//!
//! Knows nothing of how the values came about.

use super::{Download, Value, World};
use crate::case::{PENDING, SLOTS};
use gpu_dispatch::{Error, Instant};

impl World<'_> {
    pub(super) fn read(&mut self, value: &Value, at: usize) {
        let at = at.min(value.model.len());
        let mut into = vec![0; value.model.len() - at];
        let answer = self.engines[value.engine]
            .lane()
            .read(&value.storage, at, &mut into);
        if self.settle(answer, &value.known, &value.bad).is_some() {
            self.compare(value, &into, &value.model[at..]);
        }
    }

    /// Reads until a deadline that has passed: what is not there at once is left midway.
    pub(super) fn glance(&mut self, value: &Value) {
        let mut into = vec![0; value.model.len()];
        let lane = self.engines[value.engine].lane();
        let answer = lane.read_until(&value.storage, 0, &mut into, Instant::now());
        if answer == Err(Error::Deadline { op: "download" }) {
            self.report.outcomes.insert(String::from("glance deadline"));
        } else if self.settle(answer, &value.known, &value.bad).is_some() {
            self.compare(value, &into, &value.model);
        }
    }

    pub(super) fn compare(&mut self, value: &Value, found: &[u8], expected: &[u8]) {
        if !value.bad.is_empty() && !found.is_empty() {
            self.problem(format!(
                "bytes seen in spite of the bad index {:?}",
                value.bad
            ));
        } else if found != expected && value.bad.is_empty() {
            let at = found.iter().zip(expected).position(|(a, b)| a != b);
            self.problem(format!("byte {at:?} of {} is wrong", found.len()));
        }
    }

    pub(super) fn wait_pending(&mut self, p: usize) {
        self.kind = "wait for a download";
        let Some(download) = self.pending[p].take() else {
            return;
        };
        let Download {
            pending,
            source,
            since,
        } = download;
        self.since = since;
        let answer = pending.wait().map_err(|rejected| rejected.cause);
        if let Some(found) = self.settle(answer, &source.known, &source.bad) {
            self.compare(&source, &found, &source.model);
        }
    }

    /// Reads all that is left, lets everything go, closes, and looks at what remains.
    pub(super) fn end(&mut self) {
        for p in 0..PENDING {
            self.since = self.machine.fired_count();
            self.wait_pending(p);
        }
        self.kind = "last read";
        for slot in 0..SLOTS {
            self.since = self.machine.fired_count();
            if let Some(value) = self.values[slot].take() {
                self.read(&value, 0);
            }
        }
        self.lanes = Default::default();
        self.kind = "last close";
        let mut clean = !self.forgotten;
        for engine in 0..2 {
            self.since = self.machine.fired_count();
            let answer = self.engines[engine].close();
            self.settle(answer, &[], &[]);
            let report = self.engines[engine].memory_report();
            let broken = self.engines[engine].failure().is_some();
            clean &= !broken;
            if !self.forgotten && report.in_use != 0 {
                self.problem(format!("in use after the last handle: {report}"));
            }
            if !broken && (report.pending != 0 || report.quarantined != 0 && clean) {
                let kept = (self.machine.fired().iter())
                    .any(|it| it.sticky || it.fault.starts_with("free"));
                if report.pending != 0 || !kept {
                    self.problem(format!("left behind: {report}"));
                }
            }
        }
        self.engines.clear();
        let refused = |fault: &str| fault.starts_with("free") || fault.starts_with("destroy");
        let fired = self.machine.fired();
        clean &= !fired.iter().any(|it| it.sticky || refused(&it.fault));
        let census = self.machine.census();
        let left = census.allocations + census.pinned + census.streams + census.events;
        if clean && left != 0 {
            self.problem(format!("the ledger is not empty: {census:?}"));
        }
    }
}
