//! Process body: one turn handles the signals first, then polls the process's function.
//!
//! The raw cell calls it on a worker thread. No panic of user code unwinds out of a turn: the
//! function, its destructors and the conversion of its result are each caught, and a panic becomes
//! the exit reason of the process (P2).

use std::future::Future;
use std::marker::PhantomData;
use std::task::{Context, Poll};

use purlin_raw::{Code, InTurn, MaybeBound, Owner};

use crate::mailbox::backpressure::is_suspended;
use crate::node::erlang_types::ErlangTypes;
use crate::process::crash_report::report;
use crate::process::exit_status::ExitStatus;
use crate::process::function_name::function_name;
use crate::process::unwind::{catch, contain};
use crate::signals::handle_signal::handle_signal;
use crate::signals::local_state::LocalState;
use crate::signals::signal::wake;
use crate::{ExitReason, Outcome, Process};

/// Start of a process with the function `F` and the mailbox bound `E`; with `BLOCKING` its turns may
/// block the thread.
///
/// WHY: the first turn calls the function, so that its future is built in place and a panic before
/// the first await ends the child and not the parent.
pub(crate) struct Body<M, F, Fut, E, G = (), const BLOCKING: bool = false> {
    function: F,
    me: Process<M>,
    /// Dropped when the function has reached its first await or has ended.
    guard: G,
    types: PhantomData<fn() -> (Fut, E)>,
}

impl<M: Send + 'static, F, Fut, E> Body<M, F, Fut, E> {
    pub(crate) fn new(function: F, me: Owner<ErlangTypes, M>) -> Self {
        Self::with_guard(function, me, ())
    }
}

impl<M: Send + 'static, F, Fut, E, G, const BLOCKING: bool> Body<M, F, Fut, E, G, BLOCKING> {
    pub(crate) fn with_guard(function: F, me: Owner<ErlangTypes, M>, guard: G) -> Self {
        Self { function, me: Process::new(me), guard, types: PhantomData }
    }
}

// An idle process has 128 bytes, two cache lines and a size class of most allocators. One word more
// takes 160 from mimalloc.
const _: () = {
    async fn idle(mut me: Process<()>) {
        me.receive().await;
    }
    const fn bytes<F, Fut>(_: &F) -> usize
    where
        F: FnOnce(Process<()>) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        purlin_raw::cell_bytes::<ErlangTypes, (), Body<(), F, Fut, ()>>()
    }
    assert!(bytes(&idle) == 128);
};

/// How a turn continues after its signals.
enum TurnStart {
    /// The turn polls the process's function.
    Function,
    /// The process has sent past the bound of a mailbox that is still full: its function is not
    /// polled.
    Suspended,
    /// The process ends.
    Over(ExitReason),
}

impl<M, F, Fut, E, G, const BLOCKING: bool> purlin_raw::Body<ErlangTypes, M>
    for Body<M, F, Fut, E, G, BLOCKING>
where
    E: MaybeBound,
    M: Send + 'static,
    G: Send + 'static,
    F: FnOnce(Process<M>) -> Fut + Send + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: Outcome,
{
    const BLOCKING: bool = BLOCKING;
    type Bound = E;
    type Future = Fut;

    #[inline(always)]
    fn turn(
        code: Code<'_, Self, Fut>,
        me: InTurn<'_, ErlangTypes, M>,
        cx: &mut Context<'_>,
    ) -> Poll<ExitStatus> {
        let last = Self::run_turn(code, me, cx);
        if E::BOUNDED && last.is_pending() {
            me.mailbox().release_waiters();
        }
        last
    }

    fn name() -> &'static str {
        function_name::<F>()
    }
}

impl<M, F, Fut, E, G, const BLOCKING: bool> Body<M, F, Fut, E, G, BLOCKING>
where
    E: MaybeBound,
    M: Send + 'static,
    F: FnOnce(Process<M>) -> Fut + Send + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: Outcome,
{
    /// Runs a turn: signals, then the function, then the exit signals that arrived meanwhile.
    fn run_turn(
        mut code: Code<'_, Self, Fut>,
        me: InTurn<'_, ErlangTypes, M>,
        cx: &mut Context<'_>,
    ) -> Poll<ExitStatus> {
        match begin::<M, E>(me) {
            TurnStart::Function => {}
            TurnStart::Suspended => return Poll::Pending,
            TurnStart::Over(reason) => {
                // WHY: `contain`, because a destructor of user code may panic, and the exit
                // reason is fixed.
                contain(|| code.clear());
                return Poll::Ready(ExitStatus::new(reason));
            }
        }
        let polled = catch(|| {
            let polled = Self::advance(&mut code, cx);
            if polled.is_ready() {
                code.clear();
            }
            polled
        });
        let last = match polled {
            Ok(Poll::Ready(last)) => caught_exit(me).map_or(last, ExitStatus::new),
            Ok(Poll::Pending) => {
                let Poll::Ready(exit) = suspended(me) else { return Poll::Pending };
                // WHY only for `exit`: a process that an exit signal ends did not crash, and
                // `handle_signal` has reported the panic of a conversion. WHY before `clear`: the
                // destructors are user code, which may call `exit`.
                let called_exit = me.read_local(LocalState::called_exit);
                contain(|| code.clear());
                if !called_exit {
                    return Poll::Ready(ExitStatus::new(exit));
                }
                ExitStatus::new(exit)
            }
            Err(reason) => {
                // A second panic, in a destructor, does not change the exit reason.
                contain(|| code.clear());
                ExitStatus::new(reason)
            }
        };
        if !last.is_normal() {
            report(&me, &last.reason(), function_name::<F>());
        }
        Poll::Ready(last)
    }

    /// Calls the function if this is the first turn, and polls its future.
    fn advance(code: &mut Code<'_, Self, Fut>, cx: &mut Context<'_>) -> Poll<ExitStatus> {
        let _guard = code.begin().map(|(Self { function, me, guard, .. }, vacancy)| {
            vacancy.fill(function(me));
            guard
        });
        match code.future() {
            Some(future) => future.poll(cx).map(|outcome| ExitStatus::new(outcome.into_reason())),
            None => Poll::Ready(ExitStatus::default()),
        }
    }
}

/// Begins a turn: handles the signals that arrived and decides whether the process ends or waits.
///
/// An inbox that holds only messages is left until they are received, or until the budget is used up
/// (`Process::fetch_and_yield`).
// WHY: `inline(always)`, because a function call took ten more instructions per turn.
#[inline(always)]
fn begin<M: Send + 'static, E: MaybeBound>(me: InTurn<'_, ErlangTypes, M>) -> TurnStart {
    let mailbox = me.mailbox();
    if mailbox.has_signals() || E::BOUNDED && mailbox.is_past_bound() {
        return handle_signals(me);
    }
    if me.local_affects_turn() { begin_by_local(me) } else { TurnStart::Function }
}

/// [`begin`] without signals, if the private state affects the turn.
#[inline(never)]
fn begin_by_local<M: Send + 'static>(me: InTurn<'_, ErlangTypes, M>) -> TurnStart {
    match me.read_local(LocalState::waits) {
        (true, _) if me.mailbox().has_arrivals() => handle_signals(me),
        (_, true) if is_suspended(me) => TurnStart::Suspended,
        _ => TurnStart::Function,
    }
}

#[inline(never)]
fn handle_signals<M: Send + 'static>(me: InTurn<'_, ErlangTypes, M>) -> TurnStart {
    let added = me.mailbox().fetch(true, move |signal| handle_signal(me, signal));
    let ((waits, suspended), exit) = me.read_local(|local| (local.waits(), local.exit()));
    if waits
        && added > 0
        && let Some(waker) = me.local(LocalState::take_mail)
    {
        wake(waker);
    }
    match exit {
        Some(reason) => TurnStart::Over(reason),
        None if suspended && is_suspended(me) => TurnStart::Suspended,
        None => TurnStart::Function,
    }
}

/// Ends a turn in which the function has not returned: checks whether the process must end.
#[inline(always)]
fn suspended<M: Send + 'static>(me: InTurn<'_, ErlangTypes, M>) -> Poll<ExitReason> {
    if me.local_affects_turn() { suspended_by_local(me) } else { Poll::Pending }
}

/// [`suspended`], if the private state affects the turn.
// WHY apart from the check: it saves registers.
#[inline(never)]
fn suspended_by_local<M: Send + 'static>(me: InTurn<'_, ErlangTypes, M>) -> Poll<ExitReason> {
    match me.read_local(LocalState::pause) {
        (Some(reason), _) => Poll::Ready(reason),
        (None, true) => {
            // A combinator may have polled its other futures in this turn and not the receive,
            // which still waits for a message.
            me.mailbox().listen();
            Poll::Pending
        }
        (None, false) => Poll::Pending,
    }
}

/// Returns the reason of a call of [`exit`](crate::exit()) whose unwinding the function has caught.
#[inline(always)]
fn caught_exit<M: Send + 'static>(me: InTurn<'_, ErlangTypes, M>) -> Option<ExitReason> {
    if !me.local_affects_turn() {
        return None;
    }
    me.local(|local| local.take_called_exit())
}
