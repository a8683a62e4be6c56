//! Taking turns: every round gives each peer a turn, and a peer's figure is its median over all.

use crate::case::Workload;
use crate::peer::{Peer, Prepared};
use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

/// Turns of each peer.
const ROUNDS: usize = 7;
/// About how long a turn lasts; a turn has one run at least.
const TURN: Duration = Duration::from_millis(150);
/// Between turns, so that the last peer's threads have gone to sleep.
const PAUSE: Duration = Duration::from_millis(60);
/// A run longer than this is not warmed up again, and has fewer rounds.
const LONG: Duration = Duration::from_secs(2);
/// Rounds of workloads with a run that is [`LONG`].
const LONG_ROUNDS: usize = 3;
/// How far two peers' fingerprints may be apart, relative to the larger: they sum in f32.
const AGREEMENT: f64 = 1e-3;

/// The figures of one workload.
pub struct Row {
    workload: String,
    /// In the order of the peers: name, and median time of one run.
    pub figures: Vec<(&'static str, Duration)>,
}

/// Measures `workload` on every peer that has it.
pub fn row(workload: &Workload, peers: &mut [Box<dyn Peer>]) -> Result<Row, String> {
    let mut runners = Vec::new();
    for peer in peers {
        if let Some(prepared) = peer.prepare(workload)? {
            runners.push(Runner {
                name: peer.name(),
                prepared,
                runs: 1,
                times: Vec::new(),
            });
        }
    }
    agree(workload, &mut runners)?;
    let mut rounds = ROUNDS;
    for runner in &mut runners {
        // The first run pays for what only first runs do.
        let first = runner.prepared.time(1)?;
        let typical = if first > LONG {
            first
        } else {
            runner.typical()?
        };
        runner.runs = u32::try_from(TURN.as_nanos() / typical.as_nanos().max(1))
            .unwrap_or(u32::MAX)
            .clamp(1, 1 << 20);
        if typical > LONG {
            rounds = LONG_ROUNDS;
        }
    }
    for _ in 0..rounds {
        for runner in &mut runners {
            runner.turn()?;
        }
    }
    let figures = runners
        .iter_mut()
        .map(|runner| (runner.name, runner.median()))
        .collect();
    Ok(Row {
        workload: workload.to_string(),
        figures,
    })
}

struct Runner {
    name: &'static str,
    prepared: Box<dyn Prepared>,
    /// Runs of one sample.
    runs: u32,
    times: Vec<Duration>,
}

impl Runner {
    /// The time of one run, from a few of them.
    fn typical(&mut self) -> Result<Duration, String> {
        let (start, mut runs) = (Instant::now(), 1);
        loop {
            let time = self.prepared.time(runs)?;
            if time > TURN / 10 || start.elapsed() > TURN {
                return Ok(time / runs);
            }
            runs *= 4;
        }
    }

    /// One sample of a single run where runs are long, else one sample of many.
    fn turn(&mut self) -> Result<(), String> {
        thread::sleep(PAUSE);
        let warm_up = self.runs.div_ceil(8);
        if self.times.is_empty() || self.runs > 1 {
            self.prepared.time(warm_up)?;
        }
        let time = self.prepared.time(self.runs)?;
        self.times.push(time / self.runs);
        Ok(())
    }

    fn median(&mut self) -> Duration {
        self.times.sort_unstable();
        self.times[self.times.len() / 2]
    }
}

/// Fails when two peers computed different things.
fn agree(workload: &Workload, runners: &mut [Runner]) -> Result<(), String> {
    let mut first: Option<(&'static str, f64)> = None;
    for runner in runners {
        let value = runner.prepared.fingerprint()?;
        let (name, expected) = *first.get_or_insert((runner.name, value));
        let scale = expected.abs().max(value.abs());
        if !value.is_finite() || (value - expected).abs() > AGREEMENT * scale {
            return Err(format!(
                "{workload}: {name} computed {expected:e} and {} computed {value:e}",
                runner.name
            ));
        }
    }
    Ok(())
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.workload)?;
        for (name, time) in &self.figures {
            write!(f, " {name} {time:.3?};")?;
        }
        Ok(())
    }
}
