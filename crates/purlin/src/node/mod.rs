//! A node: its settings, state, names, threads and shutdown.

pub(crate) mod builder;
mod callbacks;
pub(crate) mod context;
pub(crate) mod drops;
pub(crate) mod erlang_types;
pub(crate) mod extensions;
pub(crate) mod handle;
pub(crate) mod io;
pub(crate) mod log_limit;
pub(crate) mod name;
pub(crate) mod names;
pub(crate) mod register;
pub(crate) mod run;
pub(crate) mod stalled;
pub(crate) mod state;
pub(crate) mod stop;
pub(crate) mod weak_node;
pub(crate) mod workers;
