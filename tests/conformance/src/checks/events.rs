//! Streams and events: what covers what, and who waits for whom.

use crate::cx::{Cx, whole};
use crate::layout::pattern;
use crate::outcome::{Outcome, Stop, ensure, same_bytes};
use gpu_seam::{Buffer, Direction, Execute};

/// A way for bytes that is long enough for an early answer to show: up, through a chain of device
/// copies, and down.
struct Road<V: Execute> {
    bytes: Vec<u8>,
    up: V::Staging,
    down: V::Staging,
    buffers: Vec<Buffer<V>>,
}

impl<V: Execute> Road<V> {
    fn new(cx: &Cx<V>, seed: usize) -> Result<Self, Stop> {
        let bytes = pattern(cx.round_up(256 << 10), seed);
        let len = bytes.len();
        let up = cx.upload_staging(&bytes)?;
        let down = cx.driver().alloc_staging(len, Direction::Download)?;
        let mut buffers = Vec::new();
        for _ in 0..3 {
            buffers.push(cx.driver().allocate(len)?);
        }
        Ok(Self {
            bytes,
            up,
            down,
            buffers,
        })
    }

    /// Enqueues the first part: into the last buffer.
    fn there(&self, cx: &Cx<V>, stream: &V::Stream) -> Outcome {
        cx.copy_in(
            stream,
            (&self.up, 0, self.bytes.len()),
            whole(&self.buffers[0]),
        )?;
        for _ in 0..4 {
            cx.copy_device(stream, whole(&self.buffers[0]), whole(&self.buffers[1]))?;
            cx.copy_device(stream, whole(&self.buffers[1]), whole(&self.buffers[2]))?;
        }
        Ok(())
    }

    /// Enqueues the second part: out of the last buffer.
    fn back(&self, cx: &Cx<V>, stream: &V::Stream) -> Outcome {
        cx.copy_out(
            stream,
            whole(&self.buffers[2]),
            (&self.down, 0, self.bytes.len()),
        )
    }

    /// What arrived must be what left. Everything enqueued has completed.
    fn arrived(mut self, cx: &Cx<V>, what: &str) -> Outcome {
        let back = cx.read_staging(&mut self.down, self.bytes.len())?;
        same_bytes(what, &back, &self.bytes)?;
        cx.free_staging(self.up)?;
        cx.free_staging(self.down)?;
        self.buffers
            .into_iter()
            .try_for_each(|buffer| cx.free(buffer))
    }
}

/// With nothing pending it returns, on a new stream and on a used one.
pub(crate) fn synchronize_empty_stream<V: Execute>(cx: &Cx<V>) -> Outcome {
    let stream = cx.driver().create_stream()?;
    cx.driver().synchronize(&stream)?;
    let buffer = cx.buffer_of(&[1; 16])?;
    cx.driver().synchronize(&stream)?;
    cx.driver().synchronize(&stream)?;
    cx.driver().destroy_stream(stream)?;
    cx.free(buffer)
}

/// After it, earlier events are complete and earlier work is visible.
pub(crate) fn synchronize_completes_events<V: Execute>(cx: &Cx<V>) -> Outcome {
    let driver = cx.driver();
    let stream = driver.create_stream()?;
    let road = Road::new(cx, 1)?;
    let mut events = [
        driver.create_event()?,
        driver.create_event()?,
        driver.create_event()?,
    ];
    driver.record(&stream, &mut events[0])?;
    road.there(cx, &stream)?;
    driver.record(&stream, &mut events[1])?;
    road.back(cx, &stream)?;
    driver.record(&stream, &mut events[2])?;
    driver.synchronize(&stream)?;
    for (at, event) in events.iter().enumerate() {
        ensure(driver.poll(event)?, || {
            format!("event {at} is not complete")
        })?;
    }
    road.arrived(cx, "after synchronize")?;
    for event in events {
        driver.destroy_event(event)?;
    }
    Ok(driver.destroy_stream(stream)?)
}

/// Once the event is complete, the work before it is visible; nothing else was called to help.
pub(crate) fn record_covers_earlier_work<V: Execute>(cx: &Cx<V>) -> Outcome {
    let driver = cx.driver();
    for seed in 0..4 {
        let stream = driver.create_stream()?;
        let road = Road::new(cx, seed)?;
        let mut event = driver.create_event()?;
        road.there(cx, &stream)?;
        road.back(cx, &stream)?;
        driver.record(&stream, &mut event)?;
        cx.await_event(&event)?;
        road.arrived(cx, "when the event was complete")?;
        driver.destroy_event(event)?;
        driver.destroy_stream(stream)?;
    }
    Ok(())
}

/// The second record counts for polls; a wait between the two is for the first, or it would wait for
/// itself here.
pub(crate) fn record_again_moves_the_event<V: Execute>(cx: &Cx<V>) -> Outcome {
    let driver = cx.driver();
    let (one, two) = (driver.create_stream()?, driver.create_stream()?);
    let road = Road::new(cx, 7)?;
    let (mut event, mut other) = (driver.create_event()?, driver.create_event()?);
    road.there(cx, &one)?;
    driver.record(&one, &mut event)?;
    driver.wait(&two, &event)?;
    driver.record(&two, &mut other)?;
    // Behind the second stream, which is behind the first record: waiting for the second one there
    // would be a circle.
    driver.wait(&one, &other)?;
    road.back(cx, &one)?;
    driver.record(&one, &mut event)?;
    cx.await_event(&other)?;
    cx.await_event(&event)?;
    road.arrived(cx, "when the event was complete again")?;
    driver.synchronize(&two)?;
    driver.destroy_event(event)?;
    driver.destroy_event(other)?;
    driver.destroy_stream(one)?;
    Ok(driver.destroy_stream(two)?)
}

/// Work behind the wait sees what was recorded on the other stream, and a writer behind a wait does
/// not overtake the reader before it.
pub(crate) fn wait_orders_two_streams<V: Execute>(cx: &Cx<V>) -> Outcome {
    let driver = cx.driver();
    let (one, two) = (driver.create_stream()?, driver.create_stream()?);
    for seed in 0..4 {
        let (first, second) = (Road::new(cx, seed)?, Road::new(cx, seed + 100)?);
        let (mut written, mut read) = (driver.create_event()?, driver.create_event()?);
        first.there(cx, &one)?;
        driver.record(&one, &mut written)?;
        driver.wait(&two, &written)?;
        first.back(cx, &two)?;
        driver.record(&two, &mut read)?;
        // The next load goes into the same place, from the other end of the wait.
        driver.wait(&one, &read)?;
        let len = second.bytes.len();
        cx.copy_in(&one, (&second.up, 0, len), whole(&first.buffers[2]))?;
        cx.copy_out(&one, whole(&first.buffers[2]), (&second.down, 0, len))?;
        driver.record(&one, &mut written)?;
        cx.await_event(&written)?;
        cx.await_event(&read)?;
        first.arrived(cx, "what the second stream read")?;
        second.arrived(cx, "what the first stream wrote behind it")?;
        driver.destroy_event(written)?;
        driver.destroy_event(read)?;
    }
    driver.destroy_stream(one)?;
    Ok(driver.destroy_stream(two)?)
}

/// Three streams in a row: order goes through the one between.
pub(crate) fn waits_are_transitive<V: Execute>(cx: &Cx<V>) -> Outcome {
    let driver = cx.driver();
    let streams = [
        driver.create_stream()?,
        driver.create_stream()?,
        driver.create_stream()?,
    ];
    let road = Road::new(cx, 11)?;
    let mut events = [
        driver.create_event()?,
        driver.create_event()?,
        driver.create_event()?,
    ];
    road.there(cx, &streams[0])?;
    driver.record(&streams[0], &mut events[0])?;
    driver.wait(&streams[1], &events[0])?;
    driver.record(&streams[1], &mut events[1])?;
    driver.wait(&streams[2], &events[1])?;
    road.back(cx, &streams[2])?;
    driver.record(&streams[2], &mut events[2])?;
    cx.await_event(&events[2])?;
    road.arrived(cx, "at the third stream")?;
    for event in events {
        driver.destroy_event(event)?;
    }
    for stream in streams {
        driver.destroy_stream(stream)?;
    }
    Ok(())
}

/// A wait for an event of the same stream changes nothing.
pub(crate) fn wait_on_own_stream<V: Execute>(cx: &Cx<V>) -> Outcome {
    let driver = cx.driver();
    let stream = driver.create_stream()?;
    let road = Road::new(cx, 3)?;
    let mut event = driver.create_event()?;
    road.there(cx, &stream)?;
    driver.record(&stream, &mut event)?;
    driver.wait(&stream, &event)?;
    driver.wait(&stream, &event)?;
    road.back(cx, &stream)?;
    driver.record(&stream, &mut event)?;
    cx.await_event(&event)?;
    road.arrived(cx, "behind a wait for itself")?;
    driver.destroy_event(event)?;
    Ok(driver.destroy_stream(stream)?)
}

/// A wait for an event that was never recorded changes nothing.
pub(crate) fn wait_unrecorded_is_free<V: Execute>(cx: &Cx<V>) -> Outcome {
    let driver = cx.driver();
    let stream = driver.create_stream()?;
    let road = Road::new(cx, 4)?;
    let event = driver.create_event()?;
    driver.wait(&stream, &event)?;
    road.there(cx, &stream)?;
    driver.wait(&stream, &event)?;
    road.back(cx, &stream)?;
    cx.finish(&stream)?;
    road.arrived(cx, "behind a wait for nothing")?;
    driver.destroy_event(event)?;
    Ok(driver.destroy_stream(stream)?)
}

/// An event that was never recorded is complete.
pub(crate) fn poll_unrecorded_is_complete<V: Execute>(cx: &Cx<V>) -> Outcome {
    for _ in 0..3 {
        let event = cx.driver().create_event()?;
        ensure(cx.driver().poll(&event)?, || String::from("it is pending"))?;
        cx.driver().destroy_event(event)?;
    }
    Ok(())
}

/// Once complete it stays complete, whatever is enqueued behind it.
pub(crate) fn poll_stays_complete<V: Execute>(cx: &Cx<V>) -> Outcome {
    let driver = cx.driver();
    let stream = driver.create_stream()?;
    let road = Road::new(cx, 5)?;
    let mut event = driver.create_event()?;
    road.there(cx, &stream)?;
    driver.record(&stream, &mut event)?;
    cx.await_event(&event)?;
    road.there(cx, &stream)?;
    road.back(cx, &stream)?;
    for round in 0..100 {
        ensure(driver.poll(&event)?, || {
            format!("poll {round} took it back")
        })?;
    }
    cx.finish(&stream)?;
    ensure(driver.poll(&event)?, || {
        String::from("it was taken back in the end")
    })?;
    road.arrived(cx, "behind the event")?;
    driver.destroy_event(event)?;
    Ok(driver.destroy_stream(stream)?)
}

/// Events may be asked for in any order: the last one complete means all before it are.
pub(crate) fn events_complete_in_order<V: Execute>(cx: &Cx<V>) -> Outcome {
    let driver = cx.driver();
    let stream = driver.create_stream()?;
    let road = Road::new(cx, 6)?;
    let mut events = Vec::new();
    for _ in 0..4 {
        road.there(cx, &stream)?;
        let mut event = driver.create_event()?;
        driver.record(&stream, &mut event)?;
        events.push(event);
    }
    road.back(cx, &stream)?;
    cx.await_event(&events[3])?;
    for (at, event) in events.iter().enumerate().rev() {
        ensure(driver.poll(event)?, || {
            format!("event {at} is behind the last")
        })?;
    }
    driver.synchronize(&stream)?;
    road.arrived(cx, "at the end")?;
    for event in events {
        driver.destroy_event(event)?;
    }
    Ok(driver.destroy_stream(stream)?)
}

/// A wait that was enqueued on an event holds after the event was destroyed.
pub(crate) fn destroy_event_keeps_its_waits<V: Execute>(cx: &Cx<V>) -> Outcome {
    let driver = cx.driver();
    let (one, two) = (driver.create_stream()?, driver.create_stream()?);
    let road = Road::new(cx, 8)?;
    let mut event = driver.create_event()?;
    road.there(cx, &one)?;
    driver.record(&one, &mut event)?;
    driver.wait(&two, &event)?;
    driver.destroy_event(event)?;
    road.back(cx, &two)?;
    cx.finish(&two)?;
    road.arrived(cx, "behind the wait")?;
    driver.destroy_stream(one)?;
    Ok(driver.destroy_stream(two)?)
}

/// Work on a destroyed stream runs to its end.
pub(crate) fn destroy_stream_runs_its_work<V: Execute>(cx: &Cx<V>) -> Outcome {
    let driver = cx.driver();
    let stream = driver.create_stream()?;
    let road = Road::new(cx, 9)?;
    let mut event = driver.create_event()?;
    road.there(cx, &stream)?;
    road.back(cx, &stream)?;
    driver.record(&stream, &mut event)?;
    driver.destroy_stream(stream)?;
    cx.await_event(&event)?;
    road.arrived(cx, "on the destroyed stream")?;
    Ok(driver.destroy_event(event)?)
}

/// An event destroyed while what it covers is pending takes nothing with it.
pub(crate) fn destroy_pending_event<V: Execute>(cx: &Cx<V>) -> Outcome {
    let driver = cx.driver();
    let stream = driver.create_stream()?;
    let road = Road::new(cx, 10)?;
    let mut event = driver.create_event()?;
    road.there(cx, &stream)?;
    driver.record(&stream, &mut event)?;
    driver.destroy_event(event)?;
    road.back(cx, &stream)?;
    driver.synchronize(&stream)?;
    road.arrived(cx, "behind the destroyed event")?;
    Ok(driver.destroy_stream(stream)?)
}

/// One event serves many records, and events and streams can be made and destroyed in numbers.
pub(crate) fn events_are_reusable<V: Execute>(cx: &Cx<V>) -> Outcome {
    let driver = cx.driver();
    let mut event = driver.create_event()?;
    for round in 0..50 {
        let stream = driver.create_stream()?;
        let buffer = cx.buffer_of(&pattern(cx.round_up(64), round))?;
        let target = cx.driver().allocate(buffer.len())?;
        cx.copy_device(&stream, whole(&buffer), whole(&target))?;
        driver.record(&stream, &mut event)?;
        cx.await_event(&event)?;
        let bytes = cx.read_all(&target)?;
        same_bytes(
            &format!("round {round}"),
            &bytes,
            &pattern(bytes.len(), round),
        )?;
        cx.free(buffer)?;
        cx.free(target)?;
        driver.destroy_stream(stream)?;
    }
    Ok(driver.destroy_event(event)?)
}

/// Streams do not wait for each other unasked: the work of one completes while another's is pending
/// or done, in any order of asking.
pub(crate) fn streams_complete_on_their_own<V: Execute>(cx: &Cx<V>) -> Outcome {
    let driver = cx.driver();
    let mut lanes = Vec::new();
    for seed in 0..4 {
        let (stream, road) = (driver.create_stream()?, Road::new(cx, seed)?);
        let mut event = driver.create_event()?;
        road.there(cx, &stream)?;
        road.back(cx, &stream)?;
        driver.record(&stream, &mut event)?;
        lanes.push((stream, road, event));
    }
    for (stream, road, event) in lanes.into_iter().rev() {
        cx.await_event(&event)?;
        road.arrived(cx, "on its stream")?;
        driver.destroy_event(event)?;
        driver.destroy_stream(stream)?;
    }
    Ok(())
}
