//! Templates of a dynamic supervisor's children.

use std::any::Any;
use std::fmt;
use std::future::{Future, ready};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::backoff::Backoff;
use super::child::settings;
use super::children::Spec;
use super::intensity::whole_seconds;
use super::mail::{Start, SupervisorMail};
use super::start_child::{InitAck, spawn_worker, start_server, start_with_ack};
use super::{ChildType, Restart, Shutdown};
use crate::process::unwind::Contained;
use crate::server::{self, Server, ServerRef};
use crate::{ExitReason, Outcome, Pid, Process, ProcessId, SpawnOptions};

/// Makes the start function of a child from its arguments.
#[derive(Clone)]
pub(crate) struct Make {
    function: Contained<Arc<MakeFn>>,
    /// Spawn options of the children.
    options: SpawnOptions,
}

type MakeFn = dyn Fn(Box<dyn Any + Send>) -> Option<Start> + Send + Sync;

impl Make {
    /// Returns `None` if the arguments are of another type.
    pub(super) fn start(&self, arguments: Box<dyn Any + Send>) -> Option<Start> {
        let mut start = (self.function)(arguments)?;
        start.options = self.options.clone();
        Some(start)
    }
}

/// Template of a dynamic supervisor's children, each started with its own arguments of type `A`.
/// `C` is the type of the handle that a start returns.
pub struct ChildTemplate<A, C = ProcessId> {
    pub(crate) spec: Spec<Make>,
    types: PhantomData<fn(A) -> C>,
}

impl<A: Send + 'static, M: Send + 'static> ChildTemplate<A, Pid<M>> {
    /// Creates a template for temporary processes that run `function` with the arguments of their
    /// start. The arguments are moved, so they may be a unique resource such as a socket. A child
    /// cannot be restarted, because its arguments are used up; its restart type must stay
    /// temporary.
    pub fn temporary<F, Fut>(id: impl Into<Arc<str>>, function: F) -> Self
    where
        F: FnOnce(Process<M>, A) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        let template = Self::new(id, ChildType::Worker, move |arguments: A| -> Start {
            let once = Mutex::new(Some((function.clone(), arguments)));
            Start::new(move |me, options| {
                let taken = once.lock().unwrap_or_else(PoisonError::into_inner).take();
                match taken {
                    Some((function, arguments)) => {
                        spawn_worker(me, options, move |me| function(me, arguments))
                    }
                    None => Box::pin(ready(Err(ExitReason::error("its arguments are used up")))),
                }
            })
        });
        template.restart(Restart::Temporary)
    }

    /// Creates a template for processes that run `function` with the arguments of their start; a
    /// restarted child gets the same arguments. Reports show the id. A child has started when it
    /// has been spawned.
    pub fn worker<F, Fut>(id: impl Into<Arc<str>>, function: F) -> Self
    where
        A: Clone + Sync,
        F: FnOnce(Process<M>, A) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        let make = move |arguments: A| -> Start {
            let function = function.clone();
            Start::new(move |me, options| {
                let (function, arguments) = (function.clone(), arguments.clone());
                spawn_worker(me, options, move |me| function(me, arguments))
            })
        };
        Self::new(id, ChildType::Worker, make)
    }

    /// Creates a template like [`ChildTemplate::worker`] for processes that report when they have
    /// started; see [`ChildSpec::worker_with_ack`](super::ChildSpec::worker_with_ack).
    pub fn worker_with_ack<F, Fut>(id: impl Into<Arc<str>>, function: F) -> Self
    where
        A: Clone + Sync,
        F: FnOnce(Process<M>, InitAck, A) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        let make = move |arguments: A| -> Start {
            let function = function.clone();
            Start::new(move |me, options| {
                let (function, arguments) = (function.clone(), arguments.clone());
                start_with_ack(me, options, move |me, ack| function(me, ack, arguments))
            })
        };
        Self::new(id, ChildType::Worker, make)
    }
}

impl<A: Send + 'static, S: Server> ChildTemplate<A, ServerRef<S>> {
    /// Creates a template for servers, each started with its own arguments; a restarted server gets
    /// the same arguments. Otherwise as [`ChildSpec::server`](super::ChildSpec::server).
    pub fn server<F>(id: impl Into<Arc<str>>, start: F) -> Self
    where
        A: Clone + Sync,
        F: Fn(&Process<SupervisorMail>, A) -> server::Start<'_, S> + Clone + Send + Sync + 'static,
    {
        Self::new(id, ChildType::Worker, move |arguments: A| -> Start {
            let start = start.clone();
            Start::new(move |me, options| start_server(me, start(me, arguments.clone()), options))
        })
    }
}

impl<A: Send + 'static, C> ChildTemplate<A, C> {
    fn new(
        id: impl Into<Arc<str>>,
        child_type: ChildType,
        make: impl Fn(A) -> Start + Send + Sync + 'static,
    ) -> Self {
        let make = move |arguments: Box<dyn Any + Send>| {
            arguments.downcast::<A>().ok().map(|arguments| make(*arguments))
        };
        let make = Make { function: Contained::new(Arc::new(make)), options: SpawnOptions::new() };
        let spec = Spec { id: id.into(), settings: settings(child_type), start: make };
        Self { spec, types: PhantomData }
    }

    /// Sets the spawn options of the children: a mailbox bound, turns that may block. With a name,
    /// only one child can run at a time. For servers they are combined with the options of the
    /// start function as by `options` of a [`ChildSpec`](super::ChildSpec) of a server.
    pub fn options(mut self, options: SpawnOptions) -> Self {
        self.spec.start.options = options;
        self
    }

    /// Delays the restarts of each child; see [`ChildSpec::backoff`](super::ChildSpec::backoff).
    pub fn backoff(mut self, first: Duration, longest: Duration) -> Self {
        self.spec.settings.backoff = Some(Backoff { first, longest });
        self
    }

    /// Sets a separate restart intensity of each child, so that a child that always fails does
    /// not end the others; see [`ChildSpec::intensity`](super::ChildSpec::intensity).
    pub fn intensity(mut self, restarts: usize, period: Duration) -> Self {
        self.spec.settings.intensity = Some((restarts, whole_seconds(period)));
        self
    }

    /// Sets the restart type.
    pub fn restart(mut self, restart: Restart) -> Self {
        self.spec.settings.restart = restart;
        self
    }

    /// Sets the shutdown type.
    pub fn shutdown(mut self, shutdown: Shutdown) -> Self {
        self.spec.settings.shutdown = shutdown;
        self
    }

    /// Makes the children significant; see [`ChildSpec::significant`](super::ChildSpec::significant).
    pub fn significant(mut self) -> Self {
        self.spec.settings.significant = true;
        self
    }
}

impl<A, C> fmt::Debug for ChildTemplate<A, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildTemplate")
            .field("id", &self.spec.id)
            .field("settings", &self.spec.settings)
            .finish_non_exhaustive()
    }
}
