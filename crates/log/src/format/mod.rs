//! On-disk format: segment headers, batches, checkpoints. Pure.
//!
//! All numbers are little-endian. `docs/internals/ack-log.md` has the tables.
//!
//! | module | role |
//! |---|---|
//! | `segment` | header of a segment |
//! | `batch` | header of a batch |
//! | `section` | blocks in the body of a batch |
//! | `checkpoint` | states of all clients at a position |
//! | `names` | names of the files |
//! | `fields` | reader and writer of fields |

pub(crate) mod batch;
pub(crate) mod checkpoint;
pub(crate) mod fields;
pub(crate) mod names;
pub(crate) mod section;
pub(crate) mod segment;

/// Version of the format.
pub(crate) const VERSION: u32 = 1;
/// Largest sequence number that is valid. WHY: no sum with a number of records overflows.
pub(crate) const LARGEST_SEQUENCE: u64 = 1 << 62;
