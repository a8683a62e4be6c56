//! The vendors that there are: one enum, one line a vendor in each table.
//!
//! A vendor is entered here when its crate and its conformance instance exist, never before.

use std::fmt;
use std::str::FromStr;

/// A vendor. Its `Display` is the name of its Cargo feature in `tensor-core`, of its conformance
/// instance and of `--vendor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vendor {
    /// The host's own processor.
    Host,
    /// Vulkan, Metal and DX12 through wgpu.
    Wgpu,
    /// The test vendor whose work waits until the test releases it. Not a feature: no user has it.
    Held,
    /// The simulated device, which misbehaves as far as the rules allow. Not a feature either.
    Sim,
}

/// What a run proves, and nothing more than that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rung {
    /// The vendor's own device did the work.
    Device,
    /// The vendor's own code and a conformant driver did the work, on the processor.
    SoftwareDevice,
    /// A vendor made for tests did the work, in host memory.
    TestVendor,
}

impl Vendor {
    /// Every vendor, in the order of reports.
    pub(crate) const ALL: [Self; 4] = [Self::Host, Self::Wgpu, Self::Held, Self::Sim];

    /// The crate that implements it.
    pub(crate) const fn package(self) -> &'static str {
        match self {
            Self::Host => "gpu-host",
            Self::Wgpu => "gpu-wgpu",
            Self::Held => "gpu-held",
            Self::Sim => "gpu-sim",
        }
    }

    /// The Cargo feature of `tensor-core` that turns it on, where there is one.
    pub(crate) const fn feature(self) -> Option<&'static str> {
        match self {
            Self::Host => Some("host"),
            Self::Wgpu => Some("wgpu"),
            Self::Held | Self::Sim => None,
        }
    }

    /// The package that has the vendor's instance of the suite, and the name of the test there. That
    /// of a vendor with many dependencies is its own, so that the suite's package builds in seconds.
    pub(crate) const fn suite(self) -> (&'static str, &'static str) {
        match self {
            Self::Host => ("gpu-conformance", "host"),
            Self::Held => ("gpu-conformance", "held"),
            Self::Sim => ("gpu-conformance", "sim"),
            Self::Wgpu => ("gpu-wgpu", "conformance"),
        }
    }

    /// What a CI runner installs first, by the names of Debian.
    pub(crate) const fn packages(self) -> &'static str {
        match self {
            Self::Host | Self::Held | Self::Sim => "",
            Self::Wgpu => "mesa-vulkan-drivers libvulkan1",
        }
    }

    /// What a passing run on a CI runner proves.
    pub(crate) const fn rung(self) -> Rung {
        match self {
            Self::Host => Rung::Device,
            Self::Wgpu => Rung::SoftwareDevice,
            Self::Held | Self::Sim => Rung::TestVendor,
        }
    }
}

impl fmt::Display for Vendor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "host",
            Self::Wgpu => "wgpu",
            Self::Held => "held",
            Self::Sim => "sim",
        })
    }
}

impl FromStr for Vendor {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|vendor| vendor.to_string() == name)
            .ok_or_else(|| format!("there is no vendor `{name}`; there are {}", names()))
    }
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Device => "device",
            Self::SoftwareDevice => "software device",
            Self::TestVendor => "test vendor",
        })
    }
}

/// The names of all vendors, for messages.
pub(crate) fn names() -> String {
    Vendor::ALL.map(|vendor| vendor.to_string()).join(", ")
}
