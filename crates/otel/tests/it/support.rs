//! Test support: a subscriber that exports spans to memory, and a server.

use std::sync::OnceLock;

use opentelemetry::trace::{SpanId, TracerProvider as _};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use purlin::Node;
use purlin_dist::cluster::{Cluster, Serve as _};
use purlin_dist::epmd;
use purlin_otel::TraceContext;
pub(crate) use purlin_polling::HANG;
use tracing::{Instrument as _, Span, debug_span, info_span};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::prelude::*;

pub(crate) const COOKIE: &str = "monster";

/// Sets the subscriber of the test program: it exports each span of level INFO or above when the span ends.
fn exported() -> &'static InMemorySpanExporter {
    static EXPORTED: OnceLock<InMemorySpanExporter> = OnceLock::new();
    EXPORTED.get_or_init(|| {
        let exporter = InMemorySpanExporter::default();
        let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
        let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
        tracing_subscriber::registry().with(layer.with_filter(LevelFilter::INFO)).init();
        exporter
    })
}

/// Begins a trace. Tests that run in one program have a trace each.
pub(crate) fn request() -> Span {
    exported();
    info_span!(parent: None, "request")
}

/// Returns the ended spans of the trace of a context.
pub(crate) fn spans(of: &TraceContext) -> Vec<SpanData> {
    let mut spans = exported().get_finished_spans().expect("the exporter is not shut down");
    spans.retain(|span| span.span_context.trace_id() == of.span_context().trace_id());
    spans
}

/// Returns the only ended span with that name.
pub(crate) fn named<'a>(spans: &'a [SpanData], name: &str) -> &'a SpanData {
    let mut found = spans.iter().filter(|span| span.name == name);
    let span = found.next().unwrap_or_else(|| panic!("no span {name}: {spans:?}"));
    assert!(found.next().is_none(), "two spans {name}: {spans:?}");
    span
}

/// Asserts that one span is the child of the other.
pub(crate) fn assert_child(child: &SpanData, parent: &SpanData) {
    assert_eq!(child.parent_span_id, parent.span_context.span_id(), "{child:?} {parent:?}");
}

pub(crate) fn assert_root(span: &SpanData) {
    assert_eq!(span.parent_span_id, SpanId::INVALID, "{span:?}");
}

/// A server whose handlers have a span each.
#[derive(Debug)]
pub(crate) struct Market {
    pub(crate) price: u32,
}

#[purlin::server(dist)]
impl Market {
    #[call]
    pub(crate) fn price(&self, symbol: String, caller: TraceContext) -> u32 {
        let _span = caller.child(info_span!("price", symbol)).entered();
        self.price
    }

    /// Returns the price after a span in which it awaits.
    #[call]
    pub(crate) async fn next(&self, caller: TraceContext) -> u32 {
        let span = caller.child(info_span!("next"));
        let wait = async {
            let seen = TraceContext::current();
            purlin::yield_now().await;
            assert_eq!(TraceContext::current(), seen);
            let _inner = info_span!("inner").entered();
            self.price
        };
        wait.instrument(span).await
    }

    #[cast]
    pub(crate) fn trade(&mut self, price: u32, caller: TraceContext) {
        let _span = caller.child(info_span!("trade")).entered();
        let _left_out = debug_span!("left out").entered();
        let _inner = info_span!("inner").entered();
        self.price = price;
    }
}

/// Starts an epmd and a node that serves a market to other nodes.
pub(crate) async fn market_node() -> (epmd::Server, Cluster) {
    exported();
    let epmd = epmd::Server::start("127.0.0.1:0").await.expect("a port is free");
    let node = Node::builder().workers(2).build().expect("a node starts");
    let cluster = join(&epmd, "market", &node).await;
    cluster.serves(Market::served());
    node.start::<Market>(Market { price: 1250 }).name("market").await.expect("it starts");
    (epmd, cluster)
}

pub(crate) async fn join(epmd: &epmd::Server, name: &str, node: &Node) -> Cluster {
    let name = format!("{name}@127.0.0.1").parse().expect("a name");
    let builder = Cluster::builder(name).cookie(COOKIE).epmd(epmd.address());
    builder.start(node).await.expect("it joins")
}
