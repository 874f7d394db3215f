//! Functions that every node answers: what `observer`, `etop` and other tools of the BEAM call to look at one.
//!
//! They are exported functions like those of users, who may put their own in the place of any. What they tell is
//! of this node: a process that does not answer is told of as far as it can be seen from outside, and nothing
//! here waits for one for long, or holds a lock while it looks.
//!
//! | file | what |
//! |---|---|
//! | `processes.rs` | `process_info` and other functions of processes |
//! | `function.rs` | functions of Rust in Erlang's words; pure |
//! | `machine.rs` | `system_info`, `memory`, `statistics` |
//! | `host.rs` | what the operating system says of this program |
//! | `observer.rs` | `observer_backend`, for `observer` and `etop` |
//! | `applications.rs` | which applications run, and trees of processes for `observer` |
//! | `modules.rs` | which modules there are, and which tables |
//! | `gone.rs` | when whoever looks is gone |

mod applications;
mod function;
mod gone;
mod host;
mod machine;
mod modules;
mod observer;
mod processes;

use std::future::Future;
use std::sync::{Arc, Weak};

use purlin::Process;
use purlin_term::{Atom, Term};

pub(super) use self::gone::gone;
pub(super) use self::processes::parent;
use super::core::Core;
use super::export::Outcome;

/// Exports all of them.
pub(super) fn export(core: &Arc<Core>) {
    let offer = Offer(core);
    processes::export(&offer);
    machine::export(&offer);
    observer::export(&offer);
    applications::export(&offer);
    modules::export(&offer);
}

/// What functions are exported by.
struct Offer<'a>(&'a Arc<Core>);

impl Offer<'_> {
    /// A function that is answered at once. It is given as many arguments as `arity` says.
    fn at_once<F>(&self, module: &'static str, name: &'static str, arity: usize, function: F)
    where
        F: Fn(&Arc<Core>, &[Term]) -> Outcome + Send + Sync + 'static,
    {
        self.process(module, name, arity, move |core, _, arguments| {
            std::future::ready(function(&core, &arguments))
        });
    }

    /// One that takes its time, or needs a process.
    fn process<F, Fut>(&self, module: &'static str, name: &'static str, arity: usize, function: F)
    where
        F: Fn(Arc<Core>, Process<Term>, Vec<Term>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Outcome> + Send + 'static,
    {
        let own = Arc::downgrade(self.0);
        let function = Arc::new(function);
        let (module, name) = (Atom::from_static(module), Atom::from_static(name));
        self.0.exports.insert(module, name, arity, move |me, arguments| {
            let (core, function) = (Weak::upgrade(&own), Arc::clone(&function));
            async move {
                let core = core.ok_or_else(|| Term::atom("noconnection"))?;
                function(core, me, arguments).await
            }
        });
    }
}

/// What Erlang says of an argument that it does not take.
fn badarg<T>() -> Result<T, Term> {
    Err(Term::atom("badarg"))
}

/// `{Name, Value}`.
fn pair(name: &'static str, value: impl Into<Term>) -> Term {
    Term::tuple([Term::atom(name), value.into()])
}

/// An atom of a text that may be too long for one.
fn atom(text: &str) -> Term {
    let short: String = text.chars().take(255).collect();
    Atom::new(&short).map_or(Term::NIL, Term::Atom)
}
