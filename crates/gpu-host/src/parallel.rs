//! When and how work is split over threads.
//!
//! Promises that work below its grain never leaves the calling thread, that a range is covered
//! exactly once, and that a forked child never waits for threads that it does not have. Knows
//! nothing of what the work is.
//!
//! Threads come from rayon's global pool, which the application may size (`RAYON_NUM_THREADS`, or
//! rayon's `ThreadPoolBuilder::build_global`) before the first large operation.

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Whether everything runs on the calling thread from now on.
static SERIAL: AtomicBool = AtomicBool::new(false);

/// The process that first used the pool; 0 before.
static POOL_PROCESS: AtomicU32 = AtomicU32::new(0);

/// Tasks for each thread, so that a thread that was held up does not hold up the whole.
const TASKS_PER_THREAD: usize = 4;

/// Runs every host operation of this process on the thread that calls it, from now on.
///
/// For a process that must not have threads. A child of `fork` needs no call: the parent's pool is
/// recognised as foreign there, and operations run serially by themselves.
pub fn run_serially() {
    SERIAL.store(true, Ordering::Relaxed);
}

/// How many threads work may be spread over now; 1 means: stay on this thread.
pub(crate) fn threads() -> usize {
    if SERIAL.load(Ordering::Relaxed) {
        return 1;
    }
    let here = std::process::id();
    let first = match POOL_PROCESS.compare_exchange(0, here, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => here,
        Err(first) => first,
    };
    if first == here {
        rayon::current_num_threads()
    } else {
        // A forked child has the parent's pool in memory and none of its threads.
        1
    }
}

/// Calls `work` with ranges that cover `0..n` exactly once, on several threads when `n` is at least
/// twice `grain`. Every range but the last begins and ends at a multiple of `align`.
#[inline(always)]
pub(crate) fn for_ranges(n: usize, grain: usize, align: usize, work: impl Fn(Range<usize>) + Sync) {
    if n / 2 < grain.max(1) {
        work(0..n);
    } else {
        split(n, grain.max(1), align, &work);
    }
}

/// The part of [`for_ranges`] that may leave this thread: compiled once for all kinds of work.
fn split(n: usize, grain: usize, align: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
    let threads = threads();
    if threads == 1 {
        return work(0..n);
    }
    let tasks = (threads * TASKS_PER_THREAD).min(n / grain).max(1);
    let step = n.div_ceil(tasks).next_multiple_of(align.max(1));
    (0..n.div_ceil(step))
        .into_par_iter()
        .for_each(|task| work(task * step..n.min((task + 1) * step)));
}

/// Runs both halves of a tree, on two threads if `apart` and there are any.
pub(crate) fn both(apart: bool, left: &mut (dyn FnMut() + Send), right: &mut (dyn FnMut() + Send)) {
    if apart && threads() > 1 {
        rayon::join(left, right);
    } else {
        left();
        right();
    }
}

#[cfg(test)]
mod tests {
    use super::for_ranges;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn ranges_cover_everything_once() {
        for n in [0, 1, 2, 99, 100, 1000, 4097] {
            for grain in [0, 1, 10, 5000] {
                let seen: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
                for_ranges(n, grain, 16, |range| {
                    assert!(range.start % 16 == 0 && (range.end % 16 == 0 || range.end == n));
                    for at in range {
                        seen[at].fetch_add(1, Ordering::Relaxed);
                    }
                });
                assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) == 1));
            }
        }
    }
}
