//! Supervisor process: receives one message at a time and passes it to the supervisor core
//! ([`SupervisorCore`]).
//!
//! The process traps exits. An exit signal of a child goes to the core. An exit signal of the
//! parent, or one without a sender, stops the children and ends the supervisor, whatever the
//! reason. Exit signals of other processes are ignored.
//!
//! While the supervisor starts or stops children it receives only the exits it waits for.
//!
//! COST: the exit of one child takes a message, a look-up and a spawn, whatever the number of
//! children.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::Shutdown;
use super::child::ChildSpec;
use super::children::{ChildState, Spec};
use super::effects::{Effects, Stopped};
use super::error::StartChildError;
use super::intensity::Figures;
use super::mail::{Arguments, Mail, Start, SupervisorMail};
use super::order::KILL_GRACE;
use super::report::{Context, Offender, write};
use super::spec::{SupervisorSpec, check};
use super::strategy::Key;
use super::supervisor_core::{Next, SupervisorCore};
use super::template::Make;
use crate::node::context::{is_stopping, with_context};
use crate::node::erlang_types::Peer;
use crate::observe::{OwnIntensityChild, Report, Restarts, beginning};
use crate::process::process_ref::sealed::ToProcess as _;
use crate::process::unwind::catch;
use crate::{
    CallError, Down, Exit, ExitReason, MonitorRef, Process, ProcessId, exit_process, receive,
};

/// Time to wait for the exit signals of processes that had ended before they were monitored.
const IN_FLIGHT: Duration = Duration::from_millis(50);

/// Process function of a supervisor.
pub(super) async fn supervise(
    me: Process<SupervisorMail>,
    spec: SupervisorSpec,
    parent: Option<ProcessId>,
) -> ExitReason {
    me.trap_exit(true);
    if let Err(bad) = spec.check() {
        return ExitReason::error(bad);
    }
    if let Some(Err(taken)) = spec.name.as_ref().map(|name| me.register(name)) {
        return ExitReason::error(taken);
    }
    let window = spec.window();
    let SupervisorSpec { strategy, auto_shutdown, name, children, template, max_children, .. } =
        spec;
    let title = name.map_or_else(|| me.id().to_string(), |name| name.to_string());
    let core = SupervisorCore::new(
        strategy,
        auto_shutdown,
        window,
        ProcessEffects { me, title, started: None },
    );
    Supervisor { core, template, max_children, parent }.run(children).await
}

/// State of a supervisor process.
struct Supervisor {
    core: SupervisorCore<ProcessEffects>,
    template: Option<Spec<Make>>,
    max_children: usize,
    parent: Option<ProcessId>,
}

impl Supervisor {
    async fn run(mut self, children: Vec<ChildSpec>) -> ExitReason {
        let specs = children.into_iter().map(ChildSpec::into_spec).collect();
        if let Err(failed) = self.core.begin(specs).await {
            return ExitReason::shutdown_with(failed);
        }
        loop {
            // WHY: the memory of a process that has ended is freed with its last handle.
            drop(self.core.effects.started.take());
            let SupervisorMail(mail) = self.core.effects.me.receive().await;
            if let Some(reason) = self.handle_message(mail).await {
                self.core.end().await;
                return reason;
            }
        }
    }

    /// Handles one message. Returns the exit reason if the supervisor is to end.
    async fn handle_message(&mut self, mail: Mail) -> Option<ExitReason> {
        let core = &mut self.core;
        let next = match mail {
            Mail::Exit(exit) => return self.exit(exit).await,
            Mail::Stop(reason) => return Some(reason),
            // WHY: a stopping node spawns nothing, as in `ended`.
            Mail::TryAgain(_) | Mail::Resume(..) if is_stopping() => Next::Shutdown,
            Mail::TryAgain(key) => core.try_again(key).await,
            Mail::Resume(key, delay) => {
                core.resume(key, delay).await;
                Next::GoOn
            }
            Mail::FindOrStart(key, arguments, reply) => {
                let (found, next) = self.find_or_start(&key, arguments).await;
                reply.send(found);
                next
            }
            other => {
                self.answer(other).await;
                Next::GoOn
            }
        };
        (next == Next::Shutdown).then_some(ExitReason::Shutdown)
    }

    async fn exit(&mut self, exit: Exit) -> Option<ExitReason> {
        let Exit { from, reason } = exit;
        match from {
            Some(child) if from != self.parent => {
                let next = self.ended(child, &reason).await;
                (next == Next::Shutdown).then_some(ExitReason::Shutdown)
            }
            _ => Some(reason),
        }
    }

    /// Handles the end of a linked process.
    async fn ended(&mut self, process: ProcessId, reason: &ExitReason) -> Next {
        // WHY: when the node stops, children end because of that, and no process can be spawned any
        // more.
        if is_stopping() {
            return Next::Shutdown;
        }
        self.core.ended(process, reason).await
    }

    async fn answer(&mut self, request: Mail) {
        let core = &mut self.core;
        match request {
            Mail::AreYouUp(reply) => reply.send(()),
            // The children of a dynamic supervisor are started from its template only.
            Mail::StartChild(_, reply) if self.template.is_some() => {
                reply.send(Err(StartChildError::OtherArguments));
            }
            Mail::StartChild(child, reply) => {
                let checked = check(&child.id, &child.settings, core.strategy, core.auto_shutdown);
                let started = match checked {
                    Ok(()) => core.start_child(*child).await,
                    Err(bad) => Err(StartChildError::BadSpec(bad)),
                };
                reply.send(self.handle_on(started));
            }
            Mail::StartWith(arguments, reply) => {
                let started = self.start_with(None, arguments).await;
                reply.send(self.handle_on(started));
            }
            Mail::RestartChild(id, reply) => reply.send(core.restart_child(&id).await),
            Mail::DeleteChild(id, reply) => reply.send(core.delete_child(&id)),
            Mail::TerminateChild(id, reply) => reply.send(core.terminate_child(&id).await),
            Mail::TerminateProcess(pid, reply) => reply.send(core.terminate_dynamic(pid).await),
            Mail::WhichChildren(reply) => reply.send(core.which()),
            Mail::CountChildren(reply) => reply.send(core.count()),
            // The `Down` of a monitor that has been given up, or a message that is not a request.
            Mail::Down(_)
            | Mail::Exit(_)
            | Mail::TryAgain(_)
            | Mail::Resume(..)
            | Mail::FindOrStart(..)
            | Mail::Stop(_) => {}
        }
    }

    /// Returns the process that a request has started.
    fn handle_on(
        &mut self,
        started: Result<Option<ProcessId>, StartChildError>,
    ) -> Result<Peer, StartChildError> {
        let peer = self.core.effects.started.take().filter(|_| matches!(started, Ok(Some(_))));
        started.and(peer.ok_or(StartChildError::Ignored))
    }

    /// Returns the live child with this key, and otherwise starts one.
    ///
    /// The end of a child is handled at most once in a call, so that other messages are handled
    /// between the restarts of a child that always ends immediately.
    async fn find_or_start(
        &mut self,
        key: &Arc<str>,
        arguments: Arguments,
    ) -> (Result<Peer, StartChildError>, Next) {
        if let Some((_, ChildState::Running(process))) = self.core.named(key)
            && live(process).is_none()
        {
            // The child has ended, and its exit signal waits in the mailbox or is in transit.
            let Some(reason) = self.core.effects.exit_reason(process).await else {
                return (Err(StartChildError::Restarting), Next::GoOn);
            };
            if self.ended(process, &reason).await == Next::Shutdown {
                let error = CallError::Ended(ExitReason::Shutdown);
                return (Err(StartChildError::NoSupervisor(error)), Next::Shutdown);
            }
        }
        let found = match self.core.named(key) {
            Some((_, ChildState::Running(process))) => {
                live(process).ok_or(StartChildError::Restarting)
            }
            Some((_, ChildState::Restarting(_))) => Err(StartChildError::Restarting),
            Some((_, ChildState::Absent)) => Err(StartChildError::AlreadyPresent),
            None => {
                let started = self.start_with(Some(key), arguments).await;
                self.handle_on(started)
            }
        };
        (found, Next::GoOn)
    }

    /// Starts a child from the template; one with a key is found by it.
    async fn start_with(
        &mut self,
        key: Option<&Arc<str>>,
        arguments: Arguments,
    ) -> Result<Option<ProcessId>, StartChildError> {
        let Some(template) = &self.template else { return Err(StartChildError::OtherArguments) };
        // The template clones user values, which may panic.
        let start = catch(|| template.start.start(arguments.into_inner()))
            .map_err(StartChildError::Failed)?;
        let start = start.ok_or(StartChildError::OtherArguments)?;
        if self.core.children.len() >= self.max_children {
            return Err(StartChildError::MaxChildren);
        }
        let id = Arc::clone(key.unwrap_or(&template.id));
        let spec = Spec { id, settings: template.settings, start };
        self.core.start_dynamic(spec, key.is_some()).await.map_err(StartChildError::Failed)
    }
}

/// Effects of a supervisor process: the implementation of [`Effects`] outside tests.
struct ProcessEffects {
    me: Process<SupervisorMail>,
    /// Identifies the supervisor in reports: its name, or its pid if it has none.
    title: String,
    /// Process started last.
    started: Option<Peer>,
}

impl ProcessEffects {
    /// Waits for the exits of monitored processes, for at most `timeout`.
    async fn downs(&mut self, waiting: &mut Waiting, timeout: Option<Duration>) {
        let deadline = timeout.map(|timeout| now().saturating_add(timeout));
        let mut in_flight = None;
        while !waiting.left.is_empty() {
            // WHY `Duration::MAX` without a deadline: such a timeout never fires.
            let left = deadline.map_or(Duration::MAX, |end| end.saturating_sub(now()));
            let down = receive!(self.me, {
                SupervisorMail(Mail::Down(down)) if waiting.left.contains_key(&down.monitor) => {
                    Some(down)
                }
                after left => None,
            });
            let Some(Down { monitor, reason, .. }) = down else { return };
            let Some((at, process)) = waiting.left.remove(&monitor) else { return };
            let reason = self.unlink(process, reason, &mut in_flight).await;
            waiting.ended[at] = Stopped::Ended(reason);
        }
    }

    /// Takes the exit signal of a process that has ended out of the mailbox, and returns the
    /// reason. Returns `None` if the signal is still in transit after [`IN_FLIGHT`]. The reason of
    /// a process that had unlinked itself is not known: it is `noproc`.
    async fn exit_reason(&mut self, process: ProcessId) -> Option<ExitReason> {
        let reason = self.unlink(process, ExitReason::NoProcess, &mut None).await;
        (reason != ExitReason::NoProcess || !self.me.is_linked(process)).then_some(reason)
    }

    /// Unlinks a process that has ended, or takes its exit signal out of the mailbox. Returns the
    /// exit reason. `in_flight` is the common deadline for exit signals in transit, set at the
    /// first process that needs it.
    async fn unlink(
        &mut self,
        process: ProcessId,
        reason: ExitReason,
        in_flight: &mut Option<Duration>,
    ) -> ExitReason {
        // The process had ended before it was monitored, so only its exit signal carries the
        // reason. The signal may still be in transit; it never arrives if the process had unlinked
        // itself.
        if reason == ExitReason::NoProcess {
            let end = *in_flight.get_or_insert_with(|| now().saturating_add(IN_FLIGHT));
            return receive!(self.me, {
                SupervisorMail(Mail::Exit(exit)) if exit.from == Some(process) => exit.reason,
                after end.saturating_sub(now()) => reason,
            });
        }
        self.me.unlink(process);
        receive!(self.me, {
            SupervisorMail(Mail::Exit(exit)) if exit.from == Some(process) => exit.reason,
            after Duration::ZERO => reason,
        })
    }
}

/// Processes whose exit the supervisor waits for.
struct Waiting {
    /// Index in `ended`, and the process, by monitor.
    left: HashMap<MonitorRef, (usize, ProcessId)>,
    ended: Vec<Stopped>,
}

impl Waiting {
    fn send_exit(&self, reason: &ExitReason) {
        self.left.values().for_each(|(_, process)| exit_process(*process, reason.clone()));
    }
}

impl Effects for ProcessEffects {
    type Start = Start;

    async fn start(&mut self, start: &Start) -> Result<Option<ProcessId>, ExitReason> {
        // The start function clones user values, which may panic.
        let starting = catch(|| start.call(&self.me))?;
        self.started = starting.await?;
        Ok(self.started.as_ref().map(ProcessId::of))
    }

    async fn stop(&mut self, processes: &[ProcessId], shutdown: Shutdown) -> Vec<Stopped> {
        let monitored = processes.iter().enumerate();
        let left = monitored.map(|(at, process)| (self.me.monitor(*process), (at, *process)));
        let mut waiting =
            Waiting { left: left.collect(), ended: vec![Stopped::Left; processes.len()] };
        match shutdown {
            Shutdown::BrutalKill => {}
            Shutdown::Timeout(time) => {
                waiting.send_exit(&ExitReason::Shutdown);
                self.downs(&mut waiting, Some(time)).await;
            }
            Shutdown::Infinity => {
                waiting.send_exit(&ExitReason::Shutdown);
                self.downs(&mut waiting, None).await;
            }
        }
        waiting.send_exit(&ExitReason::Kill);
        self.downs(&mut waiting, Some(KILL_GRACE)).await;
        for (monitor, (_, process)) in waiting.left {
            self.me.unlink(process);
            self.me.demonitor_flush(monitor);
        }
        waiting.ended
    }

    fn is_alive(&self, process: ProcessId) -> bool {
        live(process).is_some()
    }

    fn now(&self) -> Duration {
        now()
    }

    fn try_again(&mut self, key: Key) {
        self.me.pid().send(SupervisorMail(Mail::TryAgain(key)));
    }

    fn resume_after(&mut self, delay: Duration, key: Key, number: u64) {
        self.me.pid().send_after(delay, SupervisorMail(Mail::Resume(key, number)));
    }

    fn restarts(&self, now: Duration, own: Option<OwnIntensityChild>, figures: Figures) {
        let restarts = Restarts {
            supervisor: self.me.id(),
            child: own,
            total: 0,
            last: now,
            counted: figures.counted,
            most: figures.most,
            period: Duration::from_secs(figures.period),
        };
        with_context(|here| here.node_core.state().journal.restarted(restarts));
    }

    fn report(&self, context: Context, reason: &ExitReason, offender: Offender<'_>) {
        write(&self.title, context, reason, offender);
        if context == Context::Started {
            return;
        }
        with_context(|here| {
            here.node_core.state().journal.reported(Report {
                number: 0,
                when: SystemTime::now(),
                at: here.timers.now(),
                supervisor: self.me.id(),
                context: context.name(),
                child: Arc::clone(offender.id),
                process: offender.process,
                reason: beginning(reason),
            });
        });
    }
}

/// Returns the handle on a process that has not ended.
fn live(process: ProcessId) -> Option<Peer> {
    process.find().0.filter(|peer| !peer.has_ended())
}

/// Returns the time of the node's clock.
fn now() -> Duration {
    with_context(|here| here.timers.now()).unwrap_or_default()
}
