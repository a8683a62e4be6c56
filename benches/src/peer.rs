//! What a peer is: something that prepares a workload and then runs it as often as it is asked.

use crate::case::Workload;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A library that is measured.
pub trait Peer {
    /// Its name in the report.
    fn name(&self) -> &'static str;

    /// Gets ready to run `workload`; `None` where the library has no such operation.
    fn prepare(&mut self, workload: &Workload) -> Result<Option<Box<dyn Prepared>>, String>;
}

/// A workload with its operands in place.
pub trait Prepared {
    /// The fingerprint of the result.
    fn fingerprint(&mut self) -> Result<f64, String>;

    /// The time that `runs` runs take, results and their release included.
    fn time(&mut self, runs: u32) -> Result<Duration, String>;
}

/// A workload that is a Rust closure, and how to read its result.
pub struct Closure<F, R> {
    run: F,
    read: R,
}

impl<T, F, R> Closure<F, R>
where
    F: FnMut() -> T + 'static,
    R: Fn(T) -> f64 + 'static,
{
    /// Boxed, as [`Peer::prepare`] gives it.
    pub fn boxed(run: F, read: R) -> Result<Option<Box<dyn Prepared>>, String>
    where
        T: 'static,
    {
        Ok(Some(Box::new(Self { run, read })))
    }
}

impl<T, F, R> Prepared for Closure<F, R>
where
    F: FnMut() -> T,
    R: Fn(T) -> f64,
{
    fn fingerprint(&mut self) -> Result<f64, String> {
        Ok((self.read)((self.run)()))
    }

    fn time(&mut self, runs: u32) -> Result<Duration, String> {
        let start = Instant::now();
        for _ in 0..runs {
            drop(black_box((self.run)()));
        }
        Ok(start.elapsed())
    }
}
