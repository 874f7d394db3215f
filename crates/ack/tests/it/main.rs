//! Integration tests, linked into one binary.

mod budget;
mod client;
mod common;
mod conformance;
mod crowd;
mod drain;
mod faithful;
mod faults;
mod file;
mod killed;
mod latency;
mod ledger;
mod level;
mod limits;
mod load;
#[cfg(feature = "tls")]
mod load_tls;
mod outbox;
mod protocol;
mod sessions;
mod slow;
mod strangers;
mod stream;
#[cfg(feature = "tls")]
mod tls;
mod to_process;
mod upgrade;
