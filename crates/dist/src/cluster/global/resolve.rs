//! Resolution of names that exist in both of two merging partitions.
//!
//! Each name has a method: a function that selects which of two processes keeps the name. It runs on the node of the
//! process that the deciding node knows: on a BEAM by `global:resolve_it/4`. A local process has one of the three
//! methods of `global`, which are implemented here.

use std::sync::Arc;
use std::time::Duration;

use purlin::{ExitReason, Process};
use purlin_term::{Atom, Export, Pid, Term};

use super::handle::Names;
use super::mail::ClientMail;
use crate::cluster::core::Core;
use crate::cluster::rpc::call::ask;
use crate::cluster::rpc::export::Outcome;
use crate::cluster::rpc::rex;

/// A name with different processes on both sides: the peer's, and ours.
pub(super) struct Conflict {
    name: Term,
    theirs: (Pid, Term),
    ours: (Pid, Term),
}

/// The method of names registered on this node: keep one of the two processes and kill the other.
pub(super) fn method() -> Term {
    let atom = Atom::from_static;
    let (module, function) = (atom("global"), atom("random_exit_name"));
    Term::Export(Box::new(Export { module, function, arity: 3 }))
}

fn insert(name: Term, pid: Pid, method: Term) -> Term {
    tagged!("insert", Term::tuple([name, Term::from(pid), method]))
}

/// Compares the peer's names with ours. Returns the changes for new names, and the conflicts.
pub(super) fn compare(names: &Names, theirs: Vec<Term>) -> (Vec<Term>, Vec<Conflict>) {
    let (mut here, mut conflicts) = (Vec::new(), Vec::new());
    for entry in theirs {
        let Some([name, Term::Pid(pid), method]) = entry.as_tuple() else { continue };
        let (name, pid, method) = (name.clone(), (**pid).clone(), method.clone());
        match names.find(&name) {
            None => here.push(insert(name, pid, method)),
            Some(ours) if ours.0 == pid => {}
            Some(ours) => conflicts.push(Conflict { name, theirs: (pid, method), ours }),
        }
    }
    (here, conflicts)
}

/// Resolves conflicts. Returns the changes to apply here, and on the peer.
pub(super) async fn decide(
    mut me: Process<ClientMail>,
    core: Arc<Core>,
    conflicts: Vec<Conflict>,
    mut here: Vec<Term>,
) -> (Vec<Term>, Vec<Term>) {
    let mut there = Vec::new();
    for Conflict { name, theirs, ours } in conflicts {
        let arguments =
            vec![ours.1.clone(), name.clone(), Term::from(theirs.0.clone()), ours.0.clone().into()];
        let kept = if core.ids.ours(&ours.0).is_some() {
            resolve_it(&core, &arguments).ok()
        } else {
            on_beam(&mut me, &core, &ours.0, arguments).await
        };
        match kept {
            Some(Term::Pid(kept)) if *kept == ours.0 => there.push(insert(name, ours.0, ours.1)),
            Some(Term::Pid(kept)) if *kept == theirs.0 => {
                here.push(insert(name, theirs.0, theirs.1));
            }
            // The node that has to decide could not be called.
            None => here.push(insert(name, theirs.0, theirs.1)),
            Some(_) => {
                let delete = tagged!("delete", name);
                here.push(delete.clone());
                there.push(delete);
            }
        }
    }
    (here, there)
}

async fn on_beam(
    me: &mut Process<ClientMail>,
    core: &Arc<Core>,
    process: &Pid,
    arguments: Vec<Term>,
) -> Option<Term> {
    let server = core.named(Atom::from_static("rex"), &process.node.as_str().parse().ok()?)?;
    let call = rex::call(Term::atom("global"), Term::atom("resolve_it"), arguments);
    let value = ask(me, core, &server, call, Duration::MAX).await.ok()?;
    rex::value(value).ok()
}

/// `global:resolve_it(Method, Name, Pid1, Pid2)`, for the methods of `global`.
pub(super) fn resolve_it(core: &Arc<Core>, arguments: &[Term]) -> Outcome {
    let [Term::Export(method), name, Term::Pid(one), Term::Pid(other)] = arguments else {
        return Err(Term::atom("undef"));
    };
    let (least, greatest) =
        if one.node.as_str() < other.node.as_str() { (one, other) } else { (other, one) };
    if method.module != *"global" {
        return Err(Term::atom("undef"));
    }
    let conflict = || vec![Term::atom("global_name_conflict"), name.clone()];
    match method.function.as_str() {
        "random_exit_name" => {
            match core.ids.ours(greatest) {
                Some(ours) => core.ids.node.exit(ours, ExitReason::Kill),
                None => core.proxy(greatest).into_iter().for_each(|it| it.exit(ExitReason::Kill)),
            }
            Ok(Term::Pid(least.clone()))
        }
        "random_notify_name" => {
            send(core, greatest, Term::Tuple(conflict()));
            Ok(Term::Pid(least.clone()))
        }
        "notify_all_name" => {
            for (to, about) in [(one, other), (other, one)] {
                let mut message = conflict();
                message.push(Term::Pid(about.clone()));
                send(core, to, Term::Tuple(message));
            }
            Ok(Term::atom("none"))
        }
        _ => Err(Term::atom("undef")),
    }
}

fn send(core: &Arc<Core>, process: &Pid, message: Term) {
    match core.ids.ours(process) {
        Some(ours) => {
            if let Some(ours) = core.ids.node.local_process(ours) {
                core.send_term(ours, message);
            }
        }
        None => core.proxy(process).into_iter().for_each(|it| it.send(message.clone())),
    }
}
