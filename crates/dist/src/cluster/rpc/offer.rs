//! Registration of built-in functions, and terms of their results.

use std::future::Future;
use std::sync::Arc;

use purlin::Process;
use purlin_term::{Atom, Term};

use crate::cluster::core::Core;
use crate::cluster::rpc::export::Outcome;

/// Registers built-in functions.
pub(crate) struct Offer<'a>(pub(in crate::cluster) &'a Arc<Core>);

impl Offer<'_> {
    /// Exports a synchronous function. It receives exactly `arity` arguments.
    pub(crate) fn at_once<F>(
        &self,
        module: &'static str,
        name: &'static str,
        arity: usize,
        function: F,
    ) where
        F: Fn(&Arc<Core>, &[Term]) -> Outcome + Send + Sync + 'static,
    {
        self.process(module, name, arity, move |core, _, arguments| {
            std::future::ready(function(&core, &arguments))
        });
    }

    /// Exports an asynchronous function, or one that needs a process.
    pub(crate) fn process<F, Fut>(
        &self,
        module: &'static str,
        name: &'static str,
        arity: usize,
        function: F,
    ) where
        F: Fn(Arc<Core>, Process<Term>, Vec<Term>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Outcome> + Send + 'static,
    {
        let own = Arc::downgrade(self.0);
        let function = Arc::new(function);
        let (module, name) = (Atom::from_static(module), Atom::from_static(name));
        self.0.exports.insert(module, name, arity, move |me, arguments| {
            let (core, function) = (own.upgrade(), Arc::clone(&function));
            async move {
                let core = core.ok_or_else(|| Term::atom("noconnection"))?;
                function(core, me, arguments).await
            }
        });
    }
}

/// The `badarg` error.
pub(crate) fn badarg<T>() -> Result<T, Term> {
    Err(Term::atom("badarg"))
}

/// `{Name, Value}`.
pub(crate) fn pair(name: &'static str, value: impl Into<Term>) -> Term {
    Term::tuple([Term::atom(name), value.into()])
}

/// An atom of a text, cut to the maximum length.
pub(crate) fn atom(text: &str) -> Term {
    let short: String = text.chars().take(255).collect();
    Atom::new(&short).map_or(Term::NIL, Term::Atom)
}
