//! Running one operation with sentinels: what every check of computed values goes through.
//!
//! Each array lies in a buffer of its own between guard bytes. After the run, guards, inputs, and
//! every byte of the output that its view does not address must be what they were.

use crate::cx::{Cx, range};
use crate::layout::{Array, pattern};
use crate::outcome::{Stop, same_bytes};
use gpu_seam::{Buffer, Execute, FAULT_SLOT_BYTES, Op};

/// What an input of an operation is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Input<'a> {
    /// An argument of its own.
    Array(&'a Array),
    /// The output's own argument (in place).
    Output,
}

/// What an operation left behind.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Launched {
    /// The output's argument.
    pub(crate) out: Array,
    /// The fault slot, as its four words; zeros where the operation has none.
    pub(crate) slot: [u32; 4],
}

impl<V: Execute> Cx<V> {
    /// Plans `op`, uploads, executes, waits, downloads, and compares everything that must not change.
    pub(crate) fn launch(
        &self,
        op: &Op<'_>,
        out: &Array,
        inputs: &[&Array],
    ) -> Result<Launched, Stop> {
        let inputs: Vec<_> = inputs.iter().map(|input| Input::Array(input)).collect();
        self.launch_with(op, out, &inputs)
    }

    /// As [`launch`](Self::launch), with inputs that may be the output itself.
    pub(crate) fn launch_with(
        &self,
        op: &Op<'_>,
        out: &Array,
        inputs: &[Input<'_>],
    ) -> Result<Launched, Stop> {
        let planned = self.claim(op)?;
        let slotted = matches!(op, Op::Gather { .. } | Op::Scatter { .. });
        let output = self.guarded(&out.bytes)?;
        let mut own = Vec::new();
        for input in inputs {
            if let Input::Array(array) = input {
                own.push(self.guarded(&array.bytes)?);
            }
        }
        let slot = slotted
            .then(|| self.guarded(&[0; FAULT_SLOT_BYTES]))
            .transpose()?;
        let scratch = match planned {
            0 => None,
            bytes => Some(self.guarded(&pattern(bytes, 0x77))?),
        };
        let mut args = vec![output.arg()];
        let mut owned = own.iter();
        for input in inputs {
            match input {
                Input::Array(_) => args.extend(owned.next().map(Guarded::arg)),
                Input::Output => args.push(output.arg()),
            }
        }
        args.extend(slot.as_ref().map(Guarded::arg));
        self.execute(self.stream(), op, &args, scratch.as_ref().map(Guarded::arg))?;
        self.finish(self.stream())?;
        let bytes = self.taken(output, "the output")?;
        untouched(out, &bytes)?;
        let arrays = inputs.iter().filter_map(|input| match input {
            Input::Array(array) => Some(*array),
            Input::Output => None,
        });
        for (at, (guarded, array)) in own.into_iter().zip(arrays).enumerate() {
            let after = self.taken(guarded, &format!("input {at}"))?;
            same_bytes(
                &format!("input {at} after {}", op.name()),
                &after,
                &array.bytes,
            )?;
        }
        let mut words = [0; 4];
        if let Some(slot) = slot {
            let after = self.taken(slot, "the fault slot")?;
            for (word, lane) in words.iter_mut().zip(after.chunks_exact(4)) {
                *word = u32::from_le_bytes([lane[0], lane[1], lane[2], lane[3]]);
            }
        }
        if let Some(scratch) = scratch {
            self.taken(scratch, "the scratch")?;
        }
        let out = Array {
            dtype: out.dtype,
            layout: out.layout.clone(),
            bytes,
        };
        Ok(Launched { out, slot: words })
    }

    /// A buffer that holds `bytes` between guards.
    pub(crate) fn guarded(&self, bytes: &[u8]) -> Result<Guarded<V>, Stop> {
        let guard = 64usize.next_multiple_of(self.granule());
        let total = self.round_up(guard + bytes.len() + guard);
        let mut all = pattern(total, 0xc7);
        all[guard..guard + bytes.len()].copy_from_slice(bytes);
        let buffer = self.buffer_of(&all)?;
        Ok(Guarded {
            buffer,
            guard,
            len: bytes.len(),
        })
    }

    /// The bytes between the guards, which must be whole, and the end of the buffer.
    pub(crate) fn taken(&self, guarded: Guarded<V>, what: &str) -> Result<Vec<u8>, Stop> {
        let Guarded { buffer, guard, len } = guarded;
        let all = self.read_all(&buffer)?;
        let sentinels = pattern(all.len(), 0xc7);
        same_bytes(
            &format!("the bytes before {what}"),
            &all[..guard],
            &sentinels[..guard],
        )?;
        let behind = guard + len;
        same_bytes(
            &format!("the bytes behind {what}"),
            &all[behind..],
            &sentinels[behind..],
        )?;
        self.free(buffer)?;
        Ok(all[guard..behind].to_vec())
    }
}

/// A buffer with guard bytes around what an operation is given.
pub(crate) struct Guarded<V: Execute> {
    buffer: Buffer<V>,
    guard: usize,
    len: usize,
}

impl<V: Execute> Guarded<V> {
    /// What an operation is given.
    pub(crate) fn arg(&self) -> gpu_seam::Arg<'_, V> {
        range(&self.buffer, self.guard, self.len)
    }
}

/// Fails when a byte that the output's view does not address has changed.
fn untouched(out: &Array, after: &[u8]) -> Result<(), Stop> {
    let size = out.dtype.size();
    let mut before = out.bytes.clone();
    for position in out.layout.positions() {
        let bytes = position * size..(position + 1) * size;
        before[bytes.clone()].copy_from_slice(&after[bytes]);
    }
    same_bytes(
        "the output's argument, where its view has no element",
        after,
        &before,
    )
}
