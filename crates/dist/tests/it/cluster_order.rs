//! Guarantees of a cluster: ordering, bounded mailboxes, and reconnection.

use crate::processes::{Received, beam_and_ours, found, pid, start, term};
use crate::support::{Beam, COOKIE, Epmd};
use purlin::{ExitReason, Node, Overflow, Process, SpawnOptions};
use purlin_dist::cluster::Cluster;
use purlin_term::Term;

/// A BEAM process that returns what it is sent and survives the loss of a link.
const ECHO: &str = "spawn(fun() -> process_flag(trap_exit, true),
    (fun Echo() -> receive {From, What} when is_pid(From) -> From ! What, Echo() end end)() end)";

// L2: a lost connection fires each link once. A notified process can link again and is not notified again of the lost
// connection.
#[tokio::test]
async fn a_process_notified_of_noconnection_can_link_again_over_a_new_connection() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let name = beam.name.clone();
    let links = start(&cluster, "links", async move |mut me, cluster| {
        let theirs = cluster.pid::<Term>(&pid(&mut me).await).expect("there is room");
        let own = Term::from(cluster.term_of(me.id()));
        for round in 0..60 {
            me.link(&theirs);
            theirs.send(Term::tuple([own.clone(), Term::from(round)]));
            match me.receive().await {
                Received::Term(answer) => assert_eq!(answer.as_integer(), Some(round)),
                other => panic!("round {round}: {other:?}"),
            }
            assert!(cluster.disconnect(&name), "it was connected");
            match me.receive().await {
                Received::Exit(exit) => assert_eq!(exit.reason, ExitReason::NoConnection),
                other => panic!("round {round}: {other:?}"),
            }
        }
    });
    beam.eval(&format!("{{links, 'ours@127.0.0.1'}} ! {ECHO}")).await;
    found(links).await;
}

// D1: the closed connection may not have ended when the next signals are sent. Its loss is signalled before anything of
// the new connection.
#[tokio::test]
async fn signals_after_a_disconnect_go_over_a_new_connection() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let name = beam.name.clone();
    let watches = start(&cluster, "watches", async move |mut me, cluster| {
        let theirs = cluster.pid::<Term>(&pid(&mut me).await).expect("there is room");
        let own = Term::from(cluster.term_of(me.id()));
        let mut monitor = me.monitor(&theirs);
        for round in 0..60 {
            theirs.send(Term::tuple([own.clone(), Term::from(round)]));
            match me.receive().await {
                Received::Term(answer) => assert_eq!(answer.as_integer(), Some(round)),
                other => panic!("round {round}: {other:?}"),
            }
            assert!(cluster.disconnect(&name), "it was connected");
            assert!(!cluster.disconnect(&name), "the connection is closed");
            if round % 2 == 0 {
                cluster.connect(&name).await.expect("it is there");
            }
            let next = me.monitor(&theirs);
            theirs.send(Term::tuple([own.clone(), Term::from(-1)]));
            match me.receive().await {
                Received::Down(down) => {
                    assert_eq!((down.monitor, down.reason), (monitor, ExitReason::NoConnection));
                }
                other => panic!("round {round}: {other:?}"),
            }
            assert_eq!(term(&mut me).await.as_integer(), Some(-1));
            monitor = next;
        }
    });
    beam.eval(&format!("{{watches, 'ours@127.0.0.1'}} ! {ECHO}")).await;
    found(watches).await;
}

// M2: messages from another node to a local process are in order, whether by pid or by name.
#[tokio::test]
async fn messages_from_another_node_by_name_and_by_pid_are_in_order() {
    const COUNT: i64 = 20_000;
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let counts = start(&cluster, "counts", async |mut me, cluster| {
        let from = cluster.pid::<Term>(&pid(&mut me).await).expect("there is room");
        from.send(cluster.term_of(me.id()).into());
        for number in 0..COUNT {
            assert_eq!(term(&mut me).await.as_integer(), Some(number));
        }
    });
    beam.eval("{counts, 'ours@127.0.0.1'} ! self()").await;
    beam.eval("Counts = receive Pid -> Pid end").await;
    let to = "case N rem 3 of 0 -> {counts, 'ours@127.0.0.1'}; _ -> Counts end";
    beam.eval(&format!("[({to}) ! N || N <- lists:seq(0, {})], ok", COUNT - 1)).await;
    found(counts).await;
}

// M2: the order of each sender is preserved while many of them send concurrently to one remote process, so that the
// inbox of its proxy is sharded, and signals are interleaved with messages.
#[tokio::test]
async fn concurrent_senders_to_one_remote_process_each_keep_their_order() {
    const SENDERS: i64 = 8;
    const COUNT: i64 = 5_000;
    let epmd = Epmd::start();
    let mut beam = Beam::start(&epmd, "beam").await;
    let node = Node::builder().workers(4).build().expect("a node");
    let joins = Cluster::builder("ours@127.0.0.1".parse().expect("a name"));
    let joins = joins.cookie(COOKIE).epmd(([127, 0, 0, 1], epmd.port).into());
    let cluster = joins.start(&node).await.expect("it joins");
    beam.eval("register(main, self())").await;
    beam.eval(
        "Hears = fun Hears(Next, 0) -> maps:size(Next);
            Hears(Next, Left) -> receive
                {Who, N} -> N = maps:get(Who, Next, 0), Hears(Next#{Who => N + 1}, Left - 1)
            end end",
    )
    .await;
    let own = beam.eval("term_to_binary(self())").await;
    let bytes = own.trim_matches(['<', '>']).split(',').map(|byte| byte.parse().expect("a byte"));
    let own = Term::decode(&bytes.collect::<Vec<u8>>()).expect("a pid");
    let theirs = own.as_pid().expect("a pid");
    for who in 0..SENDERS {
        let to = cluster.pid::<(i64, i64)>(theirs).expect("there is room");
        node.spawn(async move |me: Process<Received>| {
            for number in 0..COUNT {
                to.send((who, number));
                if number % 7 == 0 {
                    let monitor = me.monitor(&to);
                    me.demonitor(monitor);
                }
            }
        });
    }
    let heard = beam.eval(&format!("Hears(#{{}}, {})", SENDERS * COUNT)).await;
    assert_eq!(heard, SENDERS.to_string());
}

// B1: a sender on another node is not a process of this node and is not suspended; neither is any other process.
#[tokio::test]
async fn a_full_mailbox_suspends_no_process_on_another_node() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let node = cluster.node();
    let full = |name: &'static str, overflow| {
        let options = SpawnOptions::new().name(name).bound(2, overflow);
        options
            .spawn_on(node, async |_: Process<Term>| std::future::pending::<()>().await)
            .expect("the name is free")
    };
    let policies =
        [("waits", Overflow::Wait), ("rejects", Overflow::Reject), ("drops", Overflow::DropOldest)];
    let full = policies.map(|(name, overflow)| full(name, overflow));
    let behind = start(&cluster, "behind", async |mut me, _| term(&mut me).await);
    beam.eval(
        "[{Name, 'ours@127.0.0.1'} ! N || Name <- [waits, rejects, drops], N <- lists:seq(1, 100)],
         {behind, 'ours@127.0.0.1'} ! done",
    )
    .await;
    assert!(found(behind).await.is_atom("done"), "the mailboxes hold up another process");
    let [waits, rejects, drops] = full.map(|pid| pid.info());
    let dropped = |info: &purlin::ProcessInfo| info.bound.as_ref().map(|bound| bound.dropped);
    assert_eq!((waits.mailbox_len, dropped(&waits)), (100, Some(0)), "all of it is accepted");
    assert_eq!((rejects.mailbox_len, dropped(&rejects)), (2, Some(98)));
    // The oldest messages are dropped by the receiver when it next runs.
    assert!(drops.mailbox_len <= 100 && dropped(&drops).is_some());
}
