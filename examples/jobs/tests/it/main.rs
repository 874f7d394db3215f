//! Integration tests, linked into one binary. They run a real PostgreSQL.
//!
//! `PURLIN_SKIP_POSTGRES=1` leaves out the tests that need it.

#[allow(dead_code, reason = "the tests of examples/postgres use the rest")]
#[path = "../../../postgres/tests/it/database.rs"]
mod database;
mod jobs;
mod kills;
#[path = "../../../postgres/tests/it/page.rs"]
mod page;
#[allow(dead_code, reason = "the tests of examples/postgres use the rest")]
#[path = "../../../postgres/tests/it/programs.rs"]
mod programs;
mod readme;
mod stop;
