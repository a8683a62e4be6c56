//! What a vendor tells the suite: how to open it, and what is known to fail.

use crate::ledger::Ledger;
use crate::list::{Check, checks, discover_checks};
use gpu_seam::{Discover, Execute, GpuError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A failure that is known: data, so that a report can show it and a pass can be noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedFailure {
    /// The name of the check.
    pub check: &'static str,
    /// Part of the device's name or driver text; empty for every device of this vendor.
    pub device: &'static str,
    /// Why it fails.
    pub reason: &'static str,
}

type Open<V> = Box<dyn Fn() -> Result<V, GpuError> + Send + Sync>;
type After<V> = Box<dyn Fn(&V) -> Result<(), String> + Send + Sync>;

/// A vendor under test.
pub struct Config<V: Execute> {
    pub(crate) vendor: String,
    open: Open<V>,
    after: Option<After<V>>,
    /// The one device of all checks, where it is shared.
    device: Option<Mutex<Option<Arc<V>>>>,
    pub(crate) checks: Vec<Check<Ledger<V>>>,
    pub(crate) expected: Vec<ExpectedFailure>,
    pub(crate) require_device: bool,
    pub(crate) patience: Duration,
}

impl<V: Execute + Send> Config<V> {
    /// A vendor by name, and how to open a device. Every check opens one of its own.
    pub fn new(
        vendor: impl Into<String>,
        open: impl Fn() -> Result<V, GpuError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            vendor: vendor.into(),
            open: Box::new(open),
            after: None,
            device: None,
            checks: checks(),
            expected: Vec::new(),
            require_device: false,
            patience: Duration::from_secs(60),
        }
    }

    /// All checks share one device: for vendors whose devices take long to open.
    #[must_use]
    pub fn shared(mut self) -> Self {
        self.device = Some(Mutex::new(None));
        self
    }

    /// Adds the checks of a vendor that can be asked for its devices.
    #[must_use]
    pub fn discover(mut self) -> Self
    where
        V: Discover,
    {
        self.checks.extend(discover_checks());
        self
    }

    /// Looks at the device after every check; what it answers is that check's failure.
    #[must_use]
    pub fn after(
        mut self,
        after: impl Fn(&V) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.after = Some(Box::new(after));
        self
    }

    /// Checks that are known to fail. One that passes is a failure.
    #[must_use]
    pub fn expect_failures(mut self, failures: &[ExpectedFailure]) -> Self {
        self.expected.extend_from_slice(failures);
        self
    }

    /// A missing device is a failure, as with `--require-device`.
    #[must_use]
    pub const fn require_device(mut self) -> Self {
        self.require_device = true;
        self
    }

    /// How long a wait may take before it is a failure: 60 seconds unless said otherwise.
    #[must_use]
    pub const fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The names of the checks, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.checks.iter().map(Check::name)
    }

    /// A device for a check.
    pub(crate) fn device(&self) -> Result<Arc<V>, GpuError> {
        let Some(shared) = &self.device else {
            return (self.open)().map(Arc::new);
        };
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        match &*shared {
            Some(device) => Ok(Arc::clone(device)),
            None => {
                let device = Arc::new((self.open)()?);
                *shared = Some(Arc::clone(&device));
                Ok(device)
            }
        }
    }

    /// What `after` says.
    pub(crate) fn looked_at(&self, device: &V) -> Result<(), String> {
        self.after.as_ref().map_or(Ok(()), |after| after(device))
    }
}
