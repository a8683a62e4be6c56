//! What a call can answer, and which calls there are: names that fault plans and reports spell.
//!
//! Plain tables. Knows nothing of what the calls do.

use std::fmt;
use std::str::FromStr;

macro_rules! named {
    ($(#[$meta:meta])* $name:ident, $what:literal { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            /// Every one, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name, the same in `Display`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                Self::ALL
                    .iter()
                    .copied()
                    .find(|one| one.name() == text)
                    .ok_or_else(|| format!(concat!("there is no ", $what, " `{}`"), text))
            }
        }
    };
}

named! {
    /// Why a call failed. Vendor-neutral; a face translates it into its own codes.
    Status, "status" {
        /// No such memory now.
        OutOfMemory = "out-of-memory",
        /// An argument that no correct caller gives.
        InvalidValue = "invalid-value",
        /// A stream, event or address that is not alive.
        InvalidHandle = "invalid-handle",
        /// The driver may not do this.
        NotPermitted = "not-permitted",
        /// The driver cannot do this.
        NotSupported = "not-supported",
        /// The driver failed for reasons of its own.
        Unknown = "unknown",
        /// A kernel or copy touched memory that is not there. Sticky.
        IllegalAddress = "illegal-address",
        /// A kernel failed. Sticky.
        LaunchFailed = "launch-failed",
        /// A copy or kernel met memory that cannot be read. Sticky.
        EccUncorrectable = "ecc-uncorrectable",
        /// The device is gone, for good.
        DeviceLost = "device-lost",
    }
}

impl Status {
    /// Whether every later call on the device answers it too.
    #[must_use]
    pub const fn is_sticky(self) -> bool {
        matches!(
            self,
            Self::IllegalAddress | Self::LaunchFailed | Self::EccUncorrectable | Self::DeviceLost
        )
    }
}

named! {
    /// A call of the device's interface.
    Function, "function" {
        /// `Machine::memory`.
        Memory = "memory",
        /// `Machine::allocate`.
        Allocate = "allocate",
        /// `Machine::free`.
        Free = "free",
        /// `Machine::allocate_pinned`.
        AllocatePinned = "allocate-pinned",
        /// `Machine::free_pinned`.
        FreePinned = "free-pinned",
        /// `Machine::write_pinned` and `Machine::write_direct`.
        HostWrite = "host-write",
        /// `Machine::read_pinned` and `Machine::read_direct`.
        HostRead = "host-read",
        /// `Machine::create_stream`.
        CreateStream = "create-stream",
        /// `Machine::destroy_stream`.
        DestroyStream = "destroy-stream",
        /// `Machine::synchronize`.
        Synchronize = "synchronize",
        /// `Machine::create_event`.
        CreateEvent = "create-event",
        /// `Machine::destroy_event`.
        DestroyEvent = "destroy-event",
        /// `Machine::record`.
        Record = "record",
        /// `Machine::wait`.
        Wait = "wait",
        /// `Machine::query`.
        Query = "query",
        /// `Machine::synchronize_event`.
        SynchronizeEvent = "synchronize-event",
        /// `Machine::copy`.
        Copy = "copy",
        /// `Machine::fill`.
        Fill = "fill",
        /// `Machine::launch`.
        Launch = "launch",
        /// `Machine::notify`.
        Notify = "notify",
        /// `Machine::enable_peer`.
        EnablePeer = "enable-peer",
    }
}

/// A call that failed: which, how, and in what words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The class.
    pub status: Status,
    /// What happened, and where: a planned fault says so with its own text.
    pub detail: String,
}

impl Failure {
    /// A failure in these words.
    pub fn new(status: Status, detail: impl Into<String>) -> Self {
        Self {
            status,
            detail: detail.into(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.status, self.detail)
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::{Function, Status};

    #[test]
    fn names_parse_back() {
        for &status in Status::ALL {
            assert_eq!(status.name().parse(), Ok(status));
        }
        for &function in Function::ALL {
            assert_eq!(function.name().parse(), Ok(function));
        }
        assert!(
            "launsh"
                .parse::<Function>()
                .is_err_and(|text| text.contains("launsh"))
        );
    }
}
