//! Built-in exported functions: those that `observer`, `etop` and other BEAM tools call to inspect a node.
//!
//! They are exported like functions of users, and a user's export replaces a built-in one. The answers concern this
//! node. A process that does not answer is reported with the items visible from outside. No function waits long for a
//! process, and none holds a lock during a scan.
//!
//! | file | content |
//! |---|---|
//! | `processes.rs` | `process_info` and other functions of processes |
//! | `function.rs` | Rust functions as `{Module, Function, Arity}`; pure |
//! | `machine.rs` | `system_info`, `memory`, `statistics` |
//! | `host.rs` | resource usage as reported by the operating system |
//! | `observer.rs` | `observer_backend`, for `observer` and `etop` |
//! | `applications.rs` | running applications, and process trees for `observer` |
//! | `modules.rs` | modules and tables |
//! | `gone.rs` | notification when a client has ended |

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

/// Exports all built-in functions.
pub(super) fn export(core: &Arc<Core>) {
    let offer = Offer(core);
    processes::export(&offer);
    machine::export(&offer);
    observer::export(&offer);
    applications::export(&offer);
    modules::export(&offer);
}

/// Registers built-in functions.
struct Offer<'a>(&'a Arc<Core>);

impl Offer<'_> {
    /// Exports a synchronous function. It receives exactly `arity` arguments.
    fn at_once<F>(&self, module: &'static str, name: &'static str, arity: usize, function: F)
    where
        F: Fn(&Arc<Core>, &[Term]) -> Outcome + Send + Sync + 'static,
    {
        self.process(module, name, arity, move |core, _, arguments| {
            std::future::ready(function(&core, &arguments))
        });
    }

    /// Exports an asynchronous function, or one that needs a process.
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

/// The `badarg` error.
fn badarg<T>() -> Result<T, Term> {
    Err(Term::atom("badarg"))
}

/// `{Name, Value}`.
fn pair(name: &'static str, value: impl Into<Term>) -> Term {
    Term::tuple([Term::atom(name), value.into()])
}

/// An atom of a text, cut to the maximum length.
fn atom(text: &str) -> Term {
    let short: String = text.chars().take(255).collect();
    Atom::new(&short).map_or(Term::NIL, Term::Atom)
}
