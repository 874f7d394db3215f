//! Integration tests, linked into one binary. They run a real PostgreSQL.
//!
//! `PURLIN_SKIP_POSTGRES=1` leaves out the tests that need it.

mod constraint;
mod database;
mod guide;
mod kills;
mod outbox;
mod page;
mod programs;
mod proxy;
mod readme;
mod server;
mod unknown_commit;
