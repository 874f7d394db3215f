//! Table of a state machine's timeouts: those that run, and those of zero that wait for their turn.

use std::collections::VecDeque;
use std::fmt;
use std::hash::Hash;
use std::time::Duration;

use purlin_sched::Timer;
use rustc_hash::FxHashMap;

/// Timeout of a state machine. Each runs at most once at a time: setting it again replaces it.
///
/// `N` is the type of the names, [`StateMachine::TimeoutName`](super::StateMachine::TimeoutName).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Timeout<N> {
    /// Timeout of the state, cancelled by a change of the state: OTP's `state_timeout`.
    State,
    /// Timeout of the next event, cancelled by any event: OTP's `timeout`.
    Event,
    /// Timeout with a name, which no event cancels: OTP's `{timeout, Name}`.
    Named(N),
}

/// Change of a timeout that a callback has returned. `C` is the content of the timeout's event.
#[derive(Debug)]
pub(super) enum Change<C> {
    /// Starts the timeout; `Duration::MAX` cancels it.
    Start(Duration, C),
    /// Replaces the content, or starts a timeout of zero if the timeout does not run.
    Update(C),
    Cancel,
}

/// Changes of timeouts in the order in which they are made, at most one for each timeout.
#[derive(Debug)]
pub(super) struct Changes<N, C>(Vec<(Timeout<N>, Change<C>)>);

impl<N: Eq, C> Changes<N, C> {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    /// Appends a change. An earlier change of the same timeout has no effect.
    pub(super) fn push(&mut self, timeout: Timeout<N>, change: Change<C>) {
        self.0.retain(|(earlier, _)| *earlier != timeout);
        self.0.push((timeout, change));
    }

    /// Appends the changes of another callback of the same transition.
    pub(super) fn append(&mut self, later: Self) {
        later.0.into_iter().for_each(|(timeout, change)| self.push(timeout, change));
    }
}

/// Timeouts that have been set and have not led to an event yet.
pub(super) struct Timeouts<N, C> {
    running: FxHashMap<Timeout<N>, Running<C>>,
    /// Timeouts of zero, in the order in which they were set.
    zero: VecDeque<Timeout<N>>,
    /// Number of the last timer.
    last: u64,
}

/// Timeout that runs.
struct Running<C> {
    content: C,
    /// The timer; `None` for a timeout of zero.
    alarm: Option<Alarm>,
}

/// Timer of a timeout; cancelled when it is dropped.
struct Alarm {
    /// Number that distinguishes it from earlier timers of the timeout.
    number: u64,
    timer: Timer,
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.timer.remove();
    }
}

impl<N: Clone + Eq + Hash, C> Timeouts<N, C> {
    pub(super) fn new() -> Self {
        Self { running: FxHashMap::default(), zero: VecDeque::new(), last: 0 }
    }

    /// Makes the changes. `set` sets a timer that calls [`Timeouts::expire`] later.
    pub(super) fn apply(
        &mut self,
        changes: Changes<N, C>,
        mut set: impl FnMut(Duration, Timeout<N>, u64) -> Timer,
    ) {
        for (timeout, change) in changes.0 {
            match change {
                Change::Cancel => self.cancel(&timeout),
                Change::Start(time, _) if time == Duration::MAX => self.cancel(&timeout),
                Change::Start(time, content) if time.is_zero() => {
                    self.cancel(&timeout);
                    self.start_zero(timeout, content);
                }
                Change::Start(time, content) => {
                    self.cancel(&timeout);
                    self.last += 1;
                    let timer = set(time, timeout.clone(), self.last);
                    let alarm = Some(Alarm { number: self.last, timer });
                    self.running.insert(timeout, Running { content, alarm });
                }
                Change::Update(content) => match self.running.get_mut(&timeout) {
                    Some(running) => running.content = content,
                    None => self.start_zero(timeout, content),
                },
            }
        }
    }

    fn start_zero(&mut self, timeout: Timeout<N>, content: C) {
        self.zero.push_back(timeout.clone());
        self.running.insert(timeout, Running { content, alarm: None });
    }

    /// Cancels a timeout, if it runs.
    ///
    /// COST: a timeout of zero is searched for among all of them.
    pub(super) fn cancel(&mut self, timeout: &Timeout<N>) {
        if self.running.remove(timeout).is_some_and(|running| running.alarm.is_none()) {
            self.zero.retain(|zero| zero != timeout);
        }
    }

    /// Takes the timeout whose timer has fired. Returns its content, or `None` if the timeout has
    /// been cancelled or set again since the timer was set.
    pub(super) fn expire(&mut self, timeout: &Timeout<N>, number: u64) -> Option<C> {
        let alarm = self.running.get(timeout)?.alarm.as_ref()?;
        if alarm.number != number {
            return None;
        }
        self.running.remove(timeout).map(|running| running.content)
    }

    /// Takes the oldest timeout of zero.
    pub(super) fn pop_zero(&mut self) -> Option<(Timeout<N>, C)> {
        let timeout = self.zero.pop_front()?;
        let running = self.running.remove(&timeout)?;
        Some((timeout, running.content))
    }
}

impl<N: fmt::Debug, C: fmt::Debug> fmt::Debug for Timeouts<N, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.running.iter().map(|(timeout, running)| (timeout, &running.content)))
            .finish()
    }
}
