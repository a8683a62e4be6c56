//! Asks the vendors of this build for their devices, for `cargo xtask doctor`.
//!
//! Prints a JSON array: `{"vendor", "devices": [..]}`, or `{"vendor", "absent": reason}`. A program
//! of its own, so that `cargo xtask` builds where a vendor does not.

#![expect(
    clippy::print_stdout,
    reason = "a command-line program reports to its user"
)]

use serde_json::{Value, json};
use tensor_core::{Device, DeviceInfo};

fn main() {
    let report: Value = Device::probe()
        .into_iter()
        .map(|(vendor, found)| match found {
            Ok(devices) => {
                let devices: Value = devices.iter().map(device).collect();
                json!({ "vendor": vendor, "devices": devices })
            }
            Err(error) => json!({ "vendor": vendor, "absent": error.to_string() }),
        })
        .collect();
    println!("{report}");
}

fn device(device: &DeviceInfo) -> Value {
    json!({
        "ordinal": device.ordinal,
        "name": device.name,
        "kind": format!("{:?}", device.kind).to_lowercase(),
        "driver": device.driver,
        "memory_bytes": device.memory_bytes,
    })
}
