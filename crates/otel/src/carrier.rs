//! Fields of a trace context as text: `traceparent` and `tracestate`.

use std::borrow::Cow;

use opentelemetry::Context;
use opentelemetry::propagation::{Extractor, Injector, TextMapPropagator as _};
use opentelemetry::trace::{SpanContext, TraceContextExt as _};
use opentelemetry_sdk::propagation::TraceContextPropagator;

pub(crate) const PARENT: &str = "traceparent";
pub(crate) const STATE: &str = "tracestate";

/// Maximum length of a `traceparent`: twice that of version 00, because later versions may add to it.
const LONGEST_PARENT: usize = 110;
/// Maximum length of a `tracestate`: the length that the specification demands every vendor to support.
pub(crate) const LONGEST_STATE: usize = 512;

/// The two fields. A field that is too long, or is not printable ASCII, is treated as absent.
#[derive(Default)]
pub(crate) struct Carrier<'a> {
    parent: Option<Cow<'a, str>>,
    state: Option<Cow<'a, str>>,
}

impl<'a> Carrier<'a> {
    /// Returns the fields of a span.
    pub(crate) fn of(span: &SpanContext) -> Self {
        let mut carrier = Self::default();
        if span.is_valid() {
            let context = Context::new().with_remote_span_context(span.clone());
            TraceContextPropagator::new().inject_context(&context, &mut carrier);
        }
        carrier
    }

    /// Parses the fields. Returns an invalid span context if there is no valid `traceparent`.
    pub(crate) fn parse(&self) -> SpanContext {
        let context = TraceContextPropagator::new().extract_with_context(&Context::new(), self);
        context.span().span_context().clone()
    }

    /// Sets a field; ignores other names, values that are empty, too long or not printable ASCII, and a second value.
    pub(crate) fn put(&mut self, name: &str, value: Cow<'a, str>) {
        let (field, longest) = match name {
            PARENT => (&mut self.parent, LONGEST_PARENT),
            STATE => (&mut self.state, LONGEST_STATE),
            _ => return,
        };
        // WHY printable: a line break would end the header of a request to which the program copies the field.
        let printable = |byte| matches!(byte, b' '..=b'~');
        if (1..=longest).contains(&value.len()) && value.bytes().all(printable) {
            field.get_or_insert(value);
        }
    }

    /// Returns the fields that are set, with their names.
    pub(crate) fn fields(self) -> impl Iterator<Item = (&'static str, Cow<'a, str>)> {
        let fields = [(PARENT, self.parent), (STATE, self.state)];
        fields.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }
}

impl Extractor for Carrier<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        match name {
            PARENT => self.parent.as_deref(),
            STATE => self.state.as_deref(),
            _ => None,
        }
    }

    fn keys(&self) -> Vec<&str> {
        vec![PARENT, STATE]
    }
}

impl Injector for Carrier<'_> {
    fn set(&mut self, name: &str, value: String) {
        self.put(name, value.into());
    }
}
