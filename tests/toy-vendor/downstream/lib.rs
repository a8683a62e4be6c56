//! Nothing: the package is its test, `tests/device.rs`.
