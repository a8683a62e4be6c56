//! Whether this process is the one that opened an engine.
//!
//! After `fork` the child has the parent's memory but not its threads, its locks may be held by
//! nobody, and no driver survives. Promises a count that differs in the child. Knows nothing of
//! engines: each compares the count with the one it was opened under.
//!
//! # Safety
//!
//! Registers one handler that only adds to an atomic, which is async-signal-safe.

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many forks separate this process from the one that first asked. Plain `std` atomics, since a
/// model checker has no forks.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// The count now.
pub(crate) fn generation() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

/// Starts to count. Does nothing where the system has no `fork`.
pub(crate) fn watch() {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        #[cfg(unix)]
        {
            extern "C" fn in_child() {
                FORKS.fetch_add(1, Ordering::Relaxed);
            }
            // SAFETY: the handler lives as long as the program and only adds to an atomic.
            let status = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
            if status != 0 {
                tracing::warn!(
                    status,
                    "forks cannot be noticed: a child must not use its engines"
                );
            }
        }
    });
}
