//! Mailboxes: sending, backpressure, receiving, selective receive, receive markers, deadlines, unread
//! messages.

pub(crate) mod backpressure;
pub(crate) mod deadline;
pub(crate) mod marker;
pub(crate) mod receive;
pub(crate) mod scan;
pub(crate) mod send;
pub(crate) mod suspension;
pub(crate) mod unread;
