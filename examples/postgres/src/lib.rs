//! Messages of a session into PostgreSQL, each exactly once.
//!
//! | module | role |
//! |---|---|
//! | [`store`] | handler that stores messages in PostgreSQL, for a server |
//! | [`outbox`] | messages of a client in a file, so that they survive the client |
//!
//! `postgres_server` and `postgres_client` are programs of them; README.md shows their use.

pub mod outbox;
pub mod store;
