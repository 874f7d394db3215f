//! Tests of the adapter, with real sockets.

mod drain;
mod http;
mod limits;
mod support;
mod websocket;
