//! Remote requests to a local supervisor: `supervisor:which_children` and others.

use std::any::TypeId;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use purlin::ExitReason;
use purlin::remote::LocalProcess;
use purlin::supervisor::{
    ChildCounts, ChildInfo, ChildProcess, ChildType, DeleteError, RestartError, SupervisorMail,
    SupervisorRef, TerminateError,
};
use purlin_term::{Atom, Term};

use super::caller::Caller;
use super::sys;
use super::system::System;
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
        let Some(term) = sys::take(&core, &to.process, term) else { return Ok(()) };
        let call = GenCall::try_from(term).map_err(|term| format!("{term} is no call"))?;
        let supervisor = to.process.pid().map_err(|error| error.to_string())?;
        let supervisor = SupervisorRef::new(supervisor);
        let ((caller, question), ids) = (Caller::new(&core, call), Arc::clone(&core.ids));
        // WHY a task: a supervisor answers after it has started or stopped the child.
        drop(core.runtime.spawn(async move {
            if let Some(answer) = answer(&ids, &supervisor, &question).await {
                caller.answer(answer);
            }
        }));
        Ok(())
    });
}

/// The children of a supervisor in the format of `supervisor:which_children/1`: the last one first.
pub(crate) async fn which_children(ids: &Ids, supervisor: &SupervisorRef) -> Option<Term> {
    let children = supervisor.which_children().await.ok()?;
    Some(Term::list(children.iter().rev().map(|child| told(ids, child))))
}

/// The number of children in the format of `supervisor:count_children/1`.
pub(crate) async fn count_children(supervisor: &SupervisorRef) -> Option<Term> {
    let ChildCounts { specs, active, supervisors, workers, .. } =
        supervisor.count_children().await.ok()?;
    let counts = [("specs", specs), ("active", active), ("supervisors", supervisors)];
    let counts = counts.into_iter().chain([("workers", workers)]);
    Some(Term::list(counts.map(|(name, count)| Term::tuple([Term::atom(name), Term::from(count)]))))
}

/// The answer to a call. Returns `None` if the supervisor has ended, in which case the caller's
/// monitor fires.
async fn answer(ids: &Ids, supervisor: &SupervisorRef, question: &Term) -> Option<Term> {
    match (question.as_tuple(), question.as_atom().map(Atom::as_str)) {
        (_, Some("which_children")) => which_children(ids, supervisor).await,
        (_, Some("count_children")) => count_children(supervisor).await,
        (Some([what, id]), _) => {
            let id = id.as_atom().map(Atom::to_string).or_else(|| text(id));
            match (what.as_atom().map(Atom::as_str), id) {
                (Some("terminate_child"), Some(id)) => {
                    Some(match supervisor.terminate_child(&id).await {
                        Ok(()) => Term::atom("ok"),
                        Err(TerminateError::NotFound) => error(Term::atom("not_found")),
                        Err(_) => return None,
                    })
                }
                (Some("restart_child"), Some(id)) => {
                    Some(match supervisor.restart_child(&id).await {
                        Ok(process) => Term::tuple([Term::atom("ok"), ids.told(process)]),
                        Err(RestartError::Failed(why)) => error(reason::to_term(&why)),
                        Err(RestartError::NotFound) => error(Term::atom("not_found")),
                        Err(RestartError::Running) => error(Term::atom("running")),
                        Err(RestartError::Restarting) => error(Term::atom("restarting")),
                        Err(_) => return None,
                    })
                }
                (Some("delete_child"), Some(id)) => {
                    Some(match supervisor.delete_child(&id).await {
                        Ok(()) => Term::atom("ok"),
                        Err(DeleteError::NotFound) => error(Term::atom("not_found")),
                        Err(DeleteError::Running) => error(Term::atom("running")),
                        Err(DeleteError::Restarting) => error(Term::atom("restarting")),
                        Err(_) => return None,
                    })
                }
                _ => Some(bad_call(question)),
            }
        }
        _ => Some(bad_call(question)),
    }
}

fn text(binary: &Term) -> Option<String> {
    String::from_utf8(binary.as_binary()?.to_vec()).ok()
}

fn error(why: Term) -> Term {
    Term::tuple([Term::atom("error"), why])
}

fn bad_call(question: &Term) -> Term {
    error(Term::tuple([Term::atom("bad_call"), question.clone()]))
}

/// `{Id, Child, Type, Modules}`. The id is an atom, as usual in Erlang, or a binary if it is too
/// long for one.
fn told(ids: &Ids, child: &ChildInfo) -> Term {
    let id = Atom::new(&child.id).map_or_else(|_| Term::from(&*child.id), Term::Atom);
    let process = match child.process {
        ChildProcess::Running(process) => ids.told(Some(process)),
        ChildProcess::Restarting => Term::atom("restarting"),
        ChildProcess::Absent => ids.told(None),
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

    fn state(&self, process: LocalProcess) -> Pin<Box<dyn Future<Output = Option<Term>> + Send>> {
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
