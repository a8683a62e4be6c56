//! What the directed tests of the engine share: a held engine and small calls on f32 lines.
//!
//! The tests are beside this crate in `tests/`, a file for each part of the engine. They stand
//! outside gpu-dispatch, since that crate may not see a vendor, not even in its tests.

use gpu_dispatch::{Admission, Call, Engine, Error, Lane, Options, Output, Storage};
use gpu_held::{Config, Controller, Held};
use gpu_host::Host;
use gpu_seam::{BinaryOp, DType, Operand, Scalar, View};

/// The vendor under the engine.
pub type Vendor = Held<Host>;
/// A storage of it.
pub type Bytes = Storage<Vendor>;

/// An engine whose work waits for the test.
///
/// # Panics
/// When the held device cannot be opened, which fails the test.
#[must_use]
pub fn engine(config: Config) -> (Engine<Vendor>, Controller<Host>) {
    engine_with(config, |_| {})
}

/// As [`engine`], with options.
///
/// # Panics
/// As there.
#[must_use]
pub fn engine_with(
    config: Config,
    change: impl FnOnce(&mut Options),
) -> (Engine<Vendor>, Controller<Host>) {
    let (held, control) = match Held::new(Host::new(), config) {
        Ok(pair) => pair,
        Err(cause) => panic!("no held device: {cause}"),
    };
    let mut options = Options::default();
    change(&mut options);
    match Engine::with_options(held, options) {
        Ok(engine) => (engine, control),
        Err(error) => panic!("no engine: {error}"),
    }
}

/// `n` elements of `value`.
#[must_use]
pub fn line(n: usize, value: f32) -> Vec<u8> {
    std::iter::repeat_n(value.to_le_bytes(), n)
        .flatten()
        .collect()
}

/// The elements of a storage, waited for.
///
/// # Errors
/// The engine's own.
pub fn floats(lane: &Lane<Vendor>, storage: &Bytes) -> Result<Vec<f32>, Error> {
    let mut bytes = vec![0; storage.len()];
    lane.read(storage, 0, &mut bytes)?;
    Ok(to_floats(&bytes))
}

/// Bytes as elements.
#[must_use]
pub fn to_floats(bytes: &[u8]) -> Vec<f32> {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

/// `lhs + rhs`, element by element.
///
/// # Errors
/// The engine's own.
pub fn add(lane: &Lane<Vendor>, lhs: &Bytes, rhs: &Bytes) -> Result<Bytes, Error> {
    let dims = [lhs.len() / 4];
    let view = Operand::View(View::new(DType::F32, 0, &dims, &[1]));
    let call = Call::Binary {
        op: BinaryOp::Add,
        lhs: view,
        rhs: view,
    };
    lane.submit(&call, &[lhs, rhs]).map(storage)
}

/// `lhs + value`.
///
/// # Errors
/// The engine's own.
pub fn add_scalar(lane: &Lane<Vendor>, lhs: &Bytes, value: f32) -> Result<Bytes, Error> {
    let dims = [lhs.len() / 4];
    let lhs_view = Operand::View(View::new(DType::F32, 0, &dims, &[1]));
    let rhs = Operand::Scalar(Scalar::from_bits(DType::F32, value.to_bits().into()));
    let call = Call::Binary {
        op: BinaryOp::Add,
        lhs: lhs_view,
        rhs,
    };
    lane.submit(&call, &[lhs]).map(storage)
}

/// `n` elements of `value`, made on the device.
///
/// # Errors
/// The engine's own.
pub fn fill(lane: &Lane<Vendor>, n: usize, value: f32) -> Result<Bytes, Error> {
    let value = Scalar::from_bits(DType::F32, value.to_bits().into());
    lane.submit(&Call::Fill { dims: &[n], value }, &[])
        .map(storage)
}

/// `out[i] = input[index[i]]`, indices as i32.
///
/// # Errors
/// The engine's own.
pub fn select(lane: &Lane<Vendor>, input: &Bytes, index: &[i32]) -> Result<Bytes, Error> {
    let bytes: Vec<u8> = index.iter().flat_map(|i| i.to_le_bytes()).collect();
    let indices = lane.upload(&bytes)?;
    let (dims, many) = ([input.len() / 4], [index.len()]);
    let call = Call::IndexSelect {
        input: View::new(DType::F32, 0, &dims, &[1]),
        index: View::new(DType::I32, 0, &many, &[1]),
        axis: 0,
    };
    lane.submit(&call, &[input, &indices]).map(storage)
}

fn storage(output: Output<Bytes>) -> Bytes {
    output.storage
}

/// The lane with submissions that are refused rather than made to wait.
#[must_use]
pub fn rejecting(lane: &Lane<Vendor>) -> Lane<Vendor> {
    lane.with_admission(Admission::Reject)
}
