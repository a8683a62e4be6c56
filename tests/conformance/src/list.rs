//! The one list of checks: names, which are core, and which need the device for themselves.

use crate::checks::{
    copies, discover, elementwise, events, executing, gemm, gemm_edges, index, lines, memory,
    moves, numerics, planning, random, staging, threads,
};
use crate::cx::Cx;
use crate::outcome::Outcome;
use gpu_seam::{
    ArgOp, BinaryOp, CompareOp, DType, Discover, Distribution, Execute, ReduceOp, ScanOp,
    ScatterMode, UnaryOp,
};

/// What a check runs.
type Run<V> = Box<dyn Fn(&Cx<V>) -> Outcome + Send + Sync>;

/// A check and its name.
pub struct Check<V: Execute> {
    pub(crate) name: String,
    /// May not be unsupported.
    pub(crate) core: bool,
    /// Runs while no other check does: it takes all memory there is.
    pub(crate) alone: bool,
    pub(crate) run: Run<V>,
}

impl<V: Execute> Check<V> {
    /// The name, unique in the list.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the check may not be unsupported.
    #[must_use]
    pub const fn is_core(&self) -> bool {
        self.core
    }

    /// Runs the check.
    ///
    /// # Errors
    /// What it found.
    pub fn run(&self, cx: &Cx<V>) -> Outcome {
        (self.run)(cx)
    }
}

struct List<V: Execute>(Vec<Check<V>>);

impl<V: Execute> List<V> {
    fn add(&mut self, name: String, run: impl Fn(&Cx<V>) -> Outcome + Send + Sync + 'static) {
        self.0.push(Check {
            name,
            core: false,
            alone: false,
            run: Box::new(run),
        });
    }

    fn core(&mut self, name: &str, run: fn(&Cx<V>) -> Outcome) {
        self.0.push(Check {
            name: name.to_owned(),
            core: true,
            alone: false,
            run: Box::new(run),
        });
    }

    /// The checks named are core.
    fn mark_core(&mut self, names: &[&str]) {
        for check in &mut self.0 {
            check.core |= names.contains(&check.name.as_str());
        }
    }
}

/// Enters functions under their own names.
macro_rules! core {
    ($list:expr, $module:ident: $($name:ident),+ $(,)?) => {
        $($list.core(stringify!($name), $module::$name::<V>);)+
    };
}

/// Every check of a vendor.
#[must_use]
pub fn checks<V: Execute>() -> Vec<Check<V>> {
    let mut list = List(Vec::new());
    core!(list, memory:
        device_is_constant, memory_available_within_total, allocate_exact_length,
        allocate_identity_is_unique, allocate_disjoint, allocate_aligned,
        allocate_out_of_memory_recovers, free_returns_memory, free_in_any_order,
    );
    core!(list, staging:
        staging_round_trip, staging_access_blocks_when_asked, staging_is_reusable,
        staging_access_again_without_a_copy, staging_parts, staging_disjoint,
    );
    core!(list, copies:
        copy_in_touches_only_its_range, copy_out_touches_only_its_range, copy_device_any_alignment,
        copy_device_within_one_buffer, copies_run_in_order, many_small_copies, large_copies,
        direct_round_trip, long_queues,
    );
    core!(list, events:
        synchronize_empty_stream, synchronize_completes_events, record_covers_earlier_work,
        record_again_moves_the_event, wait_orders_two_streams, waits_are_transitive,
        wait_on_own_stream, wait_unrecorded_is_free, poll_unrecorded_is_complete,
        poll_stays_complete, events_complete_in_order, destroy_event_keeps_its_waits,
        destroy_stream_runs_its_work, destroy_pending_event, events_are_reusable,
        streams_complete_on_their_own,
    );
    core!(list, planning:
        plan_agrees_with_support_table, plan_agrees_with_execute, plan_is_pure, highest_rank,
    );
    core!(list, executing:
        execute_touches_only_the_output, execute_keeps_no_borrow, execute_fault_is_noted_once,
        arguments_share_a_buffer, operations_run_in_order,
    );
    core!(list, threads:
        threads_with_own_streams, threads_on_one_stream, threads_allocate_and_free,
        threads_execute, threads_poll_each_other, threads_hand_over_by_events,
    );
    for check in &mut list.0 {
        // These two are about the device's whole memory, and the last two about optional families.
        check.alone = ["allocate_out_of_memory_recovers", "free_returns_memory"]
            .contains(&check.name.as_str());
        check.core &=
            !["execute_fault_is_noted_once", "highest_rank"].contains(&check.name.as_str());
    }
    moving(&mut list);
    elements(&mut list);
    along_lines(&mut list);
    indexed(&mut list);
    products(&mut list);
    list.mark_core(&[
        "fill_f32",
        "binary_add_f32",
        "reduce_sum_f32",
        "long_sum_f32",
        "gemm_f32_sizes",
        "gemm_f32_forms",
        "gemm_f32_batches",
        "gemm_f32_scales",
        "gemm_f32_empty_sum",
        "gemm_f32_stale_nan",
    ]);
    list.0
}

/// The checks of a vendor that can be asked for its devices.
#[must_use]
pub fn discover_checks<V: Execute + Discover>() -> Vec<Check<V>> {
    let mut list = List(Vec::new());
    core!(list, discover:
        discover_is_repeatable, open_is_a_new_domain, open_out_of_range_is_unavailable,
    );
    list.0
}

fn moving<V: Execute>(list: &mut List<V>) {
    for dtype in DType::ALL {
        list.add(format!("fill_{dtype}"), move |cx| moves::fill(cx, dtype));
        list.add(format!("copy_{dtype}"), move |cx| moves::copy(cx, dtype));
        list.add(format!("specials_travel_{dtype}"), move |cx| {
            numerics::specials_travel(cx, dtype)
        });
        for to in DType::ALL.into_iter().filter(|to| *to != dtype) {
            list.add(format!("cast_{dtype}_to_{to}"), move |cx| {
                moves::cast(cx, dtype, to)
            });
        }
    }
}

fn elements<V: Execute>(list: &mut List<V>) {
    for dtype in DType::ALL {
        for op in UnaryOp::ALL
            .into_iter()
            .filter(|op| elementwise::has_unary(*op, dtype))
        {
            list.add(format!("unary_{op}_{dtype}"), move |cx| {
                elementwise::unary(cx, op, dtype)
            });
        }
        for op in BinaryOp::ALL
            .into_iter()
            .filter(|op| elementwise::has_binary(*op, dtype))
        {
            list.add(format!("binary_{op}_{dtype}"), move |cx| {
                elementwise::binary(cx, op, dtype)
            });
        }
        for op in CompareOp::ALL
            .into_iter()
            .filter(|op| elementwise::has_compare(*op, dtype))
        {
            list.add(format!("compare_{op}_{dtype}"), move |cx| {
                elementwise::compare(cx, op, dtype)
            });
        }
        list.add(format!("select_{dtype}"), move |cx| {
            elementwise::select(cx, dtype)
        });
        if dtype.is_float() {
            list.add(format!("subnormals_{dtype}"), move |cx| {
                numerics::subnormals_as_declared(cx, dtype)
            });
            list.add(format!("tanh_saturates_{dtype}"), move |cx| {
                numerics::tanh_saturates(cx, dtype)
            });
            list.add(format!("nan_test_on_bits_{dtype}"), move |cx| {
                numerics::nan_test_on_bits(cx, dtype)
            });
        }
        if dtype.is_complex() {
            list.add(format!("{dtype}_without_overflow"), move |cx| {
                numerics::complex_without_overflow(cx, dtype)
            });
        }
    }
}

fn along_lines<V: Execute>(list: &mut List<V>) {
    let name = |op: &str, from: DType, to: DType| match from == to {
        true => format!("{op}_{from}"),
        false => format!("{op}_{from}_to_{to}"),
    };
    list.add(String::from("long_sum_f32"), lines::long_sum_f32);
    for dtype in DType::ALL {
        for op in ReduceOp::ALL {
            let own = [dtype];
            let to: &[DType] = match op {
                ReduceOp::Sum | ReduceOp::Prod => lines::sums_to(dtype),
                ReduceOp::Any | ReduceOp::All => &[DType::Bool],
                _ if dtype.is_complex() => &[],
                _ => &own,
            };
            for &to in to {
                let name = match op {
                    ReduceOp::Any | ReduceOp::All => format!("reduce_{op}_{dtype}"),
                    _ => name(&format!("reduce_{op}"), dtype, to),
                };
                list.add(name, move |cx| lines::reduce(cx, op, dtype, to));
            }
        }
        for op in ScanOp::ALL {
            let own = [dtype];
            let to: &[DType] = match op {
                ScanOp::Sum | ScanOp::Prod => lines::sums_to(dtype),
                _ if dtype.is_complex() => &[],
                _ => &own,
            };
            for &to in to {
                list.add(name(op.name(), dtype, to), move |cx| {
                    lines::scan(cx, op, dtype, to)
                });
            }
        }
        if dtype.is_complex() {
            continue;
        }
        for op in ArgOp::ALL {
            list.add(format!("{op}_{dtype}"), move |cx| {
                lines::arg_reduce(cx, op, dtype)
            });
        }
        match dtype {
            DType::F16 | DType::BF16 => {
                list.add(format!("narrow_sum_{dtype}"), move |cx| {
                    numerics::narrow_sums(cx, dtype)
                });
            }
            _ if !dtype.is_float() => {
                list.add(format!("wide_sum_{dtype}"), move |cx| {
                    numerics::wide_integer_sums(cx, dtype)
                });
            }
            _ => {}
        }
        if dtype.is_float() {
            list.add(format!("nan_wins_{dtype}"), move |cx| {
                numerics::nan_wins_anywhere(cx, dtype)
            });
            list.add(format!("argmax_of_zeros_{dtype}"), move |cx| {
                numerics::argmax_of_zeros(cx, dtype)
            });
            list.add(format!("cummax_after_nan_{dtype}"), move |cx| {
                numerics::cummax_after_nan(cx, dtype)
            });
        }
        if !matches!(dtype, DType::Bool | DType::U8 | DType::U32) {
            list.add(format!("negative_lines_{dtype}"), move |cx| {
                numerics::negative_lines(cx, dtype)
            });
        }
    }
}

fn indexed<V: Execute>(list: &mut List<V>) {
    for dtype in DType::ALL {
        for by in index::INDICES {
            // Every element type by i64, every index type for f32: the two do not meet in a kernel
            // in more than one way.
            if by != DType::I64 && dtype != DType::F32 {
                continue;
            }
            list.add(format!("gather_{dtype}_by_{by}"), move |cx| {
                index::gather(cx, dtype, by)
            });
            list.add(format!("gather_bad_index_{dtype}_by_{by}"), move |cx| {
                index::gather_bad_index(cx, dtype, by)
            });
            for mode in ScatterMode::ALL {
                list.add(format!("{mode}_{dtype}_by_{by}"), move |cx| {
                    index::scatter(cx, mode, dtype, by)
                });
                list.add(format!("{mode}_bad_index_{dtype}_by_{by}"), move |cx| {
                    index::scatter_bad_index(cx, mode, dtype, by)
                });
            }
        }
    }
    list.add(String::from("many_bad_indices_f32"), |cx| {
        index::many_bad_indices(cx, DType::F32)
    });
}

fn products<V: Execute>(list: &mut List<V>) {
    for dtype in DType::ALL {
        list.add(format!("gemm_{dtype}_sizes"), move |cx| {
            gemm::sizes(cx, dtype)
        });
        list.add(format!("gemm_{dtype}_forms"), move |cx| {
            gemm::forms(cx, dtype)
        });
        list.add(format!("gemm_{dtype}_batches"), move |cx| {
            gemm::batches(cx, dtype)
        });
        list.add(format!("gemm_{dtype}_scales"), move |cx| {
            gemm::scales(cx, dtype)
        });
        list.add(format!("gemm_{dtype}_empty_sum"), move |cx| {
            gemm_edges::empty_sum(cx, dtype)
        });
        if dtype.is_integer() {
            list.add(format!("gemm_{dtype}_wraps"), move |cx| {
                gemm_edges::wraps(cx, dtype)
            });
        } else if dtype != DType::Bool {
            list.add(format!("gemm_{dtype}_stale_nan"), move |cx| {
                gemm_edges::stale_nan(cx, dtype)
            });
            for distribution in Distribution::ALL {
                list.add(format!("{distribution}_{dtype}"), move |cx| {
                    random::distribution(cx, distribution, dtype)
                });
            }
        }
    }
    list.add(
        String::from("gemm_narrow_accumulates_wide"),
        gemm_edges::narrow_accumulates_wide,
    );
    list.add(
        String::from("philox_known_answer"),
        random::philox_known_answer,
    );
    list.add(String::from("random_depends_on_the_counter_alone"), |cx| {
        random::random_depends_on_the_counter_alone(cx)
    });
}

#[cfg(test)]
mod tests {
    use super::{checks, discover_checks};
    use gpu_host::Host;
    use std::collections::HashSet;

    fn names() -> Vec<String> {
        let all = checks::<Host>()
            .into_iter()
            .chain(discover_checks::<Host>());
        all.map(|check| check.name).collect()
    }

    /// The names that begin the lines under *Behavior* in the documentation of the driver traits.
    fn behaviours() -> Vec<&'static str> {
        let text = include_str!("../../../crates/gpu-seam/src/driver.rs");
        let mut names = Vec::new();
        let mut inside = false;
        for line in text.lines() {
            let Some(doc) = line.trim_start().strip_prefix("///") else {
                inside = false;
                continue;
            };
            let doc = doc.trim();
            if doc.starts_with('#') {
                inside = doc == "# Behavior";
            } else if let (true, Some(rest)) = (inside, doc.strip_prefix("- `")) {
                names.extend(rest.split_once("`:").map(|(name, _)| name));
            }
        }
        names
    }

    #[test]
    fn names_are_unique_and_many() {
        let names = names();
        let unique: HashSet<_> = names.iter().collect();
        assert_eq!(unique.len(), names.len());
        assert!(names.len() >= 150, "{}", names.len());
    }

    #[test]
    fn every_behaviour_line_has_a_check() {
        let (names, behaviours) = (names(), behaviours());
        assert!(
            behaviours.len() >= 30,
            "the lines are written otherwise now: {behaviours:?}"
        );
        for behaviour in behaviours {
            assert!(
                names.iter().any(|name| name == behaviour),
                "no check named {behaviour}"
            );
        }
    }

    #[test]
    fn core_checks_are_those_of_memory_copies_streams_events_fill_and_f32() {
        let core = checks::<Host>()
            .into_iter()
            .filter(|check| check.core)
            .count();
        assert!((50..90).contains(&core), "{core}");
    }
}
