//! Checking what a call was given, and queueing it.
//!
//! A broken rule is recorded and answered as an error before anything is queued, so that what runs
//! later touches only memory that is there.

use crate::driver::Held;
use crate::run::{Guard, POISON};
use crate::state::{Item, Place, Range, Staging, State, Stream};
use gpu_seam::{Arg, Direction, Execute, GpuError};

impl<D: Execute> Held<D> {
    /// The range that `arg` names, checked.
    pub(crate) fn range(
        state: &mut State<D>,
        call: &'static str,
        arg: Arg<'_, Self>,
    ) -> Result<Range, GpuError> {
        let id = arg.buffer.allocation().0;
        let end = arg.offset.checked_add(arg.len);
        let inside = end.is_some_and(|end| end <= arg.buffer.len());
        if arg.len == 0 || !inside || state.blocks.get(&id).is_none_or(|memory| memory.freed) {
            return Err(state.violation(call, format!("{arg:?} is no range of a live buffer")));
        }
        Ok(Range {
            place: Place::Block(id),
            offset: arg.offset,
            len: arg.len,
        })
    }

    /// The staging side of a copy, checked.
    pub(crate) fn staged(
        state: &mut State<D>,
        call: &'static str,
        staging: &Staging,
        (at, len): (usize, usize),
        direction: Direction,
    ) -> Result<Range, GpuError> {
        let granule = state.config.copy_granularity;
        let Some(stage) = state.stagings.get(&staging.0) else {
            return Err(state.violation(call, String::from("the staging is not alive")));
        };
        let text = if stage.direction != direction {
            format!("the staging is for {:?}", stage.direction)
        } else if stage.accessible {
            String::from("the host still has access to the staging")
        } else if at
            .checked_add(len)
            .is_none_or(|end| end > stage.bytes.len())
        {
            format!(
                "{len} bytes at {at} are outside a staging of {}",
                stage.bytes.len()
            )
        } else if !at.is_multiple_of(granule) || !len.is_multiple_of(granule) {
            format!("{len} bytes at {at} are not multiples of {granule}")
        } else {
            return Ok(Range {
                place: Place::Staging(staging.0),
                offset: at,
                len,
            });
        };
        Err(state.violation(call, text))
    }

    pub(crate) fn enqueue(&self, mut state: Guard<'_, D>, stream: &Stream, item: Item) {
        state
            .queues
            .entry(stream.0)
            .or_default()
            .items
            .push_back(item);
        self.0.changed.notify_all();
    }

    /// Queues a copy, and poisons where it goes unless something queued still needs what is there.
    pub(crate) fn copy(
        &self,
        mut state: Guard<'_, D>,
        stream: &Stream,
        name: &'static str,
        (from, to): (Range, Range),
    ) -> Result<(), GpuError> {
        if from.overlaps(&to) {
            return Err(state.violation(name, format!("{from:?} overlaps {to:?}")));
        }
        if state.queued(&to, false).is_none() {
            self.0.fill(&mut state, &to, POISON)?;
        }
        self.enqueue(state, stream, Item::Copy { name, from, to });
        Ok(())
    }

    /// The staging that a host access is about, checked to be accessible in this direction.
    pub(crate) fn access<'a>(
        state: &'a mut State<D>,
        call: &'static str,
        staging: &Staging,
        (at, len): (usize, usize),
        direction: Direction,
    ) -> Result<&'a mut [u8], GpuError> {
        let range = Range {
            place: Place::Staging(staging.0),
            offset: at,
            len,
        };
        let queued = state.queued(&range, false);
        let wrong = match state.stagings.get(&staging.0) {
            None => Some("the staging is not alive"),
            Some(stage) if !stage.accessible => Some("the host has no access to the staging"),
            Some(stage) if stage.direction != direction => Some("the staging is for the other way"),
            Some(stage)
                if at
                    .checked_add(len)
                    .is_none_or(|end| end > stage.bytes.len()) =>
            {
                Some("outside the staging")
            }
            Some(_) if queued.is_some() => Some("a queued copy names the staging"),
            Some(_) => None,
        };
        if let Some(text) = wrong {
            return Err(state.violation(call, format!("{len} bytes at {at}: {text}")));
        }
        let stage = state
            .stagings
            .get_mut(&staging.0)
            .map(|stage| &mut stage.bytes[at..at + len]);
        Ok(stage.unwrap_or_default())
    }

    /// The device side of a staging copy, checked.
    pub(crate) fn granular(
        &self,
        state: &mut State<D>,
        call: &'static str,
        arg: Arg<'_, Self>,
    ) -> Result<Range, GpuError> {
        let granule = state.config.copy_granularity;
        if !arg.offset.is_multiple_of(granule) || !arg.len.is_multiple_of(granule) {
            let text = format!("{arg:?} is not in multiples of {granule}");
            return Err(state.violation(call, text));
        }
        Self::range(state, call, arg)
    }

    /// The range of a direct access, checked.
    pub(crate) fn direct(
        state: &mut State<D>,
        call: &'static str,
        arg: Arg<'_, Self>,
        len: usize,
        writes: bool,
    ) -> Result<Range, GpuError> {
        if !state.config.host_visible {
            return Err(GpuError::unsupported(
                call,
                "this device's memory is not host-visible",
            ));
        }
        let range = Self::range(state, call, arg)?;
        if len != range.len {
            return Err(state.violation(call, format!("{len} bytes for {}", range.len)));
        }
        match state.queued(&range, writes) {
            Some(item) => Err(state.violation(call, format!("a queued {item} touches the range"))),
            None => Ok(range),
        }
    }
}
