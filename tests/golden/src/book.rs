//! The form of `golden.json`. Knows nothing of what a case means.

use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

/// The whole file.
#[derive(Deserialize)]
pub(crate) struct Book {
    pub(crate) arrays: HashMap<String, Array>,
    pub(crate) cases: Vec<Case>,
}

/// An array: dtype, shape, and the little-endian bytes of its elements in row-major order, in hex.
#[derive(Deserialize)]
pub(crate) struct Array {
    #[serde(rename = "d")]
    pub(crate) dtype: String,
    #[serde(rename = "s")]
    pub(crate) shape: Vec<usize>,
    #[serde(rename = "x")]
    hex: String,
}

impl Array {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let digit = |digit: u8| match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            other => panic!("{other} is no hex digit"),
        };
        let pairs = self.hex.as_bytes().chunks_exact(2);
        pairs
            .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
            .collect()
    }
}

/// An operation, its inputs and arguments, and what it must give.
#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) op: String,
    #[serde(rename = "in")]
    pub(crate) inputs: Vec<Input>,
    #[serde(default)]
    pub(crate) args: HashMap<String, Value>,
    out: Option<Array>,
    err: Option<String>,
    /// Allowed error in units of the last place.
    #[serde(default)]
    pub(crate) ulp: f64,
    /// Allowed absolute error.
    #[serde(default)]
    pub(crate) abs: f64,
    /// The sign of zero does not count.
    #[serde(default)]
    pub(crate) zero: bool,
    /// Of a complex number that is not finite, only that counts.
    #[serde(default)]
    pub(crate) class: bool,
    /// An input holds subnormal numbers.
    #[serde(default)]
    pub(crate) subnormal: bool,
}

/// What a case must give.
pub(crate) enum Expected<'a> {
    Array(&'a Array),
    Error(&'a str),
}

impl Case {
    pub(crate) fn expected(&self) -> Expected<'_> {
        match (&self.out, &self.err) {
            (Some(array), None) => Expected::Array(array),
            (None, Some(kind)) => Expected::Error(kind),
            _ => panic!("{}: a case has an output or an error", self.id),
        }
    }
}

/// A named array, or its name and the views that are made of it.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Input {
    Whole(String),
    Viewed(Vec<Value>),
}
