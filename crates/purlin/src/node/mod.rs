//! A node: its settings, state, names, threads and shutdown.

pub(crate) mod builder;
pub(crate) mod context;
pub(crate) mod extensions;
pub(crate) mod handle;
pub(crate) mod names;
pub(crate) mod stalled;
pub(crate) mod stop;
pub(crate) mod weak_node;
pub(crate) mod workers;
