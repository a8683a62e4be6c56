//! Devices: which there are, the process's shared engine of each, and engines from outside.
//!
//! Promises that a device that is not there, or whose vendor this build leaves out, is an error that
//! says so. **This is the only file of the crate with `cfg(feature)`**: a vendor is one line in the
//! table at the end. Knows nothing of what devices compute.

use crate::error::Error;
use gpu_dispatch::{Engine, Face, Instant, Lane, MemoryReport};
use gpu_seam::{DeviceInfo, Discover, Execute, GpuError};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// An open device, and the lane of it that work goes to.
///
/// A handle: clones are the same lane of the same engine, and the engine is closed when its last
/// handle is gone, tensors included. Two devices are equal when tensors of the one can be used with
/// tensors of the other: when they share an engine.
#[derive(Clone)]
pub struct Device(Arc<Inner>);

struct Inner {
    name: String,
    face: Arc<dyn Face>,
    /// The device that a lane was made from: the registry's entry lives while any of its lanes does.
    _root: Option<Device>,
}

impl Device {
    /// The host's own processor: no driver, on any machine.
    ///
    /// The process's shared engine, while any handle to it lives.
    ///
    /// # Errors
    /// `Unavailable` when this build leaves the vendor out.
    pub fn host() -> Result<Self, Error> {
        Self::open("host")
    }

    /// A GPU through Vulkan, Metal or DX12, or a software device that speaks one of them; by
    /// ordinal, faster kinds first.
    ///
    /// The process's shared engine for that device, while any handle to it lives and it is open.
    ///
    /// # Errors
    /// `Unavailable` when there is no such device, or this build leaves the vendor out.
    pub fn wgpu(ordinal: usize) -> Result<Self, Error> {
        Self::open(&format!("wgpu:{ordinal}"))
    }

    /// The device called `name`: a vendor's name, alone (`host`) or with an ordinal (`host:0`).
    ///
    /// The process's shared engine for that device, while any handle to it lives and it is open.
    ///
    /// # Errors
    /// `Unavailable` when there is no such device, or this build leaves its vendor out;
    /// `Invalid` when `name` is not of that form.
    pub fn open(name: &str) -> Result<Self, Error> {
        const OP: &str = "open";
        let (vendor, ordinal) = vendor(OP, name)?;
        // Held while opening, so that two callers at once get one engine.
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.retain(|entry| entry.device.strong_count() > 0);
        let known = shared
            .iter()
            .filter(|entry| entry.vendor == vendor.name && entry.ordinal == ordinal)
            .find_map(|entry| entry.device.upgrade())
            .filter(|device| (vendor.is_open)(&*device.face));
        if let Some(device) = known {
            return Ok(Self(device));
        }
        let device = Self::from_face((vendor.open)(ordinal)?);
        shared.retain(|entry| entry.vendor != vendor.name || entry.ordinal != ordinal);
        shared.push(Shared {
            vendor: vendor.name,
            ordinal,
            device: Arc::downgrade(&device.0),
        });
        Ok(device)
    }

    /// An engine of its own for the device called `name`: a separate domain, pool and budget.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn open_new(name: &str) -> Result<Self, Error> {
        const OP: &str = "open_new";
        let (vendor, ordinal) = vendor(OP, name)?;
        let face = (vendor.open)(ordinal).map_err(|error| error.named(OP))?;
        Ok(Self::from_face(face))
    }

    /// The devices that this build could open now. What a vendor without devices says is in
    /// [`probe`](Self::probe).
    #[must_use]
    pub fn available() -> Vec<DeviceInfo> {
        let found = Self::probe()
            .into_iter()
            .filter_map(|(_, found)| found.ok());
        found.flatten().collect()
    }

    /// Each vendor of this build with its devices, or why it has none.
    #[must_use]
    pub fn probe() -> Vec<(&'static str, Result<Vec<DeviceInfo>, Error>)> {
        let probed = VENDORS.iter().map(|vendor| {
            let devices = (vendor.devices)().map_err(|cause| Error::gpu("probe", cause));
            (vendor.name, devices)
        });
        probed.collect()
    }

    /// A device over an engine that was opened elsewhere: any vendor, any options.
    #[must_use]
    pub fn from_engine<B: Execute>(engine: &Engine<B>) -> Self {
        Self::from_lane(engine.lane())
    }

    /// A device over one lane of an engine, with that lane's admission policy.
    #[must_use]
    pub fn from_lane<B: Execute>(lane: Lane<B>) -> Self {
        Self::from_face(Arc::new(lane))
    }

    fn from_face(face: Arc<dyn Face>) -> Self {
        let info = face.device();
        let name = format!("{}:{}", info.vendor, info.ordinal);
        Self(Arc::new(Inner {
            name,
            face,
            _root: None,
        }))
    }

    /// The same engine with a lane of its own: its work is ordered with that of other lanes only
    /// where they share tensors.
    ///
    /// # Errors
    /// `Closed`, `Broken`, or the driver's refusal.
    pub fn with_lane(&self) -> Result<Self, Error> {
        let face = self.face().with_lane();
        let face = face.map_err(|cause| Error::engine("with_lane", cause))?;
        Ok(Self(Arc::new(Inner {
            name: self.0.name.clone(),
            face,
            _root: Some(self.clone()),
        })))
    }

    /// The engine, if it is of vendor `B`: for custom kernels and raw interop.
    #[must_use]
    pub fn engine<B: Execute>(&self) -> Option<&Engine<B>> {
        self.lane::<B>().map(Lane::engine)
    }

    /// The lane, if it is of vendor `B`.
    #[must_use]
    pub fn lane<B: Execute>(&self) -> Option<&Lane<B>> {
        self.face().as_any().downcast_ref()
    }

    /// What the device is and can do.
    #[must_use]
    pub fn info(&self) -> &DeviceInfo {
        self.face().device()
    }

    /// Its vendor and ordinal: `host:0`. What [`open`](Self::open) takes.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether both are the same engine, whatever the lanes.
    #[must_use]
    pub fn same_engine(&self, other: &Self) -> bool {
        self.face().domain() == other.face().domain()
    }

    /// Waits for everything submitted so far, on every lane.
    ///
    /// # Errors
    /// `Broken` with the original failure.
    pub fn synchronize(&self) -> Result<(), Error> {
        let done = self.face().synchronize();
        done.map_err(|cause| Error::engine("synchronize", cause))
    }

    /// Takes no new work, waits for what is pending, and frees what nobody holds. Closing again
    /// does nothing.
    ///
    /// # Errors
    /// `Broken` with the original failure.
    pub fn close(&self) -> Result<(), Error> {
        let done = self.face().close();
        done.map_err(|cause| Error::engine("close", cause))
    }

    /// As [`close`](Self::close), but waits at most until `deadline`: what is then still pending
    /// fails with `Closed`.
    ///
    /// # Errors
    /// `Deadline` when something was still pending; `Broken` with the original failure.
    pub fn close_within(&self, deadline: Instant) -> Result<(), Error> {
        let done = self.face().close_within(deadline);
        done.map_err(|cause| Error::engine("close_within", cause))
    }

    /// Gives cached memory back to the device; the bytes given back.
    pub fn trim(&self) -> usize {
        self.face().trim()
    }

    /// Where device memory is.
    #[must_use]
    pub fn memory_report(&self) -> MemoryReport {
        self.face().memory_report()
    }

    /// Starts [`MemoryReport::peak_in_use`] anew.
    pub fn reset_peak(&self) {
        self.face().reset_peak();
    }

    pub(crate) fn face(&self) -> &(dyn Face + 'static) {
        &*self.0.face
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.same_engine(other)
    }
}

impl Eq for Device {}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for Device {
    /// `host:0 (domain 3)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `AllocationDomainId(3)`: its number is what tells two engines of one device apart.
        let domain = format!("{:?}", self.face().domain());
        let number = domain.trim_matches(|digit: char| !digit.is_ascii_digit());
        write!(f, "{} (domain {number})", self.name())
    }
}

/// The process's shared engines.
static SHARED: Mutex<Vec<Shared>> = Mutex::new(Vec::new());

struct Shared {
    vendor: &'static str,
    ordinal: usize,
    device: Weak<Inner>,
}

/// What this build knows of a vendor.
struct Vendor {
    name: &'static str,
    devices: fn() -> Result<Vec<DeviceInfo>, GpuError>,
    open: fn(usize) -> Result<Arc<dyn Face>, Error>,
    is_open: fn(&dyn Face) -> bool,
}

impl Vendor {
    #[cfg_attr(
        not(any(feature = "host", feature = "wgpu")),
        expect(dead_code, reason = "a build without vendors has no table")
    )]
    const fn of<B: Discover + Execute>(name: &'static str) -> Self {
        Self {
            name,
            devices: B::devices,
            open: |ordinal| {
                let driver = B::open(ordinal).map_err(|cause| Error::gpu("open", cause))?;
                let engine = Engine::new(driver).map_err(|cause| Error::engine("open", cause))?;
                Ok(Arc::new(engine.lane()))
            },
            is_open: |face| {
                let lane = face.as_any().downcast_ref::<Lane<B>>();
                lane.is_some_and(|lane| lane.engine().is_open())
            },
        }
    }
}

/// The vendor and ordinal that `name` names.
fn vendor(op: &'static str, name: &str) -> Result<(&'static Vendor, usize), Error> {
    // What a user typed is quoted, but not at any length.
    let shown: String = name.chars().take(32).collect();
    let (vendor, ordinal) = name.split_once(':').unwrap_or((name, "0"));
    let ordinal = ordinal.parse().map_err(|_| {
        let detail = format!("{shown:?} is no device: write a vendor, or a vendor:ordinal");
        Error::invalid(op, detail)
    })?;
    if let Some(vendor) = VENDORS.iter().find(|known| known.name == vendor) {
        return Ok((vendor, ordinal));
    }
    let detail = if FEATURES.contains(&vendor) {
        format!("this build leaves {vendor} out: turn on the feature `{vendor}` of tensor-core")
    } else {
        let built: Vec<&str> = VENDORS.iter().map(|vendor| vendor.name).collect();
        let built = if built.is_empty() {
            "none".to_owned()
        } else {
            built.join(", ")
        };
        format!("{shown:?} names no vendor; vendors of this build: {built}")
    };
    Err(Error::gpu(op, GpuError::Unavailable { detail }))
}

/// The vendors that a feature of this crate brings, whether it is on or off.
const FEATURES: [&str; 2] = ["host", "wgpu"];

/// The vendors of this build.
const VENDORS: &[Vendor] = &[
    #[cfg(feature = "host")]
    Vendor::of::<gpu_host::Host>("host"),
    #[cfg(feature = "wgpu")]
    Vendor::of::<gpu_wgpu::Wgpu>("wgpu"),
];

#[cfg(all(test, not(any(feature = "host", feature = "wgpu"))))]
mod tests {
    use super::Device;
    use crate::ErrorKind;

    #[test]
    fn a_vendor_that_is_left_out_says_so() {
        let error = Device::host().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        insta::assert_snapshot!(
            error,
            @"open: GPU backend unavailable: this build leaves host out: turn on the feature `host` of tensor-core"
        );
        assert!(Device::available().is_empty());
    }
}
