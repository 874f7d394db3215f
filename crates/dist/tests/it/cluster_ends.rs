//! What a cluster does when something ends: a node, a connection, an unused process, or a user's function by a panic.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::processes::{Received, beam_and_ours, exit, found, join, pid, start, term};
use crate::support::{Connected, Epmd, HANG, Ours, in_time, until};
use purlin::{ExitReason, Pid as Address, Process, receive};
use purlin_dist::NodeName;
use purlin_dist::cluster::{CallError, Cluster, GenCall, TermReason};
use purlin_dist::control::{Control, Named};
use purlin_term::{Pid, Term};
use tokio::sync::{Notify, oneshot};

/// Returns the next control message of that kind and skips others.
async fn next<T>(peer: &mut Connected, take: impl Fn(Control) -> Option<T>) -> T {
    loop {
        if let Some(found) = take(peer.next().await.control) {
            return found;
        }
    }
}

/// Connects a node that the test implements. Returns it, its connection, and the pid of our process with that name.
async fn speaks_for_itself(epmd: &Epmd, cluster: &Cluster, name: &str) -> (Ours, Connected, Pid) {
    let raw = Ours::start(epmd, "raw").await;
    let connected = raw.call(cluster.name()).await;
    let process = cluster.node().local_name(name).expect("it is there").id();
    (raw, connected, cluster.term_of(process))
}

async fn sends(peer: &Connected, to: &Pid, what: Term) {
    peer.send(Control::Send { to: to.clone(), token: None }, Some(what)).await;
}

// E1: when a node stops, processes on other nodes learn only that the node is gone.
#[tokio::test]
async fn stopping_our_node_does_not_affect_processes_on_other_nodes() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let _links = start(&cluster, "links", async |mut me, cluster| {
        me.trap_exit(false);
        let theirs = cluster.pid::<Term>(&pid(&mut me).await).expect("there is room");
        me.link(&theirs);
        me.monitor(&theirs);
        theirs.send(Term::atom("linked"));
        let unharmed = cluster.pid::<Term>(&pid(&mut me).await).expect("there is room");
        unharmed.send(Term::atom("hello"));
        theirs.send(Term::atom("known"));
        std::future::pending::<()>().await;
    });
    beam.eval("{links, 'ours@127.0.0.1'} ! self(), monitor_node('ours@127.0.0.1', true)").await;
    assert_eq!(beam.eval("receive linked -> yes end").await, "yes");
    // A process that does not trap exits and is known to our node.
    beam.eval("P = spawn(fun() -> receive never -> ok end end), {links, 'ours@127.0.0.1'} ! P")
        .await;
    assert_eq!(beam.eval("receive known -> yes end").await, "yes");
    let node = cluster.node().clone();
    let stopped =
        tokio::task::spawn_blocking(move || node.stop_blocking()).await.expect("it stops");
    assert!(stopped.hogs.is_empty() && stopped.stranded.is_empty());
    assert_eq!(beam.eval("receive {nodedown, Node} -> Node end").await, "'ours@127.0.0.1'");
    // The linked process receives the exit signal before the connection closes.
    assert_eq!(beam.eval("receive {'EXIT', _, Why} -> Why end").await, "shutdown");
    let rest = "receive Other -> Other after 0 -> is_process_alive(P) end";
    assert_eq!(beam.eval(rest).await, "true");
}

// The decoder of a message blocks the reader of a connection that the peer replaces.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_does_not_end_delays_no_other_peer() {
    let epmd = Epmd::start();
    let (ours, theirs) = (join(&epmd, "ours").await, join(&epmd, "theirs").await);
    crate::processes::echoes(&ours);
    let _blocked = start(&ours, "blocked", async |mut me, _| me.receive().await);
    let entered = Arc::new(Notify::new());
    let (go_on, goes_on) = std::sync::mpsc::channel::<()>();
    let (entering, goes_on) = (Arc::clone(&entered), Mutex::new(goes_on));
    ours.receives_by(move |term| {
        if term.is_atom("blocks") {
            entering.notify_one();
            let _ = goes_on.lock().expect("no panic").recv();
        }
        Ok(Received::Term(term))
    });
    let blocked = theirs.named::<Term>("blocked", ours.name()).expect("there is room");
    blocked.send(Term::atom("blocks"));
    in_time("the message", entered.notified()).await;
    assert!(theirs.disconnect(ours.name()));
    until("the end of the connection", || theirs.nodes().is_empty()).await;
    in_time("the handshake", theirs.connect(ours.name())).await.expect("it answers");
    let third = join(&epmd, "third").await;
    let echoed = third.call::<Term>("echo", ours.name(), Term::NIL, HANG).await;
    assert_eq!(echoed, Ok(Term::NIL));
    drop(go_on);
    let echoed = theirs.call::<Term>("echo", ours.name(), Term::NIL, HANG).await;
    assert_eq!(echoed, Ok(Term::NIL));
}

// Nothing of a connection is delivered after its loss: `late` has been read when the node disconnects, and blocks the
// reader while it is decoded.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_of_a_connection_is_received_before_the_down_signal_of_its_loss() {
    let epmd = Epmd::start();
    let (ours, theirs) = (join(&epmd, "ours").await, join(&epmd, "theirs").await);
    let received = start(&ours, "watcher", async |mut me, cluster| {
        let watched = cluster.pid::<Term>(&pid(&mut me).await).expect("there is room");
        me.monitor(&watched);
        watched.send(Term::atom("monitored"));
        [me.receive().await, me.receive().await]
    });
    let (entered, lost) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (go_on, goes_on) = std::sync::mpsc::channel();
    let (entering, goes_on) = (Arc::clone(&entered), Mutex::new(goes_on));
    ours.receives_by(move |term| {
        if term.is_atom("late") {
            entering.notify_one();
            goes_on.lock().expect("no panic").recv().expect("the test goes on");
        }
        Ok(Received::Term(term))
    });
    let watcher = theirs.named::<Term>("watcher", ours.name()).expect("there is room");
    let watched = theirs.node().spawn(async move |mut me: Process<Term>| {
        assert!(me.receive().await.is_atom("monitored"));
        watcher.send(Term::atom("late"));
        std::future::pending::<()>().await;
    });
    let to = theirs.named::<Term>("watcher", ours.name()).expect("there is room");
    to.send(theirs.term_of(watched.id()).into());
    in_time("the message", entered.notified()).await;
    let gone = Arc::clone(&lost);
    theirs.when_down(ours.name(), move |_| gone.notify_one());
    assert!(ours.disconnect(theirs.name()));
    in_time("the loss", lost.notified()).await;
    go_on.send(()).expect("it waits");
    let [first, second] = found(received).await;
    assert!(matches!(first, Received::Term(term) if term.is_atom("late")));
    let Received::Down(down) = second else { panic!("{second:?}") };
    assert_eq!(down.reason, ExitReason::NoConnection);
}

#[tokio::test]
async fn proxies_end_with_the_cluster_and_no_new_connection_is_made() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let theirs: Address<Term> = cluster.named("main", &beam.name).expect("there is room");
    beam.eval("register(main, self())").await;
    theirs.send(Term::atom("here"));
    assert_eq!(beam.eval("receive here -> nodes(hidden) end").await, "['ours@127.0.0.1']");
    assert_eq!(beam.eval("monitor_node('ours@127.0.0.1', true)").await, "true");
    drop(cluster);
    assert_eq!(beam.eval("receive {nodedown, Node} -> Node end").await, "'ours@127.0.0.1'");
    assert_eq!(in_time("the end", theirs.ended()).await, ExitReason::NoConnection);
    until("the proxy's end", || theirs.exit_reason() == Some(ExitReason::NoConnection)).await;
    assert_eq!(beam.eval("nodes(hidden)").await, "[]");
}

// Memory: a proxy exists as long as it is used.
#[tokio::test]
async fn thousands_of_short_lived_callers_leave_no_proxies() {
    const CALLERS: usize = 3_000;
    // Unused proxies are collected when there are 1,024 more than at the last collection, or twice as many as were in
    // use then. At most 200 callers exist at any moment, so at most 2,248 proxies remain.
    const MOST: usize = 2_500;
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let counts = start(&cluster, "counts", async |mut me, cluster| {
        let (mut exits, mut answered) = (0, 0);
        while exits < CALLERS {
            match me.receive().await {
                Received::Exit(_) => exits += 1,
                Received::Term(Term::Pid(from)) => {
                    let from = cluster.pid::<Term>(&from).expect("there is room");
                    from.send(Term::atom("go"));
                    answered += 1;
                }
                other => panic!("{other:?}"),
            }
        }
        answered
    });
    let to = cluster.term_of(cluster.node().local_name("counts").expect("it counts").id());
    let main = cluster.named::<Term>("main", &beam.name).expect("there is room");
    beam.eval("register(main, self())").await;
    main.send(Term::from(to));
    beam.eval("Pid = receive P -> P end").await;
    let callers = "[begin {C, R} = spawn_monitor(fun() -> link(Pid), Pid ! self(), receive go -> ok end end), \
                   case N rem 100 of 0 -> receive {'DOWN', R, _, _, _} -> ok end; _ -> C end end || N <- lists:seq(1, 1000)], done";
    for _ in 0..CALLERS / 1_000 {
        assert_eq!(beam.eval(callers).await, "done");
    }
    assert_eq!(found(counts).await, CALLERS);
    // WHY polled: a proxy ends in its next turn, after the shutdown signal.
    until("the stand-ins end", || cluster.node().processes().len() < MOST).await;
}

#[tokio::test]
async fn calls_leave_no_processes() {
    let (_epmd, beam, cluster) = beam_and_ours().await;
    for _ in 0..500 {
        let called = cluster.call::<Term>("nobody", &beam.name, Term::NIL, HANG).await;
        assert_eq!(called, Err(CallError::Ended(ExitReason::NoProcess)));
    }
    // WHY waited for: the process that made the last call is still ending.
    until("the processes that made the calls end", || cluster.node().processes().len() < 20).await;
}

#[tokio::test]
async fn a_panicking_user_function_does_not_affect_the_connection() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    cluster.receives_by::<u8, _>(|term| panic!("what is {term}?"));
    let careless = cluster.node().spawn(async |mut me: Process<u8>| {
        me.receive().await;
    });
    cluster.node().register("careless", &careless).expect("the name is free");
    cluster.export("rust", "slips", 0, async |_| panic!("slipped")).expect("short names");
    cluster.connect(&beam.name).await.expect("it is there");
    let (sender, gone) = oneshot::channel();
    cluster.when_down(&beam.name, |_| panic!("slipped"));
    cluster.when_down(&beam.name, |_| sender.send(()).expect("the test waits"));
    beam.eval("{careless, 'ours@127.0.0.1'} ! 7").await;
    let slipped = beam.eval("erpc:call('ours@127.0.0.1', rust, slips, [])").await;
    assert!(slipped.contains("slipped"), "{slipped}");
    assert_eq!(beam.eval("net_adm:ping('ours@127.0.0.1')").await, "pong");
    assert_eq!(cluster.undecoded(), 1);
    assert!(careless.is_alive());
    assert!(cluster.disconnect(&beam.name));
    found(gone).await;
}

// M2: messages sent by a process before its end arrive before its exit or down signal, whatever their routes.
#[tokio::test]
async fn messages_of_a_process_arrive_before_its_end() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let _spawns = start(&cluster, "spawns", async |mut me, cluster| {
        loop {
            let theirs = pid(&mut me).await;
            let inside = cluster.clone();
            let to = theirs.clone();
            let worker = cluster.node().spawn(async move |mut me: Process<Term>| {
                me.receive().await;
                let to = inside.pid::<u32>(&to).expect("there is room");
                for number in 0..3 {
                    to.send(number);
                }
            });
            let answer = cluster.pid::<Term>(&theirs).expect("there is room");
            answer.send(Term::from(cluster.term_of(worker.id())));
        }
    });
    let round = "fun Round(0) -> ok; Round(N) -> \
         {spawns, 'ours@127.0.0.1'} ! self(), \
         W = receive P when is_pid(P) -> P end, \
         case N rem 2 of 0 -> link(W); 1 -> monitor(process, W) end, W ! go, \
         Next = fun() -> receive M -> M end end, \
         case [Next(), Next(), Next()] of [0, 1, 2] -> ok; Other -> exit({N, Other}) end, \
         receive {'DOWN', _, _, W, normal} -> ok; {'EXIT', W, normal} -> ok end, \
         Round(N - 1) end";
    assert_eq!(beam.eval(&format!("({round})(500)")).await, "ok");
}

// M2: the same for a reply.
#[tokio::test]
async fn messages_of_a_server_to_its_caller_arrive_before_the_reply() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let _serves = start(&cluster, "serves", async |mut me, cluster| {
        loop {
            let call = GenCall::try_from(term(&mut me).await).expect("a call");
            let caller = cluster.pid::<Term>(&call.from).expect("there is room");
            caller.send(Term::atom("before"));
            cluster.reply(call, Term::atom("answered"));
        }
    });
    let round = "fun Round(0) -> ok; Round(N) -> \
         answered = gen_server:call({serves, 'ours@127.0.0.1'}, ask, infinity), \
         receive before -> ok after 0 -> exit(N) end, Round(N - 1) end";
    assert_eq!(beam.eval(&format!("({round})(500)")).await, "ok");
}

#[tokio::test]
async fn a_message_whose_serialization_panics_is_dropped_and_the_next_one_arrives() {
    struct Slips(bool);
    impl serde::Serialize for Slips {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            assert!(!self.0, "slipped");
            serializer.serialize_u8(7)
        }
    }
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let main = cluster.named::<Slips>("main", &beam.name).expect("there is room");
    beam.eval("register(main, self())").await;
    main.send(Slips(true));
    main.send(Slips(false));
    assert_eq!(beam.eval("receive First -> First end").await, "7");
}

// L5: an unlink that is pending when the connection is lost is void.
#[tokio::test]
async fn an_unlink_without_acknowledgement_does_not_void_the_next_link() {
    let epmd = Epmd::start();
    let cluster = join(&epmd, "ours").await;
    let unlinks = start(&cluster, "unlinks", async |mut me, cluster| {
        let theirs = cluster.pid::<Term>(&pid(&mut me).await).expect("there is room");
        me.link(&theirs);
        me.unlink(&theirs);
        term(&mut me).await;
    });
    let (raw, mut peer, ours) = speaks_for_itself(&epmd, &cluster, "unlinks").await;
    let theirs = raw.pid(7);
    sends(&peer, &ours, Term::from(theirs.clone())).await;
    next(&mut peer, |said| matches!(said, Control::UnlinkId { .. }).then_some(())).await;
    peer.link.close();
    peer.link.ended().await;
    let mut peer = raw.call(cluster.name()).await;
    peer.send(Control::Link { from: theirs.clone(), to: ours.clone() }, None).await;
    sends(&peer, &ours, Term::atom("end")).await;
    found(unlinks).await;
    let ends = |said| match said {
        Control::Exit { from, to, .. } => Some((from, to)),
        _ => None,
    };
    assert_eq!(next(&mut peer, ends).await, (ours, theirs));
}

// L1, L2: a process unlinks and links again before it reads the loss of the connection. The new link exists at both ends
// or at none; the exit of the process reveals which.
#[tokio::test]
async fn a_link_made_before_the_loss_is_read_is_not_left_at_the_remote_end() {
    let epmd = Epmd::start();
    let cluster = join(&epmd, "ours").await;
    let (go_on, goes_on) = std::sync::mpsc::channel::<()>();
    let relinks = start(&cluster, "relinks", async move |mut me, cluster| {
        let theirs = cluster.pid::<Term>(&pid(&mut me).await).expect("there is room");
        me.link(&theirs);
        // WHY blocked: the process must not read the loss.
        let _ = goes_on.recv();
        me.unlink(&theirs);
        me.link(&theirs);
        let lost = exit(&mut me).await;
        assert_eq!(lost.from, Some(theirs.id()));
        lost.reason
    });
    let (mut raw, mut peer, ours) = speaks_for_itself(&epmd, &cluster, "relinks").await;
    let theirs = raw.pid(7);
    sends(&peer, &ours, Term::from(theirs.clone())).await;
    next(&mut peer, |said| matches!(said, Control::Link { .. }).then_some(())).await;
    peer.link.close();
    until("the loss", || cluster.nodes().is_empty()).await;
    drop(go_on);
    let mut peer = in_time("a connection", raw.called()).await;
    assert_eq!(found(relinks).await, ExitReason::NoConnection);
    // A message of the same proxy, after all its signals.
    cluster.pid::<Term>(&theirs).expect("there is room").send(Term::atom("after"));
    let (mut links, mut exits) = (0, 0);
    loop {
        match peer.next().await.control {
            Control::Link { .. } => links += 1,
            Control::Exit { .. } => exits += 1,
            Control::Send { .. } | Control::SendSender { .. } => break,
            _ => {}
        }
    }
    assert_eq!(links, exits, "the remote process is linked to one that has ended");
}

// D1, L2: the signal of an end is sent whatever its reason is; the term here cannot be a part of another.
#[tokio::test]
async fn an_end_whose_reason_cannot_be_encoded_reaches_links_and_monitors() {
    let epmd = Epmd::start();
    let cluster = join(&epmd, "ours").await;
    let _ends: oneshot::Receiver<()> = start(&cluster, "ends", async |mut me, _| {
        term(&mut me).await;
        let why = Term::tuple([Term::atom("x"), Term::Local([1, 2, 3][..].into())]);
        purlin::exit(ExitReason::error(TermReason(why)))
    });
    let (raw, mut peer, ours) = speaks_for_itself(&epmd, &cluster, "ends").await;
    let (theirs, reference) = (raw.pid(7), raw.reference(1));
    peer.send(Control::Link { from: theirs.clone(), to: ours.clone() }, None).await;
    let watched = Named::Pid(ours.clone());
    peer.send(Control::Monitor { from: theirs.clone(), to: watched, reference }, None).await;
    sends(&peer, &ours, Term::atom("end")).await;
    let mut ends = [peer.next().await, peer.next().await].map(|signal| match signal.control {
        Control::Exit { from, to, .. } => ("exit", from, to),
        Control::Down { from: Named::Pid(from), to, .. } => ("down", from, to),
        other => panic!("{other:?}"),
    });
    ends.sort_by_key(|(kind, ..)| *kind);
    let found = ["down", "exit"].map(|kind| (kind, ours.clone(), theirs.clone()));
    assert_eq!(ends, found);
}

// L1, L2: one link to the process, whichever proxy it is made through; its end is reported once per proxy.
#[tokio::test]
async fn a_process_linked_through_two_proxies_is_notified_once_for_each() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let links = start(&cluster, "links", async |mut me, cluster| {
        for round in 0..2 {
            let theirs = pid(&mut me).await;
            let [one, two] = [(); 2].map(|()| cluster.pid::<Term>(&theirs).expect("there is room"));
            assert_eq!(one.id(), two.id(), "one proxy for one type of message");
            let other = cluster.pid::<u32>(&theirs).expect("there is room");
            me.link(&one);
            me.link(&other);
            one.send(Term::atom("a"));
            other.send(1);
            receive!(me, { Received::Term(term) if term.is_atom("ready") => () });
            if round == 0 {
                one.send(Term::atom("end"));
            } else {
                cluster.disconnect(&theirs.node.as_str().parse().expect("a name"));
            }
            let mut seen = [exit(&mut me).await.from, exit(&mut me).await.from];
            let mut names = [Some(one.id()), Some(other.id())];
            seen.sort();
            names.sort();
            assert_eq!(seen, names);
        }
        let none = receive!(me, { Received::Exit(_) => false, after Duration::ZERO => true });
        assert!(none, "an exit more");
    });
    let theirs = "spawn(fun() -> receive a -> ok end, receive 1 -> ok end, \
         {links, 'ours@127.0.0.1'} ! ready, receive end_ -> ok; 'end' -> ok end end)";
    for _ in 0..2 {
        beam.eval(&format!("{{links, 'ours@127.0.0.1'}} ! {theirs}")).await;
    }
    found(links).await;
}

// D1, L2: whenever the connection is lost, every link and monitor fires.
#[tokio::test]
async fn repeatedly_lost_connections_leave_no_link_or_monitor_unanswered() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    beam.eval("register(main, self())").await;
    let watches = start(&cluster, "watches", async |mut me, cluster| {
        let theirs = pid(&mut me).await;
        let node: NodeName = theirs.node.as_str().parse().expect("a name");
        for round in 0..105 {
            let known = cluster.pid::<Term>(&theirs).expect("there is room");
            let monitor = me.monitor(&known);
            me.link(&known);
            known.send(Term::from(round));
            if round % 3 == 0 {
                me.unlink(&known);
                me.link(&known);
            }
            for _ in 0..round % 7 {
                purlin::yield_now().await;
            }
            cluster.disconnect(&node);
            // Whatever is connected at the end is disconnected until both have fired.
            let mut fired = (false, false);
            while fired != (true, true) {
                let received = receive!(me, {
                    received @ (Received::Down(_) | Received::Exit(_)) => Some(received),
                    // WHY real time: whatever the time, the node is disconnected again until both have fired.
                    after Duration::from_millis(1) => None,
                });
                match received {
                    Some(Received::Down(down)) => {
                        assert_eq!(down.monitor, monitor);
                        assert!(!std::mem::replace(&mut fired.0, true), "twice");
                    }
                    Some(Received::Exit(_)) => {
                        assert!(!std::mem::replace(&mut fired.1, true), "twice");
                    }
                    _ => drop(cluster.disconnect(&node)),
                }
            }
        }
    });
    beam.eval("{watches, 'ours@127.0.0.1'} ! self()").await;
    found(watches).await;
}
