//! Exported functions: functions of this node that remote nodes may call, by module, name and arity.
//!
//! `rpc` and `erpc` send a spawn request for a function of `erpc`, which applies the actual function. `spawn` requests
//! the actual function itself. In both cases a local process is spawned that runs the function.

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::mem::take;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock, Weak};

use purlin::remote::Answer;
use purlin::{Cause, ExitReason, Process};
use purlin_dist_protocol::frame::Payload;
use purlin_term::{Atom, Term};
use tracing::warn;

use crate::cluster::connection::Connection;
use crate::cluster::reason::{CountedReason, TermReason};
use crate::cluster::rpc::encodable::{bad_reply, encodable};

/// Pseudo-module whose functions exist in every module.
pub(crate) const ANY: &str = "_";

/// Result of an exported function: a value, or the reason of an `error`. A result that cannot be encoded becomes an error
/// with the reason `{bad_reply, Why}`.
pub type Outcome = Result<Term, Term>;

type Running = Pin<Box<dyn Future<Output = Outcome> + Send>>;
pub(crate) type Function = Arc<dyn Fn(Process<Term>, Vec<Term>) -> Running + Send + Sync>;

/// A requested function with its arguments.
pub(crate) struct Job {
    function: Option<Function>,
    /// Tag of the answer if the exit reason of the process is the answer, as for `erpc`.
    result: Option<Term>,
    /// Module, name and arguments.
    call: (Term, Term, Vec<Term>),
}

impl Job {
    /// Decodes a spawn request, whether the function exists or not.
    pub(crate) fn of(
        exports: &Exports,
        (module, name): (&Atom, &Atom),
        mut arguments: Vec<Term>,
    ) -> Self {
        let (result, call) = match (module.as_str(), name.as_str(), &mut arguments[..]) {
            ("erpc", "execute_call", [result, module, name, Term::List(arguments)]) => {
                (Some(result.clone()), (module.clone(), name.clone(), take(arguments)))
            }
            ("erpc", "execute_cast", [module, name, Term::List(arguments)])
            | ("proc_lib", "init_p", [_, _, module, name, Term::List(arguments)]) => {
                (None, (module.clone(), name.clone(), take(arguments)))
            }
            _ => {
                let [module, name] = [module, name].map(|it| Term::Atom(it.clone()));
                (None, (module, name, arguments))
            }
        };
        let function = match &call {
            (Term::Atom(module), Term::Atom(name), arguments) => {
                exports.find(module, name, arguments.len())
            }
            _ => None,
        };
        Self { function, result, call }
    }

    /// Runs the function and returns the exit reason of its process.
    pub(crate) async fn run(self, me: Process<Term>, connection: &Weak<Connection>) -> ExitReason {
        let (module, name, arguments) = self.call;
        let (process, arity) = (me.id(), arguments.len());
        let (outcome, stack) = match self.function {
            Some(function) => (function(me, arguments).await, Term::NIL),
            None => (Err(Term::atom("undef")), not_there(module.clone(), name.clone(), arguments)),
        };
        let answer = match (self.result, outcome) {
            (Some(result), Ok(value)) => [result, Term::atom("return"), value].to_vec(),
            (Some(result), Err(why)) => [result, Term::atom("error"), why, stack].to_vec(),
            // As in Erlang, the value is discarded.
            (None, Ok(_)) => return ExitReason::Normal,
            (None, Err(why)) => {
                // The report of the runtime does not contain it.
                warn!(%process, "{module}:{name}/{arity} failed: {why}");
                return ExitReason::error(TermReason(Term::tuple([why, stack])));
            }
        };
        let term = Term::tuple(answer);
        let connection = connection.upgrade();
        let link = connection.as_ref().and_then(|connection| connection.link());
        let counted = link.map(|link| link.defer(None, Some(Payload::Term(term.clone()))));
        let _counted = counted.and_then(Result::ok).map(|(counted, _)| counted);
        ExitReason::error(Answer(Cause::new(CountedReason { term, _counted })))
    }
}

/// The stack trace of an undefined function.
pub(crate) fn not_there(module: Term, name: Term, arguments: Vec<Term>) -> Term {
    Term::list([Term::tuple([module, name, Term::List(arguments), Term::NIL])])
}

/// The exported functions of a node.
#[derive(Default)]
pub(crate) struct Exports(RwLock<HashMap<(Atom, Atom, usize), Function>>);

impl Exports {
    pub(crate) fn insert<F, Fut>(&self, module: Atom, name: Atom, arity: usize, function: F)
    where
        F: Fn(Process<Term>, Vec<Term>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Outcome> + Send + 'static,
    {
        let function: Function = Arc::new(move |me, arguments| {
            let result = function(me, arguments);
            Box::pin(async move {
                let outcome = result.await;
                let (Ok(part) | Err(part)) = &outcome;
                match encodable(part) {
                    Ok(()) => outcome,
                    Err(why) => Err(bad_reply(&why.to_string())),
                }
            })
        });
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.insert((module, name, arity), function);
    }

    /// Looks up a function; functions of [`ANY`] are found in every module.
    pub(crate) fn find(&self, module: &Atom, name: &Atom, arity: usize) -> Option<Function> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let found = |module: &Atom| all.get(&(module.clone(), name.clone(), arity)).cloned();
        found(module).or_else(|| found(&Atom::from_static(ANY)))
    }

    /// The modules with at least one exported function.
    pub(crate) fn modules(&self) -> BTreeSet<Atom> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let modules = all.keys().map(|(module, ..)| module.clone());
        modules.filter(|module| *module != *ANY).collect()
    }
}
