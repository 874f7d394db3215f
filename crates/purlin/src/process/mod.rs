//! Processes: the handle, its address, spawning, exit reasons and what can be read from outside.

pub(crate) mod body;
pub(crate) mod catch_unwind;
pub(crate) mod crash_report;
pub(crate) mod exit;
pub(crate) mod exit_status;
pub(crate) mod function_name;
pub(crate) mod handle;
pub(crate) mod id;
pub(crate) mod info;
mod inspect;
pub(crate) mod options;
pub(crate) mod outcome;
pub(crate) mod pid;
pub(crate) mod process_ref;
pub(crate) mod recipient;
pub(crate) mod relation;
pub(crate) mod shared;
pub(crate) mod spawn;
pub(crate) mod unwind;
pub(crate) mod yielding;
