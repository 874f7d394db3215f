//! `purlin demo`: a supervised application with a dashboard.
//!
//! | file | role |
//! |---|---|
//! | `command` | arguments, the node and its page |
//! | `tree` | the application: supervision tree and start order |
//! | `readings` | an ack server, and a client with a moderate load |
//! | `pool` | workers, one of which crashes periodically, and the process that sends them work |
//! | `hog` | a process that periodically computes without awaiting |
//! | `quarrel` | two processes that periodically call each other at the same time |
//! | `archive` | a process whose mailbox grows periodically |

mod archive;
mod command;
mod hog;
mod pool;
mod quarrel;
mod readings;
mod tree;

pub(crate) use command::{Demo, demo};

/// Result of the demo's processes.
type Fallible = Result<(), Box<dyn std::error::Error + Send + Sync>>;
