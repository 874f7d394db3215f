//! Client handle of a server.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::time::Duration;

use super::behaviour::{Mail, Request, Server, System};
use crate::process::process_ref::sealed;
use crate::process::yielding::without_wait;
use crate::{CALL_TIMEOUT, CallError, ExitReason, LookupError, Node, Pid, ProcessId, Reply};

/// Client handle of a server.
///
/// COST: a [`Pid`]: one word; cloning and dropping are one atomic operation each.
pub struct ServerRef<S: Server> {
    pid: Pid<Mail<S>>,
}

impl<S: Server> ServerRef<S> {
    /// Returns the handle of the server with this pid.
    pub fn new(pid: Pid<Mail<S>>) -> Self {
        Self { pid }
    }

    /// Returns the handle of the server registered under this name on the current node (N1).
    ///
    /// # Errors
    /// Returns an error if the name is free or belongs to a process that is not a server of this
    /// type, or if this thread runs no process: use [`Node::server`] there.
    pub fn whereis(name: &str) -> Result<Self, LookupError> {
        crate::whereis(name).map(Self::new)
    }

    /// Calls the server and waits for its reply, at most five seconds (C1); see [`Pid::call`].
    ///
    /// # Errors
    /// Returns [`CallError`] if there is no reply. If the server ends, the call returns without
    /// waiting for the timeout.
    pub fn call<T>(
        &self,
        call: impl FnOnce(Reply<T>) -> S::Call,
    ) -> impl Future<Output = Result<T, CallError>> {
        self.call_timeout(call, CALL_TIMEOUT)
    }

    /// Like [`ServerRef::call`] with another timeout; `Duration::MAX` waits without limit.
    ///
    /// # Errors
    /// As [`ServerRef::call`].
    pub fn call_timeout<T>(
        &self,
        call: impl FnOnce(Reply<T>) -> S::Call,
        timeout: Duration,
    ) -> impl Future<Output = Result<T, CallError>> {
        self.pid.call_timeout(move |reply| Mail::Call(call(reply)), timeout)
    }

    /// Like [`ServerRef::call_timeout`], for a thread that runs no process: blocks the thread. In a
    /// process it would stall the worker.
    ///
    /// # Errors
    /// As [`ServerRef::call`].
    pub fn call_blocking<T>(
        &self,
        call: impl FnOnce(Reply<T>) -> S::Call,
        timeout: Duration,
    ) -> Result<T, CallError> {
        self.pid.call_blocking(|reply| Mail::Call(call(reply)), timeout)
    }

    /// Sends a call and returns immediately; awaiting the result waits for the reply. See
    /// [`Pid::send_request`].
    pub fn send_request<T>(&self, call: impl FnOnce(Reply<T>) -> S::Call) -> crate::Request<T> {
        self.pid.send_request(|reply| Mail::Call(call(reply)))
    }

    /// Sends a cast, without waiting. It never fails: a cast to a server that has ended is dropped
    /// and counted in [`Node::dropped_messages`](crate::Node::dropped_messages) (C2, M4).
    ///
    /// COST: as [`Pid::send`].
    pub fn cast(&self, cast: S::Cast) {
        self.pid.send(Mail::Cast(cast));
    }

    /// Sends an info: a message that is neither a call nor a cast. [`Server::handle_info`] handles
    /// it.
    pub fn send(&self, info: S::Info) {
        self.pid.send(Mail::Info(info));
    }

    /// Returns the `Debug` text of the current state. The server formats it between two messages; a
    /// large state delays the messages that follow.
    ///
    /// # Errors
    /// As [`ServerRef::inspect`].
    pub async fn state(&self) -> Result<String, CallError> {
        self.inspect(|server| format!("{server:?}")).await
    }

    /// Inspects the state between two messages: the server runs the function, which should be
    /// short, and the caller receives its result.
    ///
    /// ```
    /// # use std::convert::Infallible;
    /// # use purlin::Process;
    /// # use purlin::server::{self, Init, Mail, Server};
    /// # #[derive(Debug)] struct Tickets { left: u32 }
    /// # impl Server for Tickets {
    /// #     type Args = u32; type Call = Infallible; type Cast = Infallible;
    /// #     type Info = Infallible; type Continue = Infallible;
    /// #     async fn init(left: u32, _: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
    /// #         Ok(Init::Ready(Tickets { left }))
    /// #     }
    /// # }
    /// # #[purlin::main] async fn main() -> server::Result<()> {
    /// let tickets = server::start::<Tickets>(7).await?;
    /// assert_eq!(tickets.inspect(|tickets| tickets.left).await, Ok(7));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`ServerRef::call`]. Returns [`CallError::NoReply`] if the function panicked; the server
    /// continues.
    pub async fn inspect<T: Send + 'static>(
        &self,
        inspect: impl FnOnce(&S) -> T + Send + 'static,
    ) -> Result<T, CallError> {
        self.inspect_timeout(inspect, CALL_TIMEOUT).await
    }

    /// Like [`ServerRef::inspect`] with another timeout; `Duration::MAX` waits without limit.
    ///
    /// # Errors
    /// As [`ServerRef::inspect`].
    pub async fn inspect_timeout<T: Send + 'static>(
        &self,
        inspect: impl FnOnce(&S) -> T + Send + 'static,
        timeout: Duration,
    ) -> Result<T, CallError> {
        let ask = |reply: Reply<T>| {
            let inspection = Box::new(move |server: &S| reply.send(inspect(server)));
            Mail::System(System::new(Request::Inspect(inspection)))
        };
        self.pid.call_timeout(ask, timeout).await
    }

    /// Stops the server with the reason `normal` and waits until it has ended; see
    /// [`ServerRef::stop_with`].
    ///
    /// # Errors
    /// As [`ServerRef::stop_with`].
    pub async fn stop(&self) -> Result<(), CallError> {
        self.stop_with(ExitReason::Normal, Duration::MAX).await
    }

    /// Stops the server with a reason, and waits at most `timeout` until it has ended.
    ///
    /// The request is queued in the mailbox and passes any bound of it (B2): the server handles the
    /// messages ahead of it, then calls [`Server::terminate`] and ends.
    ///
    /// *Cancellation*: dropping the future does not cancel the request.
    ///
    /// # Errors
    /// Returns [`CallError::NoProcess`] if the server had already ended, [`CallError::Ended`] if it
    /// ended with another reason, and [`CallError::Timeout`] if it did not end in time. Returns
    /// [`CallError::OwnProcess`] if a server stops itself, which would deadlock; a handler returns
    /// [`super::Next::Stop`] instead.
    pub async fn stop_with(&self, reason: ExitReason, timeout: Duration) -> Result<(), CallError> {
        if self.pid.address().is_current() {
            return without_wait(Err(CallError::OwnProcess)).await;
        }
        if !self.pid.send_past_bound(stop(reason.clone())) {
            return without_wait(Err(CallError::NoProcess)).await;
        }
        match self.pid.ended_within(timeout).await {
            Some(ended) if ended == reason => Ok(()),
            Some(other) => Err(CallError::Ended(other)),
            None => Err(CallError::Timeout(timeout)),
        }
    }

    /// Like [`ServerRef::stop_with`], without waiting. Has no effect if the server has ended.
    pub fn request_stop(&self, reason: ExitReason) {
        self.pid.send_past_bound(stop(reason));
    }

    /// Returns the pid of the server's process.
    pub fn pid(&self) -> &Pid<Mail<S>> {
        &self.pid
    }

    /// Returns the id of the server's process.
    pub fn id(&self) -> ProcessId {
        self.pid.id()
    }
}

impl Node {
    /// Returns the handle of the server registered under this name on this node, from any thread or
    /// task; see [`ServerRef::whereis`].
    ///
    /// ```
    /// # #[derive(Debug)] struct Counter(i64);
    /// # #[purlin::server] impl Counter { #[call] fn total(&self) -> i64 { self.0 } }
    /// # #[purlin::main] async fn main() -> purlin::server::Result<()> {
    /// use purlin::{LookupError, Node};
    /// use purlin::server::{self, ServerRef};
    ///
    /// server::start::<Counter>(Counter(7)).name("counter").await?;
    /// let node = Node::current().expect("a process is on a node");
    /// // A task of tokio, such as a handler of axum, runs no process.
    /// let total = tokio::spawn(async move {
    ///     assert_eq!(ServerRef::<Counter>::whereis("counter"), Err(LookupError::NoNode));
    ///     node.server::<Counter>("counter").expect("it is registered").total().await
    /// });
    /// assert_eq!(total.await?, Ok(7));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the name is free or belongs to a process that is not a server of this
    /// type.
    pub fn server<S: Server>(&self, name: &str) -> Result<ServerRef<S>, LookupError> {
        self.whereis(name).map(ServerRef::new)
    }
}

/// Returns the system message that requests a stop.
pub(super) fn stop<S: Server>(reason: ExitReason) -> Mail<S> {
    Mail::System(System::new(Request::Stop(reason)))
}

/// Lets a `&ServerRef` be passed to functions that link to, monitor or signal a process.
impl<S: Server> sealed::ToProcess for &ServerRef<S> {
    fn id(&self) -> ProcessId {
        self.pid.id()
    }

    fn find(&self) -> sealed::Found {
        sealed::ToProcess::find(&&self.pid)
    }
}

impl<S: Server> Clone for ServerRef<S> {
    fn clone(&self) -> Self {
        Self { pid: self.pid.clone() }
    }
}

impl<S: Server> PartialEq for ServerRef<S> {
    fn eq(&self, other: &Self) -> bool {
        self.pid == other.pid
    }
}

impl<S: Server> Eq for ServerRef<S> {}

impl<S: Server> Hash for ServerRef<S> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.pid.hash(state);
    }
}

impl<S: Server> fmt::Debug for ServerRef<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ServerRef").field(&self.id()).finish()
    }
}
