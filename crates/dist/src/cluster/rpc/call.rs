//! Outgoing calls: `gen_server:call` and `rpc:call` to remote processes.

use std::any::Any;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use purlin::remote::LocalProcess;
use purlin::{ExitReason, MonitorRef, Pid, Process, SpawnOptions, receive};
use purlin_dist_protocol::NodeName;
use purlin_term::{Atom, Term, ValueError, from_term, to_term};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cluster::core::Core;
use crate::cluster::handle::Cluster;
use crate::cluster::pid;
use crate::cluster::rpc::gen_call::{ClientMail, GenCall};
use crate::cluster::rpc::into_term::into_term;
use crate::cluster::rpc::rex;

/// The reason why a call to a remote process returned no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CallError {
    /// The process ended, does not exist (`noproc`), or its node is not connected (`noconnection`). Also the reason by
    /// which a purlin server refuses a call, such as `{bad_call, Why}`.
    #[error("{}", Self::why_ended(.0))]
    Ended(ExitReason),
    /// No answer arrived within the timeout.
    #[error("timeout: no answer within {0:?}")]
    Timeout(Duration),
    /// `{badrpc, Reason}`: the function does not exist, or failed.
    #[error("{{badrpc,{0}}}")]
    BadRpc(Term),
    /// The request is no term.
    #[error("the request is no term: {0}")]
    Request(#[source] ValueError),
    /// The answer does not match the type.
    #[error("the answer {answer} is not of the expected type: {error}")]
    Answer {
        /// The answer.
        answer: Term,
        /// The difference.
        #[source]
        error: ValueError,
    },
    /// The calling process could not be spawned, or the name is not a valid atom.
    #[error("system_limit: no process could be made for the call")]
    NotMade,
}

impl CallError {
    /// The text of [`CallError::Ended`].
    fn why_ended(reason: &ExitReason) -> String {
        match reason {
            ExitReason::NoConnection => {
                "noconnection: the node of the process is not connected, or the connection was lost \
                 before the answer"
                    .to_owned()
            }
            ExitReason::NoProcess => {
                "noproc: no process has this name or pid, or it ended before the call arrived".to_owned()
            }
            other => format!("the process ended before it answered, or refused the call: {other}"),
        }
    }
}

/// The process that a call is sent to.
enum Callee {
    Remote(Pid<Term>),
    Local(LocalProcess),
}

impl Cluster {
    /// Calls a remote server, as `gen_server:call({Name, Node}, Request, Timeout)` does: monitors it, sends the request
    /// and waits for the answer. `serde` encodes the request and decodes the answer; each can be a [`Term`]. The node may be
    /// this one.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # use purlin_dist::{NodeName, cluster::{CallError, Cluster}};
    /// # use purlin_term::Atom;
    /// # async fn example(cluster: &Cluster, there: &NodeName) -> Result<(), CallError> {
    /// // gen_server:call({market, Node}, {price, <<"ACME">>})
    /// let request = (Atom::from_static("price"), "ACME");
    /// let price: u32 = cluster.call("market", there, request, Duration::from_secs(5)).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// *Cancellation*: dropping the future abandons the call; a late answer is dropped.
    ///
    /// # Errors
    /// [`CallError`]: the reason why there is no answer.
    pub async fn call<R: DeserializeOwned + 'static>(
        &self,
        name: &str,
        on: &NodeName,
        request: impl Serialize + 'static,
        timeout: Duration,
    ) -> Result<R, CallError> {
        let core = self.core();
        let callee = if *on == core.ids.name {
            let local = core.local_name(name);
            Callee::Local(local.ok_or(CallError::Ended(ExitReason::NoProcess))?)
        } else {
            Callee::Remote(self.named(name, on).ok_or(CallError::NotMade)?)
        };
        self.call_callee(callee, request, timeout).await
    }

    /// Like [`Cluster::call`], with the pid of the server.
    ///
    /// # Errors
    /// As [`Cluster::call`].
    pub async fn call_pid<R: DeserializeOwned + 'static>(
        &self,
        server: Pid<Term>,
        request: impl Serialize + 'static,
        timeout: Duration,
    ) -> Result<R, CallError> {
        self.call_callee(Callee::Remote(server), request, timeout).await
    }

    async fn call_callee<R: DeserializeOwned + 'static>(
        &self,
        callee: Callee,
        request: impl Serialize + 'static,
        timeout: Duration,
    ) -> Result<R, CallError> {
        let core = self.core();
        let request = pid::within(core, || into_term(request).or_else(|request| to_term(&request)))
            .map_err(CallError::Request)?;
        let answer = core.call_server(callee, request, timeout).await?;
        pid::within(core, || from_answer(answer))
    }

    /// Calls a function on a BEAM node, or an exported function on a purlin node, which may be this one, as `rpc:call`
    /// does.
    ///
    /// # Errors
    /// [`CallError`]: `BadRpc` if the function does not exist or has failed.
    pub async fn rpc(
        &self,
        on: &NodeName,
        module: &str,
        function: &str,
        arguments: Vec<Term>,
        timeout: Duration,
    ) -> Result<Term, CallError> {
        self.core().rpc(on, module, function, arguments, timeout).await
    }
}

/// Converts an answer. COST: none for a term.
fn from_answer<R: DeserializeOwned + 'static>(answer: Term) -> Result<R, CallError> {
    let mut answer = Some(answer);
    if let Some(same) = (&mut answer as &mut dyn Any).downcast_mut::<Option<R>>()
        && let Some(same) = same.take()
    {
        return Ok(same);
    }
    let answer = answer.unwrap_or(Term::NIL);
    from_term(&answer).map_err(|error| CallError::Answer { answer, error })
}

impl Core {
    /// Registers the decoder for messages to calling processes.
    pub(crate) fn calls(&self) {
        self.decodes(|term| Ok(ClientMail::<Infallible>::Term(term)));
    }

    /// See [`Cluster::call`].
    async fn call_server(
        self: &Arc<Self>,
        callee: Callee,
        request: Term,
        timeout: Duration,
    ) -> Result<Term, CallError> {
        let (sender, answer) = tokio::sync::oneshot::channel();
        let core = Arc::clone(self);
        let asks = async move |mut me: Process<ClientMail>| {
            // The caller may have been cancelled.
            let _ = sender.send(match callee {
                Callee::Remote(server) => ask(&mut me, &core, &server, request, timeout).await,
                Callee::Local(server) => {
                    let monitor = me.monitor(server.id());
                    let send = |call| core.send_term(server, call);
                    ask_by(&mut me, &core, monitor, send, request, timeout).await
                }
            });
        };
        let spawned = SpawnOptions::new().spawn_on(&self.ids.node, asks);
        spawned.map_err(|_| CallError::NotMade)?;
        answer.await.unwrap_or(Err(CallError::NotMade))
    }

    /// See [`Cluster::rpc`].
    pub(crate) async fn rpc(
        self: &Arc<Self>,
        on: &NodeName,
        module: &str,
        function: &str,
        arguments: Vec<Term>,
        timeout: Duration,
    ) -> Result<Term, CallError> {
        let atom = |text| Atom::new(text).map_err(|_| CallError::NotMade);
        let (module, function) = (atom(module)?, atom(function)?);
        if *on == self.ids.name {
            let answer = rex::start(self, module, function, arguments, None);
            let answer = async { Ok::<_, Term>(answer?.await.0) };
            // WHY on the runtime: the caller may be on a thread without one.
            let answer = self.runtime.spawn(tokio::time::timeout(timeout, answer));
            let answer = answer.await.map_err(|_| CallError::NotMade)?;
            let answer = answer.map_err(|_| CallError::Timeout(timeout))?;
            return rex::value(answer.unwrap_or_else(|refused| refused)).map_err(CallError::BadRpc);
        }
        let call = rex::call(Term::Atom(module), Term::Atom(function), arguments);
        let server = self.named(Atom::from_static("rex"), on).ok_or(CallError::NotMade)?;
        rex::value(self.call_server(Callee::Remote(server), call, timeout).await?)
            .map_err(CallError::BadRpc)
    }
}

/// Calls a server: monitors it, sends the request and waits for the answer.
pub(in crate::cluster) async fn ask<J: Send + 'static, M: From<Term> + Send + 'static>(
    me: &mut Process<ClientMail<J>>,
    core: &Core,
    server: &Pid<M>,
    request: Term,
    timeout: Duration,
) -> Result<Term, CallError> {
    let monitor = me.monitor(server);
    let send = |call| server.send(M::from(call));
    ask_by(me, core, monitor, send, request, timeout).await
}

/// [`ask`], with the monitor of the server and a function that sends it the call.
async fn ask_by<J: Send + 'static>(
    me: &mut Process<ClientMail<J>>,
    core: &Core,
    monitor: MonitorRef,
    send: impl FnOnce(Term),
    request: Term,
    timeout: Duration,
) -> Result<Term, CallError> {
    let tag = Term::from(core.ids.reference(monitor));
    let call = GenCall { from: core.ids.pid(me.id()), tag: tag.clone(), request };
    send(call.into_term());
    let answer = receive!(me, {
        ClientMail::Term(Term::Tuple(parts)) if parts.len() == 2 && parts[0] == tag => {
            Ok(parts.into_iter().nth(1).unwrap_or(Term::NIL))
        },
        ClientMail::Down(down) if down.monitor == monitor => Err(CallError::Ended(down.reason)),
        after timeout => Err(CallError::Timeout(timeout)),
    });
    me.demonitor_flush(monitor);
    answer
}
