//! What is to go wrong: faults by name and by count, printed as one line that parses back.
//!
//! ```
//! use gpu_sim::device::FaultPlan;
//! let line = "copy#3=unknown,kernel#2=launch-failed,hold#1:40";
//! let plan: FaultPlan = line.parse().unwrap();
//! assert_eq!(plan.to_string(), line);
//! ```
//!
//! Counts begin at 1 and run over the whole machine. Knows nothing of how faults are carried out.

use super::status::{Function, Status};
use std::fmt;
use std::str::FromStr;

/// One thing that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// `FUNCTION#N=STATUS`: the n-th call of a function answers this and does nothing.
    Call {
        /// Which function.
        function: Function,
        /// Which call of it.
        nth: u64,
        /// What it answers.
        status: Status,
    },
    /// `kernel#N=STATUS`: the n-th kernel that runs faults; sticky until the device is reset.
    Kernel {
        /// Which kernel.
        nth: u64,
        /// A sticky status.
        status: Status,
    },
    /// `half#N`: the n-th copy that runs moves half of its bytes and faults; sticky.
    HalfCopy {
        /// Which copy.
        nth: u64,
    },
    /// `hold#N:LOOKS`: what the n-th record covers completes, but the event does not, until it is
    /// released or the host has looked in vain this many times.
    Hold {
        /// Which record.
        nth: u64,
        /// How many fruitless looks release it.
        looks: u64,
    },
    /// `limit=BYTES`: device memory ends here, whatever the device says of itself.
    Limit {
        /// Bytes in use at most.
        bytes: usize,
    },
    /// `oom~N`: an allocation in N, drawn from the seed, finds no memory.
    OutOfMemory {
        /// One in this many.
        one_in: u32,
    },
    /// `late~N`: a completion is noticed up to N looks late, drawn from the seed.
    Late {
        /// The most looks.
        looks: u32,
    },
    /// `shuffle`: notices arrive out of order.
    Shuffle,
    /// `twice`: notices arrive twice.
    Twice,
    /// `lost@N`: with the machine's n-th call every device is gone, for good.
    Lost {
        /// Which call.
        call: u64,
    },
}

/// Everything that goes wrong in one run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FaultPlan {
    /// In any order.
    pub faults: Vec<Fault>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call {
                function,
                nth,
                status,
            } => write!(f, "{function}#{nth}={status}"),
            Self::Kernel { nth, status } => write!(f, "kernel#{nth}={status}"),
            Self::HalfCopy { nth } => write!(f, "half#{nth}"),
            Self::Hold { nth, looks } => write!(f, "hold#{nth}:{looks}"),
            Self::Limit { bytes } => write!(f, "limit={bytes}"),
            Self::OutOfMemory { one_in } => write!(f, "oom~{one_in}"),
            Self::Late { looks } => write!(f, "late~{looks}"),
            Self::Shuffle => f.write_str("shuffle"),
            Self::Twice => f.write_str("twice"),
            Self::Lost { call } => write!(f, "lost@{call}"),
        }
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = |what: &str| format!("`{text}` is no fault: {what}");
        fn number<T: FromStr>(text: &str, digits: &str) -> Result<T, String> {
            digits
                .parse()
                .map_err(|_| format!("`{text}` is no fault: `{digits}` is no number that fits"))
        }
        match text {
            "shuffle" => return Ok(Self::Shuffle),
            "twice" => return Ok(Self::Twice),
            _ => {}
        }
        if let Some(digits) = text.strip_prefix("limit=") {
            let bytes = number(text, digits)?;
            return Ok(Self::Limit { bytes });
        }
        if let Some(digits) = text.strip_prefix("oom~") {
            return match number(text, digits)? {
                0 => Err(bad("one in none")),
                one_in => Ok(Self::OutOfMemory { one_in }),
            };
        }
        if let Some(digits) = text.strip_prefix("late~") {
            let looks = number(text, digits)?;
            return Ok(Self::Late { looks });
        }
        if let Some(digits) = text.strip_prefix("lost@") {
            let call = number(text, digits)?;
            return Ok(Self::Lost { call });
        }
        let (name, rest) = text
            .split_once('#')
            .ok_or_else(|| bad("a name and a count, as in `copy#3=unknown`, were expected"))?;
        match name {
            "half" => Ok(Self::HalfCopy {
                nth: number(text, rest)?,
            }),
            "hold" => {
                let (nth, looks) = rest
                    .split_once(':')
                    .ok_or_else(|| bad("`hold#N:LOOKS` was expected"))?;
                Ok(Self::Hold {
                    nth: number(text, nth)?,
                    looks: number(text, looks)?,
                })
            }
            name => {
                let (nth, status) = rest
                    .split_once('=')
                    .ok_or_else(|| bad("a status, as in `copy#3=unknown`, was expected"))?;
                let nth = number(text, nth)?;
                let status: Status = status.parse().map_err(|what: String| bad(&what))?;
                if name != "kernel" {
                    let function = name.parse().map_err(|what: String| bad(&what))?;
                    return Ok(Self::Call {
                        function,
                        nth,
                        status,
                    });
                }
                if !status.is_sticky() {
                    return Err(bad("a kernel that faults leaves a sticky status"));
                }
                Ok(Self::Kernel { nth, status })
            }
        }
    }
}

impl fmt::Display for FaultPlan {
    /// The faults with commas between them; `none` without any.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, fault) in self.faults.iter().enumerate() {
            if at > 0 {
                f.write_str(",")?;
            }
            fault.fmt(f)?;
        }
        if self.faults.is_empty() {
            f.write_str("none")?;
        }
        Ok(())
    }
}

impl FromStr for FaultPlan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() || text == "none" {
            return Ok(Self::default());
        }
        let faults = text.split(',').map(|fault| fault.trim().parse());
        Ok(Self {
            faults: faults.collect::<Result<_, _>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, FaultPlan};
    use crate::device::{Function, Status};

    fn every_fault() -> Vec<Fault> {
        let calls = Function::ALL.iter().flat_map(|&function| {
            Status::ALL.iter().map(move |&status| Fault::Call {
                function,
                nth: 7,
                status,
            })
        });
        let sticky = Status::ALL.iter().filter(|status| status.is_sticky());
        let kernels = sticky.map(|&status| Fault::Kernel { nth: 9, status });
        let others = [
            Fault::HalfCopy { nth: u64::MAX },
            Fault::Hold { nth: 2, looks: 0 },
            Fault::Limit { bytes: 1 << 20 },
            Fault::OutOfMemory { one_in: 8 },
            Fault::Late { looks: 5 },
            Fault::Shuffle,
            Fault::Twice,
            Fault::Lost { call: 30 },
        ];
        calls.chain(kernels).chain(others).collect()
    }

    #[test]
    fn every_plan_prints_as_one_line_and_parses_back() {
        let faults = every_fault();
        for fault in &faults {
            assert_eq!(fault.to_string().parse::<Fault>().unwrap(), *fault);
        }
        let plan = FaultPlan { faults };
        let line = plan.to_string();
        assert!(!line.contains(char::is_whitespace), "{line}");
        assert_eq!(line.parse::<FaultPlan>().unwrap(), plan);
        let none = FaultPlan::default();
        assert_eq!(none.to_string(), "none");
        assert_eq!("none".parse::<FaultPlan>().unwrap(), none);
    }

    #[test]
    fn what_is_no_fault_is_refused_by_name() {
        for (line, named) in [
            ("copy", "copy"),
            ("copy#x=unknown", "x"),
            ("copy#1", "status"),
            ("copy#1=sad", "sad"),
            ("kopy#1=unknown", "kopy"),
            ("kernel#1=unknown", "sticky"),
            ("hold#1", "LOOKS"),
            ("oom~0", "none"),
            ("limit=-1", "-1"),
            ("late~2,,twice", "name"),
        ] {
            let refusal = line.parse::<FaultPlan>().unwrap_err();
            assert!(refusal.contains(named), "{line}: {refusal}");
        }
    }
}
