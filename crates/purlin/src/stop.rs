//! Stopping a node in good order.
//!
//! 1. The node's applications are stopped, the last that was started first, each in its own time, by a
//!    process of the node's.
//! 2. No process is begun any more.
//! 3. Every process is told `shutdown`, once, and has the grace period to end, also if it traps exits;
//!    then it is killed, and has a moment more.
//! 4. What stands for processes elsewhere is told likewise; it passes on what is left, such as the ends of
//!    those, and has what is left of the grace period, or a moment.
//! 5. So is what serves them, such as the connections to other nodes.
//! 6. Who has not ended by then is inside a poll that does not return. It is named in the report,
//!    and left with its thread (L7).
//! 7. What is attached to the node ends.
//! 8. The workers end, then the thread for sockets and timers.
//!
//! Time is the node's own. A simulated node's passes only while the simulation is driven, so there
//! the stop is a task of the simulation's, and a grace period takes no time.

use std::collections::HashSet;
use std::future::{Future, poll_fn, ready};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use purlin_raw::Realm;
use purlin_sched::{Alarm, Scheduler, TimerWheel};

use crate::application::{ApplicationRef, stop_all};
use crate::call::block_on;
use crate::home::{Erlang, Parent, Shared, is_worker};
use crate::local::Local;
use crate::node::{Inner, Io};
use crate::signal::{Peer, Signal, tell};
use crate::spawn::spawn_on;
use crate::{ExitReason, Node, Process, ProcessInfo, ProcessState};

/// How long processes have to end after they were told `shutdown`, as for OTP's workers.
const GRACE: Duration = Duration::from_secs(5);
/// How long they have after they were killed.
const LAST_MOMENT: Duration = Duration::from_millis(500);

/// How long to wait before looking whether all have ended, at first and at most.
const SHORTEST_PAUSE: Duration = Duration::from_micros(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// How a node stopped.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StopReport {
    /// Processes that were in a turn that would not end when the time was up, and were left.
    pub hogs: Vec<ProcessInfo>,
    /// Processes that were ready but had no worker to run them, behind a hog; they were left too.
    pub stranded: Vec<ProcessInfo>,
}

/// Whoever stops a node: there is one.
pub(crate) struct Stopper {
    realm: Realm<Erlang>,
    scheduler: Scheduler,
    io: Io,
}

impl Node {
    /// Stops the node (E1): its applications first, in the reverse order of their start, each in its
    /// own time; then every process that is left is told `shutdown` and has five seconds to end at its
    /// next await, then it is killed; what will not end is named in the report and left.
    ///
    /// Whoever calls it later, or meanwhile, waits for the same end and gets the same report. A
    /// process that stops its own node is ended by it, at this await, and the stop goes on.
    ///
    /// *Cancellation*: dropping the future does not call the stop off.
    pub async fn stop(&self) -> StopReport {
        let mut stopped = self.inner().realm.home().stopped.subscribe();
        self.begin_stop();
        // The sender lives in the realm, which `self` keeps.
        let report = stopped.wait_for(Option::is_some).await;
        report.ok().and_then(|report| report.clone()).unwrap_or_default()
    }

    /// Begins to stop the node, unless somebody has, and waits for nothing.
    pub(crate) fn begin_stop(&self) {
        if let Some(stopper) = Stopper::begin(self.inner()) {
            stopper.in_background();
        }
    }

    /// [`Node::stop`] for a thread that is no process: it blocks.
    ///
    /// # Panics
    /// In a process, which would wait for its own end.
    #[track_caller]
    pub fn stop_blocking(&self) -> StopReport {
        assert!(!is_worker(), "blocked on a stop inside a process: await it there");
        match Stopper::begin(self.inner()) {
            Some(stopper) => stopper.run_here(),
            None => block_on(self.stop()),
        }
    }
}

impl Stopper {
    /// Becomes the one who stops the node; `None` if somebody has.
    pub(crate) fn begin(inner: &Inner) -> Option<Self> {
        let io = inner.io.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let home = inner.realm.home();
        if home.applications.running().is_empty() {
            // ORDER: see `try_spawn_as`.
            home.stopping.store(true, Ordering::SeqCst);
        }
        Some(Self { realm: inner.realm.clone(), scheduler: inner.scheduler.clone(), io })
    }

    /// Stops the node on a thread of its own, or as a task of the simulation's.
    pub(crate) fn in_background(self) {
        if let Io::Simulated(tokio) = &self.io {
            let wheel = self.scheduler.timers().wheel(0).clone();
            tokio.clone().spawn(self.run(move |time| pass(wheel.clone(), time)));
            return;
        }
        let name = format!("{}-stop", self.realm.home().name);
        let realm = self.realm.clone();
        let started = thread::Builder::new().name(name).spawn(move || self.run_here());
        if let Err(error) = started {
            tracing::error!(%error, "no thread to stop the node with; it is left running");
            realm.home().stopped.send_replace(Some(StopReport::default()));
        }
    }

    /// Stops the node on this thread.
    fn run_here(self) -> StopReport {
        block_on(self.run(|time| {
            thread::sleep(time);
            ready(())
        }))
    }

    /// Stops the node; `pause` lets time pass, on the node's clock.
    async fn run<P: Future<Output = ()>>(self, pause: impl Fn(Duration) -> P) -> StopReport {
        self.stop_applications(&pause).await;
        // ORDER: see `try_spawn_as`.
        self.realm.home().stopping.store(true, Ordering::SeqCst);
        let clock = self.scheduler.timers().wheel(0).clone();
        let until = clock.now().saturating_add(GRACE);
        let mut ended = true;
        for who in [Who::Processes, Who::StandIns, Who::Services] {
            let left = until.saturating_sub(clock.now()).max(LAST_MOMENT);
            ended &= self.end_all(who, left, &pause).await;
        }
        let mut report = StopReport::default();
        if !ended {
            let left = self.realm.processes().map(|process| {
                ProcessInfo::of(&process, self.realm.home().names.of(process.slot()))
            });
            (report.hogs, report.stranded) =
                left.partition(|info| info.state == ProcessState::Running);
        }
        self.realm.home().attached.end();
        for hog in &report.hogs {
            tracing::error!(pid = %hog.id, function = hog.function, "process would not end");
        }
        let patience = if ended { GRACE } else { Duration::ZERO };
        let stopped = self.scheduler.stop(patience);
        tracing::debug!(?stopped, node = self.realm.home().name, "node stopped");
        if let Io::Own(tokio) = self.io {
            tokio.shutdown_background();
        }
        self.realm.home().stopped.send_replace(Some(report.clone()));
        report
    }

    /// Stops the applications. They may still spawn meanwhile.
    async fn stop_applications<P: Future<Output = ()>>(&self, pause: impl Fn(Duration) -> P) {
        let applications = self.realm.home().applications.running();
        if applications.is_empty() {
            return;
        }
        let patience = applications.iter().map(ApplicationRef::patience);
        let patience = patience.fold(Duration::ZERO, Duration::saturating_add);
        let stop = move |_: Process<()>| stop_all(applications);
        let stopping = spawn_on(&self.realm, Parent::current(), Local::default(), stop);
        self.until(patience, pause, || !stopping.is_alive()).await;
        self.realm.home().applications.forget();
    }

    /// Has all of them end: tells them `shutdown`, and kills those who have not ended when the time is up.
    /// `false` if that was not enough for some.
    async fn end_all<P: Future<Output = ()>>(
        &self,
        who: Who,
        patience: Duration,
        pause: &impl Fn(Duration) -> P,
    ) -> bool {
        let mut ending = Vec::new();
        self.tell_all(who, ExitReason::Shutdown, patience, &mut ending, pause).await
            || self.tell_all(who, ExitReason::Kill, LAST_MOMENT, &mut ending, pause).await
    }

    /// Tells all of them to end and waits until they have, and have told whom they tell; `false` when the time is
    /// up. Who has been told and may have something left to say is `ending`: it leaves the table before.
    ///
    /// WHY it looks again and again: a process that was being spawned when this began may appear
    /// late, and a count of processes, or a word from each that ends, would cost every one of them.
    async fn tell_all<P: Future<Output = ()>>(
        &self,
        who: Who,
        reason: ExitReason,
        patience: Duration,
        ending: &mut Vec<Peer>,
        pause: &impl Fn(Duration) -> P,
    ) -> bool {
        // WHY: one that traps exits would find each of them among its messages.
        let mut told = HashSet::new();
        let all = || self.realm.processes().filter(|it| who.has(it.shared()));
        self.until(patience, pause, || {
            for process in all().filter(|process| told.insert(process.slot())) {
                tell(&process, Signal::Exit { from: None, reason: reason.clone() });
                ending.push(process);
            }
            ending.retain(|process| !process.is_over());
            // In this order: a spawn from outside is done, or is seen here, or sees the stop.
            let none_under_way = self.realm.home().outside_spawns.load(Ordering::SeqCst) == 0;
            // WHY twice: one that spawned when the stop began may end between two looks, and what it spawned
            // stand where the first has been. Nobody spawns after that.
            let none = || all().next().is_none();
            none_under_way && ending.is_empty() && none() && none()
        })
        .await
    }

    /// Waits until something is so; `false` when the time is up.
    async fn until<P: Future<Output = ()>>(
        &self,
        patience: Duration,
        pause: impl Fn(Duration) -> P,
        mut is_so: impl FnMut() -> bool,
    ) -> bool {
        let clock = self.scheduler.timers().wheel(0);
        let deadline = clock.now().saturating_add(patience);
        let mut time = SHORTEST_PAUSE;
        loop {
            if is_so() {
                return true;
            }
            if clock.now() >= deadline {
                return false;
            }
            pause(time).await;
            time = (2 * time).min(LONGEST_PAUSE);
        }
    }
}

/// Whom a stop is about.
#[derive(Clone, Copy)]
enum Who {
    Processes,
    StandIns,
    Services,
}

impl Who {
    fn has(self, process: &Shared) -> bool {
        match self {
            Self::Processes => !process.serves(),
            Self::StandIns => process.stands_in(),
            Self::Services => process.serves() && !process.stands_in(),
        }
    }
}

/// Lets time pass on a node's clock, which may be a virtual one.
async fn pass(wheel: TimerWheel, time: Duration) {
    let mut timer = None;
    poll_fn(|cx| {
        let set = || wheel.set(time, Alarm::Wake(cx.waker().clone()));
        timer.get_or_insert_with(set).poll(cx.waker())
    })
    .await;
}

#[cfg(test)]
mod tests;
