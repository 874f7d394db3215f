//! Deadline: the timer behind `receive … after` and call timeouts.
//!
//! The waiting future polls it with any waker, and stores and drops it like a future. The first
//! poll sets the timer, so an event that is there before costs no timer. The time begins with that
//! poll, or before it with [`Deadline::begin`].
//!
//! In a process the timer is an entry in the timing wheel of the worker that first polled it.
//! Elsewhere (a call from a task of a tokio runtime) it is a tokio timer.
//!
//! Most waits with a timeout of a second or more, such as calls, end long before it. So the deadlines
//! of a process of that length share one timer ([`KeptTimer`]), which stays set when a deadline is
//! dropped. It serves each later deadline that is due after it: when it fires, the process is polled,
//! and sets it again for the deadline of that time. In virtual time each deadline has its own timer,
//! because a timer that stays would advance the clock.
//!
//! COST: in a process the first poll reads the clock, and twice if `begin` has read it before. A
//! deadline below a second takes one lock, usually uncontended, to set, to poll again and to drop. A
//! longer one reads the clock at each poll, and takes a lock if it sets the shared timer: the first
//! one of a process, which may also allocate a block, and then one in the time of a timeout.
//! Elsewhere an allocation.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use purlin_raw::{current_local, is_current_waker, reschedule};
use purlin_sched::{Timer, TimerAction, TimerWheel};
use tokio::runtime::Handle;
use tokio::time::{Sleep, sleep};

use crate::Node;
use crate::node::context::{NodeContext, with_context};
use crate::node::erlang_types::ErlangTypes;
use crate::signals::local_state::LocalState;

/// Time from which a deadline is long: it uses the process's shared timer.
pub(crate) const LONG: Duration = Duration::from_secs(1);

/// Timer that is ready once its time has passed, never earlier.
#[derive(Debug)]
pub(crate) struct Deadline(Stage);

/// Stage of a deadline: not started, or a timer of this node or of another runtime.
#[derive(Debug)]
enum Stage {
    /// Not polled yet. The time begins with the first poll, or at `since`.
    Unset {
        time: Duration,
        since: Option<Duration>,
    },
    Here(Timer),
    /// Uses the shared timer of the process.
    Shared {
        until: Instant,
    },
    Elsewhere(Pin<Box<Sleep>>),
}

impl Deadline {
    /// Creates a deadline at `time` after the first poll; `Duration::MAX` is never reached.
    pub(crate) fn after(time: Duration) -> Self {
        Self(Stage::Unset { time, since: None })
    }

    /// Begins the time now, on a thread of a node and before the first poll. Sets no timer.
    pub(crate) fn begin(&mut self) {
        if let Stage::Unset { since, .. } = &mut self.0 {
            *since = Node::current_uptime();
        }
    }

    /// Returns `Ready` if the time has passed; otherwise registers the waker to be woken then.
    ///
    /// # Panics
    /// Panics on a thread with neither a node nor a tokio runtime.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.0 {
            Stage::Here(timer) => timer.poll(cx.waker()),
            Stage::Elsewhere(sleep) => sleep.as_mut().poll(cx),
            Stage::Shared { until } => {
                let until = *until;
                let now = Instant::now();
                if now >= until {
                    return Poll::Ready(());
                }
                if KeptTimer::set(now, until, cx.waker()) {
                    return Poll::Pending;
                }
                self.set_own(until - now, cx)
            }
            Stage::Unset { time, since } => {
                let passed = since.and_then(|since| Node::current_uptime()?.checked_sub(since));
                let left = time.saturating_sub(passed.unwrap_or_default());
                self.set(left, cx)
            }
        }
    }

    fn set(&mut self, time: Duration, cx: &mut Context<'_>) -> Poll<()> {
        if time.is_zero() {
            return Poll::Ready(());
        }
        if time >= LONG {
            let now = Instant::now();
            if let Some(until) = now.checked_add(time)
                && KeptTimer::set(now, until, cx.waker())
            {
                self.0 = Stage::Shared { until };
                return Poll::Pending;
            }
        }
        self.set_own(time, cx)
    }

    /// Sets a timer of this deadline alone.
    fn set_own(&mut self, time: Duration, cx: &mut Context<'_>) -> Poll<()> {
        let alarm =
            |here: &NodeContext| here.timers.set(time, TimerAction::Wake(cx.waker().clone()));
        if let Some(timer) = with_context(alarm) {
            self.0 = Stage::Here(timer);
            return Poll::Pending;
        }
        assert!(
            Handle::try_current().is_ok(),
            "waited on a thread with neither a node nor a tokio runtime, which has no timer; use \
             call_blocking for a call"
        );
        self.0 = Stage::Elsewhere(Box::pin(sleep(time)));
        self.poll(cx)
    }
}

/// Timer that a process keeps for its long deadlines.
#[derive(Debug)]
pub(crate) struct KeptTimer {
    timer: Timer,
    /// When the timer fires, or somewhat earlier.
    due: Instant,
}

impl KeptTimer {
    /// Has the current process polled at `until` or before. Returns `false`, without effect, if
    /// `waker` is not the waker of the current process, or if the clock is a manual one.
    fn set(now: Instant, until: Instant, waker: &Waker) -> bool {
        let set = |here: &NodeContext| {
            if here.timers.is_manual() || !is_current_waker(waker) {
                return false;
            }
            let suits = |kept: &Self| now < kept.due && kept.due <= until;
            let kept = |local: &mut LocalState| local.timer().as_ref().is_some_and(suits);
            match current_local::<ErlangTypes, _>(kept) {
                Some(false) => Self::renew(&here.timers, now, until, waker),
                Some(true) => {}
                None => return false,
            }
            true
        };
        with_context(set).unwrap_or(false)
    }

    /// Replaces the timer of the current process.
    fn renew(timers: &TimerWheel, now: Instant, until: Instant, waker: &Waker) {
        let timer = timers.set(until - now, TimerAction::Wake(waker.clone()));
        let new = Self { timer, due: until };
        // WHY dropped here: to drop a waker may run user code, which must not happen during the
        // access.
        let before = current_local::<ErlangTypes, _>(|local| local.timer().replace(new)).flatten();
        // WHY: it may not have fired, and another deadline may have been polled before it was due.
        if before.is_some_and(|before| before.due <= now) {
            reschedule(waker);
        }
    }
}

impl Drop for KeptTimer {
    fn drop(&mut self) {
        self.timer.remove();
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        if let Stage::Here(timer) = &self.0 {
            timer.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::{Arc, mpsc};
    use std::task::Wake;

    use super::*;
    use crate::{Pid, Process};

    fn node() -> Node {
        Node::builder().workers(1).build().expect("a node starts")
    }

    /// Runs a process and returns the values that it sends.
    fn run<T, F>(node: &Node, f: impl FnOnce(mpsc::Sender<T>, Node) -> F + Send + 'static) -> Vec<T>
    where
        T: Send + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let (tx, rx) = mpsc::channel();
        let own = node.clone();
        let pid: Pid<()> = node.spawn(move |_: Process<()>| f(tx, own));
        let values = rx.iter().collect();
        crate::call::request::block_on(pid.ended());
        values
    }

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_long_deadlines_of_a_process_share_a_timer_until_it_ends() {
        let node = node();
        let pending = run(&node, async |tx, node| {
            for time in [1000, 2000, 500, 1000].map(seconds) {
                let mut deadline = Deadline::after(time);
                assert!(poll_fn(|cx| Poll::Ready(deadline.poll(cx))).await.is_pending());
                drop(deadline);
                let _ = tx.send(node.pending_timers());
            }
        });
        assert_eq!(pending, [1; 4]);
        assert_eq!(node.pending_timers(), 0, "the process has ended");
    }

    #[test]
    fn a_long_deadline_is_reached_in_time_whenever_the_shared_timer_fires() {
        // The timer of the first deadline fires after and before the second one. On a busy machine the
        // process may run only after both.
        for (first, second, polls) in [(1000, 1000, 2), (1000, 1300, 3)] {
            let times = [first, second].map(Duration::from_millis);
            assert!((0..100).any(|_| polls_until_reached(times) >= polls), "{times:?}");
        }
    }

    /// Returns the number of polls of a deadline that is set after another one was dropped.
    fn polls_until_reached(times: [Duration; 2]) -> usize {
        let polls = run(&node(), async move |tx, _| {
            let mut dropped = Deadline::after(100 * times[0]);
            if times[1] > times[0] {
                dropped = Deadline::after(times[0]);
            }
            assert!(poll_fn(|cx| Poll::Ready(dropped.poll(cx))).await.is_pending());
            drop(dropped);
            // WHY real time: in virtual time no timer is shared. There is no upper bound.
            let (began, mut polls) = (Instant::now(), 0);
            let mut deadline = Deadline::after(times[1]);
            poll_fn(|cx| {
                polls += 1;
                deadline.poll(cx)
            })
            .await;
            // WHY real time: as above.
            assert!(began.elapsed() >= times[1]);
            let _ = tx.send(polls);
        });
        polls[0]
    }

    // A deadline that is polled before the shared timer is due depends on it, although another one
    // replaces the timer in the same turn, before it has fired.
    #[test]
    fn a_long_deadline_is_reached_although_another_one_replaces_the_due_timer() {
        let reached = run(&node(), async |tx, _| {
            let mut first = Deadline::after(LONG);
            let mut reached = false;
            poll_fn(|cx| {
                reached = first.poll(cx).is_ready();
                if !reached {
                    // WHY real time: in virtual time no timer is shared. The turn lasts until the
                    // timer is due, and the deadline polled next replaces it.
                    let began = Instant::now();
                    // WHY real time: as above.
                    while began.elapsed() < LONG {}
                    assert!(Deadline::after(seconds(1000)).poll(cx).is_pending());
                    return Poll::Pending;
                }
                Poll::Ready(())
            })
            .await;
            let _ = tx.send(reached);
        });
        assert_eq!(reached, [true]);
    }

    // A combinator may poll only the part whose waker was woken
    #[test]
    fn a_long_deadline_that_is_polled_with_another_waker_has_its_own_timer() {
        struct Other;
        impl Wake for Other {
            fn wake(self: Arc<Self>) {}
        }
        let pending = run(&node(), async |tx, node| {
            let mut deadline = Deadline::after(seconds(1000));
            let other = Waker::from(Arc::new(Other));
            assert!(deadline.poll(&mut Context::from_waker(&other)).is_pending());
            let _ = tx.send(node.pending_timers());
            drop(deadline);
            let _ = tx.send(node.pending_timers());
            // A deadline that changes from the process's waker to another one.
            let mut deadline = Deadline::after(seconds(1000));
            assert!(poll_fn(|cx| Poll::Ready(deadline.poll(cx))).await.is_pending());
            assert!(deadline.poll(&mut Context::from_waker(&other)).is_pending());
            let _ = tx.send(node.pending_timers());
        });
        assert_eq!(pending, [1, 0, 2]);
    }

    // The time between `begin` and the first poll counts
    #[test]
    fn time_begins_with_the_first_poll_unless_it_has_begun_before() {
        let passed = run(&node(), async |tx, _| {
            for begins in [false, true] {
                let mut deadline = Deadline::after(Duration::from_nanos(1));
                if begins {
                    deadline.begin();
                }
                let began = Node::current_uptime();
                while Node::current_uptime() == began {}
                let _ = tx.send(poll_fn(|cx| Poll::Ready(deadline.poll(cx).is_ready())).await);
            }
        });
        assert_eq!(passed, [false, true]);
    }
}
