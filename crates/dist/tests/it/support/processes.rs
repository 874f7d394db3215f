//! Test support: local processes in a cluster.
#![allow(dead_code, reason = "each test uses some of it")]

use purlin::{Down, Exit, Message, Node, Process, SpawnOptions, receive};
use purlin_dist::NodeName;
use purlin_dist::cluster::{Builder, Cluster, GenCall};
use purlin_term::{Pid, Term};
use tokio::sync::oneshot;

use crate::support::{Beam, COOKIE, Epmd, in_time};

/// Starts an epmd, the BEAM node `beam` and the purlin node `ours`.
pub(crate) async fn beam_and_ours() -> (Epmd, Beam, Cluster) {
    let epmd = Epmd::start();
    let beam = Beam::start(&epmd, "beam").await;
    let cluster = join(&epmd, "ours").await;
    (epmd, beam, cluster)
}

/// Joins a purlin node.
pub(crate) async fn join(epmd: &Epmd, name: &str) -> Cluster {
    let node = Node::builder().workers(2).build().expect("a node");
    builder(epmd, name).start(&node).await.expect("it joins")
}

/// Joins a published purlin node.
pub(crate) async fn join_published(epmd: &Epmd, name: &str) -> Cluster {
    let node = Node::builder().workers(2).build().expect("a node");
    builder(epmd, name).published().start(&node).await.expect("it joins")
}

/// Returns a builder of a node with that name.
pub(crate) fn builder(epmd: &Epmd, name: &str) -> Builder {
    let name: NodeName = format!("{name}@127.0.0.1").parse().expect("a name");
    Cluster::builder(name).cookie(COOKIE).epmd(([127, 0, 0, 1], epmd.port).into())
}

/// Waits on a BEAM until an expression is true.
pub(crate) async fn beam_until(beam: &mut Beam, what: &str) {
    let waits = format!(
        "(fun Until() -> case {what} of true -> so; _ -> receive after 1 -> Until() end end end)()"
    );
    assert_eq!(beam.eval(&waits).await, "so");
}

/// Starts a process `echo` that replies to calls with their request.
pub(crate) fn echoes(cluster: &Cluster) {
    let answers = cluster.clone();
    let echo = cluster.node().spawn(async move |mut me: Process<Term>| {
        while let Ok(call) = GenCall::try_from(me.receive().await) {
            let what = call.request.clone();
            answers.reply(call, what);
        }
    });
    cluster.node().register("echo", &echo).expect("the name is free");
}

/// Spawns a process that waits for `stop`.
pub(crate) fn idler(cluster: &Cluster) -> purlin::Pid<Term> {
    cluster.node().spawn(async |mut me: Process<Term>| while !me.receive().await.is_atom("stop") {})
}

/// Messages to a test process.
#[derive(Debug, Message)]
pub(crate) enum Received {
    Term(Term),
    #[from]
    Exit(Exit),
    #[from]
    Down(Down),
}

/// Starts a process with that name on our node, which traps exits. Get its result with [`found`].
pub(crate) fn start<R: Send + 'static, F>(
    cluster: &Cluster,
    name: &str,
    process: impl FnOnce(Process<Received>, Cluster) -> F + Send + 'static,
) -> oneshot::Receiver<R>
where
    F: Future<Output = R> + Send + 'static,
{
    cluster.receives_by(|term| Ok(Received::Term(term)));
    let (sender, result) = oneshot::channel();
    let inside = cluster.clone();
    let spawned = SpawnOptions::new().name(name).spawn_on(cluster.node(), async move |me| {
        me.trap_exit(true);
        let _ = sender.send(process(me, inside).await);
    });
    spawned.expect("the name is free");
    result
}

pub(crate) async fn found<R>(result: oneshot::Receiver<R>) -> R {
    in_time("the end of a process", result).await.expect("it does not panic")
}

pub(crate) async fn term(me: &mut Process<Received>) -> Term {
    receive!(me, { Received::Term(term) => term })
}

pub(crate) async fn pid(me: &mut Process<Received>) -> Pid {
    match term(me).await {
        Term::Pid(pid) => *pid,
        other => panic!("{other} is no pid"),
    }
}

pub(crate) async fn exit(me: &mut Process<Received>) -> Exit {
    receive!(me, { Received::Exit(exit) => exit })
}

pub(crate) async fn down(me: &mut Process<Received>) -> Down {
    receive!(me, { Received::Down(down) => down })
}
