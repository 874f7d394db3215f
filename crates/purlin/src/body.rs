//! Process body: one turn handles the signals first, then polls the process's function.
//!
//! The raw cell calls it on a worker thread. No panic of user code unwinds out of a turn: the
//! function, its destructors and the conversion of its result are each caught, and a panic becomes
//! the exit reason of the process (P2).

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use purlin_raw::{Bounds, Look, NotHere, Owner, quietly};

use crate::act::act;
use crate::exit::catch;
use crate::foreign::Answer;
use crate::home::{Erlang, Last, here};
use crate::observe::{self, Crash};
use crate::signal::wake;
use crate::{ExitReason, Outcome, Process, ProcessId, room};

pin_project! {
    /// Code of a process with the function `F` and the mailbox bound `E`.
    pub(crate) struct Body<M, F, Fut, E> {
        #[pin]
        stage: Stage<M, F, Fut>,
        edge: PhantomData<fn() -> E>,
    }
}

pin_project! {
    /// Progress of the process's function.
    ///
    /// WHY: the first turn calls the function, so that its future is built in place and a panic
    /// before the first await ends the child and not the parent.
    #[project = StageNow]
    #[project_replace = StageBefore]
    enum Stage<M, F, Fut> {
        Start { function: F, me: Process<M>, future: PhantomData<fn() -> Fut> },
        Running { #[pin] future: Fut },
        Over,
    }
}

impl<M: Send + 'static, F, Fut, E> Body<M, F, Fut, E> {
    pub(crate) fn new(function: F, me: Owner<Erlang, M>) -> Self {
        let me = Process::new(me);
        Self { stage: Stage::Start { function, me, future: PhantomData }, edge: PhantomData }
    }
}

/// How a turn continues after its signals.
enum Begun {
    /// The turn polls the process's function.
    Function,
    /// The process has sent past the bound of a mailbox that is still full: its function is not
    /// polled.
    Suspended,
    /// The process ends.
    Over(ExitReason),
}

/// Handles the signals that arrived and moves the messages to the save queue. Returns the number of
/// messages moved.
///
/// Called at the beginning of a turn, and within a turn when a scan of the mailbox reaches its end.
#[inline]
pub(crate) fn fetch<M: Send + 'static>(me: &Owner<Erlang, M>) -> Result<usize, NotHere> {
    if me.has_news() { me.fetch(false, |signal| act(me, signal)) } else { Ok(0) }
}

/// Takes the oldest message and handles the signals before it.
#[inline]
pub(crate) fn next<M: Send + 'static>(me: &Owner<Erlang, M>) -> Result<Option<M>, NotHere> {
    me.next(|signal| act(me, signal))
}

impl<M, F, Fut, E> purlin_raw::Body<Erlang, M> for Body<M, F, Fut, E>
where
    E: Bounds,
    M: Send + 'static,
    F: FnOnce(Process<M>) -> Fut + Send + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: Outcome,
{
    type Edge = E;

    #[inline(always)]
    fn turn(self: Pin<&mut Self>, me: &Owner<Erlang, M>, cx: &mut Context<'_>) -> Poll<Last> {
        let last = self.work(me, cx);
        if E::BOUNDED && last.is_pending() {
            me.make_room();
        }
        last
    }

    fn name() -> &'static str {
        std::any::type_name::<F>()
    }
}

impl<M, F, Fut, E> Body<M, F, Fut, E>
where
    E: Bounds,
    M: Send + 'static,
    F: FnOnce(Process<M>) -> Fut + Send + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: Outcome,
{
    /// Runs a turn: signals, then the function, then the exit signals that arrived meanwhile.
    #[inline]
    fn work(self: Pin<&mut Self>, me: &Owner<Erlang, M>, cx: &mut Context<'_>) -> Poll<Last> {
        let mut stage = self.project().stage;
        match begin::<M, E>(me) {
            Begun::Function => {}
            Begun::Suspended => return Poll::Pending,
            Begun::Over(reason) => {
                // WHY: `quietly`, because a destructor of user code may panic, and the exit reason
                // is fixed.
                quietly(|| stage.set(Stage::Over));
                return Poll::Ready(Last::new(reason));
            }
        }
        let polled = catch::panics(|| {
            let polled = advance(stage.as_mut(), cx);
            if polled.is_ready() {
                stage.set(Stage::Over);
            }
            polled
        });
        let last = match polled {
            Ok(Poll::Ready(last)) => last,
            Ok(Poll::Pending) => {
                let Poll::Ready(exit) = suspended(me) else { return Poll::Pending };
                quietly(|| stage.set(Stage::Over));
                Last::new(exit)
            }
            Err(reason) => {
                // A second panic, in a destructor, does not change the exit reason.
                quietly(|| stage.set(Stage::Over));
                Last::new(reason)
            }
        };
        if !last.is_normal() {
            report(me, &last.reason(), std::any::type_name::<F>());
        }
        Poll::Ready(last)
    }
}

/// Begins a turn: handles the signals that arrived and decides whether the process ends or waits.
///
/// An inbox that holds only messages is left until they are received: an overloaded process need
/// not sort messages that it does not reach in this turn (F3).
// WHY: `inline(always)`, because a function call took ten more instructions per turn.
#[inline(always)]
fn begin<M: Send + 'static, E: Bounds>(me: &Owner<Erlang, M>) -> Begun {
    if me.has_signals() || E::BOUNDED && me.is_past_bound() {
        return act_on_signals(me);
    }
    if !me.has_local() {
        return Begun::Function;
    }
    match me.local(|local| local.waits()) {
        Ok((true, _)) if me.has_news() => act_on_signals(me),
        Ok((_, true)) if room::is_suspended(me) => Begun::Suspended,
        _ => Begun::Function,
    }
}

#[inline(never)]
fn act_on_signals<M: Send + 'static>(me: &Owner<Erlang, M>) -> Begun {
    let came = me.fetch_within_bound(|signal| act(me, signal));
    debug_assert!(came.is_ok(), "a turn runs on its own thread");
    let found = me.local(|local| {
        let mail = if came.is_ok_and(|came| came > 0) { local.take_mail() } else { None };
        (mail, local.exit(), local.waits().1)
    });
    let Ok((mail, exit, suspended)) = found else { return Begun::Function };
    if let Some(waker) = mail {
        wake(waker);
    }
    match exit {
        Some(reason) => Begun::Over(reason),
        None if suspended && room::is_suspended(me) => Begun::Suspended,
        None => Begun::Function,
    }
}

/// Ends a turn in which the function has not returned: checks whether the process must end.
#[inline]
fn suspended<M: Send + 'static>(me: &Owner<Erlang, M>) -> Poll<ExitReason> {
    if !me.has_local() {
        return Poll::Pending;
    }
    match me.local(|local| local.pause()) {
        Ok((Some(reason), _)) => Poll::Ready(reason),
        Ok((None, true)) => {
            // A combinator may have polled its other futures in this turn and not the receive,
            // which still waits for a message.
            let listens = me.listen();
            debug_assert!(listens.is_ok(), "a turn runs on its own thread");
            Poll::Pending
        }
        Ok((None, false)) | Err(NotHere) => Poll::Pending,
    }
}

/// Calls or polls the function.
#[inline]
fn advance<M, F, Fut>(mut stage: Pin<&mut Stage<M, F, Fut>>, cx: &mut Context<'_>) -> Poll<Last>
where
    F: FnOnce(Process<M>) -> Fut,
    Fut: Future,
    Fut::Output: Outcome,
{
    loop {
        match stage.as_mut().project() {
            StageNow::Running { future } => {
                return future.poll(cx).map(|outcome| Last::new(outcome.into_reason()));
            }
            StageNow::Over => return Poll::Ready(Last::default()),
            StageNow::Start { .. } => {}
        }
        if let StageBefore::Start { function, me, .. } = stage.as_mut().project_replace(Stage::Over)
        {
            let future = function(me);
            stage.set(Stage::Running { future });
        }
    }
}

/// Records a crash in the node's journal.
fn write_down<M: Send + 'static>(
    me: &Owner<Erlang, M>,
    look: &Look,
    reason: &ExitReason,
    function: &'static str,
) {
    let (when, at) = observe::moment();
    here(|here| {
        let home = here.realm.home();
        home.journal.crashed(Crash {
            number: 0,
            when,
            at,
            id: ProcessId::new(me.shared().creation, look.slot),
            name: home.names.of(look.slot),
            parent: me.shared().parent(),
            function,
            reason: observe::beginning(reason),
            mailbox_len: look.mailbox,
            messages_in: look.received,
        });
    });
}

/// Logs and records an end by a panic or an error; ignores other exit reasons.
#[cold]
pub(crate) fn report<M: Send + 'static>(
    me: &Owner<Erlang, M>,
    reason: &ExitReason,
    function: &'static str,
) {
    match reason {
        ExitReason::Panic(_) => {}
        ExitReason::Error(why) if why.downcast_ref::<Answer>().is_none() => {}
        _ => return,
    }
    let look = me.address().look();
    let pid = ProcessId::new(me.shared().creation, look.slot);
    let (mailbox, received) = (look.mailbox, look.received);
    write_down(me, &look, reason, function);
    // WHY: `quietly`, because tracing subscribers are user code.
    quietly(|| tracing::error!(%pid, function, %reason, mailbox, received, "process ended"));
}
