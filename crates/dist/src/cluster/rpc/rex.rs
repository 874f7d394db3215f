//! The `rex` server: answers calls of exported functions as OTP's server does, from `rpc:call` of nodes without `erpc`,
//! from C nodes (`ei_rpc`) and jinterface (`sendRPC`), and from [`Cluster::rpc`](crate::cluster::Cluster::rpc).
//!
//! There is no `rex` process: the connection's reader task handles the requests. Each call runs in a separate
//! process, so that calls do not wait for each other. Casts of `rpc:eval_everywhere` run likewise. A panic is answered with the exit reason of its process.

use std::sync::{Arc, Weak};

use purlin::{Process, SpawnOptions};
use purlin_dist_protocol::frame::{InvalidMessage, Payload, Unread};
use purlin_dist_protocol::link::Link;
use purlin_term::{Atom, Pid, Reference, Term};
use tracing::warn;

use crate::cluster::connection::Connection;
use crate::cluster::core::Core;
use crate::cluster::reason;
use crate::cluster::receive::requests::{Turn, in_turn};
use crate::cluster::rpc::apply::NoFunction;
use crate::cluster::rpc::export::{Found, Job};
use crate::cluster::rpc::gen_call::{GenCall, cast};

/// A request to the `rex` of another node.
pub(crate) fn call(module: impl Into<Term>, name: impl Into<Term>, arguments: Vec<Term>) -> Term {
    tagged!("call", module.into(), name.into(), Term::List(arguments), Term::atom("user"))
}

/// The value that a `rex` returned, or the reason in `{badrpc, Reason}`.
pub(crate) fn value(answer: Term) -> Result<Term, Term> {
    match answer.as_tuple() {
        Some([tag, why]) if tag.is_atom("badrpc") => Err(why.clone()),
        _ => Ok(answer),
    }
}

/// The caller, and the form of its answer.
enum Caller {
    /// A `gen_server` call, answered by `{Tag, Result}`.
    Gen(GenCall),
    /// A message `{Pid, Request}`, answered by `{rex, Result}`.
    Pid(Pid),
}

impl Caller {
    /// Whether the caller is a process of the node that the connection is to.
    fn is_on(&self, connection: &Connection) -> bool {
        let (Self::Gen(GenCall { from: pid, .. }) | Self::Pid(pid)) = self;
        *pid.node.as_str() == *connection.node.as_str()
    }

    /// Sends the answer, see [`send`].
    fn answer(self, core: &Arc<Core>, over: &Arc<Connection>, result: Term, turn: Option<Turn>) {
        match self {
            Self::Gen(call) => {
                let alias = call.alias().cloned();
                send(core, over, (call.from, alias), Term::tuple([call.tag, result]), turn);
            }
            Self::Pid(pid) => send(core, over, (pid, None), tagged!("rex", result), turn),
        }
    }
}

/// Handles a message to `rex`. Unknown requests are not answered.
///
/// # Errors
/// The message is not a term within the limits. If it is a call, it was answered.
pub(crate) fn receive(
    core: &Arc<Core>,
    connection: &Arc<Connection>,
    message: Unread<'_>,
    turn: Turn,
) -> Result<(), InvalidMessage> {
    let term = message.term().inspect_err(|_| {
        let by_pid = || message.rex_call().map(Caller::Pid);
        let call = message
            .gen_call()
            .map(|(from, tag, _)| Caller::Gen(GenCall { from, tag, request: Term::NIL }));
        if let Some(caller) = call.or_else(by_pid) {
            let why = Term::tuple([Term::atom("system_limit"), Term::NIL]);
            caller.answer(core, connection, failed(why), None);
        }
    })?;
    request(core, connection, term, turn);
    Ok(())
}

fn request(core: &Arc<Core>, connection: &Arc<Connection>, message: Term, turn: Turn) {
    let message = match cast(message) {
        Ok(request) => return run_cast(core, request, turn),
        Err(message) => message,
    };
    let (caller, request) = match GenCall::try_from(message) {
        Ok(mut call) => {
            let request = std::mem::replace(&mut call.request, Term::NIL);
            (Caller::Gen(call), request)
        }
        Err(Term::Tuple(parts)) => match <[Term; 2]>::try_from(parts) {
            Ok([Term::Pid(pid), request]) => (Caller::Pid(*pid), request),
            _ => return,
        },
        Err(_) => return,
    };
    match caller {
        Caller::Pid(pid) if request.is_atom("features_request") => {
            send_features(core, connection, pid, turn);
        }
        Caller::Pid(pid) if request.as_tuple().is_some_and(|parts| parts.len() == 3) => {
            pass_on(core, connection, pid, request, turn);
        }
        caller => run(core, connection, caller, request, turn),
    }
}

/// The call in `{Tag, Module, Function, Arguments, GroupLeader}`, if `is_tag` accepts the tag.
fn requested(request: Term, is_tag: impl FnOnce(&Term) -> bool) -> Option<[Term; 3]> {
    let Term::Tuple(parts) = request else { return None };
    let [tag, module, name, arguments, _] = <[Term; 5]>::try_from(parts).ok()?;
    is_tag(&tag).then_some([module, name, arguments])
}

/// Runs the function of `{cast, Module, Function, Arguments, GroupLeader}`. Its value is discarded.
fn run_cast(core: &Arc<Core>, request: Term, turn: Turn) {
    let Some(call) = requested(request, |tag| tag.is_atom("cast")) else { return };
    let job = Job::call(&core.exports, call);
    let runs =
        async move |me: Process<Term>| in_turn(Some(turn), job.run(me, &Weak::new())).await.0;
    // At the process limit the request is lost: it has no answer.
    if let Err(error) = SpawnOptions::new().spawn_on(&core.ids.node, runs) {
        warn!("a cast to `rex` was dropped: {error}");
    }
}

/// Passes on the message of `{sbcast, Name, Message}` (`rpc:sbcast`) and answers with this node's name, or that of
/// `{send, Name, Message}`, which the recipient answers. Without a process of this name, both are answered.
fn pass_on(core: &Arc<Core>, connection: &Arc<Connection>, from: Pid, request: Term, turn: Turn) {
    let Term::Tuple(parts) = request else { return };
    let Ok([tag, name, message]) = <[Term; 3]>::try_from(parts) else { return };
    let is_answered = tag.is_atom("sbcast");
    if !is_answered && !tag.is_atom("send") {
        return;
    }
    let us = Term::Atom(core.ids.atom.clone());
    let answer = match name.as_atom().and_then(|name| core.local_name(name.as_str())) {
        Some(to) if is_answered => {
            core.send_term(to, message);
            us.clone()
        }
        Some(to) => return core.send_term(to, Term::tuple([from.into(), message])),
        None => tagged!("nonexisting_name", name),
    };
    send(core, connection, (from, None), tagged!("rex", us, answer), Some(turn));
}

/// Answers `{call, Module, Function, Arguments, GroupLeader}` when the function has returned. `block_call` is the same
/// here and blocks no other call.
fn run(core: &Arc<Core>, connection: &Arc<Connection>, caller: Caller, request: Term, turn: Turn) {
    let is_call = |tag: &Term| tag.is_atom("call") || tag.is_atom("block_call");
    let Some(call) = requested(request, is_call) else { return };
    let found = match core.exports.apply(call) {
        Ok(found) => found,
        Err(none) => return caller.answer(core, connection, refused(none), Some(turn)),
    };
    let answer = match start_found(core, found, Some(turn)) {
        Ok(answer) => answer,
        Err(refused) => return caller.answer(core, connection, refused, None),
    };
    let (answering, connection) = (Arc::clone(core), Arc::clone(connection));
    core.runtime.spawn(async move {
        let (value, turn) = answer.await;
        // WHY: the number of functions that have waited, which have no turn, is not bounded. Their answers wait here, in
        // place of the suspension of a process that answers.
        if turn.is_some() || !caller.is_on(&connection) || connection.may_answer().await {
            caller.answer(&answering, &connection, value, turn);
        }
    });
}

/// Starts a process that runs an exported function. The future returns the answer when the process has ended, and the
/// turn if the function has not waited.
///
/// # Errors
/// The answer if no function can be called or no process can be spawned.
pub(crate) fn start(
    core: &Arc<Core>,
    module: Atom,
    name: Atom,
    arguments: Vec<Term>,
    turn: Option<Turn>,
) -> Result<impl Future<Output = (Term, Option<Turn>)> + use<>, Term> {
    let found = core.exports.apply([module.into(), name.into(), Term::List(arguments)]);
    start_found(core, found.map_err(refused)?, turn)
}

/// The answer to a call of no function.
fn refused(NoFunction { why, stack, .. }: NoFunction) -> Term {
    failed(Term::tuple([why, stack]))
}

/// [`start`] of a function that exists.
fn start_found(
    core: &Arc<Core>,
    Found { function, arguments, .. }: Found,
    turn: Option<Turn>,
) -> Result<impl Future<Output = (Term, Option<Turn>)> + use<>, Term> {
    let (sender, outcome) = tokio::sync::oneshot::channel();
    let runs = async move |me: Process<Term>| {
        // The receiver waits until this process has ended.
        let _ = sender.send(in_turn(turn, function(me, arguments)).await);
    };
    let process = SpawnOptions::new().spawn_on(&core.ids.node, runs);
    let process = process.map_err(|_| failed(Term::atom("system_limit")))?;
    Ok(async move {
        match outcome.await {
            Ok((Ok(value), turn)) => (value, turn),
            Ok((Err(why), turn)) => (failed(Term::tuple([why, Term::NIL])), turn),
            Err(_) => (failed(reason::to_term(&process.ended().await)), None),
        }
    })
}

/// Answers `features_request`, which every BEAM node sends to a published node.
fn send_features(core: &Arc<Core>, connection: &Arc<Connection>, to: Pid, turn: Turn) {
    let us = Term::Atom(core.ids.atom.clone());
    let features = Term::list([Term::atom("erpc")]);
    send(core, connection, (to, None), tagged!("features_reply", us, features), Some(turn));
}

/// Sends an answer to the node of its recipient, which need not be the node that the request came from.
fn send(
    core: &Arc<Core>,
    over: &Arc<Connection>,
    (to, alias): (Pid, Option<Reference>),
    message: Term,
    turn: Option<Turn>,
) {
    if *to.node.as_str() == *over.node.as_str() {
        return core.send_answer(over, &to, alias.as_ref(), Payload::Term(message));
    }
    let there = core.connection_of(&to);
    match there.filter(|there| there.link().is_some_and(Link::owes_too_much)) {
        None => core.answer_to(to, alias, message),
        // WHY with the turn: the requests of one node cannot fill the memory with answers for another one.
        Some(there) => {
            let core = Arc::clone(core);
            core.runtime.clone().spawn(async move {
                there.may_answer().await;
                core.answer_to(to, alias, message);
                drop(turn);
            });
        }
    }
}

/// The answer for a function that has failed.
fn failed(why: Term) -> Term {
    tagged!("badrpc", tagged!("EXIT", why))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use purlin::Node;
    use purlin_dist_protocol::Flags;
    use purlin_dist_protocol::frame::Signal;
    use purlin_dist_protocol::handshake::Established;
    use purlin_dist_protocol::link::Settings;
    use tokio::io::AsyncReadExt;
    use tokio::runtime::Builder;
    use tokio::sync::{Semaphore, mpsc};
    use tokio::time::sleep;

    use super::*;
    use crate::cluster::handle::Cluster;

    #[test]
    fn answers_of_functions_that_have_waited_wait_until_the_caller_reads() {
        const CALLS: usize = 20;
        const BYTES: usize = 50_000;
        let mut tokio = Builder::new_current_thread();
        let tokio = tokio.enable_all().start_paused(true);
        let mut simulated = Node::builder().simulated(1, tokio).expect("a node");
        let node = simulated.node().clone();
        let done = simulated.run(async move |_: Process<()>| {
            let builder = Cluster::builder("here@h".parse().expect("a name")).cookie("secret");
            let cluster = builder.only_calls().start(&node).await.expect("it starts");
            let released = Arc::new(Semaphore::new(0));
            let release = Arc::clone(&released);
            let waits = move |_| {
                let release = Arc::clone(&release);
                async move {
                    let _released = release.acquire().await;
                    Ok(Term::from(vec![7; BYTES].as_slice()))
                }
            };
            cluster.export("rust", "waits", 0, waits).expect("short names");
            let core = cluster.core();
            let (stream, mut peer) = tokio::io::duplex(1 << 10);
            let there: purlin_dist_protocol::NodeName = "there@h".parse().expect("a name");
            let connection = Connection::new(there.clone(), 1);
            connection.start_agent(core);
            let established = Established { peer: there, creation: 1, flags: Flags::OFFERED };
            let (answer_limit, suspend_limit) = (2 * BYTES, 4 * BYTES);
            let settings = Settings { answer_limit, suspend_limit, ..Settings::default() };
            let link = Link::start(stream, established, settings, mpsc::channel::<Signal>(1).0);
            connection.linked(link.clone());
            let turns = Arc::new(Semaphore::new(CALLS));
            let node = Atom::from_static("there@h");
            let caller = Pid { node, id: 1, serial: 0, creation: 1 };
            for _ in 0..CALLS {
                let call = call(Term::atom("rust"), Term::atom("waits"), vec![]);
                let message = Term::tuple([Term::from(caller.clone()), call]);
                let turn = Arc::clone(&turns).try_acquire_owned().expect("there is one");
                request(core, &connection, message, turn);
            }
            // CLOCK: virtual time, which passes when nothing else can happen.
            sleep(Duration::from_secs(1)).await;
            assert_eq!(turns.available_permits(), CALLS, "all functions have waited");
            released.add_permits(CALLS);
            sleep(Duration::from_secs(1)).await;
            assert!(link.owes_too_much() && !link.suspends(), "{:?}", link.traffic());
            let mut read = vec![0; CALLS * BYTES];
            peer.read_exact(&mut read).await.expect("all are answered");
        });
        done.expect("it ends");
    }
}
