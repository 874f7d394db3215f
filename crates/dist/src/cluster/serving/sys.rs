//! Requests of `sys` to any server: `{system, {From, Tag}, Request}`.

use std::sync::Arc;

use purlin::remote::LocalProcess;
use purlin::{ProcessId, ProcessInfo};
use purlin_term::Term;

use super::caller::Caller;
use super::version;
use crate::cluster::core::Core;
use crate::cluster::reason;
use crate::cluster::receive::decoders::Target;
use crate::cluster::rpc::gen_call::GenCall;

/// The parent of a process, unless that is a system process, which is not shown.
pub(crate) fn parent(core: &Core, info: &ProcessInfo) -> Option<ProcessId> {
    let serves = |id| core.ids.node.process_info(id).is_some_and(|parent| parent.is_system);
    info.parent.filter(|parent| !serves(*parent))
}

/// The answer to `sys:get_status` of a process, without a state if its type is not registered. Returns `None` if the
/// process has ended, or returns no state.
pub(crate) async fn status(core: &Core, process: LocalProcess) -> Option<Term> {
    let (system, id) = (core.systems.of(&process), process.id());
    let info = core.ids.node.process_info(id)?;
    let parent = core.ids.pid_or_undefined(parent(core, &info));
    let (running, messages) = (Term::atom("running"), Term::string(info.message_type));
    let (module, shown) = match system {
        Some(system) => {
            let state = system.state(process).await?;
            let header = tagged!("header", Term::string(info.function));
            let first = data([("Status", running.clone()), ("Parent", parent.clone())]);
            let second = data([("State", state), ("Messages", messages)]);
            (system.behaviour(), Term::list([header, first, second]))
        }
        None => ("purlin", messages),
    };
    let module = tagged!("module", Term::atom(module));
    let parts = Term::list([Term::NIL, running, parent, Term::NIL, shown]);
    Some(tagged!("status", core.ids.pid(id), module, parts))
}

fn data(parts: [(&str, Term); 2]) -> Term {
    let parts = parts.map(|(name, value)| Term::tuple([Term::string(name), value]));
    tagged!("data", Term::list(parts))
}

/// Answers with what was found. Without that the state is no term, or the server has ended, and the call with it.
fn answer_or_refuse(caller: Caller, found: Option<Term>) {
    match found {
        Some(found) => caller.answer(found),
        None => {
            caller.refuse(tagged!("bad_reply", "the state is no term"));
        }
    }
}

/// Answers a request of `sys` to a process; returns any other term. WHY a task: the server returns its state only
/// between two messages.
pub(super) fn take(core: &Arc<Core>, to: &Target<'_>, term: Term) -> Option<Term> {
    let mut asked = match GenCall::marked("system", term) {
        Ok(asked) => asked,
        Err(term) => return Some(term),
    };
    let request = std::mem::replace(&mut asked.request, Term::NIL);
    let (caller, own) = (Caller::new(core, to.over, asked), Arc::downgrade(core));
    let process = to.process.clone();
    caller.answer_in_order(core, process.id(), async move |caller: Caller| {
        let Some(core) = own.upgrade() else { return };
        let Some(system) = core.systems.of(&process) else { return };
        match request.as_tuple() {
            Some([what, why]) if what.is_atom("terminate") => {
                caller.answer(Term::atom("ok"));
                system.stop(process, reason::from_term(why.clone()));
            }
            _ if !caller.wait(&core).await => {}
            _ if request.is_atom("get_state") => {
                let state = system.state(process).await;
                let wraps = version::wraps_states(&core, &caller).await;
                let wrapped = |state| if wraps { tagged!("ok", state) } else { state };
                answer_or_refuse(caller, state.map(wrapped));
            }
            _ if request.is_atom("get_status") => {
                answer_or_refuse(caller, status(&core, process).await);
            }
            // As OTP does.
            _ => caller.answer(tagged!("error", tagged!("unknown_system_msg", request))),
        }
    });
    None
}
