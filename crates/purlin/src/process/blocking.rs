//! Processes that may block their thread.
//!
//! Such a process has a pid, a mailbox and an exit reason like any other. The difference: its
//! worker hands each turn to a thread of tokio's blocking pool (`Workers`), so the code between two
//! awaits may take any amount of time.

use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use purlin_raw::{InTurn, Owner};

use crate::node::erlang_types::ErlangTypes;
use crate::process::body::Body;
use crate::process::exit_status::ExitStatus;

pin_project! {
    /// Body of a process that may block.
    pub(crate) struct Blocking<B> {
        #[pin]
        body: B,
    }
}

impl<M: Send + 'static, B: purlin_raw::Body<ErlangTypes, M>> purlin_raw::Body<ErlangTypes, M>
    for Blocking<B>
{
    const BLOCKING: bool = true;
    type Bound = B::Bound;

    fn turn(
        self: Pin<&mut Self>,
        me: InTurn<'_, ErlangTypes, M>,
        cx: &mut Context<'_>,
    ) -> Poll<ExitStatus> {
        self.project().body.turn(me, cx)
    }

    fn name() -> &'static str {
        B::name()
    }
}

/// Creates the body of a process that may block; `E` is the bound of its mailbox.
pub(crate) fn blocking<M, F, Fut, E>(
    function: F,
    me: Owner<ErlangTypes, M>,
) -> Blocking<Body<M, F, Fut, E>>
where
    M: Send + 'static,
{
    Blocking { body: Body::new(function, me) }
}
