//! Running other programs: each command is printed before it runs, in a form that can be copied.

use crate::tally::Tally;
use crate::workspace;
use std::fmt;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// A program with its arguments and the environment variables that it is given beside ours.
#[derive(Debug, Clone)]
pub(crate) struct Cmd {
    program: String,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    removed: Vec<String>,
}

impl Cmd {
    /// `program`, to be run in the root of the workspace.
    pub(crate) fn new(program: &str) -> Self {
        Self {
            program: program.to_owned(),
            arguments: Vec::new(),
            environment: Vec::new(),
            removed: Vec::new(),
        }
    }

    /// The program and arguments that `line` names, separated by spaces.
    pub(crate) fn from_line(line: &str) -> Self {
        let (program, rest) = line.split_once(' ').unwrap_or((line, ""));
        Self::new(program).words(rest)
    }

    /// `cargo`, with the arguments that `line` names, separated by spaces.
    pub(crate) fn cargo(line: &str) -> Self {
        Self::new("cargo").words(line)
    }

    /// With further arguments.
    pub(crate) fn args(mut self, arguments: &[&str]) -> Self {
        self.arguments
            .extend(arguments.iter().map(|&argument| argument.to_owned()));
        self
    }

    /// With the arguments that `line` names, separated by spaces.
    pub(crate) fn words(mut self, line: &str) -> Self {
        self.arguments
            .extend(line.split_whitespace().map(str::to_owned));
        self
    }

    /// With an environment variable.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Without an environment variable.
    pub(crate) fn env_remove(mut self, name: &str) -> Self {
        self.removed.push(name.to_owned());
        self
    }

    /// Prints the command, runs it, and fails if it fails.
    pub(crate) fn run(&self) -> Result<(), String> {
        println!("$ {self}");
        let status = self
            .command()
            .status()
            .map_err(|error| self.not_started(&error))?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("`{self}` ended with {status}"))
        }
    }

    /// Runs the command; gives what it wrote to standard output, and whether it ended well.
    pub(crate) fn printed(&self) -> Result<(String, bool), String> {
        let output = self
            .command()
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| self.not_started(&error))?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok((printed, output.status.success()))
    }

    /// Prints the command, runs it, and counts what its test binaries report.
    pub(crate) fn run_tests(&self, tally: &mut Tally) -> Result<(), String> {
        println!("$ {self}");
        let mut child = self
            .command()
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| self.not_started(&error))?;
        if let Some(stdout) = child.stdout.take() {
            for line in BufReader::new(stdout).lines() {
                let line = line.map_err(|error| format!("the output of `{self}`: {error}"))?;
                println!("{line}");
                tally.count(&line);
            }
        }
        let status = child.wait().map_err(|error| format!("`{self}`: {error}"))?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("`{self}` ended with {status}"))
        }
    }

    /// Prints the command, runs it, and gives what it wrote to standard output.
    pub(crate) fn capture(&self) -> Result<String, String> {
        println!("$ {self}");
        let output = self
            .command()
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| self.not_started(&error))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(format!("`{self}` ended with {}", output.status))
        }
    }

    /// Runs the command without printing anything; what it wrote to standard output, or its
    /// standard error as the failure.
    pub(crate) fn output(&self) -> Result<String, String> {
        let output = self
            .command()
            .output()
            .map_err(|error| self.not_started(&error))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(format!("`{self}` ended with {}: {said}", output.status))
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(workspace::root());
        for (name, value) in &self.environment {
            command.env(name, value);
        }
        for name in &self.removed {
            command.env_remove(name);
        }
        command
    }

    fn not_started(&self, error: &std::io::Error) -> String {
        format!("`{self}` could not be started: {error}")
    }
}

impl fmt::Display for Cmd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.removed.is_empty() {
            f.write_str("env ")?;
            for name in &self.removed {
                write!(f, "-u {name} ")?;
            }
        }
        for (name, value) in &self.environment {
            write!(f, "{name}={} ", quoted(value))?;
        }
        f.write_str(&self.program)?;
        for argument in &self.arguments {
            write!(f, " {}", quoted(argument))?;
        }
        Ok(())
    }
}

/// `word` as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::Cmd;

    #[test]
    fn what_is_printed_can_be_copied_into_a_shell() {
        let command = Cmd::cargo("doc --workspace")
            .args(&["it's"])
            .env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(
            command.to_string(),
            r"RUSTDOCFLAGS='-D warnings' cargo doc --workspace 'it'\''s'"
        );
        let output = Cmd::new("sh")
            .args(&["-c", "printf '%s' \"it's\""])
            .output();
        assert_eq!(output.as_deref(), Ok("it's"));
    }

    #[test]
    fn a_failing_command_and_a_missing_program_are_failures() {
        assert!(
            Cmd::new("sh")
                .args(&["-c", "exit 3"])
                .output()
                .expect_err("it fails")
                .contains('3')
        );
        let missing = Cmd::new("no-such-program-here")
            .output()
            .expect_err("it fails");
        assert!(missing.contains("could not be started"), "{missing}");
    }
}
