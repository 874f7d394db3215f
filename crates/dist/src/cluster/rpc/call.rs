//! Outgoing calls: `gen_server:call` and `rpc:call` to remote processes.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use purlin::{ExitReason, Pid, Process, receive};
use purlin_dist_protocol::NodeName;
use purlin_term::{Atom, Term};

use crate::cluster::core::Core;
use crate::cluster::handle::Cluster;
use crate::cluster::rpc::gen_call::{ClientMail, GenCall};
use crate::cluster::rpc::rex;

/// The reason why a call to a remote process returned no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CallError {
    /// The process ended, does not exist (`noproc`), or its node is not connected (`noconnection`).
    #[error("the process ended before it answered: {0}")]
    Ended(ExitReason),
    /// No answer arrived within the timeout.
    #[error("timeout: no answer within {0:?}")]
    Timeout(Duration),
    /// `{badrpc, Reason}`: the function does not exist, or failed.
    #[error("{{badrpc,{0}}}")]
    BadRpc(Term),
    /// The calling process could not be spawned, or the name is not a valid atom.
    #[error("system_limit: no process could be made for the call")]
    NotMade,
}

impl Cluster {
    /// Calls a remote server, as `gen_server:call({Name, Node}, Request, Timeout)` does: monitors it, sends the request
    /// and waits for the answer.
    ///
    /// *Cancellation*: dropping the future abandons the call; a late answer is dropped.
    ///
    /// # Errors
    /// [`CallError`]: the reason why there is no answer.
    pub async fn call(
        &self,
        name: &str,
        on: &NodeName,
        request: Term,
        timeout: Duration,
    ) -> Result<Term, CallError> {
        let server = self.named::<Term>(name, on).ok_or(CallError::NotMade)?;
        self.call_pid(server, request, timeout).await
    }

    /// Like [`Cluster::call`], with the pid of the server.
    ///
    /// # Errors
    /// As [`Cluster::call`].
    pub async fn call_pid(
        &self,
        server: Pid<Term>,
        request: Term,
        timeout: Duration,
    ) -> Result<Term, CallError> {
        self.core().call_pid(server, request, timeout).await
    }

    /// Calls a function on a BEAM node, or an exported function on a purlin node, as `rpc:call` does.
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

impl Core {
    /// Registers the decoder for messages to calling processes.
    pub(crate) fn calls(&self) {
        self.decodes(|term| Ok(ClientMail::<Infallible>::Term(term)));
    }

    /// See [`Cluster::call_pid`].
    async fn call_pid(
        self: &Arc<Self>,
        server: Pid<Term>,
        request: Term,
        timeout: Duration,
    ) -> Result<Term, CallError> {
        let (sender, answer) = tokio::sync::oneshot::channel();
        let core = Arc::clone(self);
        let asks = async move |mut me: Process<ClientMail>| {
            // The caller may have been cancelled.
            let _ = sender.send(ask(&mut me, &core, &server, request, timeout).await);
        };
        self.ids.node.try_spawn(asks).map_err(|_| CallError::NotMade)?;
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
        let atom = |text| Atom::new(text).map(Term::Atom).map_err(|_| CallError::NotMade);
        let call = rex::call(atom(module)?, atom(function)?, arguments);
        let server = self.named(Atom::from_static("rex"), on).ok_or(CallError::NotMade)?;
        rex::value(self.call_pid(server, call, timeout).await?).map_err(CallError::BadRpc)
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
    let tag = Term::from(core.ids.reference(monitor));
    let call = GenCall { from: core.ids.pid(me.id()), tag: tag.clone(), request };
    server.send(M::from(call.into_term()));
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
