//! Operations whose operands span more bytes than the device takes.

use super::draft::Draft;
use super::plan::Plan;
use crate::error::Error;

/// Adds the steps of such an operation.
pub(super) fn fit(plan: &mut Plan<'_>, _: &Draft) -> Result<(), Error> {
    Err(plan.unsupported(format!(
        "an operand spans more than the device's {} bytes, and tiling is not built yet",
        plan.capabilities.max_operand_bytes
    )))
}
