//! Trace contexts in messages, with real nodes, a BEAM and an OTLP receiver.

mod beam;
mod export;
mod local;
mod malformed;
mod nodes;
mod support;
