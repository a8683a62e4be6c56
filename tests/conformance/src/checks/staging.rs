//! Staging memory: access, and the way of bytes through it.

use crate::cx::{Cx, range, whole};
use crate::layout::pattern;
use crate::outcome::{Outcome, ensure, same_bytes};
use gpu_seam::{Direction, Execute};

/// Bytes written, copied in, copied out and read are the same bytes, at every size.
pub(crate) fn staging_round_trip<V: Execute>(cx: &Cx<V>) -> Outcome {
    let granule = cx.capabilities().copy_granularity;
    for units in [1, 2, 3, 31, 32, 33, 63, 64, 65, 1000, 65_537] {
        let bytes = pattern(units * granule, units);
        let up = cx.upload_staging(&bytes)?;
        let mut down = cx
            .driver()
            .alloc_staging(bytes.len(), Direction::Download)?;
        let buffer = cx.driver().allocate(bytes.len())?;
        cx.copy_in(cx.stream(), (&up, 0, bytes.len()), whole(&buffer))?;
        cx.copy_out(cx.stream(), whole(&buffer), (&down, 0, bytes.len()))?;
        cx.finish(cx.stream())?;
        let back = cx.read_staging(&mut down, bytes.len())?;
        same_bytes(&format!("{} bytes", bytes.len()), &back, &bytes)?;
        cx.free_staging(up)?;
        cx.free_staging(down)?;
        cx.free(buffer)?;
    }
    Ok(())
}

/// With `block`, access is given.
pub(crate) fn staging_access_blocks_when_asked<V: Execute>(cx: &Cx<V>) -> Outcome {
    let len = cx.round_up(4096);
    for direction in [Direction::Upload, Direction::Download] {
        let mut staging = cx.driver().alloc_staging(len, direction)?;
        let buffer = cx.driver().allocate(len)?;
        for round in 0..3 {
            let given = cx.driver().begin_access(&mut staging, true)?;
            ensure(given, || {
                format!("round {round} of {direction:?}: no access")
            })?;
            if direction == Direction::Upload {
                cx.driver().write(&mut staging, 0, &pattern(len, round))?;
            }
            cx.driver().end_access(&mut staging)?;
            match direction {
                Direction::Upload => cx.copy_in(cx.stream(), (&staging, 0, len), whole(&buffer))?,
                Direction::Download => {
                    cx.copy_out(cx.stream(), whole(&buffer), (&staging, 0, len))?;
                }
            }
            cx.finish(cx.stream())?;
        }
        cx.free_staging(staging)?;
        cx.free(buffer)?;
    }
    Ok(())
}

/// One staging of each direction carries many different loads, one after the other.
pub(crate) fn staging_is_reusable<V: Execute>(cx: &Cx<V>) -> Outcome {
    let len = cx.round_up(2000);
    let mut up = cx.driver().alloc_staging(len, Direction::Upload)?;
    let mut down = cx.driver().alloc_staging(len, Direction::Download)?;
    let buffer = cx.driver().allocate(len)?;
    for round in 0..20 {
        let bytes = pattern(len, round);
        cx.fill_staging(&mut up, &bytes)?;
        cx.copy_in(cx.stream(), (&up, 0, len), whole(&buffer))?;
        cx.copy_out(cx.stream(), whole(&buffer), (&down, 0, len))?;
        cx.finish(cx.stream())?;
        same_bytes(
            &format!("round {round}"),
            &cx.read_staging(&mut down, len)?,
            &bytes,
        )?;
    }
    cx.free_staging(up)?;
    cx.free_staging(down)?;
    cx.free(buffer)
}

/// Access may begin and end any number of times without a copy between; what was written stays.
pub(crate) fn staging_access_again_without_a_copy<V: Execute>(cx: &Cx<V>) -> Outcome {
    let len = cx.round_up(512);
    let bytes = pattern(len, 5);
    let mut up = cx.driver().alloc_staging(len, Direction::Upload)?;
    for part in 0..2 {
        cx.driver().begin_access(&mut up, true)?;
        let at = part * (len / 2);
        cx.driver().write(&mut up, at, &bytes[at..at + len / 2])?;
        cx.driver().end_access(&mut up)?;
    }
    let buffer = cx.driver().allocate(len)?;
    cx.copy_in(cx.stream(), (&up, 0, len), whole(&buffer))?;
    cx.finish(cx.stream())?;
    same_bytes("both halves", &cx.read_all(&buffer)?, &bytes)?;
    cx.free_staging(up)?;
    cx.free(buffer)
}

/// Writes and reads of parts touch those parts.
pub(crate) fn staging_parts<V: Execute>(cx: &Cx<V>) -> Outcome {
    let len = cx.round_up(300);
    let mut want = pattern(len, 1);
    let mut up = cx.upload_staging(&want)?;
    cx.driver().begin_access(&mut up, true)?;
    for (at, count) in [(0, 1), (7, 3), (100, 33), (len - 1, 1)] {
        let part = pattern(count, at);
        cx.driver().write(&mut up, at, &part)?;
        want[at..at + count].copy_from_slice(&part);
    }
    cx.driver().end_access(&mut up)?;
    let buffer = cx.driver().allocate(len)?;
    let mut down = cx.driver().alloc_staging(len, Direction::Download)?;
    cx.copy_in(cx.stream(), (&up, 0, len), whole(&buffer))?;
    cx.copy_out(cx.stream(), whole(&buffer), (&down, 0, len))?;
    cx.finish(cx.stream())?;
    cx.driver().begin_access(&mut down, true)?;
    for (at, count) in [(0, 1), (6, 5), (99, 40), (len - 1, 1)] {
        let mut part = vec![0; count];
        cx.driver().read(&mut down, at, &mut part)?;
        same_bytes(
            &format!("{count} bytes at {at}"),
            &part,
            &want[at..at + count],
        )?;
    }
    cx.driver().end_access(&mut down)?;
    cx.free_staging(up)?;
    cx.free_staging(down)?;
    cx.free(buffer)
}

/// Several stagings at once keep apart.
pub(crate) fn staging_disjoint<V: Execute>(cx: &Cx<V>) -> Outcome {
    let len = cx.round_up(1000);
    let buffer = cx.driver().allocate(4 * len)?;
    let mut ups = Vec::new();
    let mut downs = Vec::new();
    for seed in 0..4 {
        ups.push(cx.upload_staging(&pattern(len, seed))?);
        downs.push(cx.driver().alloc_staging(len, Direction::Download)?);
    }
    for (at, (up, down)) in ups.iter().zip(&downs).enumerate() {
        let part = range(&buffer, at * len, len);
        cx.copy_in(cx.stream(), (up, 0, len), part)?;
        cx.copy_out(cx.stream(), part, (down, 0, len))?;
    }
    cx.finish(cx.stream())?;
    for (seed, mut down) in downs.into_iter().enumerate() {
        let back = cx.read_staging(&mut down, len)?;
        same_bytes(&format!("staging {seed}"), &back, &pattern(len, seed))?;
        cx.free_staging(down)?;
    }
    for up in ups {
        cx.free_staging(up)?;
    }
    cx.free(buffer)
}
