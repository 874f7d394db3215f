//! Tests of the chat service, with real WebSocket clients.

mod browser;
mod client;
mod compaction;
mod crashes;
mod refusals;
mod stop;
mod support;
