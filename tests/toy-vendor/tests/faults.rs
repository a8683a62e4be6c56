//! Each planted fault turns the check of its name red; without one, none is.

use gpu_conformance::{Config, Verdict, report, report_on};
use std::time::Duration;
use toy_vendor::Toy;

/// Fault and the check that must notice it.
const FAULTS: [(&str, &str); 33] = [
    ("available_above_total", "memory_available_within_total"),
    ("wrong_length", "allocate_exact_length"),
    ("reused_identity", "allocate_identity_is_unique"),
    ("overlapping_allocations", "allocate_disjoint"),
    ("out_of_memory_for_ever", "allocate_out_of_memory_recovers"),
    ("free_keeps_memory", "free_returns_memory"),
    ("blocking_access_refused", "staging_access_blocks_when_asked"),
    ("staging_written_once", "staging_is_reusable"),
    ("write_ignores_its_place", "staging_parts"),
    ("copy_in_off_by_one", "copy_in_touches_only_its_range"),
    ("copy_out_ignores_its_place", "copy_out_touches_only_its_range"),
    ("copy_device_in_words", "copy_device_any_alignment"),
    ("copy_device_needs_two_buffers", "copy_device_within_one_buffer"),
    ("synchronize_stops_early", "synchronize_completes_events"),
    ("event_completes_early", "record_covers_earlier_work"),
    ("record_keeps_the_first", "record_again_moves_the_event"),
    ("wait_does_nothing", "wait_orders_two_streams"),
    ("unrecorded_is_pending", "poll_unrecorded_is_complete"),
    ("poll_takes_back", "poll_stays_complete"),
    ("destroy_stream_drops_work", "destroy_stream_runs_its_work"),
    ("table_claims_more", "plan_agrees_with_support_table"),
    ("table_claims_less", "plan_agrees_with_support_table"),
    ("plan_accepts_more", "plan_agrees_with_support_table"),
    ("execute_serves_less", "plan_agrees_with_execute"),
    ("fill_overruns", "fill_f32"),
    ("add_ignores_strides", "execute_touches_only_the_output"),
    ("add_ignores_offset", "binary_add_f32"),
    ("min_loses_nan", "binary_min_f32"),
    ("sum_drops_the_last", "reduce_sum_f32"),
    ("max_starts_at_zero", "negative_lines_f32"),
    ("gemm_ignores_transpose", "gemm_f32_forms"),
    ("gemm_walks_a_shared_factor", "gemm_f32_batches"),
    ("gemm_reads_stale_output", "gemm_f32_stale_nan"),
];

/// And of indexing, each with the one check.
const INDEXING: [(&str, &str); 2] = [
    ("bad_index_is_clamped", "gather_bad_index_f32_by_i64"),
    ("fault_slot_stays_silent", "execute_fault_is_noted_once"),
];

#[test]
fn every_fault_turns_its_check_red() {
    let mut missed = Vec::new();
    for (fault, check) in FAULTS.into_iter().chain(INDEXING) {
        let config = Config::new("toy", move || Ok(Toy::new(fault)));
        let report = report_on(&config.patience(Duration::from_millis(200)), |name| name == check);
        if !matches!(report.verdict(check), Some(Verdict::Failed(_))) {
            missed.push(format!("{fault}: {check} {:?}", report.verdict(check)));
        }
    }
    assert!(missed.is_empty(), "not noticed: {missed:#?}");
}

#[test]
fn the_whole_vendor_is_under_500_lines() {
    let lines = [include_str!("../src/lib.rs"), include_str!("../src/ops.rs")]
        .map(|text| text.lines().count());
    assert!(lines.iter().sum::<usize>() < 500, "{lines:?}");
}

#[test]
fn without_a_fault_nothing_is_red() {
    let report = report(&Config::new("toy", || Ok(Toy::new(""))));
    assert_eq!(report.failures().collect::<Vec<_>>(), [""; 0]);
    assert!(report.counts().passed > 80, "{}", report.counts());
}
