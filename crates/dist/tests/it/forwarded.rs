//! Requests that a BEAM forwards to our node for a process of another BEAM, to which our node is not connected.

use crate::processes::{beam_until, echoes, join};
use std::time::Duration;

use crate::support::{Beam, Epmd, Ours, in_time, until};
use purlin::Process;
use purlin_dist::cluster::{Cluster, GenCall, NodeChange, Serve as _};
use purlin_term::Term;
use tokio::sync::mpsc;

/// A server whose replies are typed.
#[derive(Debug)]
struct Adder;

#[purlin::server(dist)]
impl Adder {
    #[call]
    fn add(&self, one: i64, other: i64) -> i64 {
        one + other
    }
}

/// Starts a process `orders` that sends the caller of a call `before` unless the request is `alone`, replies, and sends the request.
fn orders(cluster: &Cluster) {
    let answers = cluster.clone();
    let orders = cluster.node().spawn(async move |mut me: Process<Term>| {
        while let Ok(call) = GenCall::try_from(me.receive().await) {
            let what = call.request.clone();
            let caller = answers.pid::<Term>(&call.from).expect("there is room");
            if !what.is_atom("alone") {
                caller.send(Term::atom("before"));
            }
            answers.reply(call, Term::atom("reply"));
            caller.send(what);
        }
    });
    cluster.node().register("orders", &orders).expect("the name is free");
}

/// Sends a message to a name of our node, through the BEAM `between`.
const VIA: &str = "Via = fun(To, Message) -> {via, 'between@127.0.0.1'} ! {To, Message} end";

/// What the BEAM `caller` does, and the result.
const ROWS: &[(&str, &str)] = &[
    ("gen_server:call({via, 'between@127.0.0.1'}, {echo, hi}, infinity)", "hi"),
    ("gen_server:call({via, 'between@127.0.0.1'}, {adder, {add, 1, 2}}, infinity)", "3"),
    ("Via(echo, {'$gen_call', {self(), tag}, hi}), receive {tag, R} -> R end", "hi"),
    ("Via(adder, {'$gen_call', {self(), tag}, {add, 1, 2}}), receive {tag, R} -> R end", "3"),
    // M2
    (
        "Via(orders, {'$gen_call', {self(), tag}, alone}), [receive R -> R end || _ <- [1, 2]]",
        "[{tag,reply},alone]",
    ),
    (
        "Via(orders, {'$gen_call', {self(), tag}, last}), [receive R -> R end || _ <- [1, 2, 3]]",
        "[before,{tag,reply},last]",
    ),
    (
        "A = alias(), Via(orders, {'$gen_call', {self(), [alias | A]}, last}), \
         [receive {[alias | A], R} -> R; R -> R end || _ <- [1, 2, 3]]",
        "[before,reply,last]",
    ),
    (
        "Via(rex, {self(), {call, erlang, node, [], user}}), receive {rex, R} -> R end",
        "'ours@127.0.0.1'",
    ),
    (
        "Via(rex, {self(), {call, nothing, nothing, [], user}}), receive {rex, R} -> R end",
        "{badrpc,{'EXIT',{undef,[{nothing,nothing,[],[]}]}}}",
    ),
    (
        "A = alias(), Via(rex, {'$gen_call', {self(), [alias | A]}, {call, rust, waits, [], user}}), \
         receive {[alias | A], R} -> R end",
        "waited",
    ),
    (
        "Via(rex, {self(), {sbcast, nobody, hi}}), receive {rex, _, R} -> R end",
        "{nonexisting_name,nobody}",
    ),
];

#[tokio::test]
async fn the_answer_to_a_forwarded_request_goes_to_the_callers_node() {
    let epmd = Epmd::start();
    let mut caller = Beam::start(&epmd, "caller").await;
    let mut between = Beam::start(&epmd, "between").await;
    let cluster = join(&epmd, "ours").await;
    echoes(&cluster);
    orders(&cluster);
    cluster.serves(Adder::served());
    let adder = cluster.node().start::<Adder>(Adder).name("adder").await;
    adder.expect("the name is free");
    let waits = async |_| {
        tokio::task::yield_now().await;
        Ok(Term::atom("waited"))
    };
    cluster.export("rust", "waits", 0, waits).expect("short names");
    let via = "register(via, spawn(fun Via() -> \
               case receive M -> M end of \
                 {'$gen_call', From, {To, Request}} -> \
                   {To, 'ours@127.0.0.1'} ! {'$gen_call', From, Request}; \
                 {To, Message} -> {To, 'ours@127.0.0.1'} ! Message \
               end, Via() end))";
    assert_eq!(between.eval(via).await, "true");
    caller.eval(VIA).await;
    let is_connected = || cluster.nodes().contains(&caller_name());
    for (request, due) in ROWS {
        assert!(!is_connected(), "{request}");
        // The second time, the nodes are connected.
        for _ in 0..2 {
            assert_eq!(
                caller.eval(&format!("(fun() -> {request} end)()")).await,
                *due,
                "{request}"
            );
            assert!(is_connected(), "{request}");
        }
        caller.eval("erlang:disconnect_node('ours@127.0.0.1')").await;
        beam_until(&mut caller, "not lists:member('ours@127.0.0.1', nodes(connected))").await;
        until("the connection is lost", || !is_connected()).await;
    }
}

fn caller_name() -> purlin_dist::NodeName {
    "caller@127.0.0.1".parse().expect("a name")
}

#[tokio::test]
async fn an_answer_connects_again_if_the_connection_of_an_earlier_one_was_lost_immediately() {
    let epmd = Epmd::start();
    let cluster = join(&epmd, "ours").await;
    let mut peer = Ours::start(&epmd, "peer").await;
    let (lost, mut losses) = mpsc::unbounded_channel();
    cluster.when_changed(move |_, change| match change {
        // WHY real time: the connection should have ended before the answer is sent. If not, nothing is tested.
        NodeChange::Up { .. } => std::thread::sleep(Duration::from_millis(50)),
        _ => lost.send(()).expect("the test waits"),
    });
    for tag in 0..2 {
        let from = Term::tuple([Term::from(peer.pid(1)), Term::from(tag)]);
        let call = Term::tuple([Term::atom("$gen_call"), from, Term::NIL]);
        let call = GenCall::try_from(call).expect("a call");
        cluster.reply(call, Term::atom("reply"));
        drop(in_time("a connection", peer.called_raw()).await);
        in_time("its loss", losses.recv()).await;
    }
}
