//! Running applications, and their process trees for `observer`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use purlin::{Name, Process, ProcessId, SpawnOptions};
use purlin_term::{Pid, Term};

use super::{machine, processes};
use crate::cluster::core::Core;
use crate::cluster::proxy::gone::gone;
use crate::cluster::rpc::gen_call::cast;
use crate::cluster::rpc::offer::{Offer, atom, badarg, pair};

/// Interval between two checks for changes.
const UPDATE_INTERVAL: Duration = Duration::from_secs(2);
/// Maximum number of views for one client.
const MAX_VIEWS: usize = 64;

pub(super) fn export(offer: &Offer<'_>) {
    for name in ["which_applications", "loaded_applications"] {
        for arity in [0, 1] {
            offer.at_once("application", name, arity, |core, _| Ok(all(core)));
        }
    }
    offer.at_once("application", "info", 0, |core, _| {
        let running = names(core)
            .into_iter()
            .map(|(name, master)| Term::tuple([name, core.ids.pid_or_undefined(master)]));
        let running = Term::list(running);
        Ok(Term::list([pair("loaded", all(core)), pair("running", running)]))
    });
    offer.at_once("application_controller", "get_loaded", 1, |core, arguments| {
        let known = names(core).into_iter().any(|(name, _)| name == arguments[0]);
        Ok(if known {
            Term::tuple([Term::from(true), described(arguments[0].clone())])
        } else {
            Term::from(false)
        })
    });
    offer.at_once("application_controller", "get_master", 1, |core, arguments| {
        let master = names(core).into_iter().find(|(name, _)| *name == arguments[0]);
        Ok(core.ids.pid_or_undefined(master.and_then(|(_, master)| master)))
    });
    offer.process("appmon_info", "start_link2", 3, async |core, _, arguments| {
        let Some(client) = arguments[1].as_pid().cloned() else { return badarg() };
        let own = Arc::downgrade(&core);
        let to = client.clone();
        let shows = async move |me: Process<Term>| {
            if let Some(core) = own.upgrade() {
                show(core, me, to).await;
            }
        };
        let spawned = SpawnOptions::new().spawn_on(&core.ids.node, shows);
        let process = spawned.map_err(|_| Term::atom("system_limit"))?;
        Ok(tagged!("ok", core.ids.pid(process.id())))
    });
}

/// The running applications with their masters, and purlin itself, which has none.
fn names(core: &Core) -> Vec<(Term, Option<ProcessId>)> {
    let node = &core.ids.node;
    let mut names = vec![(Term::atom("purlin"), None)];
    names.extend(node.applications().iter().map(|name: &Name| {
        (atom(name), node.application(name).map(|application| application.id()))
    }));
    names
}

/// `{Name, Description, Version}`.
fn described(name: Term) -> Term {
    let description = format!("{name} on a node of purlin");
    Term::tuple([name, Term::string(&description), Term::string(machine::VERSION)])
}

fn all(core: &Core) -> Term {
    Term::list(names(core).into_iter().map(|(name, _)| described(name)))
}

/// The subject a client has subscribed to: all applications, or the process tree of one.
#[derive(Clone, PartialEq, Eq, Hash)]
enum View {
    All,
    Tree(String),
}

/// Sends the subscribed views to the client, and again after each change, until the client has ended.
async fn show(core: Arc<Core>, mut me: Process<Term>, client: Pid) {
    let mut gone = gone(&core, &client);
    let Some(client) = core.proxy(&client) else { return };
    let (own, me_there) = (Arc::downgrade(&core), Term::from(core.ids.pid(me.id())));
    drop(core);
    // The client's term to return with each view, and the content last sent.
    let mut views: HashMap<View, (Term, Option<Term>)> = HashMap::new();
    loop {
        tokio::select! {
            message = me.receive() => {
                let Some((view, given, is_on)) = asked(message) else { continue };
                if !is_on {
                    views.remove(&view);
                    continue;
                }
                if views.len() < MAX_VIEWS || views.contains_key(&view) {
                    views.insert(view, (given, None));
                }
            }
            _ = &mut gone => return,
            () = tokio::time::sleep(UPDATE_INTERVAL) => {}
        }
        let Some(core) = own.upgrade() else { return };
        for (view, (given, before)) in &mut views {
            let (kind, now) = match view {
                View::All => ("app_ctrl", running(&core)),
                View::Tree(name) => ("app", tree(&core, name)),
            };
            if before.as_ref() == Some(&now) {
                continue;
            }
            let (kind, given) = (Term::atom(kind), given.clone());
            client.send(tagged!("delivery", me_there.clone(), kind, given, now.clone()));
            *before = Some(now);
        }
    }
}

/// Decodes the cast `{From, What, Aux, OnOff, Options}`.
fn asked(message: Term) -> Option<(View, Term, bool)> {
    let cast = cast(message).ok()?;
    let [_, what, given, is_on, _] = cast.as_tuple()? else { return None };
    let view = match what.as_atom()?.as_str() {
        "app_ctrl" => View::All,
        "app" => View::Tree(given.as_atom()?.as_str().to_owned()),
        _ => return None,
    };
    Some((view, given.clone(), is_on.is_atom("true")))
}

/// `{Master, Name, {Name, Description, Version}}` of each application with a master.
fn running(core: &Core) -> Term {
    let all = names(core).into_iter();
    Term::list(all.filter_map(|(name, master)| {
        let master = core.ids.pid(master?).into();
        Some(Term::tuple([master, name.clone(), described(name)]))
    }))
}

/// The process tree of an application: `{Root, [{Name, Pid}], [{Parent, Child}], []}`, with names as strings.
fn tree(core: &Core, application: &str) -> Term {
    let Some(master) = core.ids.node.application(application).map(|one| one.id()) else {
        return Term::tuple([Term::NIL; 4]);
    };
    let all = processes::all(core);
    let mut children: HashMap<ProcessId, Vec<ProcessId>> = HashMap::new();
    let mut titles = HashMap::new();
    for process in &all {
        if let Some(parent) = process.parent {
            children.entry(parent).or_default().push(process.id);
        }
        let title = process.name.as_ref().map(ToString::to_string);
        titles.insert(process.id, title);
    }
    let title = |id: ProcessId| {
        let named = titles.get(&id).cloned().flatten();
        Term::string(&named.unwrap_or_else(|| Term::from(core.ids.pid(id)).to_string()))
    };
    let (mut found, mut links) = (Vec::new(), Vec::new());
    let (mut open, mut seen) = (vec![master], HashSet::new());
    while let Some(id) = open.pop() {
        // The process table is not a consistent snapshot, so an id may occur twice.
        if !seen.insert(id) {
            continue;
        }
        found.push(Term::tuple([core.ids.pid(id).into(), title(id)]));
        for child in children.get(&id).into_iter().flatten() {
            links.push(Term::tuple([title(id), title(*child)]));
            open.push(*child);
        }
    }
    Term::tuple([title(master), Term::list(found), Term::list(links), Term::NIL])
}
