//! Mailboxes: sending, backpressure, receiving, selective receive, deadlines.

pub(crate) mod backpressure;
pub(crate) mod deadline;
pub(crate) mod receive;
pub(crate) mod scan;
pub(crate) mod send;
