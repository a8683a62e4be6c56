//! Validation of kernels with naga, without any adapter.

use naga::valid::{Capabilities, ValidationFlags, Validator};

/// Fails the test unless `text` is valid WGSL for a device with the features that kernels ask for.
#[expect(clippy::panic, reason = "a test's assertion")]
pub(crate) fn validate(text: &str) -> naga::Module {
    let module = match naga::front::wgsl::parse_str(text) {
        Ok(module) => module,
        Err(error) => panic!("{}\n{}", error.emit_to_string(text), numbered(text)),
    };
    let capabilities = if text.contains("f64") || text.contains("u64") || text.contains("i64") {
        Capabilities::FLOAT64 | Capabilities::SHADER_INT64
    } else {
        Capabilities::empty()
    };
    let checked = Validator::new(ValidationFlags::all(), capabilities).validate(&module);
    if let Err(error) = checked {
        panic!("{}\n{}", error.emit_to_string(text), numbered(text));
    }
    module
}

fn numbered(text: &str) -> String {
    let lines = text.lines().zip(1..);
    lines.map(|(line, at)| format!("{at:4} {line}\n")).collect()
}
