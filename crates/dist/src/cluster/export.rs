//! Functions of this node that others may call, by module, name and number of arguments.
//!
//! `rpc` and `erpc` ask for a process that runs `erpc:execute_call/4`; that is answered by a process
//! here which runs the function.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};

use purlin_term::{Atom, Term};

use crate::control::Spawn;

/// What a call of an exported function has come to: a value, or the reason of an `error`.
pub type Outcome = Result<Term, Term>;

type Running = Pin<Box<dyn Future<Output = Outcome> + Send>>;
pub(super) type Function = Arc<dyn Fn(Vec<Term>) -> Running + Send + Sync>;

/// A function that a process elsewhere has asked to be run, with its arguments, as `erpc` does.
pub(super) struct Job {
    function: Option<Function>,
    /// What the answer is to carry.
    result: Term,
    call: (Term, Term, Vec<Term>),
}

impl Job {
    /// The function that is asked for; `None` if that is not done by `erpc`.
    pub(super) fn of(exports: &Exports, spawn: &Spawn, arguments: Vec<Term>) -> Option<Self> {
        if spawn.module != *"erpc" || spawn.function != *"execute_call" {
            return None;
        }
        let Ok([result, module, name, Term::List(arguments)]) = <[Term; 4]>::try_from(arguments)
        else {
            return None;
        };
        let (Term::Atom(module_name), Term::Atom(function_name)) = (&module, &name) else {
            return None;
        };
        let function = exports.find(module_name, function_name, arguments.len());
        Some(Self { function, result, call: (module, name, arguments) })
    }

    /// Runs it; why its process ends, as `erpc` wants to know it.
    pub(super) async fn run(self) -> Term {
        let (module, name, arguments) = self.call;
        let Some(function) = self.function else {
            let place = [module, name, Term::List(arguments), Term::NIL];
            let stack = Term::list([Term::tuple(place)]);
            return Term::tuple([self.result, Term::atom("error"), Term::atom("undef"), stack]);
        };
        match function(arguments).await {
            Ok(value) => Term::tuple([self.result, Term::atom("return"), value]),
            Err(why) => Term::tuple([self.result, Term::atom("error"), why, Term::NIL]),
        }
    }
}

/// The exported functions.
#[derive(Default)]
pub(super) struct Exports(RwLock<HashMap<(Atom, Atom, usize), Function>>);

impl Exports {
    pub(super) fn insert<F, Fut>(&self, module: Atom, name: Atom, arity: usize, function: F)
    where
        F: Fn(Vec<Term>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Outcome> + Send + 'static,
    {
        let function: Function = Arc::new(move |arguments| Box::pin(function(arguments)));
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.insert((module, name, arity), function);
    }

    pub(super) fn find(&self, module: &Atom, name: &Atom, arity: usize) -> Option<Function> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.get(&(module.clone(), name.clone(), arity)).cloned()
    }
}
