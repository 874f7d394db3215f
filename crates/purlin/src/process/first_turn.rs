//! Body of a process that reports the end of its first turn.

use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use purlin_raw::{Body, InTurn};

use crate::Reply;
use crate::node::erlang_types::ErlangTypes;
use crate::process::exit_status::ExitStatus;

pin_project! {
    /// Body that sends a reply after its first turn: when the function has reached its first await
    /// or has ended.
    pub(crate) struct FirstTurn<B> {
        #[pin]
        body: B,
        ended: Option<Reply<()>>,
    }
}

impl<M: Send + 'static, B: Body<ErlangTypes, M>> Body<ErlangTypes, M> for FirstTurn<B> {
    const BLOCKING: bool = B::BLOCKING;
    type Bound = B::Bound;

    fn turn(
        self: Pin<&mut Self>,
        me: InTurn<'_, ErlangTypes, M>,
        cx: &mut Context<'_>,
    ) -> Poll<ExitStatus> {
        let this = self.project();
        let polled = this.body.turn(me, cx);
        if let Some(ended) = this.ended.take() {
            ended.send(());
        }
        polled
    }

    fn name() -> &'static str {
        B::name()
    }
}

/// Wrapper of a process body: none (`()`), or the report of the first turn (`Reply<()>`).
pub(crate) trait WrapBody<M: Send + 'static> {
    /// The wrapped body.
    type Wrapped<B: Body<ErlangTypes, M>>: Body<ErlangTypes, M, Bound = B::Bound>;

    fn wrap<B: Body<ErlangTypes, M>>(self, body: B) -> Self::Wrapped<B>;
}

impl<M: Send + 'static> WrapBody<M> for () {
    type Wrapped<B: Body<ErlangTypes, M>> = B;

    fn wrap<B: Body<ErlangTypes, M>>(self, body: B) -> B {
        body
    }
}

impl<M: Send + 'static> WrapBody<M> for Reply<()> {
    type Wrapped<B: Body<ErlangTypes, M>> = FirstTurn<B>;

    fn wrap<B: Body<ErlangTypes, M>>(self, body: B) -> FirstTurn<B> {
        FirstTurn { body, ended: Some(self) }
    }
}
