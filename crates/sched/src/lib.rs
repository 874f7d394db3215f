//! crates/sched
