//! Seeds that found a bug once, each with its plan; and that a case is the same every time.

use gpu_sim_harness::{Case, run};

/// Seed, plan, and what was wrong.
const FOUND: [(u64, &str, &str); 3] = [
    (
        452,
        "host-read#1=out-of-memory",
        "a staging chunk went back to the ring with the host's access still open",
    ),
    (
        530,
        "none",
        "a read waited for staging chunks that a read of verdicts held and nobody moved",
    ),
    (
        2929,
        "none",
        "a close left behind what a read of verdicts submitted while it drained",
    ),
];

#[test]
fn what_was_found_stays_fixed() {
    for (seed, plan, what) in FOUND {
        let mut case = Case::new(seed);
        case.plan = plan.parse().unwrap_or_default();
        assert_eq!(case.plan.to_string(), plan);
        assert_eq!(run(&case).problems, [""; 0], "{seed}: {what}");
    }
}

#[test]
fn a_seed_has_one_history() {
    for seed in 1..=60 {
        let case = Case::new(seed);
        let (one, two) = (run(&case), run(&case));
        assert_eq!(
            (one.digest, one.outcomes),
            (two.digest, two.outcomes),
            "{seed}"
        );
    }
}
