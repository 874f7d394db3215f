//! Requests of `sys` to any server: `{system, {From, Tag}, Request}`.

use std::any::TypeId;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};

use purlin::ExitReason;
use purlin::remote::LocalProcess;
use purlin_term::Term;

use super::caller::Caller;
use super::version;
use crate::cluster::builtin::parent;
use crate::cluster::core::Core;
use crate::cluster::gen_call::GenCall;
use crate::cluster::reason;

/// The state of a process, as returned by the process itself; `None` if it ends, panics, or takes too long.
type State = Pin<Box<dyn Future<Output = Option<Term>> + Send>>;

/// Functions for `sys` of processes of one type.
pub(in crate::cluster) trait System: Send + Sync {
    /// Name of the OTP behaviour.
    fn behaviour(&self) -> &'static str;

    /// Returns the state.
    fn state(&self, process: LocalProcess) -> State;

    /// Requests an orderly stop.
    fn stop(&self, process: LocalProcess, reason: ExitReason);
}

/// Functions for `sys`, by message type of the process.
#[derive(Default)]
pub(in crate::cluster) struct Systems(RwLock<HashMap<TypeId, Arc<dyn System>>>);

impl Systems {
    pub(in crate::cluster) fn insert(&self, message: TypeId, system: Arc<dyn System>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(message, system);
    }

    /// The functions for a process whose type is registered.
    pub(in crate::cluster) fn of(&self, process: &LocalProcess) -> Option<Arc<dyn System>> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.get(&process.message_type()).cloned()
    }
}

/// The answer to `sys:get_status` of a process, without a state if its type is not registered. Returns `None` if the
/// process has ended, or returns no state.
pub(in crate::cluster) async fn status(core: &Core, process: LocalProcess) -> Option<Term> {
    let (system, id) = (core.systems.of(&process), process.id());
    let info = core.ids.node.process_info(id)?;
    let parent = core.ids.told(parent(core, &info));
    let (running, messages) = (Term::atom("running"), Term::string(info.message_type));
    let (module, shown) = match system {
        Some(system) => {
            let state = system.state(process).await?;
            let header = Term::tuple([Term::atom("header"), Term::string(info.function)]);
            let first = data([("Status", running.clone()), ("Parent", parent.clone())]);
            let second = data([("State", state), ("Messages", messages)]);
            (system.behaviour(), Term::list([header, first, second]))
        }
        None => ("purlin", messages),
    };
    Some(Term::tuple([
        Term::atom("status"),
        core.ids.pid(id).into(),
        Term::tuple([Term::atom("module"), Term::atom(module)]),
        Term::list([Term::NIL, running, parent, Term::NIL, shown]),
    ]))
}

fn data(parts: [(&str, Term); 2]) -> Term {
    let parts = parts.map(|(name, value)| Term::tuple([Term::string(name), value]));
    Term::tuple([Term::atom("data"), Term::list(parts)])
}

/// Answers a request of `sys`. WHY a task: the server returns its state only between two messages.
pub(super) fn asked(core: &Arc<Core>, process: LocalProcess, asked: GenCall) {
    let ((caller, request), own) = (Caller::new(core, asked), Arc::downgrade(core));
    drop(core.runtime.spawn(async move {
        let Some(core) = own.upgrade() else { return };
        let Some(system) = core.systems.of(&process) else { return };
        match request.as_tuple() {
            Some([what, why]) if what.is_atom("terminate") => {
                caller.answer(Term::atom("ok"));
                system.stop(process, reason::from_term(why.clone()));
            }
            _ if request.is_atom("get_state") => {
                if let Some(state) = system.state(process).await {
                    let wraps = version::wraps_states(&core, caller.pid()).await;
                    let ok = || Term::atom("ok");
                    caller.answer(if wraps { Term::tuple([ok(), state]) } else { state });
                }
            }
            _ if request.is_atom("get_status") => {
                if let Some(status) = status(&core, process).await {
                    caller.answer(status);
                }
            }
            // As OTP does.
            _ => {
                let unknown = Term::tuple([Term::atom("unknown_system_msg"), request]);
                caller.answer(Term::tuple([Term::atom("error"), unknown]));
            }
        }
    }));
}
