//! One driver from several threads: the seam says that calls may come from anywhere at once.

use crate::cx::{Cx, range, whole};
use crate::layout::pattern;
use crate::outcome::{Outcome, Stop, ensure, same_bytes};
use crate::value::Val;
use gpu_seam::{BinaryOp, DType, Direction, Execute, Op, Operand, View};
use std::thread;

const THREADS: usize = 4;

/// Runs `work` on several threads and answers the first that went wrong.
fn on_threads(work: impl Fn(usize) -> Outcome + Sync) -> Outcome {
    let work = &work;
    thread::scope(|scope| {
        let running: Vec<_> = (0..THREADS)
            .map(|at| scope.spawn(move || work(at)))
            .collect();
        // All are joined, whichever went wrong.
        let joined = running.into_iter().map(|handle| {
            handle
                .join()
                .unwrap_or_else(|_| Err(Stop::failed("a thread panicked")))
        });
        joined.collect::<Vec<_>>().into_iter().collect()
    })
}

/// One thread's round trip on a stream: up, a copy on the device, down.
fn round_trip<V: Execute>(cx: &Cx<V>, stream: &V::Stream, seed: usize) -> Outcome {
    let bytes = pattern(cx.round_up(5000), seed);
    let len = bytes.len();
    let up = cx.upload_staging(&bytes)?;
    let mut down = cx.driver().alloc_staging(len, Direction::Download)?;
    let buffers = [cx.driver().allocate(len)?, cx.driver().allocate(len)?];
    cx.copy_in(stream, (&up, 0, len), whole(&buffers[0]))?;
    cx.copy_device(stream, whole(&buffers[0]), whole(&buffers[1]))?;
    cx.copy_out(stream, whole(&buffers[1]), (&down, 0, len))?;
    cx.finish(stream)?;
    same_bytes(
        &format!("thread load {seed}"),
        &cx.read_staging(&mut down, len)?,
        &bytes,
    )?;
    cx.free_staging(up)?;
    cx.free_staging(down)?;
    buffers.into_iter().try_for_each(|buffer| cx.free(buffer))
}

/// Each thread on a stream of its own.
pub(crate) fn threads_with_own_streams<V: Execute>(cx: &Cx<V>) -> Outcome {
    on_threads(|at| {
        let stream = cx.driver().create_stream()?;
        (0..10).try_for_each(|round| round_trip(cx, &stream, at * 100 + round))?;
        Ok(cx.driver().destroy_stream(stream)?)
    })
}

/// All threads on one stream: their calls mix, each thread's own order holds.
pub(crate) fn threads_on_one_stream<V: Execute>(cx: &Cx<V>) -> Outcome {
    on_threads(|at| (0..10).try_for_each(|round| round_trip(cx, cx.stream(), at * 100 + round)))
}

/// Allocating and freeing from all threads keeps buffers apart.
pub(crate) fn threads_allocate_and_free<V: Execute>(cx: &Cx<V>) -> Outcome {
    on_threads(|at| {
        for round in 0..8 {
            let seed = at * 1000 + round;
            let mut live = Vec::new();
            for extra in 0..4 {
                let bytes = pattern(cx.round_up(100 + 333 * extra), seed + 7 * extra);
                live.push((cx.buffer_of(&bytes)?, bytes));
            }
            for (buffer, bytes) in live {
                same_bytes(&format!("thread {at}"), &cx.read_all(&buffer)?, &bytes)?;
                cx.free(buffer)?;
            }
        }
        Ok(())
    })
}

/// Operations from all threads, on one stream and on own ones.
pub(crate) fn threads_execute<V: Execute>(cx: &Cx<V>) -> Outcome {
    on_threads(|at| {
        let own = if at % 2 == 0 {
            None
        } else {
            Some(cx.driver().create_stream()?)
        };
        let stream = own.as_ref().unwrap_or(cx.stream());
        let count = 1000 + at;
        let dims = [count];
        let view = View::new(DType::F32, 0, &dims, &[1]);
        for round in 0..20 {
            let input = (at * 100 + round) as f32;
            let source = cx.buffer_of(&input.to_le_bytes().repeat(count))?;
            let target = cx.driver().allocate(cx.round_up(4 * count))?;
            let rhs = Operand::Scalar(Val::Real(0.5).scalar(DType::F32));
            let op = Op::Binary {
                op: BinaryOp::Add,
                out: view,
                lhs: Operand::View(view),
                rhs,
            };
            let scratch = match cx.claim(&op)? {
                0 => None,
                bytes => Some(cx.driver().allocate(bytes)?),
            };
            let args = [range(&target, 0, 4 * count), range(&source, 0, 4 * count)];
            cx.execute(stream, &op, &args, scratch.as_ref().map(whole))?;
            cx.finish(stream)?;
            let want = (input + 0.5).to_le_bytes().repeat(count);
            same_bytes(
                &format!("thread {at}"),
                &cx.read(&target, 0, 4 * count)?,
                &want,
            )?;
            for buffer in [Some(source), Some(target), scratch].into_iter().flatten() {
                cx.free(buffer)?;
            }
        }
        own.map_or(Ok(()), |stream| Ok(cx.driver().destroy_stream(stream)?))
    })
}

/// One thread waits for and polls what another enqueues.
pub(crate) fn threads_poll_each_other<V: Execute>(cx: &Cx<V>) -> Outcome {
    let driver = cx.driver();
    let len = cx.round_up(1 << 16);
    let source = cx.buffer_of(&pattern(len, 3))?;
    let target = driver.allocate(len)?;
    let stream = driver.create_stream()?;
    let mut event = driver.create_event()?;
    for _ in 0..20 {
        cx.copy_device(&stream, whole(&source), whole(&target))?;
    }
    driver.record(&stream, &mut event)?;
    let (event_ref, stream_ref) = (&event, &stream);
    on_threads(|at| {
        if at % 2 == 0 {
            cx.await_event(event_ref)?;
        } else {
            driver.synchronize(stream_ref)?;
        }
        ensure(driver.poll(event_ref)?, || {
            format!("thread {at} sees it pending again")
        })
    })?;
    same_bytes("the copy", &cx.read_all(&target)?, &pattern(len, 3))?;
    driver.destroy_event(event)?;
    driver.destroy_stream(stream)?;
    cx.free(source)?;
    cx.free(target)
}

/// A token goes round all streams by events, each made on its own thread.
pub(crate) fn threads_hand_over_by_events<V: Execute>(cx: &Cx<V>) -> Outcome {
    let driver = cx.driver();
    let len = cx.round_up(4096);
    let buffers: Vec<_> = (0..=THREADS)
        .map(|_| driver.allocate(len))
        .collect::<Result<_, _>>()?;
    let bytes = pattern(len, 21);
    cx.write(&buffers[0], 0, &bytes)?;
    let mut before = None;
    for at in 0..THREADS {
        let handed = before.take();
        let copied: Result<(V::Stream, V::Event), Stop> = thread::scope(|scope| {
            let buffers = &buffers;
            let work = move || {
                let stream = driver.create_stream()?;
                if let Some((old_stream, event)) = handed {
                    driver.wait(&stream, &event)?;
                    driver.destroy_event(event)?;
                    driver.destroy_stream(old_stream)?;
                }
                cx.copy_device(&stream, whole(&buffers[at]), whole(&buffers[at + 1]))?;
                let mut event = driver.create_event()?;
                driver.record(&stream, &mut event)?;
                Ok((stream, event))
            };
            scope
                .spawn(work)
                .join()
                .unwrap_or_else(|_| Err(Stop::failed("a thread panicked")))
        });
        before = Some(copied?);
    }
    if let Some((stream, event)) = before {
        cx.await_event(&event)?;
        driver.destroy_event(event)?;
        driver.destroy_stream(stream)?;
    }
    same_bytes("the token", &cx.read_all(&buffers[THREADS])?, &bytes)?;
    buffers.into_iter().try_for_each(|buffer| cx.free(buffer))
}
