//! Nests of more dimensions than the device's strided kernels take.
//!
//! Promises the same result in nests of at most `strided_rank` loops. Knows nothing of byte limits:
//! what it emits is tiled like everything else.
//!
//! A few iterations of the shortest loops become steps of their own. Failing that, operands are
//! copied until the nest merges, and copies go in passes, as a least-significant-digit sort does:
//! each pass moves up to `g` of the target's loops, last ones first, to the front of the storage.
//! The others then lie in at most `g + 1` runs, so that a pass walks `2 g + 1` loops.

use super::draft::{Draft, Loop, Loops, VIEWS, lay_out, merge, sort_by_step};
use super::plan::{Part, Plan};
use crate::error::Error;
use gpu_seam::{DType, Op};
use smallvec::SmallVec;

/// Up to this number of steps, iterations beat copies.
const FEW_STEPS: usize = 8;

/// Adds the steps of a merged draft that has more loops than the device takes.
pub(super) fn fit(plan: &mut Plan<'_>, draft: &Draft) -> Result<(), Error> {
    let (outer, steps) = shortest(draft, plan.rank());
    if steps <= FEW_STEPS {
        return unroll(plan, draft, &outer, steps);
    }
    match draft.op {
        Op::Copy { out, input } => copy(plan, draft, out.dtype, input.dtype),
        _ => with_copies(plan, draft.clone()),
    }
}

/// The shortest loops without which `draft` has `limit`, and the number of their iterations.
fn shortest(draft: &Draft, limit: usize) -> (SmallVec<[usize; 6]>, usize) {
    let is_axis = |at: usize| draft.lookup.is_some_and(|lookup| lookup.axis == at);
    let mut order: SmallVec<[usize; 6]> =
        (0..draft.loops.len()).filter(|&at| !is_axis(at)).collect();
    order.sort_by_key(|&at| draft.loops[at].len);
    order.truncate(draft.loops.len() - limit);
    let steps = order.iter().fold(1usize, |steps, &at| {
        steps.saturating_mul(draft.loops[at].len)
    });
    (order, steps)
}

/// One step for each iteration of the `outer` loops.
fn unroll(plan: &mut Plan<'_>, draft: &Draft, outer: &[usize], steps: usize) -> Result<(), Error> {
    plan.bounded(steps)?;
    for step in 0..steps {
        let mut rest = step;
        let mut one = draft.clone();
        for &at in outer.iter().rev() {
            let len = draft.loops[at].len;
            one.narrow(at, rest % len, 1);
            rest /= len;
        }
        one.merge();
        plan.emit(&one)?;
    }
    Ok(())
}

/// Copies operands, the most scattered first, until the nest merges. What a scatter updates is
/// copied back.
fn with_copies(plan: &mut Plan<'_>, mut draft: Draft) -> Result<(), Error> {
    let mut updated = None;
    while draft.loops.len() > plan.rank() {
        let first = usize::from(!matches!(draft.op, Op::Scatter { .. }));
        let worst = (first..draft.views()).max_by_key(|&view| runs(&draft, view));
        let Some(view) = worst else { break };
        let mut loops = own_loops(&draft, view);
        let from = part(&draft, view);
        let copied = plan.copied(from, &mut loops)?;
        if view == 0 {
            let back = own_loops(&draft, view).into_iter().zip(&loops);
            let back =
                back.map(|(held, new)| Loop::pair(held.len, held.strides[1], new.strides[1]));
            updated = Some(((from, copied), back.collect::<Loops>()));
        }
        for (each, new) in draft.loops.iter_mut().zip(&loops) {
            each.strides[view] = new.strides[1];
        }
        draft.offsets[view] = 0;
        draft.slots[view] = copied.slot;
        draft.merge();
    }
    plan.emit(&draft)?;
    match updated {
        Some((parts, loops)) => plan.copy(parts, loops),
        None => Ok(()),
    }
}

/// The loops of one view, its strides as those of view 1.
fn own_loops(draft: &Draft, view: usize) -> Loops {
    let loops = draft.loops.iter().enumerate();
    loops
        .filter_map(|(at, each)| {
            let len = draft.len(view, at)?;
            Some(Loop::pair(len, 0, each.strides[view]))
        })
        .collect()
}

/// How many loops one view needs by itself.
fn runs(draft: &Draft, view: usize) -> usize {
    let mut own = draft.clone();
    for each in &mut own.loops {
        each.strides = [each.strides[view]; VIEWS];
    }
    own.merge();
    own.loops.len()
}

fn part(draft: &Draft, view: usize) -> Part {
    Part {
        slot: draft.slots[view],
        offset: draft.offsets[view],
        dtype: draft.dtype(view),
    }
}

/// A copy: through a contiguous temporary when the output has gaps, in passes otherwise.
fn copy(plan: &mut Plan<'_>, draft: &Draft, out: DType, input: DType) -> Result<(), Error> {
    if runs(draft, 0) == 1 {
        return passes(plan, draft, out, input);
    }
    if runs(draft, 1) == 1 {
        let (outer, steps) = shortest(draft, plan.rank());
        return unroll(plan, draft, &outer, steps);
    }
    let mut loops = draft.loops.clone();
    let from = plan.copied(part(draft, 1), &mut loops)?;
    plan.copy((part(draft, 0), from), loops)
}

/// Passes over a contiguous output's loops. They write to a temporary and to the output in turn, so
/// that the call holds one copy besides its operands, not two.
fn passes(plan: &mut Plan<'_>, draft: &Draft, out: DType, input: DType) -> Result<(), Error> {
    let elements = draft.loops.iter().map(|each| each.len).product();
    // In between, elements have the narrower of the two types: they fit in the output.
    let between = if out.size() < input.size() {
        out
    } else {
        input
    };
    let output = part(draft, 0);
    let has_gaps = draft.loops.iter().all(|each| each.strides[0] != 1);
    let as_room = Part {
        offset: output.offset * out.size() / between.size(),
        dtype: between,
        ..output
    };
    let mut rooms = [(!has_gaps).then_some(as_room), None];
    let mut from = part(draft, 1);
    let (nests, last) = nests(draft, plan.rank());
    let count = nests.len();
    for (pass, nest) in nests.into_iter().enumerate() {
        let room = &mut rooms[(count - pass) % 2];
        let to = match *room {
            Some(to) => to,
            None => *room.insert(Part {
                slot: plan.temporary(elements, between)?,
                offset: 0,
                dtype: between,
            }),
        };
        plan.copy_unrolled((to, from), nest)?;
        from = to;
    }
    plan.copy((output, from), last)
}

/// The nests of the passes before the last, and that of the last, onto the output.
fn nests(draft: &Draft, limit: usize) -> (Vec<Loops>, Loops) {
    let mut nests = Vec::new();
    // View 0 steps through the output, view 1 through what is read, in the order of its storage.
    let mut loops = draft.loops.clone();
    sort_by_step(&mut loops, 1);
    let mut placed = 0;
    loop {
        let mut target = loops.clone();
        sort_by_step(&mut target, 0);
        if merged(target.clone()) <= limit {
            return (nests, target);
        }
        let rest = target.len() - placed;
        let moved = (1..=rest)
            .rev()
            .map(|count| (count, to_front(&loops, &target[rest - count..rest])))
            .find(|(_, order)| merged(laid_out(order)) <= limit);
        // None: not a permutation of a dense array. Then this pass only makes it one.
        let (count, order) = moved.unwrap_or((0, loops.clone()));
        let laid = laid_out(&order);
        loops = order;
        for (each, new) in loops.iter_mut().zip(&laid) {
            each.strides[1] = new.strides[0];
        }
        nests.push(laid);
        placed += count;
    }
}

/// `loops` with those of `chosen` first.
fn to_front(loops: &Loops, chosen: &[Loop]) -> Loops {
    let mut order = Loops::from_slice(chosen);
    order.extend(loops.iter().filter(|each| !chosen.contains(each)).copied());
    order
}

/// The loops with view 0 contiguous over them.
fn laid_out(order: &Loops) -> Loops {
    let mut loops = order.clone();
    lay_out(&mut loops, 0);
    loops
}

/// How many loops are left after merging.
fn merged(mut loops: Loops) -> usize {
    merge(&mut loops);
    loops.len()
}

impl Plan<'_> {
    /// A copy whose excess loops, if any, become steps, however many.
    fn copy_unrolled(&mut self, parts: (Part, Part), loops: Loops) -> Result<(), Error> {
        let mut nest = loops.clone();
        merge(&mut nest);
        if nest.len() <= self.rank() {
            return self.copy(parts, loops);
        }
        let draft = Draft::copy(parts, loops);
        let (outer, steps) = shortest(&draft, self.rank());
        unroll(self, &draft, &outer, steps)
    }
}
