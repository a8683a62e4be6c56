//! Makes a failing case small: leaves out faults and steps as long as it still fails.
//!
//! Greedy, from large pieces to single steps (after Zeller and Hildebrandt, "Simplifying and
//! isolating failure-inducing input", 2002). Knows nothing of why a case fails.

use crate::case::Case;

/// A smaller case that `fails`, by leaving out parts of one that does.
pub fn shrink(mut case: Case, mut fails: impl FnMut(&Case) -> bool) -> Case {
    let mut smaller = |case: &mut Case, change: &dyn Fn(&mut Case)| {
        let mut changed = case.clone();
        change(&mut changed);
        let better = fails(&changed);
        if better {
            *case = changed;
        }
        better
    };
    for at in (0..case.plan.faults.len()).rev() {
        smaller(&mut case, &|case| {
            case.plan.faults.remove(at);
        });
    }
    let mut size = case.steps.len();
    while size > 0 {
        let mut at = 0;
        while at < case.steps.len() {
            let end = (at + size).min(case.steps.len());
            if !smaller(&mut case, &|case| drop(case.steps.drain(at..end))) {
                at += size;
            }
        }
        size /= 2;
    }
    case
}

#[cfg(test)]
mod tests {
    use super::shrink;
    use crate::case::{Case, Step};

    #[test]
    fn what_is_left_is_what_the_failure_needs() {
        let mut case = Case::new(3);
        case.steps = (0..40).map(|a| Step::Drop { a }).collect();
        let needs = |case: &Case| {
            let has = |a| case.steps.contains(&Step::Drop { a });
            has(7) && has(31)
        };
        let small = shrink(case, needs);
        assert_eq!(small.steps, [Step::Drop { a: 7 }, Step::Drop { a: 31 }]);
        assert_eq!(small.plan.faults, []);
    }
}
