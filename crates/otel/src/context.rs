//! Trace context of a span.

use std::borrow::Cow;
use std::fmt;

use opentelemetry::Context;
use opentelemetry::trace::{SpanContext, TraceContextExt as _};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::carrier::{Carrier, PARENT, STATE};

/// Identity of a span in a distributed trace: its trace, its id, whether it is sampled, and the state of vendors, as in
/// [W3C Trace Context](https://www.w3.org/TR/trace-context/). Empty if there is no span.
///
/// Sent to another node, it is a list of pairs, the form that the propagators of OpenTelemetry for Erlang and Elixir
/// inject and extract: `[{<<"traceparent">>, <<"00-…">>}]`. Other fields, such as baggage, are left out and ignored. A
/// malformed text costs no more than the parent: a field that cannot be parsed or is not printable ASCII, a
/// `traceparent` above 110 and a `tracestate` above 512 bytes are treated as absent.
#[derive(Clone, PartialEq)]
pub struct TraceContext(SpanContext);

impl TraceContext {
    /// Returns the context of the current span; empty without an OpenTelemetry layer.
    ///
    /// Arguments are evaluated before a call is awaited: to call in a new span, send [`TraceContext::of`] that span.
    pub fn current() -> Self {
        // The span that the layer has activated: the nearest one that its filter has not left out.
        let active = Context::current();
        let span = active.span();
        match span.span_context() {
            span if span.is_valid() => Self(span.clone()),
            _ => Self::of(&Span::current()),
        }
    }

    /// Returns the context of a span; empty if the span is disabled.
    pub fn of(span: &Span) -> Self {
        Self(span.context().span().span_context().clone())
    }

    /// Makes this context the parent of a new span, and returns the span. An empty context changes nothing.
    ///
    /// The span must not have been entered: an entered span keeps its parent.
    pub fn child(&self, span: Span) -> Span {
        if self.0.is_valid() {
            let parent = Context::new().with_remote_span_context(self.0.clone());
            // An error means that the span is not exported, or has begun.
            let _ = span.set_parent(parent);
        }
        span
    }

    /// Parses the fields that `get` returns for the names `traceparent` and `tracestate`, as of an HTTP request:
    /// `TraceContext::extract(|name| headers.get(name)?.to_str().ok())`.
    pub fn extract<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Self {
        let mut carrier = Carrier::default();
        for name in [PARENT, STATE] {
            if let Some(value) = get(name) {
                carrier.put(name, Cow::Borrowed(value));
            }
        }
        Self(carrier.parse())
    }

    /// Returns the fields and their values, such as headers of a request. An empty context has none.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, String)> + use<> {
        Carrier::of(&self.0).fields().map(|(name, value)| (name, value.into_owned()))
    }

    /// Returns the ids and flags.
    pub fn span_context(&self) -> &SpanContext {
        &self.0
    }
}

impl Default for TraceContext {
    /// Returns an empty context.
    fn default() -> Self {
        Self(SpanContext::NONE)
    }
}

impl From<SpanContext> for TraceContext {
    fn from(span: SpanContext) -> Self {
        Self(span)
    }
}

impl fmt::Debug for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.fields()).finish()
    }
}
