//! The figures as Markdown: a row a workload, a column a peer, and ours beside the best of them.

use crate::case::Workload;
use crate::measure::Row;
use std::fmt;
use std::time::Duration;

/// The figures so far.
pub struct Tables {
    about: String,
    operations: Vec<(String, Row)>,
    networks: Vec<(String, Row)>,
}

impl Tables {
    /// No figures yet; `about` names the versions of what runs in Python.
    pub const fn new(about: String) -> Self {
        Self {
            about,
            operations: Vec::new(),
            networks: Vec::new(),
        }
    }

    /// Adds the figures of `workload`.
    pub fn add(&mut self, workload: &Workload, row: Row) {
        let table = match workload {
            Workload::Case(_) => &mut self.operations,
            Workload::Network(_) => &mut self.networks,
        };
        table.push((workload.to_string(), row));
    }
}

impl fmt::Display for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}; {}.\n", machine(), self.about)?;
        writeln!(f, "### Operations, f32\n")?;
        table(f, &self.operations)?;
        if !self.networks.is_empty() {
            writeln!(f, "\n### Tensor networks, f64, along `opt_flops`\n")?;
            table(f, &self.networks)?;
        }
        Ok(())
    }
}

fn table(f: &mut fmt::Formatter<'_>, rows: &[(String, Row)]) -> fmt::Result {
    let mut peers: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|(_, row)| &row.figures) {
        if !peers.contains(name) {
            peers.push(name);
        }
    }
    write!(f, "| |")?;
    for peer in &peers {
        write!(f, " {peer} |")?;
    }
    writeln!(f, " ours / best peer |")?;
    writeln!(f, "|---|{}", "---:|".repeat(peers.len() + 1))?;
    for (workload, row) in rows {
        write!(f, "| {workload} |")?;
        let figure = |peer: &str| row.figures.iter().find(|(name, _)| *name == peer);
        for peer in &peers {
            match figure(peer) {
                Some((_, time)) => write!(f, " {} |", shown(*time))?,
                None => write!(f, " – |")?,
            }
        }
        writeln!(f, " {} |", ratio(row))?;
    }
    Ok(())
}

/// Our time over the best peer's, and whose that is.
fn ratio(row: &Row) -> String {
    let Some(((_, ours), others)) = row.figures.split_first() else {
        return "–".to_owned();
    };
    others.iter().min_by_key(|(_, time)| *time).map_or_else(
        || "–".to_owned(),
        |(name, best)| format!("{:.2} ({name})", ours.as_secs_f64() / best.as_secs_f64()),
    )
}

fn shown(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 1e-5 {
        format!("{:.0} ns", seconds * 1e9)
    } else if seconds < 1e-3 {
        format!("{:.1} µs", seconds * 1e6)
    } else if seconds < 1.0 {
        format!("{:.2} ms", seconds * 1e3)
    } else {
        format!("{seconds:.2} s")
    }
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let model = std::fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            line.split_once(':').map(|(_, name)| name.trim().to_owned())
        });
    let model = model.unwrap_or_else(|| "a processor that does not say its name".to_owned());
    format!("{cores} cores of {model}")
}
