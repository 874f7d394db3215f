//! Exported functions: functions of this node that remote nodes may call, by module, name and arity.
//!
//! `rpc` and `erpc` send a spawn request for a function of `erpc`, which applies the actual function. `spawn` requests
//! the actual function itself, or `erlang:apply` of a fun. In all cases a local process is spawned that runs the function.

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::mem::replace;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock, Weak};

use purlin::remote::Answer;
use purlin::{Cause, ExitReason, Process};
use purlin_dist_protocol::frame::Payload;
use purlin_term::{Atom, Term};
use tracing::warn;

use crate::cluster::connection::Connection;
use crate::cluster::reason::{CountedReason, TermReason};
use crate::cluster::rpc::apply::{Called, NoFunction, resolve};
use crate::cluster::rpc::encodable::{bad_reply, encodable};

/// Pseudo-module whose functions exist in every module.
pub(crate) const ANY: &str = "_";

/// Result of an exported function: a value, or the reason of an `error`. A result that cannot be encoded becomes an error
/// with the reason `{bad_reply, Why}`.
pub type Outcome = Result<Term, Term>;

type Running = Pin<Box<dyn Future<Output = Outcome> + Send>>;
pub(crate) type Function = Arc<dyn Fn(Process<Term>, Vec<Term>) -> Running + Send + Sync>;

/// A function with its arguments.
pub(crate) struct Found {
    pub(crate) function: Function,
    pub(crate) arguments: Vec<Term>,
    called: Called,
}

/// A requested function with its arguments.
pub(crate) struct Job {
    function: Result<Found, NoFunction>,
    /// Tag of the answer if the exit reason of the process is the answer, as for `erpc`.
    result: Option<Term>,
}

impl Job {
    /// Decodes a spawn request, whether the function exists or not.
    pub(crate) fn of(
        exports: &Exports,
        (module, name): (&Atom, &Atom),
        mut arguments: Vec<Term>,
    ) -> Self {
        let taken = |part: &mut Term| replace(part, Term::NIL);
        let (result, call) = match (module.as_str(), name.as_str(), &mut arguments[..]) {
            ("erpc", "execute_call", [result, module, name, arguments]) => {
                (Some(taken(result)), [module, name, arguments].map(taken))
            }
            ("erpc", "execute_cast", [module, name, arguments])
            | ("proc_lib", "init_p", [_, _, module, name, arguments]) => {
                (None, [module, name, arguments].map(taken))
            }
            ("proc_lib", "init_p", [_, _, fun]) => {
                let applied = Term::list([taken(fun), Term::NIL]);
                (None, [Term::atom("erlang"), Term::atom("apply"), applied])
            }
            _ => (None, [module.clone().into(), name.clone().into(), Term::List(arguments)]),
        };
        Self { result, ..Self::call(exports, call) }
    }

    /// The call of `[Module, Function, Arguments]`, whose value is discarded, whether the function exists or not.
    pub(crate) fn call(exports: &Exports, call: [Term; 3]) -> Self {
        Self { function: exports.apply(call), result: None }
    }

    /// Runs the function and returns the exit reason of its process.
    pub(crate) async fn run(self, me: Process<Term>, connection: &Weak<Connection>) -> ExitReason {
        let process = me.id();
        let (outcome, stack, (module, name, arity)) = match self.function {
            Ok(Found { function, arguments, called }) => {
                (function(me, arguments).await, Term::NIL, called)
            }
            Err(NoFunction { called, why, stack }) => (Err(why), stack, called),
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
        let replaced = all.insert((module, name, arity), function);
        // WHY before the function is dropped: what it has captured may use the cluster.
        drop(all);
        drop(replaced);
    }

    /// Looks up the function that `[Module, Function, Arguments]` calls, see [`resolve`].
    pub(crate) fn apply(&self, call: [Term; 3]) -> Result<Found, NoFunction> {
        let (module, name, arguments) = resolve(call)?;
        match self.find(&module, &name, arguments.len()) {
            Some(function) => {
                let called = (module, name, arguments.len());
                Ok(Found { function, arguments, called })
            }
            None => Err(NoFunction::undef(module, name, arguments)),
        }
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
