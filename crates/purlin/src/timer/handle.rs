//! Timers that send a message, once or periodically (N3).
//!
//! A one-shot message waits, sealed, in the timing wheel of the worker that set the timer
//! (`purlin_sched::Timers`). `interval` holds the periodic timers.

use std::fmt;
use std::time::Duration;

use purlin_sched::{TimerAction, TimerWheel};

use crate::node::context::with_context;
use crate::timer::interval::Interval;
use crate::{Node, Pid, spawn};

/// Handle on a message to be sent later: Erlang's timer reference.
///
/// Dropping it does not cancel the timer, as in Erlang. Any thread may use it; a clone refers to
/// the same timer.
#[derive(Clone)]
pub struct Timer(Kind);

/// Kind of a timer.
#[derive(Clone)]
enum Kind {
    Once(purlin_sched::Timer),
    Again(Interval),
}

impl Timer {
    /// Cancels the timer and returns the time that was left. Returns `None` if the message was
    /// already sent, or the timer already cancelled (N3).
    ///
    /// A message whose timer was cancelled in time is dropped here, and never received.
    ///
    /// The cancellation of an interval waits for a send that is under way. If the mailbox is full, the
    /// send may drop a message: hold no lock here that its destructor takes. The destructor itself can
    /// cancel timers; it does not wait for the send of another interval, whose message may still arrive.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use purlin::{Process, spawn};
    /// # #[purlin::main] async fn main() {
    /// # let pid =
    /// spawn(async |mut me: Process<&str>| {
    ///     let alarm = me.pid().send_after(Duration::from_secs(60), "too late");
    ///     let left = alarm.cancel().expect("a minute has not passed");
    ///     assert!(left <= Duration::from_secs(60));
    ///     assert_eq!(alarm.cancel(), None);
    ///     assert_eq!(me.try_receive(), None);
    /// });
    /// # assert_eq!(pid.ended().await, purlin::ExitReason::Normal);
    /// # }
    /// ```
    ///
    /// COST: no allocation; a lock that is usually uncontended, and a reading of the clock.
    pub fn cancel(&self) -> Option<Duration> {
        match &self.0 {
            Kind::Once(timer) => timer.cancel(),
            Kind::Again(interval) => interval.cancel(),
        }
    }

    /// Returns the time left, for a periodic timer in the current period. Returns `None` if the
    /// message was sent or the timer cancelled. Changes nothing.
    pub fn read(&self) -> Option<Duration> {
        match &self.0 {
            Kind::Once(timer) => timer.read(),
            Kind::Again(interval) => interval.read(),
        }
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer").field("left", &self.read()).finish()
    }
}

impl<M: Send + 'static> Pid<M> {
    /// Sends a message to this process after `time`, and returns immediately (N3).
    ///
    /// The message is sent as by [`Pid::send`], never early and usually within a tenth
    /// of a millisecond after its time. The node sends it, not the process that set the timer: what the process
    /// sends meanwhile arrives first, and the message is sent even if the process has ended. If the
    /// receiver has ended by then, the message is dropped and counted (M4); until then the timer
    /// holds it. A time of zero sends immediately; a time above 146 years counts as 146 years.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use purlin::{Process, spawn};
    /// # #[purlin::main] async fn main() {
    /// # let pid =
    /// spawn(async |mut me: Process<&str>| {
    ///     me.pid().send_after(Duration::from_millis(5), "wake up");
    ///     assert_eq!(me.receive().await, "wake up");
    /// });
    /// # assert_eq!(pid.ended().await, purlin::ExitReason::Normal);
    /// # }
    /// ```
    ///
    /// # Panics
    /// Panics on a thread that runs no process; use [`Node::send_after`] there.
    ///
    /// COST: the block that the message takes anyway, 48 bytes in the worker's timing wheel, and a
    /// reading of the clock.
    #[track_caller]
    pub fn send_after(&self, time: Duration, message: M) -> Timer {
        let set = with_context(|here| send_after(&here.timers, self, time, message));
        set.unwrap_or_else(|| not_in_a_process("Node::send_after"))
    }

    /// Sends a message to this process periodically, first after one period (N3).
    ///
    /// A process of the timer calls `message` for each message. It ends when the timer is
    /// cancelled, when the receiver has ended, or when `message` panics. The due times do not
    /// drift: each is one period after the one before, however late the process runs, and missed
    /// messages are sent late. A period under one millisecond counts as one millisecond.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use purlin::{Process, spawn};
    /// # #[purlin::main] async fn main() {
    /// # let pid =
    /// spawn(async |mut me: Process<u32>| {
    ///     let mut count = 0;
    ///     let ticks = me.pid().send_interval(Duration::from_millis(2), move || {
    ///         count += 1;
    ///         count
    ///     });
    ///     assert_eq!((me.receive().await, me.receive().await), (1, 2));
    ///     ticks.cancel();
    /// });
    /// # assert_eq!(pid.ended().await, purlin::ExitReason::Normal);
    /// # }
    /// ```
    ///
    /// # Panics
    /// Panics on a thread that runs no process; use [`Node::send_interval`] there.
    ///
    /// COST: a process, and for each message a wake-up of it and a send.
    #[track_caller]
    pub fn send_interval(
        &self,
        period: Duration,
        message: impl FnMut() -> M + Send + 'static,
    ) -> Timer {
        let set = with_context(|here| {
            let (interval, sender) = Interval::new(&here.timers, self.clone(), period, message);
            let run = move |me| sender.run(me);
            interval.sent_by(spawn(run))
        });
        Timer(Kind::Again(set.unwrap_or_else(|| not_in_a_process("Node::send_interval"))))
    }
}

impl Node {
    /// [`Pid::send_after`] from any thread: this node holds the timer.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use purlin::{Node, Process};
    /// # fn main() -> Result<(), purlin::BuildError> {
    /// let node = Node::builder().build()?;
    /// let waits = node.spawn(async |mut me: Process<u8>| assert_eq!(me.receive().await, 7));
    /// let timer = node.send_after(&waits, Duration::from_secs(60), 7);
    /// assert!(timer.cancel().is_some());
    /// node.stop_blocking();
    /// # Ok(())
    /// # }
    /// ```
    pub fn send_after<M: Send + 'static>(&self, to: &Pid<M>, time: Duration, message: M) -> Timer {
        send_after(self.inner().scheduler.timers().wheel(0), to, time, message)
    }

    /// [`Pid::send_interval`] from any thread: a process of this node sends the messages.
    pub fn send_interval<M: Send + 'static>(
        &self,
        to: &Pid<M>,
        period: Duration,
        message: impl FnMut() -> M + Send + 'static,
    ) -> Timer {
        let wheel = self.inner().scheduler.timers().wheel(0);
        let (interval, sender) = Interval::new(wheel, to.clone(), period, message);
        Timer(Kind::Again(interval.sent_by(self.spawn(move |me| sender.run(me)))))
    }
}

fn send_after<M: Send + 'static>(
    wheel: &TimerWheel,
    to: &Pid<M>,
    time: Duration,
    message: M,
) -> Timer {
    if time.is_zero() {
        to.send(message);
        return Timer(Kind::Once(wheel.fired()));
    }
    Timer(Kind::Once(wheel.set(time, TimerAction::Send(to.address().seal(message)))))
}

#[cold]
#[track_caller]
fn not_in_a_process(instead: &str) -> ! {
    panic!("a timer was set outside a node: this thread runs no process; use {instead}")
}
