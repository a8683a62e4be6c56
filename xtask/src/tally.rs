//! Counting what test binaries report, so that a run in which nothing ran is red.

use std::fmt;

/// Sums over the test binaries of a run.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    passed: u64,
    failed: u64,
    ignored: u64,
    listed: u64,
}

impl Tally {
    /// Counts one line of a test binary's output.
    pub(crate) fn count(&mut self, line: &str) {
        if line.ends_with(": test") {
            self.listed += 1;
        }
        let Some(result) = line.strip_prefix("test result: ") else {
            return;
        };
        let counts = result.split_once(". ").map_or("", |(_, counts)| counts);
        for part in counts.split("; ") {
            if let Some((number, word)) = part.split_once(' ')
                && let Ok(number) = number.parse::<u64>()
            {
                match word {
                    "passed" => self.passed += number,
                    "failed" => self.failed += number,
                    "ignored" => self.ignored += number,
                    _ => {}
                }
            }
        }
    }

    /// The tests that passed or failed.
    pub(crate) const fn ran(&self) -> u64 {
        self.passed + self.failed
    }

    /// The tests that were named in list mode.
    pub(crate) const fn listed(&self) -> u64 {
        self.listed
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} ignored",
            self.passed, self.failed, self.ignored
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn results_of_several_binaries_are_summed() {
        let mut tally = Tally::default();
        for line in [
            "running 3 tests",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out",
            "some::check: test",
        ] {
            tally.count(line);
        }
        assert_eq!(tally.to_string(), "4 passed, 2 failed, 1 ignored");
        assert_eq!((tally.ran(), tally.listed()), (6, 1));
    }
}
