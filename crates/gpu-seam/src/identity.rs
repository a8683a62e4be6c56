//! Which memory this is: identity, apart from any handle, pointer or capability.
//!
//! Promises that two identities are equal exactly when they name the same vendor allocation of the
//! same runtime object. Knows nothing of pools: a pool may grant ranges of one allocation many
//! times over, so gpu-dispatch gives each grant an id of its own and judges aliasing by range.

use core::sync::atomic::{AtomicU64, Ordering};

/// The runtime object that allocated something: never reused within the process.
///
/// Two runtimes on one physical device are two domains, because neither may free or order the
/// other's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AllocationDomainId(u64);

impl AllocationDomainId {
    /// A domain that no other call in this process returns.
    #[must_use]
    pub fn fresh() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // Relaxed: only uniqueness is promised, and a 64-bit counter does not wrap in practice.
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The vendor's allocation: stable for its life, never reused inside its domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AllocationId(u64);

impl AllocationId {
    /// Wraps the id that the vendor gave its allocation. The vendor keeps it unique in its domain.
    #[must_use]
    pub const fn from_backend_id(id: u64) -> Self {
        Self(id)
    }
}

/// What names an allocation across the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StorageIdentity {
    /// The runtime object that allocated it.
    pub domain: AllocationDomainId,
    /// The vendor's allocation inside that domain.
    pub allocation: AllocationId,
    /// The ordinal of the device that holds it.
    pub device: usize,
}

#[cfg(test)]
mod tests {
    use super::{AllocationDomainId, AllocationId, StorageIdentity};

    #[test]
    fn domains_are_never_equal() {
        assert_ne!(AllocationDomainId::fresh(), AllocationDomainId::fresh());
    }

    #[test]
    fn identity_compares_all_three_parts() {
        let domain = AllocationDomainId::fresh();
        let id = |allocation, device| StorageIdentity {
            domain,
            allocation: AllocationId::from_backend_id(allocation),
            device,
        };
        assert_eq!(id(1, 0), id(1, 0));
        assert_ne!(id(1, 0), id(2, 0));
        assert_ne!(id(1, 0), id(1, 1));
        assert_ne!(
            id(1, 0),
            StorageIdentity {
                domain: AllocationDomainId::fresh(),
                ..id(1, 0)
            }
        );
    }
}
