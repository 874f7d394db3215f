//! State shared by the request handlers.
//!
//! | file | role |
//! |---|---|
//! | `site` | settings; sampler, event streams, blocking work |
//! | `lint` | linter task |
//! | `board` | registry of the shown cluster and servers |
//! | `questions` | unanswered questions to processes |
//! | `round_trips` | round-trip times of connected nodes |
//! | `latency` | recent latency of ack servers |
//! | `tracing` | the current or last trace |

mod board;
mod latency;
mod lint;
mod questions;
mod round_trips;
mod site;
mod tracing;

pub(crate) use board::{Opened, Shown};
pub(crate) use site::{Found, Settings, Site};
pub(crate) use tracing::{KEPT, PROCESSES, Tracing};
