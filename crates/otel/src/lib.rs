//! W3C trace context in messages between processes and nodes.
//!
//! A [`TraceContext`] identifies a span. A client sends it as a part of a message or as an argument of a request; the
//! receiver makes its own span a child of it, on whatever node it runs. Spans are those of [`tracing`], and the layer of
//! `tracing-opentelemetry` exports them.
//!
//! ```
//! use purlin_otel::TraceContext;
//! use tracing::info_span;
//!
//! #[derive(Debug)]
//! struct Market(u32);
//!
//! #[purlin::server]
//! impl Market {
//!     #[call]
//!     fn price(&self, caller: TraceContext) -> u32 {
//!         let _span = caller.child(info_span!("price")).entered();
//!         self.0
//!     }
//! }
//!
//! #[purlin::main]
//! async fn main() -> purlin::server::Result<()> {
//!     let market = purlin::server::start::<Market>(Market(1250)).await?;
//!     assert_eq!(market.price(TraceContext::current()).await?, 1250);
//!     Ok(())
//! }
//! ```
//!
//! COST: without a subscriber that has an OpenTelemetry layer, a context is empty, and neither reads a clock nor
//! allocates. With one, [`TraceContext::current`] copies the ids of a span; they become text when a message is
//! serialized, and not when it stays on its node.
//!
//! | file | role |
//! |---|---|
//! | `context` | trace context of a span, and its parent |
//! | `carrier` | its fields as text, within limits |
//! | `serialized` | its form in messages to other nodes |

mod carrier;
mod context;
mod serialized;

pub use context::TraceContext;

/// The guide, whose examples are doc tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../docs/guide/tracing.md")]
    struct Tracing;
}
