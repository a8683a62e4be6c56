//! One allocation with its identity, and the fixed two-line trait it is generic over.
//!
//! Promises that identity and handle cannot disagree: only the backend's allocator constructs a
//! [`Buffer`], and nothing changes either afterwards. Knows nothing of what the handle is.

use crate::identity::StorageIdentity;
use core::fmt;

/// A vendor, as far as storage is concerned: the type of its allocation handle.
///
/// This is the whole of it; what a vendor can *do* is in [`Driver`](crate::Driver) and
/// [`Execute`](crate::Execute).
///
/// ```
/// struct Toy;
/// impl gpu_seam::Backend for Toy {
///     type Allocation = Vec<u8>;
/// }
/// ```
pub trait Backend: Send + 'static {
    /// The vendor's handle to one allocation. Its `Drop` calls no driver: memory is given back only
    /// by handing the whole [`Buffer`] to [`Driver::free`](crate::Driver::free). A handle type that
    /// frees in its own `Drop` is wrapped in [`ManuallyDrop`](core::mem::ManuallyDrop).
    type Allocation: Send + 'static;
}

/// An allocation: the vendor's handle, its identity and its length in bytes.
///
/// Constructed by the backend's allocator alone, so identity and handle cannot disagree. A buffer
/// that is dropped instead of handed to [`Driver::free`](crate::Driver::free) leaks its device
/// memory: leaking is safe, freeing while a device may still touch it is not.
///
/// Buffers of different vendors are different types:
///
/// ```compile_fail
/// # use gpu_seam::{Backend, Buffer};
/// struct One;
/// struct Two;
/// impl Backend for One { type Allocation = (); }
/// impl Backend for Two { type Allocation = (); }
/// fn takes_two(_: &Buffer<Two>) {}
/// fn gives_one(buffer: &Buffer<One>) { takes_two(buffer) }
/// ```
pub struct Buffer<B: Backend> {
    identity: StorageIdentity,
    bytes: usize,
    allocation: B::Allocation,
}

impl<B: Backend> Buffer<B> {
    /// Wraps a handle. **Only the allocator that made `allocation` may call this**, once, with the
    /// identity and the length in bytes that it gave it.
    pub const fn new(identity: StorageIdentity, bytes: usize, allocation: B::Allocation) -> Self {
        Self {
            identity,
            bytes,
            allocation,
        }
    }

    /// What names this allocation across the process.
    pub const fn identity(&self) -> StorageIdentity {
        self.identity
    }

    /// The length in bytes.
    pub const fn len(&self) -> usize {
        self.bytes
    }

    /// Whether the length is zero bytes.
    pub const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The vendor's handle.
    pub const fn allocation(&self) -> &B::Allocation {
        &self.allocation
    }

    /// Takes the handle out, giving up the identity. Meant for the vendor's `free`.
    pub fn into_allocation(self) -> B::Allocation {
        self.allocation
    }
}

impl<B: Backend> fmt::Debug for Buffer<B> {
    /// Shows identity and length, never the handle: handles are pointers, and logs outlive them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer")
            .field("identity", &self.identity)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{Backend, Buffer};
    use crate::identity::{AllocationDomainId, AllocationId, StorageIdentity};
    use alloc::{format, string::String};

    struct Toy;
    impl Backend for Toy {
        type Allocation = String;
    }

    fn toy(bytes: usize) -> Buffer<Toy> {
        let identity = StorageIdentity {
            domain: AllocationDomainId::fresh(),
            allocation: AllocationId::from_backend_id(7),
            device: 1,
        };
        Buffer::new(identity, bytes, String::from("secret handle"))
    }

    #[test]
    fn keeps_what_it_was_given() {
        let buffer = toy(3);
        assert_eq!(buffer.len(), 3);
        assert!(!buffer.is_empty());
        assert!(toy(0).is_empty());
        assert_eq!(buffer.identity().device, 1);
        assert_eq!(buffer.allocation(), "secret handle");
        assert_eq!(buffer.into_allocation(), "secret handle");
    }

    #[test]
    fn debug_never_shows_the_handle() {
        let text = format!("{:?}", toy(3));
        assert!(
            text.contains("bytes: 3") && text.contains("identity"),
            "{text}"
        );
        assert!(!text.contains("secret"), "{text}");
    }

    #[test]
    fn is_send_when_the_handle_is() {
        fn send<T: Send>(_: &T) {}
        send(&toy(1));
    }
}
