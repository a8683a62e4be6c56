//! Nests of more dimensions than the device takes.

use super::draft::Draft;
use super::plan::Plan;
use crate::error::Error;

/// Adds the steps of such a nest.
pub(super) fn fit(plan: &mut Plan<'_>, draft: &Draft) -> Result<(), Error> {
    Err(plan.unsupported(format!(
        "rank {} is beyond the device's {}, and passes are not built yet",
        draft.loops.len(),
        plan.capabilities.strided_rank
    )))
}
