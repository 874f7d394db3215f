//! Supervisor core: decides, by OTP's rules, what a supervisor does when a child ends or a request
//! arrives.
//!
//! [`SupervisorCore`] owns the child table and makes every decision. Its effects (starting and
//! stopping processes, reading the clock, reporting) go through [`Effects`]. A supervisor's process
//! implements `Effects` in [`super::process`]; tests implement it without processes, to compare
//! these rules with OTP's own module.
//!
//! One event is handled at a time, as in OTP: while children are started or stopped, no message is
//! handled. A failed restart is retried by a message the supervisor sends itself, so that requests
//! are handled between two attempts.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::children::{Child, ChildState, Children, Settings, Spec};
use super::effects::{Effects, Stopped};
use super::error::FailedToStartChild;
use super::intensity::{Intensity, Limit};
use super::report::{Context, Offender};
use super::restart::AfterEnd;
use super::strategy::{ALL, Key, Strategy};
use super::{AutoShutdown, Shutdown};
use crate::observe::OwnIntensityChild;
use crate::{ExitReason, ProcessId};

/// Whether the supervisor continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Next {
    GoOn,
    /// It stops its children and ends with `shutdown`.
    Shutdown,
}

/// Supervisor core: the state of a supervisor.
pub(crate) struct SupervisorCore<H: Effects> {
    pub(super) strategy: Strategy,
    pub(super) auto_shutdown: AutoShutdown,
    intensity: Intensity,
    pub(super) children: Children<H::Start>,
    pub(super) effects: H,
}

impl<H: Effects> SupervisorCore<H> {
    pub(crate) fn new(
        strategy: Strategy,
        auto_shutdown: AutoShutdown,
        intensity: Intensity,
        effects: H,
    ) -> Self {
        let children = match strategy {
            Strategy::SimpleOneForOne => Children::nameless(),
            _ => Children::named(),
        };
        Self { strategy, auto_shutdown, intensity, children, effects }
    }

    /// Starts the initial children, in order. If one fails to start, those before it are stopped.
    pub(crate) async fn begin(
        &mut self,
        specs: Vec<Spec<H::Start>>,
    ) -> Result<(), FailedToStartChild> {
        for spec in specs {
            self.children.add(spec, ChildState::Absent);
        }
        match self.start_all(ALL).await {
            Ok(()) => Ok(()),
            Err((_, failed)) => {
                self.stop_all(ALL).await;
                Err(failed)
            }
        }
    }

    /// Stops all children, before the supervisor ends.
    pub(crate) async fn end(&mut self) {
        if self.strategy == Strategy::SimpleOneForOne {
            self.stop_side_by_side().await;
        } else {
            self.stop_all(ALL).await;
        }
    }

    /// Handles the exit signal of a linked process. A signal of a child's previous process changes
    /// nothing.
    pub(crate) async fn ended(&mut self, process: ProcessId, reason: &ExitReason) -> Next {
        let Some(key) = self.children.with_process(process) else { return Next::GoOn };
        let Some(child) = self.children.get(key) else { return Next::GoOn };
        if child.state() != ChildState::Running(process) {
            return Next::GoOn;
        }
        match child.spec.settings.restart.after(reason) {
            AfterEnd::Restart => {
                self.report(Context::ChildTerminated, reason, key);
                self.children.ended(key, || self.effects.now());
                self.restart(key).await
            }
            AfterEnd::Stay { report } => {
                if report {
                    self.report(Context::ChildTerminated, reason, key);
                }
                self.leave(key)
            }
        }
    }

    /// Leaves a child ended: checks whether the supervisor ends with it.
    fn leave(&mut self, key: Key) -> Next {
        let significant = |child: &Child<_>| child.spec.settings.significant;
        let significant = self.children.get(key).is_some_and(significant);
        self.children.finish(key);
        let others = || self.children.iter().any(is_significant_and_there);
        if self.auto_shutdown.ends(significant, others) { Next::Shutdown } else { Next::GoOn }
    }

    /// Retries a failed restart, unless a request has changed the child's state meanwhile.
    pub(crate) async fn try_again(&mut self, key: Key) -> Next {
        match self.children.get(key).map(Child::state) {
            Some(ChildState::Restarting(_)) => self.restart(key).await,
            _ => Next::GoOn,
        }
    }

    /// Restarts a child after its delay, if the delay has not ended otherwise.
    pub(crate) async fn resume(&mut self, key: Key, number: u64) {
        if self.children.get(key).is_some_and(|child| child.waits_for(number)) {
            self.restart_now(key).await;
        }
    }

    async fn restart(&mut self, key: Key) -> Next {
        let now = self.effects.now();
        let own = self.children.own_intensity(key);
        let is_own = own.is_some();
        let intensity = own.unwrap_or(&mut self.intensity);
        let limit = intensity.restart(now.as_secs());
        let figures = intensity.figures();
        let child = self.children.get(key).filter(|_| is_own);
        let child =
            child.map(|child| OwnIntensityChild { id: child.spec.id.clone(), number: key.0 });
        self.effects.restarts(now, child, figures);
        if limit == Limit::Exceeded {
            let context = if is_own { Context::GivenUp } else { Context::Shutdown };
            self.report(context, &ExitReason::error("reached_max_restart_intensity"), key);
            if is_own {
                return self.leave(key);
            }
            self.children.finish(key);
            return Next::Shutdown;
        }
        match self.children.delay(key) {
            Some((number, delay)) => self.delay_restart(key, number, delay).await,
            None => self.restart_now(key).await,
        }
        Next::GoOn
    }

    async fn restart_now(&mut self, key: Key) {
        if self.strategy.stops_others() {
            self.restart_many(key).await;
        } else {
            self.restart_one(key).await;
        }
    }

    /// Schedules a restart. The children that are restarted with the child are stopped now, so that
    /// they do not run without it.
    async fn delay_restart(&mut self, key: Key, number: u64, delay: Duration) {
        let Some(before) = self.children.get(key).map(Child::state) else { return };
        if self.strategy.stops_others() {
            self.children.put(key, ChildState::Absent);
            self.stop_all(self.strategy.reach(key)).await;
        }
        self.children.put(key, ChildState::Restarting(before.process()));
        self.effects.resume_after(delay, key, number);
    }

    /// COST: accesses no other child.
    async fn restart_one(&mut self, key: Key) {
        let Some(before) = self.children.get(key).map(Child::state) else { return };
        if let Err(reason) = self.start(key).await {
            self.children.put(key, ChildState::Restarting(before.process()));
            self.report(Context::StartError, &reason, key);
            self.effects.try_again(key);
        }
    }

    async fn restart_many(&mut self, key: Key) {
        let Some(before) = self.children.get(key).map(Child::state) else { return };
        self.children.put(key, ChildState::Absent);
        let reach = self.strategy.reach(key);
        self.stop_all(reach.clone()).await;
        if let Err((failed, _)) = self.start_all(reach).await {
            let before = if failed == key { before.process() } else { None };
            self.children.put(failed, ChildState::Restarting(before));
            self.effects.try_again(failed);
        }
    }

    /// Starts children in order, up to the first that fails to start.
    async fn start_all(
        &mut self,
        reach: RangeInclusive<Key>,
    ) -> Result<(), (Key, FailedToStartChild)> {
        for key in self.children.keys(reach) {
            if let Err(reason) = self.start(key).await {
                self.report(Context::StartError, &reason, key);
                let id = self.children.get(key).map(|child| child.spec.id.clone());
                return Err((key, FailedToStartChild::new(id.unwrap_or_default(), reason)));
            }
        }
        Ok(())
    }

    /// Stops children one by one in reverse order; temporary children are removed from the table.
    async fn stop_all(&mut self, reach: RangeInclusive<Key>) {
        for key in self.children.keys(reach).into_iter().rev() {
            self.stop(key).await;
        }
    }

    /// Stops one child, if it runs.
    pub(super) async fn stop(&mut self, key: Key) {
        let Some(child) = self.children.get(key) else { return };
        if let ChildState::Running(process) = child.state() {
            let shutdown = child.spec.settings.shutdown;
            for stopped in self.effects.stop(&[process], shutdown).await {
                self.check(key, &stopped);
            }
        }
        self.children.finish(key);
    }

    /// Reports a stopped child that did not end with an expected reason.
    fn check(&self, key: Key, stopped: &Stopped) {
        let Some(child) = self.children.get(key) else { return };
        let Settings { shutdown, .. } = child.spec.settings;
        match stopped {
            Stopped::Ended(reason) if shutdown.expects(reason) => {}
            Stopped::Ended(reason) => self.report(Context::ShutdownError, reason, key),
            Stopped::Left => {
                let reason = ExitReason::error("it does not let go and is left");
                self.report(Context::ShutdownError, &reason, key);
            }
        }
    }

    /// Stops all children concurrently. They have the same settings, from one template.
    async fn stop_side_by_side(&mut self) {
        let (mut keys, mut processes) = (Vec::new(), Vec::new());
        let mut shutdown = Shutdown::Infinity;
        for key in self.children.keys(ALL) {
            let Some(child) = self.children.get(key) else { continue };
            if let ChildState::Running(process) = child.state() {
                shutdown = child.spec.settings.shutdown;
                keys.push(key);
                processes.push(process);
            }
        }
        let stopped = self.effects.stop(&processes, shutdown).await;
        for (key, stopped) in keys.into_iter().zip(&stopped) {
            self.check(key, stopped);
            self.children.finish(key);
        }
    }

    /// Starts a child and stores its process, unless the start returned `ignore`. If the start
    /// fails, nothing has changed.
    pub(super) async fn start(&mut self, key: Key) -> Result<Option<ProcessId>, ExitReason> {
        let Some(child) = self.children.get(key) else { return Ok(None) };
        let started = self.effects.start(&child.spec.start).await?;
        let Some(process) = started else {
            // A child without an id cannot be restarted on request, so `finish` removes it.
            self.children.finish(key);
            return Ok(None);
        };
        if self.strategy != Strategy::SimpleOneForOne {
            let Spec { id, settings, .. } = &child.spec;
            let offender = Offender { process: Some(process), id, settings: *settings };
            self.effects.report(Context::Started, &ExitReason::Normal, offender);
        }
        self.children.put(key, ChildState::Running(process));
        self.children.started(key, || self.effects.now());
        Ok(Some(process))
    }

    fn report(&self, context: Context, reason: &ExitReason, key: Key) {
        if let Some(child) = self.children.get(key) {
            let Spec { id, settings, .. } = &child.spec;
            let process = child.state().process();
            self.effects.report(context, reason, Offender { process, id, settings: *settings });
        }
    }
}

fn is_significant_and_there<S>(child: &Child<S>) -> bool {
    child.spec.settings.significant && child.state() != ChildState::Absent
}
