//! Device memory: allocate, free, and what memory reports.

use crate::cx::{Cx, range};
use crate::layout::pattern;
use crate::outcome::{Outcome, Stop, ensure, equal, same_bytes};
use gpu_seam::{DType, Execute, GpuError, Op, Scalar, View};
use std::collections::HashSet;

/// `available <= total`, before and after an allocation.
pub(crate) fn memory_available_within_total<V: Execute>(cx: &Cx<V>) -> Outcome {
    for bytes in [1, 1 << 16] {
        let buffer = cx.driver().allocate(bytes)?;
        let memory = cx.driver().memory()?;
        ensure(memory.available <= memory.total, || format!("{memory:?}"))?;
        cx.free(buffer)?;
    }
    Ok(())
}

/// The buffer's length is what was asked for.
pub(crate) fn allocate_exact_length<V: Execute>(cx: &Cx<V>) -> Outcome {
    for bytes in [1, 2, 3, 15, 16, 17, 255, 256, 257, 4095, 65_537, 1 << 20] {
        let buffer = cx.driver().allocate(bytes)?;
        equal("the length", buffer.len(), bytes)?;
        cx.free(buffer)?;
    }
    Ok(())
}

/// Domain and ordinal are the driver's, and no allocation id comes twice, freed ones included.
pub(crate) fn allocate_identity_is_unique<V: Execute>(cx: &Cx<V>) -> Outcome {
    let mut seen = HashSet::new();
    let mut kept = Vec::new();
    for round in 0..64 {
        let buffer = cx.driver().allocate(256)?;
        let identity = buffer.identity();
        equal("the domain", identity.domain, cx.driver().domain())?;
        equal("the ordinal", identity.device, cx.driver().device().ordinal)?;
        ensure(seen.insert(identity.allocation), || {
            format!("allocation {round} has an id that was given before: {identity:?}")
        })?;
        // Some are freed at once, so that a recycled block shows a recycled id.
        if round % 3 == 0 {
            kept.push(buffer);
        } else {
            cx.free(buffer)?;
        }
    }
    kept.into_iter().try_for_each(|buffer| cx.free(buffer))
}

/// Every live buffer keeps its bytes while others are allocated, written and freed.
pub(crate) fn allocate_disjoint<V: Execute>(cx: &Cx<V>) -> Outcome {
    let sizes = [1, 7, 16, 33, 64, 100, 255, 256, 1000, 4096, 4097, 70_000];
    let mut live = Vec::new();
    for (seed, &bytes) in sizes.iter().enumerate() {
        let buffer = cx.driver().allocate(bytes)?;
        cx.write(&buffer, 0, &pattern(bytes, seed))?;
        live.push((buffer, seed));
    }
    // A hole in the middle, filled again: the place where an allocator would go wrong.
    let (hole, _) = live.remove(5);
    let bytes = hole.len();
    cx.free(hole)?;
    let again = cx.driver().allocate(bytes)?;
    cx.write(&again, 0, &pattern(bytes, 99))?;
    live.push((again, 99));
    for (buffer, seed) in live {
        let bytes = cx.read_all(&buffer)?;
        same_bytes(
            &format!("buffer {seed}"),
            &bytes,
            &pattern(bytes.len(), seed),
        )?;
        cx.free(buffer)?;
    }
    Ok(())
}

/// The widest elements work at the start of allocations whose predecessors had odd lengths, and at
/// every multiple of `offset_alignment`. (Addresses are not visible through the seam.)
pub(crate) fn allocate_aligned<V: Execute>(cx: &Cx<V>) -> Outcome {
    let table = cx.capabilities().support;
    let family = gpu_seam::Family::Fill;
    let served: Vec<_> = table.dtypes(family).iter().collect();
    let dtype = served
        .into_iter()
        .max_by_key(|dtype| dtype.size())
        .unwrap_or(DType::F32);
    let step = cx.capabilities().offset_alignment.max(dtype.size());
    let value = Scalar::from_bits(dtype, 0x1122_3344_5566_7788_99aa_bbcc_ddee_ff01);
    let dims = [2];
    let op = Op::Fill {
        out: View::new(dtype, 0, &dims, &[1]),
        value,
    };
    cx.claim(&op)?;
    let len = 2 * dtype.size();
    let mut live = Vec::new();
    for odd in [1usize, 3, 17, 5, 255] {
        live.push(cx.driver().allocate(odd)?);
        let total = cx.round_up(3 * step + len);
        let buffer = cx.buffer_of(&vec![0; total])?;
        for place in 0..4 {
            let arg = range(&buffer, place * step, len);
            let scratch = cx.claim(&op)?;
            let scratch = if scratch == 0 {
                None
            } else {
                Some(cx.driver().allocate(scratch)?)
            };
            cx.execute(
                cx.stream(),
                &op,
                &[arg],
                scratch.as_ref().map(crate::cx::whole),
            )?;
            cx.finish(cx.stream())?;
            if let Some(scratch) = scratch {
                cx.free(scratch)?;
            }
        }
        let element = value.to_le_bytes()[..dtype.size()].repeat(2);
        let after = cx.read_all(&buffer)?;
        for place in 0..4 {
            let got = &after[place * step..place * step + len];
            same_bytes(&format!("{dtype} at byte {}", place * step), got, &element)?;
        }
        live.push(buffer);
    }
    live.into_iter().try_for_each(|buffer| cx.free(buffer))
}

/// After `OutOfMemory`, smaller allocations and all live buffers still work.
pub(crate) fn allocate_out_of_memory_recovers<V: Execute>(cx: &Cx<V>) -> Outcome {
    let before = cx.buffer_of(&pattern(4096, 1))?;
    // One allocation of the most, or as many as the device can have and one more.
    let most = cx
        .capabilities()
        .max_allocation_bytes
        .min(isize::MAX.unsigned_abs());
    let total = cx.driver().memory()?.total;
    let rounds = total / most + 1;
    let mut taken = Vec::new();
    let mut refusal = None;
    for _ in 0..rounds {
        match cx.driver().allocate(most) {
            Ok(buffer) => taken.push(buffer),
            Err(cause) => {
                refusal = Some(cause);
                break;
            }
        }
    }
    match refusal {
        Some(GpuError::OutOfMemory {
            requested,
            available,
        }) => {
            equal("requested", requested, most)?;
            ensure(available < most, || {
                format!("{available} bytes are said to be available")
            })?;
        }
        Some(other) => {
            return Err(Stop::Failed(format!(
                "allocate({most}) answers {other}, not OutOfMemory"
            )));
        }
        None => {
            let text = format!("{} allocations of {most} fit in {total} bytes", taken.len());
            return Err(Stop::Failed(text));
        }
    }
    for buffer in taken {
        cx.free(buffer)?;
    }
    let after = cx.buffer_of(&pattern(4096, 2))?;
    for (buffer, seed) in [(before, 1), (after, 2)] {
        same_bytes(
            "a live buffer",
            &cx.read_all(&buffer)?,
            &pattern(4096, seed),
        )?;
        cx.free(buffer)?;
    }
    Ok(())
}

/// More than the whole memory can be had in turn, each piece given back before the next.
pub(crate) fn free_returns_memory<V: Execute>(cx: &Cx<V>) -> Outcome {
    let before = cx.driver().memory()?;
    let most = cx.capabilities().max_allocation_bytes;
    let piece = (before.total / 4).clamp(1, 64 << 20).min(most);
    let rounds = (before.total / piece).min(256) + 2;
    for round in 0..rounds {
        let buffer = cx.driver().allocate(piece).map_err(|cause| {
            Stop::Failed(format!(
                "round {round} of {rounds} with {piece} bytes: {cause}"
            ))
        })?;
        cx.free(buffer)?;
    }
    let after = cx.driver().memory()?;
    // Others may use the device too, but not by as much as a leak of every second piece would.
    let lost = before.available.saturating_sub(after.available);
    ensure(lost <= rounds * piece / 2, || {
        format!("{lost} bytes fewer are available afterwards")
    })
}

/// Freeing in any order leaves the others whole.
pub(crate) fn free_in_any_order<V: Execute>(cx: &Cx<V>) -> Outcome {
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
        let mut live = Vec::new();
        for seed in 0..4 {
            live.push(Some(cx.buffer_of(&pattern(3000 + 16 * seed, seed))?));
        }
        for next in order {
            if let Some(buffer) = live[next].take() {
                let bytes = cx.read_all(&buffer)?;
                same_bytes(
                    &format!("buffer {next}"),
                    &bytes[..3000],
                    &pattern(3000, next),
                )?;
                cx.free(buffer)?;
            }
        }
    }
    Ok(())
}

/// The driver's constants do not change, and its limits are as the capabilities promise.
pub(crate) fn device_is_constant<V: Execute>(cx: &Cx<V>) -> Outcome {
    let info = cx.driver().device().clone();
    let domain = cx.driver().domain();
    let buffer = cx.driver().allocate(64)?;
    cx.free(buffer)?;
    equal("the device", cx.driver().device(), &info)?;
    equal("the domain", cx.driver().domain(), domain)?;
    let capabilities = &info.capabilities;
    ensure(capabilities.strided_rank >= 3, || {
        format!("strided_rank {}", capabilities.strided_rank)
    })?;
    for (name, value) in [
        ("offset_alignment", capabilities.offset_alignment),
        ("copy_granularity", capabilities.copy_granularity),
    ] {
        ensure(value.is_power_of_two(), || {
            format!("{name} is {value}, not a power of two")
        })?;
    }
    ensure(!info.vendor.is_empty() && !info.name.is_empty(), || {
        format!("unnamed: {info:?}")
    })
}
