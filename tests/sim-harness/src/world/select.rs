//! The step that looks elements up, with a bad index or without.
//!
//! Promises that at most one index of a step is bad, so that the engine's answer has one right form.

use super::{Value, World, from_words, words};
use gpu_dispatch::Call;
use gpu_seam::{DType, View};

impl World<'_> {
    pub(super) fn select(
        &mut self,
        to: usize,
        a: usize,
        lane: usize,
        (n, salt, bad): (usize, u32, bool),
    ) {
        self.kind = "select";
        let Some(a) = self.values[a].clone().filter(|a| !a.model.is_empty()) else {
            return;
        };
        let many = a.model.len() / 4;
        let n = n.max(1);
        let size = i32::try_from(many).unwrap_or(i32::MAX);
        let mut indices: Vec<i32> = (0i32..)
            .take(n)
            .map(|at| (at.wrapping_mul(7919) ^ salt.cast_signed()).rem_euclid(size))
            .collect();
        let mut wrong = Vec::new();
        if bad {
            let index = if salt % 2 == 0 { -3 } else { size + 5 };
            indices[n / 2] = index;
            wrong.push(i64::from(index));
            self.bad += 1;
        }
        let raw = from_words(indices.iter().map(|index| index.cast_unsigned()));
        let answer = self.lane(a.engine, lane).upload(&raw);
        let Some(storage) = self.settle(answer, &[], &[]) else {
            return;
        };
        let source: Vec<u32> = words(&a.model).collect();
        let picked = indices.iter().map(|&index| {
            let at = usize::try_from(index).ok();
            at.and_then(|at| source.get(at)).copied().unwrap_or(0)
        });
        let model = from_words(picked);
        let index = Value {
            storage,
            engine: a.engine,
            model: raw,
            known: Vec::new(),
            bad: wrong,
        };
        let (dims, picks) = ([many], [n]);
        let call = Call::IndexSelect {
            input: View::new(DType::I32, 0, &dims, &[1]),
            index: View::new(DType::I32, 0, &picks, &[1]),
            axis: 0,
        };
        self.submit(to, lane, a.engine, &call, &[&a, &index], model);
    }
}
