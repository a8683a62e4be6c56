//! `cargo xtask sim` runs this: many seeds, or one with its history.
//!
//! Promises a line for each failing case that can be pasted back, shrunk, and an end within a time
//! limit whatever the engine does: a case that hangs is a failure of that name. Knows nothing of
//! mutants but that the environment may name one.

#![expect(
    clippy::print_stdout,
    reason = "a command-line program reports to its user"
)]

use gpu_sim_harness::{Case, Report, run, run_kept, shrink};
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long one case may take.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Default)]
struct Totals {
    programs: u64,
    steps: u64,
    faults: u64,
    faulty: u64,
    outcomes: BTreeSet<String>,
    failed: Option<(u64, Report)>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |flag: &str| {
        let at = arguments.iter().position(|it| it == flag)?;
        arguments.get(at + 1).cloned()
    };
    let number = |flag: &str| value(flag).and_then(|text| text.parse::<u64>().ok());
    // A panic is a finding and is reported as one.
    std::panic::set_hook(Box::new(|_| {}));
    if let Some(seed) = number("--seed") {
        return replay(seed, value("--plan").as_deref());
    }
    let first = number("--first").unwrap_or(1);
    match number("--seeds") {
        Some(count) => many(first, count),
        None => {
            println!("--seeds N [--first N], or --seed N [--plan P]");
            ExitCode::FAILURE
        }
    }
}

fn many(first: u64, count: u64) -> ExitCode {
    let start = Instant::now();
    let next = AtomicU64::new(first);
    let totals = Mutex::new(Totals::default());
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    let busy: Vec<AtomicU64> = (0..workers).map(|_| AtomicU64::new(0)).collect();
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for busy in &busy {
            let (next, totals) = (&next, &totals);
            threads.push(scope.spawn(move || {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    let over = totals
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .failed
                        .is_some();
                    if over || seed >= first + count {
                        busy.store(0, Ordering::Relaxed);
                        return;
                    }
                    busy.store(seed, Ordering::Relaxed);
                    let report = run(&Case::new(seed));
                    let mut totals = totals.lock().unwrap_or_else(PoisonError::into_inner);
                    totals.programs += 1;
                    totals.steps += report.steps;
                    totals.faults += report.faults;
                    totals.faulty += u64::from(report.faults > 0);
                    totals.outcomes.extend(report.outcomes.iter().cloned());
                    if !report.problems.is_empty() && totals.failed.is_none() {
                        totals.failed = Some((seed, report));
                    }
                }
            }));
        }
        let mut seen = vec![(0, Instant::now()); workers];
        while threads.iter().any(|thread| !thread.is_finished()) {
            std::thread::sleep(Duration::from_millis(20));
            for (seen, busy) in seen.iter_mut().zip(&busy) {
                let seed = busy.load(Ordering::Relaxed);
                if seen.0 != seed {
                    *seen = (seed, Instant::now());
                } else if seed != 0 && seen.1.elapsed() > PATIENCE {
                    println!("FAILED: seed {seed}: hang: a case runs for {PATIENCE:?}");
                    // A thread that hangs cannot be joined.
                    std::process::exit(1);
                }
            }
        }
    });
    let totals = totals.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some((seed, report)) = totals.failed {
        println!("FAILED: seed {seed}: {}", report.problems[0]);
        if std::env::var_os("GPU_SEAM_MUTANT").is_none() {
            let small = shrink(Case::new(seed), |case| !run(case).problems.is_empty());
            println!("plan {}", small.plan);
            println!("{small:?}");
            for problem in run(&small).problems {
                println!("PROBLEM {problem}");
            }
        }
        return ExitCode::FAILURE;
    }
    println!(
        "{} programs, {} steps, {} faults in {} programs, {} distinct outcomes, {:.1} s",
        totals.programs,
        totals.steps,
        totals.faults,
        totals.faulty,
        totals.outcomes.len(),
        start.elapsed().as_secs_f64()
    );
    ExitCode::SUCCESS
}

/// Runs one seed and prints what happened, stream by stream.
fn replay(seed: u64, plan: Option<&str>) -> ExitCode {
    let mut case = Case::new(seed);
    match plan.map(str::parse) {
        Some(Ok(plan)) => case.plan = plan,
        Some(Err(problem)) => {
            println!("{problem}");
            return ExitCode::FAILURE;
        }
        None => {}
    }
    println!("seed {seed}, plan {}\n{case:?}", case.plan);
    let (report, machine) = run_kept(&case);
    let history = machine.history();
    let streams: BTreeSet<Option<usize>> = history.iter().map(|entry| entry.stream).collect();
    for stream in streams {
        println!();
        for entry in history.iter().filter(|entry| entry.stream == stream) {
            println!("{entry}");
        }
    }
    println!("\ndigest {:016x}, {} faults", report.digest, report.faults);
    for problem in &report.problems {
        println!("PROBLEM {problem}");
    }
    match report.problems.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
