//! What unit tests share: running one operation on a fresh host, with guards around every buffer.
//!
//! Promises that a test which runs an operation also finds writes outside the output's range.
//! Compiled for tests only.
//!
//! # Safety
//!
//! Operations are planned first, and their arguments are whole buffers of this module.

#![expect(unsafe_code, reason = "calls the unsafe driver traits")]

use crate::Host;
use crate::ops::element::Plain;
use gpu_seam::{Arg, Buffer, Driver, Execute, GpuError, Op};

/// Bytes before and after every range.
const GUARD: usize = 64;
const GUARD_BYTE: u8 = 0xa5;

/// The bytes of `values`.
pub(crate) fn bytes<T: Plain>(values: &[T]) -> Vec<u8> {
    // SAFETY: plain types have no padding, and the slice is live.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }.to_vec()
}

/// The values that `bytes` hold.
pub(crate) fn values<T: Plain>(bytes: &[u8]) -> Vec<T> {
    bytes
        .chunks_exact(size_of::<T>())
        .map(|chunk| {
            // SAFETY: the chunk is as long as a `T`, of which any bytes are a value.
            unsafe { chunk.as_ptr().cast::<T>().read_unaligned() }
        })
        .collect()
}

/// A guarded buffer.
struct Held {
    buffer: Buffer<Host>,
    len: usize,
}

impl Held {
    fn new(host: &Host, bytes: &[u8]) -> Self {
        let held = Self {
            buffer: host.allocate(bytes.len() + 2 * GUARD).unwrap(),
            len: bytes.len(),
        };
        let mut all = vec![GUARD_BYTE; bytes.len() + 2 * GUARD];
        all[GUARD..GUARD + bytes.len()].copy_from_slice(bytes);
        let to = Arg {
            buffer: &held.buffer,
            offset: 0,
            len: all.len(),
        };
        // SAFETY: the range is the whole buffer, as long as `all`.
        unsafe { host.write_direct(to, &all) }.unwrap();
        held
    }

    fn arg(&self) -> Arg<'_, Host> {
        Arg {
            buffer: &self.buffer,
            offset: GUARD,
            len: self.len,
        }
    }

    fn take(self, host: &Host) -> Vec<u8> {
        let mut all = vec![0; self.len + 2 * GUARD];
        let from = Arg {
            buffer: &self.buffer,
            offset: 0,
            len: all.len(),
        };
        // SAFETY: the range is the whole buffer, as long as `all`.
        unsafe { host.read_direct(from, &mut all) }.unwrap();
        // SAFETY: the buffer is this host's and nothing uses it.
        unsafe { host.free(self.buffer) }.unwrap();
        assert!(
            all[..GUARD]
                .iter()
                .chain(&all[GUARD + self.len..])
                .all(|&byte| byte == GUARD_BYTE),
            "bytes outside an argument were written"
        );
        all[GUARD..GUARD + self.len].to_vec()
    }
}

/// Runs `op` with an output that holds `out` before, and these inputs, which must keep their value.
/// Gives the output's bytes.
pub(crate) fn run(op: &Op<'_>, out: &[u8], inputs: &[&[u8]]) -> Result<Vec<u8>, GpuError> {
    let host = Host::with_limit(1 << 34);
    host.plan(op)?;
    let stream = host.create_stream()?;
    let out = Held::new(&host, out);
    let held: Vec<Held> = inputs.iter().map(|bytes| Held::new(&host, bytes)).collect();
    let args: Vec<_> = std::iter::once(&out).chain(&held).map(Held::arg).collect();
    // SAFETY: planned above; the arguments are live and this call's alone.
    unsafe { host.execute(&stream, op, &args, None) }?;
    for (held, bytes) in held.into_iter().zip(inputs) {
        assert!(held.take(&host) == *bytes, "an input was written");
    }
    Ok(out.take(&host))
}

/// As [`run`], with the index operation's fault slot: gives the output's bytes and the slot's.
pub(crate) fn run_indexed(
    op: &Op<'_>,
    out: &[u8],
    inputs: [&[u8]; 2],
) -> Result<(Vec<u8>, [u32; 4]), GpuError> {
    let host = Host::with_limit(1 << 34);
    host.plan(op)?;
    let stream = host.create_stream()?;
    let all = [out, inputs[0], inputs[1], &[0; 16]];
    let [out, a, b, fault] = all.map(|bytes| Held::new(&host, bytes));
    // SAFETY: planned above; the arguments are live and this call's alone.
    unsafe {
        host.execute(
            &stream,
            op,
            &[out.arg(), a.arg(), b.arg(), fault.arg()],
            None,
        )
    }?;
    assert!(
        a.take(&host) == inputs[0] && b.take(&host) == inputs[1],
        "an input was written"
    );
    let fault = values::<u32>(&fault.take(&host)).try_into().unwrap();
    Ok((out.take(&host), fault))
}

/// As [`run`], with the output as the first `shared` inputs too.
pub(crate) fn run_in_place(
    op: &Op<'_>,
    out: &[u8],
    shared: usize,
    inputs: &[&[u8]],
) -> Result<Vec<u8>, GpuError> {
    let host = Host::with_limit(1 << 34);
    host.plan(op)?;
    let stream = host.create_stream()?;
    let out = Held::new(&host, out);
    let held: Vec<Held> = inputs.iter().map(|bytes| Held::new(&host, bytes)).collect();
    let mut args = vec![out.arg(); 1 + shared];
    args.extend(held.iter().map(Held::arg));
    // SAFETY: planned above; the tests share an argument only where the seam allows it.
    unsafe { host.execute(&stream, op, &args, None) }?;
    Ok(out.take(&host))
}
