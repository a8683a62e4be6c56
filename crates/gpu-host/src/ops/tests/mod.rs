//! Tests of the operations, one file a family, against naive references.
//!
//! Promises that each family is run strided, broadcast, reversed, offset and in place, and that what
//! is planned executes. Knows nothing of how loops are written.

mod smoke;
