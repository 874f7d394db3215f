//! Signals between processes: links, monitors, exit signals and aliases.

pub(crate) mod alias;
pub(crate) mod conversion;
pub(crate) mod end;
pub(crate) mod handle_signal;
pub(crate) mod links;
pub(crate) mod local_state;
pub(crate) mod monitor_link;
pub(crate) mod monitors;
pub(crate) mod notices;
pub(crate) mod reference;
pub(crate) mod signal;
pub(crate) mod small_map;
