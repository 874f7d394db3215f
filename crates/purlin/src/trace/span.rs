//! Processes in a span of `tracing`'s, and messages that carry the span of whoever sent them.
//!
//! Both are asked for where they are wanted, process by process and message type by message type; nobody else
//! pays for them.

use std::any::type_name;
use std::future::Future;

use tracing::field::{Empty, display};
use tracing::{Instrument as _, Span};

use crate::{Outcome, Process, ProcessInfo};

/// A function for [`spawn`](crate::spawn()) whose process is in a span of its own whenever it runs: so all that
/// it logs, and what libraries log in it, says who it was.
///
/// The span is `process`, of level INFO, and has the fields `pid`, `function`, and `name`, which is that of its
/// beginning ([`SpawnOptions::name`](crate::SpawnOptions)); one that gets a name later may record it:
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
/// *Cancellation*: as of the function itself.
///
/// COST: making a span, and entering and leaving it each time the process runs; nearly nothing if nobody
/// subscribes to it.
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
            let name = ProcessInfo::here(&me.owner().address()).name;
            name.map(|name| span.record("name", display(name)));
        }
        // What is done before the first await is done in it too.
        let future = span.in_scope(|| function(me));
        future.instrument(span)
    }
}

/// A message that carries the span of whoever made it, so that what its receiver logs about it belongs to the
/// same story.
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
/// COST: 40 bytes more in a message, and a counted reference to the span if somebody subscribes to it.
#[derive(Clone, Debug)]
pub struct Traced<M> {
    message: M,
    span: Span,
}

impl<M> Traced<M> {
    /// A message with the current span.
    pub fn new(message: M) -> Self {
        Self { message, span: Span::current() }
    }

    /// The message.
    pub fn message(&self) -> &M {
        &self.message
    }

    /// The span that it carries.
    pub fn span(&self) -> &Span {
        &self.span
    }

    /// The message, and its span.
    pub fn into_parts(self) -> (M, Span) {
        (self.message, self.span)
    }

    /// Does something with the message in its span.
    pub fn within<R>(self, f: impl FnOnce(M) -> R) -> R {
        let Self { message, span } = self;
        span.in_scope(|| f(message))
    }

    /// The same for what awaits.
    ///
    /// *Cancellation*: as of what `f` makes; the message is dropped with it.
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
