//! Deliberate bugs, to see that the tests find them.
//!
//! Promises that nothing is switched on, and that no switch costs anything, unless the crate is built
//! with `--cfg gpu_seam_mutants` and the environment names one bug. Each is a line where it would be
//! made; `cargo xtask sim --mutants` has the list. Knows nothing of what it breaks.

/// Whether the bug of this name is made.
#[cfg(not(gpu_seam_mutants))]
pub(crate) const fn on(_: &'static str) -> bool {
    false
}

/// Whether the bug of this name is made: the one that `GPU_SEAM_MUTANT` names.
#[cfg(gpu_seam_mutants)]
pub(crate) fn on(name: &'static str) -> bool {
    static NAMED: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    let named = NAMED.get_or_init(|| std::env::var("GPU_SEAM_MUTANT").ok());
    named.as_deref() == Some(name)
}
