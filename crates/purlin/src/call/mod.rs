//! Calls: a request with a reply address and a timeout.

pub(crate) mod multi_call;
pub(crate) mod reply;
pub(crate) mod request;
pub(crate) mod send_request;
