//! Traces within a node.

use opentelemetry::trace::TraceFlags;
use purlin::server;
use purlin::{Process, Reply, spawn};
use purlin_otel::TraceContext;
use tracing::{Instrument as _, debug_span, info_span};

use crate::support::{Market, MarketClient as _, assert_child, assert_root, named, request, spans};

#[purlin::test]
async fn handler_spans_are_children_of_the_span_of_the_caller() -> server::Result<()> {
    let market = server::start::<Market>(Market { price: 1250 }).await?;
    let span = request();
    let context = TraceContext::of(&span);
    let calls = async {
        market.trade(1260, TraceContext::current());
        assert_eq!(market.price("ACME".into(), TraceContext::current()).await, Ok(1260));
        assert_eq!(market.next(TraceContext::current()).await, Ok(1260));
    };
    calls.instrument(span).await;

    let spans = spans(&context);
    let request = named(&spans, "request");
    assert_root(request);
    for handler in ["price", "next", "trade"] {
        let handler = named(&spans, handler);
        assert_child(handler, request);
        assert!(!handler.parent_span_is_remote);
    }
    let inner = spans.iter().filter(|span| span.name == "inner").map(|span| span.parent_span_id);
    let handlers = ["trade", "next"].map(|name| named(&spans, name).span_context.span_id());
    assert_eq!(inner.collect::<Vec<_>>(), handlers);
    assert_eq!(spans.len(), 6, "{spans:?}");
    Ok(())
}

#[purlin::test]
async fn messages_of_plain_processes_carry_a_context_in_any_form() {
    let doubler = spawn(async |mut me: Process<(TraceContext, u32, Reply<u32>)>| {
        let (sender, number, reply) = me.receive().await;
        let doubled = sender.child(info_span!("double")).in_scope(|| 2 * number);
        reply.send(doubled);
    });
    let span = request();
    let context = TraceContext::of(&span);
    assert_eq!(doubler.call(|reply| (context.clone(), 21, reply)).await, Ok(42));
    drop(span);
    let spans = spans(&context);
    assert_child(named(&spans, "double"), named(&spans, "request"));
}

#[test]
fn the_current_context_is_that_of_the_nearest_exported_span() {
    let span = request();
    let context = TraceContext::of(&span);
    assert!(context.span_context().is_valid());
    let _entered = span.enter();
    assert_eq!(TraceContext::current(), context);
    let left_out = debug_span!("left out");
    assert_eq!(left_out.in_scope(TraceContext::current), context);
    assert_eq!(TraceContext::of(&left_out), TraceContext::default());
}

#[test]
fn an_empty_context_keeps_the_parent_of_a_span() {
    let span = request();
    let context = TraceContext::of(&span);
    span.in_scope(|| drop(TraceContext::default().child(info_span!("inside"))));
    drop(span);
    let spans = spans(&context);
    assert_child(named(&spans, "inside"), named(&spans, "request"));
}

#[test]
fn a_context_replaces_the_parent_of_a_span_that_has_not_been_entered() {
    let (one, other) = (request(), request());
    let (context, of_other) = (TraceContext::of(&one), TraceContext::of(&other));
    other.in_scope(|| drop(context.child(info_span!("moved"))));
    let entered = other.in_scope(|| info_span!("entered"));
    entered.in_scope(|| ());
    drop(context.child(entered));
    drop((one, other));
    let (spans, of_other) = (spans(&context), spans(&of_other));
    assert_child(named(&spans, "moved"), named(&spans, "request"));
    assert_child(named(&of_other, "entered"), named(&of_other, "request"));
}

#[test]
fn a_parent_that_is_not_sampled_has_no_exported_children() {
    let mut context = TraceContext::of(&request());
    assert_eq!(context.span_context().trace_flags(), TraceFlags::SAMPLED);
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
    context = TraceContext::extract(|name| (name == "traceparent").then_some(parent));
    let child = context.child(info_span!("child"));
    let of_child = TraceContext::of(&child);
    assert_eq!(of_child.span_context().trace_id(), context.span_context().trace_id());
    assert!(!of_child.span_context().is_sampled());
    drop(child);
    assert!(spans(&context).is_empty());
}

#[test]
fn without_a_layer_a_context_is_empty() {
    tracing::subscriber::with_default(tracing::subscriber::NoSubscriber::new(), || {
        let span = TraceContext::default().child(info_span!("unseen"));
        assert_eq!(span.in_scope(TraceContext::current), TraceContext::default());
        assert_eq!(TraceContext::of(&span).fields().count(), 0);
    });
}
