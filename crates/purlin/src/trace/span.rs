//! `tracing` spans of processes, and messages that carry their sender's span.
//!
//! Both are opt-in, per process and per message type; other processes and messages have no cost.

use std::any::type_name;
use std::future::Future;

use tracing::field::{Empty, display};
use tracing::{Instrument as _, Span};

use crate::{Outcome, Process};

/// Wraps a process function for [`spawn`](crate::spawn()) so that its process runs in a span. Everything the process
/// and the libraries it calls log is attributed to that process.
///
/// The span is named `process`, has level INFO and the fields `pid`, `function`, and `name`. `name` is set from
/// [`SpawnOptions::name`](crate::SpawnOptions); a process that registers a name later may record it with
/// `tracing::Span::current().record("name", "...")`.
///
/// ```
/// use purlin::trace::spanned;
/// use purlin::{Process, spawn};
///
/// async fn clerk(mut me: Process<u32>) {
///     let n = me.receive().await;
///     tracing::info!(n, "asked");
/// }
///
/// #[purlin::main]
/// async fn main() {
///     let pid = spawn(spanned(clerk));
///     pid.send(7);
///     pid.ended().await;
/// }
/// ```
///
/// *Cancellation*: as of the function.
///
/// COST: creating the span, and entering and leaving it each time the process runs; nearly nothing without a
/// subscriber.
pub fn spanned<M, F, Fut>(
    function: F,
) -> impl FnOnce(Process<M>) -> tracing::instrument::Instrumented<Fut> + Send + 'static
where
    M: Send + 'static,
    F: FnOnce(Process<M>) -> Fut + Send + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: Outcome,
{
    move |me: Process<M>| {
        let span = tracing::info_span!(
            "process", pid = %me.id(), name = Empty, function = type_name::<F>()
        );
        if !span.is_disabled() {
            me.pid().info().name.map(|name| span.record("name", display(name)));
        }
        // Code before the first await runs in the span too.
        let future = span.in_scope(|| function(me));
        future.instrument(span)
    }
}

/// Message that carries the span of its sender, like a sequential trace token of OTP's `seq_trace`. What the receiver
/// logs about the message then belongs to the sender's span.
///
/// ```
/// use purlin::trace::Traced;
/// use purlin::{Process, spawn};
///
/// async fn clerk(mut me: Process<Traced<u32>>) {
///     let order = me.receive().await;
///     order.within(|n| tracing::info!(n, "sold"));
/// }
///
/// #[purlin::main]
/// async fn main() {
///     let pid = spawn(clerk);
///     let request = tracing::info_span!("request", customer = 12);
///     request.in_scope(|| pid.send(Traced::new(7)));
///     pid.ended().await;
/// }
/// ```
///
/// COST: 40 bytes per message, and a counted reference to the span if there is a subscriber.
#[derive(Clone, Debug)]
pub struct Traced<M> {
    message: M,
    span: Span,
}

impl<M> Traced<M> {
    /// Wraps a message with the current span.
    pub fn new(message: M) -> Self {
        Self { message, span: Span::current() }
    }

    /// Returns the message.
    pub fn message(&self) -> &M {
        &self.message
    }

    /// Returns the span.
    pub fn span(&self) -> &Span {
        &self.span
    }

    /// Returns the message and its span.
    pub fn into_parts(self) -> (M, Span) {
        (self.message, self.span)
    }

    /// Runs `f` on the message, in its span.
    pub fn within<R>(self, f: impl FnOnce(M) -> R) -> R {
        let Self { message, span } = self;
        span.in_scope(|| f(message))
    }

    /// Awaits the future that `f` makes of the message, in its span.
    ///
    /// *Cancellation*: as of that future; the message is dropped with it.
    pub async fn within_async<F, Fut>(self, f: F) -> Fut::Output
    where
        F: FnOnce(M) -> Fut,
        Fut: Future,
    {
        let Self { message, span } = self;
        let future = span.in_scope(|| f(message));
        future.instrument(span).await
    }
}

impl<M> From<M> for Traced<M> {
    fn from(message: M) -> Self {
        Self::new(message)
    }
}
