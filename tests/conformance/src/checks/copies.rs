//! Copies: ranges, offsets, order, and host access where there is one.

use crate::cx::{Cx, range, whole};
use crate::layout::pattern;
use crate::outcome::{Outcome, ensure, same_bytes};
use gpu_seam::{Direction, Execute, GpuError};

/// Bytes of the buffer outside the range keep their value, wherever the range and its source are.
pub(crate) fn copy_in_touches_only_its_range<V: Execute>(cx: &Cx<V>) -> Outcome {
    let granule = cx.round_up(1);
    let total = cx.round_up(64 * granule.max(16));
    let source = pattern(total, 9);
    let up = cx.upload_staging(&source)?;
    for (from, to, units) in [
        (0, 0, 1),
        (0, 1, 1),
        (3, 0, 2),
        (1, 5, 7),
        (2, 30, 33),
        (0, 63, 1),
    ] {
        let (from, to, len) = (from * granule, to * granule, units * granule);
        let buffer = cx.buffer_of(&pattern(total, 1))?;
        cx.copy_in(cx.stream(), (&up, from, total), range(&buffer, to, len))?;
        let mut want = pattern(total, 1);
        want[to..to + len].copy_from_slice(&source[from..from + len]);
        let what = format!("{len} bytes from {from} to {to}");
        same_bytes(&what, &cx.read_all(&buffer)?, &want)?;
        cx.free(buffer)?;
    }
    cx.free_staging(up)
}

/// Bytes of the staging outside the range keep their value.
pub(crate) fn copy_out_touches_only_its_range<V: Execute>(cx: &Cx<V>) -> Outcome {
    let granule = cx.round_up(1);
    let total = cx.round_up(64 * granule.max(16));
    let background = cx.buffer_of(&pattern(total, 1))?;
    let source = cx.buffer_of(&pattern(total, 9))?;
    for (from, to, units) in [
        (0, 0, 1),
        (0, 1, 1),
        (3, 0, 2),
        (1, 5, 7),
        (2, 30, 33),
        (0, 63, 1),
    ] {
        let (from, to, len) = (from * granule, to * granule, units * granule);
        let mut down = cx.driver().alloc_staging(total, Direction::Download)?;
        cx.copy_out(cx.stream(), whole(&background), (&down, 0, total))?;
        cx.copy_out(cx.stream(), range(&source, from, len), (&down, to, total))?;
        cx.finish(cx.stream())?;
        let mut want = pattern(total, 1);
        want[to..to + len].copy_from_slice(&pattern(total, 9)[from..from + len]);
        let what = format!("{len} bytes from {from} to {to}");
        same_bytes(&what, &cx.read_staging(&mut down, total)?, &want)?;
        cx.free_staging(down)?;
    }
    cx.free(background)?;
    cx.free(source)
}

/// Odd offsets and lengths copy exactly, and nothing else.
pub(crate) fn copy_device_any_alignment<V: Execute>(cx: &Cx<V>) -> Outcome {
    let total = cx.round_up(6000);
    let source = cx.buffer_of(&pattern(total, 9))?;
    for len in [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 64, 100, 1001, 4097] {
        for (from, to) in [
            (0, 0),
            (0, 1),
            (1, 0),
            (2, 3),
            (3, 2),
            (5, 16),
            (13, 7),
            (64, 31),
        ] {
            let target = cx.buffer_of(&pattern(total, 1))?;
            cx.copy_device(
                cx.stream(),
                range(&source, from, len),
                range(&target, to, len),
            )?;
            let mut want = pattern(total, 1);
            want[to..to + len].copy_from_slice(&pattern(total, 9)[from..from + len]);
            let what = format!("{len} bytes from {from} to {to}");
            same_bytes(&what, &cx.read_all(&target)?, &want)?;
            cx.free(target)?;
        }
    }
    same_bytes("the source", &cx.read_all(&source)?, &pattern(total, 9))?;
    cx.free(source)
}

/// Ranges of one buffer that do not overlap are served, in both directions, also when they touch.
pub(crate) fn copy_device_within_one_buffer<V: Execute>(cx: &Cx<V>) -> Outcome {
    let total = cx.round_up(1024);
    for (from, to, len) in [
        (0, 512, 512),
        (512, 0, 512),
        (3, 100, 97),
        (700, 13, 250),
        (10, 11, 1),
    ] {
        let buffer = cx.buffer_of(&pattern(total, 4))?;
        cx.copy_device(
            cx.stream(),
            range(&buffer, from, len),
            range(&buffer, to, len),
        )?;
        let mut want = pattern(total, 4);
        want.copy_within(from..from + len, to);
        let what = format!("{len} bytes from {from} to {to}");
        same_bytes(&what, &cx.read_all(&buffer)?, &want)?;
        cx.free(buffer)?;
    }
    Ok(())
}

/// Copies of one stream run in the order of the calls: the last to a range wins, and a chain of
/// copies carries the first bytes to its end.
pub(crate) fn copies_run_in_order<V: Execute>(cx: &Cx<V>) -> Outcome {
    let len = cx.round_up(5000);
    let mut stagings = Vec::new();
    for seed in 0..4 {
        stagings.push(cx.upload_staging(&pattern(len, seed))?);
    }
    let buffers = [
        cx.driver().allocate(len)?,
        cx.driver().allocate(len)?,
        cx.driver().allocate(len)?,
    ];
    for staging in &stagings {
        cx.copy_in(cx.stream(), (staging, 0, len), whole(&buffers[0]))?;
        cx.copy_device(cx.stream(), whole(&buffers[0]), whole(&buffers[1]))?;
        cx.copy_device(cx.stream(), whole(&buffers[1]), whole(&buffers[2]))?;
    }
    // Overwrites a source after it was copied: an early write would show behind it.
    cx.copy_in(cx.stream(), (&stagings[0], 0, len), whole(&buffers[0]))?;
    cx.finish(cx.stream())?;
    for (buffer, seed) in buffers.into_iter().zip([0, 3, 3]) {
        same_bytes("the chain", &cx.read_all(&buffer)?, &pattern(len, seed))?;
        cx.free(buffer)?;
    }
    for staging in stagings {
        cx.free_staging(staging)?;
    }
    Ok(())
}

/// Many small copies in a row all arrive.
pub(crate) fn many_small_copies<V: Execute>(cx: &Cx<V>) -> Outcome {
    let unit = cx.round_up(1).max(4);
    let total = 512 * unit;
    let bytes = pattern(total, 3);
    let up = cx.upload_staging(&bytes)?;
    let buffer = cx.buffer_of(&vec![0; total])?;
    for at in (0..512).rev() {
        let to = range(&buffer, at * unit, unit);
        cx.copy_in(cx.stream(), (&up, at * unit, total), to)?;
    }
    cx.finish(cx.stream())?;
    same_bytes("512 copies", &cx.read_all(&buffer)?, &bytes)?;
    cx.free_staging(up)?;
    cx.free(buffer)
}

/// A large copy arrives whole, through staging and on the device.
pub(crate) fn large_copies<V: Execute>(cx: &Cx<V>) -> Outcome {
    let most = cx
        .capabilities()
        .max_allocation_bytes
        .min(cx.driver().memory()?.total / 8);
    let len = (8usize << 20).min(most) / cx.granule() * cx.granule();
    let bytes = pattern(len, 8);
    let first = cx.buffer_of(&bytes)?;
    let second = cx.driver().allocate(len)?;
    cx.copy_device(cx.stream(), whole(&first), whole(&second))?;
    same_bytes("the copy", &cx.read_all(&second)?, &bytes)?;
    cx.free(first)?;
    cx.free(second)
}

/// Direct access reads what it wrote and what the device wrote, and device work sees it; where
/// memory is not host-visible, both calls answer `Unsupported`.
pub(crate) fn direct_round_trip<V: Execute>(cx: &Cx<V>) -> Outcome {
    let len = cx.round_up(777);
    let buffer = cx.buffer_of(&pattern(len, 1))?;
    let part = pattern(100, 2);
    let mut back = vec![0; 100];
    if !cx.capabilities().host_visible {
        for answer in [
            cx.write_direct(range(&buffer, 0, 100), &part),
            cx.read_direct(range(&buffer, 0, 100), &mut back),
        ] {
            let refused = matches!(answer, Err(GpuError::Unsupported { .. }));
            ensure(refused, || {
                format!("not host-visible, and it answers {answer:?}")
            })?;
        }
        same_bytes("after a refusal", &cx.read_all(&buffer)?, &pattern(len, 1))?;
        return cx.free(buffer);
    }
    let mut want = pattern(len, 1);
    for at in [0, 1, 13, 300, 677] {
        cx.write_direct(range(&buffer, at, 100), &part)?;
        want[at..at + 100].copy_from_slice(&part);
        cx.read_direct(range(&buffer, at, 100), &mut back)?;
        same_bytes(&format!("what was written at {at}"), &back, &part)?;
    }
    same_bytes("what the device sees", &cx.read_all(&buffer)?, &want)?;
    let other = cx.driver().allocate(len)?;
    cx.copy_device(cx.stream(), whole(&buffer), whole(&other))?;
    cx.finish(cx.stream())?;
    let mut all = vec![0; len];
    cx.read_direct(whole(&other), &mut all)?;
    same_bytes("what the device wrote", &all, &want)?;
    cx.free(buffer)?;
    cx.free(other)
}

/// A queue of hundreds of copies runs to its end.
pub(crate) fn long_queues<V: Execute>(cx: &Cx<V>) -> Outcome {
    let len = cx.round_up(1 << 12);
    let first = cx.buffer_of(&pattern(len, 1))?;
    let second = cx.driver().allocate(len)?;
    for _ in 0..200 {
        cx.copy_device(cx.stream(), whole(&first), whole(&second))?;
        cx.copy_device(cx.stream(), whole(&second), whole(&first))?;
    }
    cx.driver().synchronize(cx.stream())?;
    same_bytes("after 400 copies", &cx.read_all(&first)?, &pattern(len, 1))?;
    cx.free(first)?;
    cx.free(second)
}
