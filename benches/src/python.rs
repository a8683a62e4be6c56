//! The peers that live in Python: one interpreter, asked one line at a time.

use crate::case::{Case, Workload};
use crate::peer::{Peer, Prepared};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

/// A running `peers.py`.
#[derive(Clone)]
pub struct Interpreter(Rc<RefCell<Process>>);

struct Process {
    child: Child,
    ask: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Interpreter {
    /// Starts `peers.py` with the interpreter `python`.
    pub fn start(python: &str) -> Result<Self, String> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers.py");
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{python} could not be started: {error}"))?;
        let ask = child.stdin.take();
        let answers = child
            .stdout
            .take()
            .ok_or("peers.py has no standard output")?;
        let process = Process {
            child,
            ask,
            answers: BufReader::new(answers),
        };
        Ok(Self(Rc::new(RefCell::new(process))))
    }

    /// The peer that `peers.py` calls `key`.
    pub fn peer(&self, name: &'static str, key: &'static str) -> PythonPeer {
        PythonPeer {
            name,
            key,
            interpreter: self.clone(),
        }
    }

    /// Versions and settings of what runs there, as text.
    pub fn about(&self) -> Result<String, String> {
        let answer = self.ask(&json!({ "do": "about" }))?;
        answer["about"]
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| format!("peers.py: {answer}"))
    }

    fn ask(&self, question: &Value) -> Result<Value, String> {
        let process = &mut *self.0.borrow_mut();
        let ask = process
            .ask
            .as_mut()
            .ok_or("peers.py has no standard input")?;
        writeln!(ask, "{question}").map_err(|error| format!("peers.py: {error}"))?;
        let mut line = String::new();
        process
            .answers
            .read_line(&mut line)
            .map_err(|error| format!("peers.py: {error}"))?;
        let answer: Value = serde_json::from_str(&line)
            .map_err(|error| format!("peers.py answered {line:?} to {question}: {error}"))?;
        match answer["error"].as_str() {
            Some(error) => Err(format!("peers.py: {error}")),
            None => Ok(answer),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The end of its input ends the script.
        drop(self.ask.take());
        if let Err(error) = self.child.wait() {
            eprintln!("peers.py could not be waited for: {error}");
        }
    }
}

/// One library of the interpreter.
pub struct PythonPeer {
    name: &'static str,
    key: &'static str,
    interpreter: Interpreter,
}

impl Peer for PythonPeer {
    fn name(&self) -> &'static str {
        self.name
    }

    fn prepare(&mut self, workload: &Workload) -> Result<Option<Box<dyn Prepared>>, String> {
        let what = match workload {
            Workload::Case(case) => json!({ "case": key(*case), "dims": case.dims() }),
            Workload::Network(path) => json!({ "network": path }),
        };
        let question = json!({ "do": "prepare", "peer": self.key, "what": what });
        let answer = self.interpreter.ask(&question)?;
        Ok(answer["fingerprint"].as_f64().map(|fingerprint| {
            let interpreter = self.interpreter.clone();
            Box::new(Remote {
                key: self.key,
                fingerprint,
                interpreter,
            }) as Box<dyn Prepared>
        }))
    }
}

const fn key(case: Case) -> &'static str {
    match case {
        Case::Add | Case::SmallAdd => "add",
        Case::Exp => "exp",
        Case::Sum => "sum",
        Case::Transpose => "transpose",
        Case::Matmul => "matmul",
    }
}

struct Remote {
    key: &'static str,
    fingerprint: f64,
    interpreter: Interpreter,
}

impl Prepared for Remote {
    fn fingerprint(&mut self) -> Result<f64, String> {
        Ok(self.fingerprint)
    }

    fn time(&mut self, runs: u32) -> Result<Duration, String> {
        let question = json!({ "do": "time", "peer": self.key, "runs": runs });
        let answer = self.interpreter.ask(&question)?;
        let seconds = answer["seconds"].as_f64();
        seconds
            .map(Duration::from_secs_f64)
            .ok_or_else(|| format!("peers.py: {answer}"))
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let question = json!({ "do": "forget", "peer": self.key });
        if let Err(error) = self.interpreter.ask(&question) {
            eprintln!("{error}");
        }
    }
}
