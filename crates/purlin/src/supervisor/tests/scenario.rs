//! Scenarios: events of a supervisor as values, and the trace of purlin's supervisor core as text.
//!
//! `otp.escript` reads the same scenarios and prints the trace of OTP's supervisor.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;

use super::process;
use crate::supervisor::children::{ChildState, Settings, Spec};
use crate::supervisor::effects::{Effects, Stopped};
use crate::supervisor::error::{DeleteError, RestartError, StartChildError};
use crate::supervisor::intensity::Intensity;
use crate::supervisor::report::{Context, Offender};
use crate::supervisor::strategy::{Key, Strategy};
use crate::supervisor::supervisor_core::{Next, SupervisorCore};
use crate::supervisor::{AutoShutdown, ChildType, Restart, Shutdown};
use crate::{ExitReason, ProcessId};

/// Number of a child, from 1.
pub(crate) type Number = u32;

/// A supervisor and the events that happen to it.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) strategy: Strategy,
    pub(crate) intensity: usize,
    pub(crate) period: u64,
    pub(crate) auto_shutdown: AutoShutdown,
    /// Initial children, numbered from 1. A dynamic supervisor has no initial children, and takes
    /// its template's settings from the first.
    pub(crate) children: Vec<Kind>,
    /// Child that fails at its first start.
    pub(crate) fails: Option<Number>,
    pub(crate) events: Vec<Event>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) restart: Restart,
    pub(crate) significant: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// This many seconds pass.
    Wait(u64),
    /// The child ends without being stopped, if it is running.
    Crash(Number, Reason),
    /// An exit signal of the child's latest process arrives late, if that process has ended.
    Late(Number),
    /// The next starts of the child fail.
    Fail(Number, u32),
    /// The next start of the child returns `ignore`.
    Ignore(Number),
    /// The supervisor receives a message it sent to itself.
    Again,
    Start(Number, Kind),
    Terminate(Number),
    Restart(Number),
    Delete(Number),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Reason {
    Normal,
    Shutdown,
    Killed,
    Oops,
}

impl Reason {
    fn reason(self) -> ExitReason {
        match self {
            Self::Normal => ExitReason::Normal,
            Self::Shutdown => ExitReason::Shutdown,
            Self::Killed => ExitReason::Killed,
            Self::Oops => ExitReason::error("oops"),
        }
    }
}

/// Simulated processes and the trace, shared by the fake effects and the driver.
#[derive(Default)]
struct World {
    trace: String,
    now: u64,
    fails: HashMap<Number, u32>,
    ignores: HashMap<Number, u32>,
    processes: HashMap<ProcessId, Number>,
    alive: HashSet<ProcessId>,
    /// Latest process of each child.
    last: HashMap<Number, ProcessId>,
    again: VecDeque<Key>,
}

impl World {
    fn saw(&mut self, what: fmt::Arguments<'_>) {
        write!(self.trace, "{what} ").expect("a text takes text");
    }

    fn pid(&self, number: Number) -> Option<ProcessId> {
        self.last.get(&number).copied().filter(|pid| self.alive.contains(pid))
    }
}

/// Fake effects: [`Effects`] without processes, which records the calls.
struct Fake(Arc<Mutex<World>>);

impl Fake {
    fn world(&self) -> std::sync::MutexGuard<'_, World> {
        self.0.lock().expect("no panic while the lock is held")
    }
}

impl Effects for Fake {
    type Start = Number;

    async fn start(&mut self, number: &Number) -> Result<Option<ProcessId>, ExitReason> {
        let number = *number;
        let world = &mut *self.world();
        let left = |counts: &mut HashMap<Number, u32>| {
            let count = counts.entry(number).or_default();
            let some = *count > 0;
            *count -= u32::from(some);
            some
        };
        if left(&mut world.fails) {
            world.saw(format_args!("fail:{number}"));
            return Err(ExitReason::error("planned"));
        }
        if left(&mut world.ignores) {
            world.saw(format_args!("ignore:{number}"));
            return Ok(None);
        }
        let count = u32::try_from(world.processes.len()).expect("few are started");
        let pid = process(count + 1);
        world.processes.insert(pid, number);
        world.alive.insert(pid);
        world.last.insert(number, pid);
        world.saw(format_args!("start:{number}"));
        Ok(Some(pid))
    }

    async fn stop(&mut self, processes: &[ProcessId], _shutdown: Shutdown) -> Vec<Stopped> {
        let world = &mut *self.world();
        world.alive.retain(|pid| !processes.contains(pid));
        let mut numbers: Vec<Number> = processes.iter().map(|pid| world.processes[pid]).collect();
        // Concurrent stops have no order, so the trace sorts them.
        numbers.sort_unstable();
        numbers.iter().for_each(|number| world.saw(format_args!("stop:{number}")));
        vec![Stopped::Ended(ExitReason::Shutdown); processes.len()]
    }

    fn is_alive(&self, process: ProcessId) -> bool {
        self.world().alive.contains(&process)
    }

    fn now(&self) -> Duration {
        Duration::from_secs(self.world().now)
    }

    fn try_again(&mut self, key: Key) {
        self.world().again.push_back(key);
    }

    fn resume_after(&mut self, _: Duration, key: Key, _: u64) {
        unreachable!("no child of a scenario has a delay: {key:?}")
    }

    fn report(&self, _: Context, _: &ExitReason, _: Offender<'_>) {}
}

fn spec(number: Number, kind: Kind) -> Spec<Number> {
    let settings = Settings {
        restart: kind.restart,
        significant: kind.significant,
        shutdown: Shutdown::Timeout(Duration::from_secs(5)),
        child_type: ChildType::Worker,
        backoff: None,
        intensity: None,
    };
    Spec { id: number.to_string().into(), settings, start: number }
}

/// Returns the trace of purlin's supervisor core in a scenario.
pub(crate) fn play(scenario: &Scenario) -> String {
    let world = Arc::new(Mutex::new(World::default()));
    Play { world, scenario }.run().now_or_never().expect("these effects are immediate")
}

struct Play<'a> {
    world: Arc<Mutex<World>>,
    scenario: &'a Scenario,
}

impl Play<'_> {
    fn world(&self) -> std::sync::MutexGuard<'_, World> {
        self.world.lock().expect("no panic while the lock is held")
    }

    fn saw(&self, what: &str) {
        self.world().saw(format_args!("{what}"));
    }

    fn simple(&self) -> bool {
        self.scenario.strategy == Strategy::SimpleOneForOne
    }

    async fn run(self) -> String {
        let Scenario { strategy, intensity, period, auto_shutdown, .. } = *self.scenario;
        let intensity = Intensity::new(intensity, period);
        let effects = Fake(Arc::clone(&self.world));
        let mut core = SupervisorCore::new(strategy, auto_shutdown, intensity, effects);
        if let Some(number) = self.scenario.fails {
            self.world().fails.insert(number, 1);
        }
        let first = if self.simple() { &[][..] } else { &self.scenario.children };
        let specs = (1..).zip(first).map(|(number, kind)| spec(number, *kind)).collect();
        if let Err(failed) = core.begin(specs).await {
            self.saw(&format!("failed_to_start_child:{}", failed.id));
        } else {
            let mut next = Next::GoOn;
            for event in &self.scenario.events {
                next = self.happen(*event, &mut core).await;
                if next == Next::Shutdown {
                    self.saw("shutdown");
                    break;
                }
            }
            if next == Next::GoOn {
                self.show(&core);
            }
            core.end().await;
        }
        std::mem::take(&mut self.world().trace).trim_end().to_owned()
    }

    async fn happen(&self, event: Event, core: &mut SupervisorCore<Fake>) -> Next {
        let pid = |number| self.world().pid(number);
        match event {
            Event::Wait(seconds) => self.world().now += seconds,
            Event::Fail(number, times) => *self.world().fails.entry(number).or_default() = times,
            Event::Ignore(number) => *self.world().ignores.entry(number).or_default() = 1,
            Event::Crash(number, reason) => {
                if let Some(pid) = pid(number) {
                    self.world().alive.remove(&pid);
                    self.saw(&format!("crash:{number}"));
                    return core.ended(pid, &reason.reason()).await;
                }
            }
            Event::Late(number) => {
                let last = self.world().last.get(&number).copied();
                let ended = last.filter(|pid| !self.world().alive.contains(pid));
                if let Some(pid) = ended {
                    self.saw(&format!("late:{number}"));
                    return core.ended(pid, &Reason::Oops.reason()).await;
                }
            }
            Event::Again => {
                let key = self.world().again.pop_front();
                if let Some(key) = key {
                    self.saw("again");
                    return core.try_again(key).await;
                }
            }
            Event::Start(number, kind) if self.simple() => {
                if pid(number).is_none() {
                    let kind = self.scenario.children.first().copied().unwrap_or(kind);
                    let said = match core.start_dynamic(spec(number, kind), false).await {
                        Ok(Some(_)) => "ok",
                        Ok(None) => "ok:undefined",
                        Err(_) => "error",
                    };
                    self.saw(said);
                }
            }
            Event::Start(number, kind) => {
                let said = match core.start_child(spec(number, kind)).await {
                    Ok(Some(_)) => "ok",
                    Ok(None) => "ok:undefined",
                    Err(StartChildError::AlreadyStarted(_)) => "already_started",
                    Err(StartChildError::AlreadyPresent) => "already_present",
                    Err(_) => "error",
                };
                self.saw(said);
            }
            Event::Terminate(number) if self.simple() => {
                if let Some(pid) = pid(number) {
                    let said = if core.terminate_dynamic(pid).await { "ok" } else { "not_found" };
                    self.saw(said);
                }
            }
            Event::Terminate(number) => {
                let found = core.terminate_child(&number.to_string()).await;
                self.saw(if found { "ok" } else { "not_found" });
            }
            Event::Restart(_) | Event::Delete(_) if self.simple() => {}
            Event::Restart(number) => {
                let said = match core.restart_child(&number.to_string()).await {
                    Ok(Some(_)) => "ok",
                    Ok(None) => "ok:undefined",
                    Err(RestartError::NotFound) => "not_found",
                    Err(RestartError::Running) => "running",
                    Err(RestartError::Restarting) => "restarting",
                    Err(_) => "error",
                };
                self.saw(said);
            }
            Event::Delete(number) => {
                let said = match core.delete_child(&number.to_string()) {
                    Ok(()) => "ok",
                    Err(DeleteError::NotFound) => "not_found",
                    Err(DeleteError::Running) => "running",
                    Err(DeleteError::Restarting) => "restarting",
                    Err(_) => "error",
                };
                self.saw(said);
            }
        }
        Next::GoOn
    }

    /// Appends the children and their process states; for a dynamic supervisor only the counts.
    fn show(&self, core: &SupervisorCore<Fake>) {
        let counts = core.count();
        let all = counts.workers + counts.supervisors;
        self.saw(&format!("specs:{} active:{} all:{all}", counts.specs, counts.active));
        if self.simple() {
            return;
        }
        for child in core.children.iter() {
            let state = match child.state() {
                ChildState::Running(_) => "running",
                ChildState::Restarting(_) => "restarting",
                ChildState::Absent => "undefined",
            };
            self.saw(&format!("{}:{state}", child.spec.id));
        }
    }
}

/// Formats the scenario as the term that `otp.escript` reads.
impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strategy = match self.strategy {
            Strategy::OneForOne => "one_for_one",
            Strategy::OneForAll => "one_for_all",
            Strategy::RestForOne => "rest_for_one",
            Strategy::SimpleOneForOne => "simple_one_for_one",
        };
        let auto_shutdown = match self.auto_shutdown {
            AutoShutdown::Never => "never",
            AutoShutdown::AnySignificant => "any_significant",
            AutoShutdown::AllSignificant => "all_significant",
        };
        let kinds: Vec<String> = self.children.iter().map(Kind::to_string).collect();
        let events: Vec<String> = self.events.iter().map(Event::to_string).collect();
        write!(
            f,
            "{{{strategy},{},{},{auto_shutdown},[{}],{},[{}]}}",
            self.intensity,
            self.period,
            kinds.join(","),
            self.fails.unwrap_or_default(),
            events.join(","),
        )
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{},{}}}", self.restart, self.significant)
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wait(seconds) => write!(f, "{{wait,{seconds}}}"),
            Self::Crash(number, reason) => {
                let reason = format!("{reason:?}").to_lowercase();
                write!(f, "{{crash,{number},{reason}}}")
            }
            Self::Late(number) => write!(f, "{{late,{number}}}"),
            Self::Fail(number, times) => write!(f, "{{fail,{number},{times}}}"),
            Self::Ignore(number) => write!(f, "{{ignore,{number}}}"),
            Self::Again => write!(f, "again"),
            Self::Start(number, kind) => write!(f, "{{start,{number},{kind}}}"),
            Self::Terminate(number) => write!(f, "{{terminate,{number}}}"),
            Self::Restart(number) => write!(f, "{{restart,{number}}}"),
            Self::Delete(number) => write!(f, "{{delete,{number}}}"),
        }
    }
}
