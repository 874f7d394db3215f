//! Remote requests to a local supervisor: `supervisor:which_children` and others.

use std::any::TypeId;
use std::sync::Arc;

use purlin::ExitReason;
use purlin::remote::LocalProcess;
use purlin::supervisor::{
    ChildCounts, ChildInfo, ChildProcess, ChildType, DeleteError, RestartError, SupervisorMail,
    SupervisorRef, TerminateError,
};
use purlin_term::{Atom, Term};
use serde::Deserialize;

use super::caller::Caller;
use super::sys;
use super::system::{State, System};
use crate::cluster::core::Core;
use crate::cluster::ids::Ids;
use crate::cluster::reason;
use crate::cluster::rpc::gen_call::GenCall;

/// Registers supervisors with the cluster.
pub(crate) fn supervisors(core: &Arc<Core>) {
    let functions = Arc::new(Supervisors(Arc::clone(&core.ids)));
    core.systems.insert(TypeId::of::<SupervisorMail>(), functions);
    let own = Arc::downgrade(core);
    core.decoders.add_of_terms::<SupervisorMail>(move |to, term| {
        let core = own.upgrade().ok_or("the node has left the cluster")?;
        let Some(term) = sys::take(&core, &to, term) else { return Ok(()) };
        // WHY without the term: printing a large one takes long.
        let mut call = GenCall::try_from(term).map_err(|_| "a message that is no call")?;
        let question = std::mem::replace(&mut call.request, Term::NIL);
        let caller = Caller::new(&core, to.over, call);
        let process = to.process.id();
        let supervisor = to.process.pid().map_err(|error| error.to_string())?;
        let supervisor = SupervisorRef::new(supervisor);
        let (ids, own) = (Arc::clone(&core.ids), own.clone());
        // WHY a task: a supervisor answers after it has started or stopped the child.
        caller.answer_in_order(&core, process, async move |caller: Caller| {
            if let Some(core) = own.upgrade() {
                // WHY also if the connection has ended: the request has been received.
                let _ = caller.wait(&core).await;
            }
            if let Some(answer) = answer(&ids, &supervisor, &question).await {
                caller.answer(answer);
            }
        });
        Ok(())
    });
}

/// The children of a supervisor in the format of `supervisor:which_children/1`: the last one first.
pub(crate) async fn which_children(ids: &Ids, supervisor: &SupervisorRef) -> Option<Term> {
    let children = supervisor.which_children().await.ok()?;
    Some(Term::list(children.iter().rev().map(|child| child_to_term(ids, child))))
}

/// The number of children in the format of `supervisor:count_children/1`.
pub(crate) async fn count_children(supervisor: &SupervisorRef) -> Option<Term> {
    let ChildCounts { specs, active, supervisors, workers, .. } =
        supervisor.count_children().await.ok()?;
    Some(Term::list([
        tagged!("specs", specs),
        tagged!("active", active),
        tagged!("supervisors", supervisors),
        tagged!("workers", workers),
    ]))
}

/// A call of `supervisor`.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Request {
    WhichChildren,
    CountChildren,
    TerminateChild(String),
    RestartChild(String),
    DeleteChild(String),
}

/// The answer to a call. Returns `None` if the supervisor has ended, in which case the caller's
/// monitor fires.
async fn answer(ids: &Ids, supervisor: &SupervisorRef, question: &Term) -> Option<Term> {
    let Ok(request) = purlin_term::from_term(question) else {
        return Some(tagged!("error", tagged!("bad_call", question.clone())));
    };
    let why = match request {
        Request::WhichChildren => return which_children(ids, supervisor).await,
        Request::CountChildren => return count_children(supervisor).await,
        Request::TerminateChild(id) => match supervisor.terminate_child(&id).await {
            Ok(()) => return Some(Term::atom("ok")),
            Err(TerminateError::NotFound) => "not_found",
            Err(_) => return None,
        },
        Request::RestartChild(id) => match supervisor.restart_child(&id).await {
            Ok(process) => return Some(tagged!("ok", ids.pid_or_undefined(process))),
            Err(RestartError::Failed(why)) => return Some(tagged!("error", reason::to_term(&why))),
            Err(RestartError::NotFound) => "not_found",
            Err(RestartError::Running) => "running",
            Err(RestartError::Restarting) => "restarting",
            Err(_) => return None,
        },
        Request::DeleteChild(id) => match supervisor.delete_child(&id).await {
            Ok(()) => return Some(Term::atom("ok")),
            Err(DeleteError::NotFound) => "not_found",
            Err(DeleteError::Running) => "running",
            Err(DeleteError::Restarting) => "restarting",
            Err(_) => return None,
        },
    };
    Some(tagged!("error", Term::atom(why)))
}

/// `{Id, Child, Type, Modules}`. The id is an atom, as usual in Erlang, or a binary if it is too
/// long for one.
fn child_to_term(ids: &Ids, child: &ChildInfo) -> Term {
    let id = Atom::new(&child.id).map_or_else(|_| Term::from(&*child.id), Term::Atom);
    let process = match child.process {
        ChildProcess::Running(process) => ids.pid_or_undefined(Some(process)),
        ChildProcess::Restarting => Term::atom("restarting"),
        ChildProcess::Absent => ids.pid_or_undefined(None),
    };
    let kind = match child.child_type {
        ChildType::Worker => Term::atom("worker"),
        ChildType::Supervisor => Term::atom("supervisor"),
    };
    Term::tuple([id, process, kind, Term::atom("dynamic")])
}

/// Functions for `sys` of supervisors: the state is the list of children.
struct Supervisors(Arc<Ids>);

impl System for Supervisors {
    fn behaviour(&self) -> &'static str {
        "supervisor"
    }

    fn state(&self, process: LocalProcess) -> State {
        let (supervisor, ids) = (process.pid(), Arc::clone(&self.0));
        Box::pin(async move {
            let supervisor = SupervisorRef::new(supervisor.ok()?);
            which_children(&ids, &supervisor).await
        })
    }

    fn stop(&self, process: LocalProcess, reason: ExitReason) {
        if let Ok(supervisor) = process.pid() {
            SupervisorRef::new(supervisor).request_stop(reason);
        }
    }
}
