//! Integration tests, linked into one binary. They run a real Erlang node with the store of the example.

mod client;
mod hostile;
mod kills;
#[path = "../../../postgres/tests/it/page.rs"]
mod page;
#[allow(dead_code, reason = "the tests of examples/postgres use the rest")]
#[path = "../../../postgres/tests/it/programs.rs"]
mod programs;
mod reach;
mod readme;
mod stop;
mod support;
