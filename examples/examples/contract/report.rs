//! What is said of one contraction, as text and as JSON.

use serde_json::{Value, json};
use std::fmt;
use std::path::Path;
use tensor_core::Device;

/// One contraction.
pub(crate) struct Report {
    pub(crate) file: String,
    pub(crate) name: String,
    pub(crate) device: String,
    pub(crate) dtype: &'static str,
    pub(crate) path: &'static str,
    pub(crate) steps: usize,
    pub(crate) norm: f64,
    pub(crate) seconds: f64,
    pub(crate) flops: f64,
    pub(crate) planned_peak: usize,
    pub(crate) measured_peak: usize,
    pub(crate) reserved: usize,
    pub(crate) pool_hits: u64,
    pub(crate) device_allocations: u64,
    pub(crate) check: Option<Check>,
}

/// How a result compares with the plain evaluation.
pub(crate) struct Check {
    pub(crate) against: String,
    pub(crate) error: f64,
    pub(crate) bound: f64,
    pub(crate) seconds: f64,
}

impl Check {
    /// A NaN agrees with nothing.
    fn agrees(&self) -> bool {
        self.error <= self.bound
    }
}

impl Report {
    /// Whether the check, if there was one, is within its bound.
    pub(crate) fn agrees(&self) -> bool {
        self.check.as_ref().is_none_or(Check::agrees)
    }

    fn gflops(&self) -> f64 {
        self.flops / self.seconds / 1e9
    }

    /// The report as one JSON object.
    pub(crate) fn json(&self) -> Value {
        json!({
            "file": self.file,
            "name": self.name,
            "device": self.device,
            "dtype": self.dtype,
            "path": self.path,
            "steps": self.steps,
            "norm": self.norm,
            "seconds": self.seconds,
            "flops": self.flops,
            "gflops_per_second": self.gflops(),
            "peak_bytes_planned": self.planned_peak,
            "peak_bytes_measured": self.measured_peak,
            "pool": {
                "reserved_bytes": self.reserved,
                "hits": self.pool_hits,
                "device_allocations": self.device_allocations,
            },
            "check": self.check.as_ref().map(|check| json!({
                "against": check.against,
                "error": check.error,
                "bound": check.bound,
                "agrees": check.agrees(),
                "seconds": check.seconds,
            })),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} ({})", self.name, self.file)?;
        writeln!(
            f,
            "  {} on {}, path {}, {} steps, norm {:.6e}",
            self.dtype, self.device, self.path, self.steps, self.norm
        )?;
        writeln!(
            f,
            "  {:.3} ms, {:.3} Gop, {:.2} Gop/s (a multiplication and an addition are two)",
            self.seconds * 1e3,
            self.flops / 1e9,
            self.gflops()
        )?;
        writeln!(
            f,
            "  peak {} bytes measured, {} planned ({:.3})",
            self.measured_peak,
            self.planned_peak,
            ratio(self.measured_peak, self.planned_peak)
        )?;
        write!(
            f,
            "  pool: {} bytes reserved, {} grants reused, {} device allocations",
            self.reserved, self.pool_hits, self.device_allocations
        )?;
        if let Some(check) = &self.check {
            let word = if check.agrees() { "agrees" } else { "DIFFERS" };
            write!(
                f,
                "\n  check {word}: error {:.2e}, bound {:.0e}, against {} ({:.1} s)",
                check.error, check.bound, check.against, check.seconds
            )?;
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a ratio for reading")]
fn ratio(measured: usize, planned: usize) -> f64 {
    measured as f64 / planned.max(1) as f64
}

/// A file that could not be contracted, as one JSON object.
pub(crate) fn failure(file: &Path, error: &impl fmt::Display) -> Value {
    json!({ "file": file.display().to_string(), "failure": error.to_string() })
}

/// The device's name and what it is.
pub(crate) fn device_name(device: &Device) -> String {
    format!("{} ({})", device.name(), device.info().name)
}
