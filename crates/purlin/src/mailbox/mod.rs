//! Receiving: selective receive, deadlines, and senders that wait for capacity.

pub(crate) mod backpressure;
pub(crate) mod deadline;
pub(crate) mod receive;
pub(crate) mod send;
