//! Calls of ours: `gen_server:call` and `rpc:call` to processes elsewhere.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use purlin::{Down, ExitReason, Pid, Process, receive};
use purlin_term::{Atom, Term};

use super::Cluster;
use super::core::Core;
use super::gen_call::GenCall;
use crate::name::NodeName;

/// What comes to the process that makes a call.
enum Answer {
    Term(Term),
    Down(Down),
}

impl From<Down> for Answer {
    fn from(down: Down) -> Self {
        Self::Down(down)
    }
}

/// Why a call to a process elsewhere has no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum CallError {
    /// It ended, was not there (`noproc`), or its node is not connected (`noconnection`).
    Ended(ExitReason),
    /// It did not answer in time.
    Timeout(Duration),
    /// `{badrpc, Reason}`: the function was not there, or failed.
    BadRpc(Term),
    /// No process of ours can be made for it, or that is no name.
    NotMade,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(reason) => write!(f, "the process ended before it answered: {reason}"),
            Self::Timeout(time) => write!(f, "timeout: no answer within {time:?}"),
            Self::BadRpc(why) => write!(f, "{{badrpc,{why}}}"),
            Self::NotMade => f.write_str("system_limit: no process could be made for the call"),
        }
    }
}

impl std::error::Error for CallError {}

impl Cluster {
    /// Calls a server elsewhere, as `gen_server:call({Name, Node}, Request, Timeout)` does: monitors it, asks, and
    /// waits for the answer.
    ///
    /// *Cancellation*: dropping the future gives up; a late answer is dropped.
    ///
    /// # Errors
    /// [`CallError`] says why no answer came.
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

    /// [`Cluster::call`] of a server that is known by its pid.
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

    /// Calls a function of a BEAM node, or one that a node of ours has exported, as `rpc:call` does.
    ///
    /// # Errors
    /// [`CallError`]: `BadRpc` if the function is not there or has failed.
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
    /// Has the cluster read what comes to processes that make calls.
    pub(super) fn calls(&self) {
        self.decodes(|term| Ok(Answer::Term(term)));
    }

    /// [`Cluster::call_pid`].
    async fn call_pid(
        self: &Arc<Self>,
        server: Pid<Term>,
        request: Term,
        timeout: Duration,
    ) -> Result<Term, CallError> {
        let (told, answer) = tokio::sync::oneshot::channel();
        let core = Arc::clone(self);
        let asks = async move |me: Process<Answer>| {
            // Whoever asked may have given up.
            let _ = told.send(ask(me, &core, server, request, timeout).await);
        };
        self.ids.node.try_spawn(asks).map_err(|_| CallError::NotMade)?;
        answer.await.unwrap_or(Err(CallError::NotMade))
    }

    /// [`Cluster::rpc`].
    pub(super) async fn rpc(
        self: &Arc<Self>,
        on: &NodeName,
        module: &str,
        function: &str,
        arguments: Vec<Term>,
        timeout: Duration,
    ) -> Result<Term, CallError> {
        let atom = |text| Atom::new(text).map(Term::Atom).map_err(|_| CallError::NotMade);
        let (arguments, leader) = (Term::List(arguments), Term::atom("user"));
        let call = [Term::atom("call"), atom(module)?, atom(function)?, arguments, leader];
        let rex = self.named(Atom::from_static("rex"), on).ok_or(CallError::NotMade)?;
        let value = self.call_pid(rex, Term::tuple(call), timeout).await?;
        match value.as_tuple() {
            Some([tag, why]) if tag.is_atom("badrpc") => Err(CallError::BadRpc(why.clone())),
            _ => Ok(value),
        }
    }
}

async fn ask(
    mut me: Process<Answer>,
    core: &Core,
    server: Pid<Term>,
    request: Term,
    timeout: Duration,
) -> Result<Term, CallError> {
    let monitor = me.monitor(&server);
    let tag = Term::from(core.ids.reference(monitor));
    let call = GenCall { from: core.ids.pid(me.id()), tag: tag.clone(), request };
    server.send(call.into_term());
    receive!(me, {
        Answer::Term(Term::Tuple(parts)) if parts.len() == 2 && parts[0] == tag => {
            Ok(parts.into_iter().nth(1).unwrap_or(Term::NIL))
        },
        Answer::Down(down) if down.monitor == monitor => Err(CallError::Ended(down.reason)),
        after timeout => Err(CallError::Timeout(timeout)),
    })
}
