//! Functions of this node that others may call, by module, name and number of arguments.
//!
//! `rpc` and `erpc` ask for a process that runs a function of `erpc`, which runs the one that is meant; whoever
//! spawns asks for that one itself. Either is answered by a process here which runs it.

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::mem::take;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};

use purlin::foreign::Answer;
use purlin::{Cause, ExitReason, Process};
use purlin_term::{Atom, Term};

use super::reason::Why;
use crate::control::Spawn;

/// The module whose functions every module has.
pub(super) const ANY: &str = "_";

/// What a call of an exported function has come to: a value, or the reason of an `error`.
pub type Outcome = Result<Term, Term>;

type Running = Pin<Box<dyn Future<Output = Outcome> + Send>>;
pub(super) type Function = Arc<dyn Fn(Process<Term>, Vec<Term>) -> Running + Send + Sync>;

/// A function that a process elsewhere has asked to be run, with its arguments.
pub(super) struct Job {
    function: Option<Function>,
    /// What the answer is to carry, if the end of the process is one, as `erpc` wants it.
    result: Option<Term>,
    /// Module, name and arguments.
    call: (Term, Term, Vec<Term>),
}

impl Job {
    /// What is asked for, whether there is such a function or not.
    pub(super) fn of(exports: &Exports, spawn: &Spawn, mut arguments: Vec<Term>) -> Self {
        let (module, name) = (spawn.module.as_str(), spawn.function.as_str());
        let (result, call) = match (module, name, &mut arguments[..]) {
            ("erpc", "execute_call", [result, module, name, Term::List(arguments)]) => {
                (Some(result.clone()), (module.clone(), name.clone(), take(arguments)))
            }
            ("erpc", "execute_cast", [module, name, Term::List(arguments)])
            | ("proc_lib", "init_p", [_, _, module, name, Term::List(arguments)]) => {
                (None, (module.clone(), name.clone(), take(arguments)))
            }
            _ => {
                let [module, name] =
                    [&spawn.module, &spawn.function].map(|it| Term::Atom(it.clone()));
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

    /// Runs it; why its process ends.
    pub(super) async fn run(self, me: Process<Term>) -> ExitReason {
        let (module, name, arguments) = self.call;
        let (outcome, stack) = match self.function {
            Some(function) => (function(me, arguments).await, Term::NIL),
            None => (Err(Term::atom("undef")), not_there(module, name, arguments)),
        };
        let answer = match (self.result, outcome) {
            (Some(result), Ok(value)) => [result, Term::atom("return"), value].to_vec(),
            (Some(result), Err(why)) => [result, Term::atom("error"), why, stack].to_vec(),
            // As in Erlang nobody is told the value.
            (None, Ok(_)) => return ExitReason::Normal,
            (None, Err(why)) => return ExitReason::error(Why(Term::tuple([why, stack]))),
        };
        ExitReason::error(Answer(Cause::new(Why(Term::tuple(answer)))))
    }
}

/// Where a function was looked for in vain, as Erlang says it.
pub(super) fn not_there(module: Term, name: Term, arguments: Vec<Term>) -> Term {
    Term::list([Term::tuple([module, name, Term::List(arguments), Term::NIL])])
}

/// The exported functions.
#[derive(Default)]
pub(super) struct Exports(RwLock<HashMap<(Atom, Atom, usize), Function>>);

impl Exports {
    pub(super) fn insert<F, Fut>(&self, module: Atom, name: Atom, arity: usize, function: F)
    where
        F: Fn(Process<Term>, Vec<Term>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Outcome> + Send + 'static,
    {
        let function: Function = Arc::new(move |me, arguments| Box::pin(function(me, arguments)));
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.insert((module, name, arity), function);
    }

    /// The function of that name; one of the module [`ANY`] is one of every module.
    pub(super) fn find(&self, module: &Atom, name: &Atom, arity: usize) -> Option<Function> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let found = |module: &Atom| all.get(&(module.clone(), name.clone(), arity)).cloned();
        found(module).or_else(|| found(&Atom::from_static(ANY)))
    }

    /// The modules that something is exported of.
    pub(super) fn modules(&self) -> BTreeSet<Atom> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let modules = all.keys().map(|(module, ..)| module.clone());
        modules.filter(|module| *module != *ANY).collect()
    }
}
