//! Type family of Erlang's processes, by which `purlin_raw` names the types of this crate.
//!
//! `node::callbacks` implements [`RuntimeTypes`](purlin_raw::RuntimeTypes) for it.

/// Type family of Erlang's processes.
pub(crate) struct ErlangTypes;

/// Untyped handle on another process.
pub(crate) type Peer = purlin_raw::Ref<ErlangTypes>;
