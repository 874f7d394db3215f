//! What a BEAM sends costs at most its own message: unusual and oversized terms, and exit signals to aliases.

use crate::processes::{beam_and_ours, builder, down, exit, found, pid, start};
use crate::support::{Beam, Epmd, Ours, in_time, until};
use purlin::{ExitReason, Node, Process};
use purlin_dist::cluster::{Cluster, TermReason};
use purlin_dist::control::{Control, Named};
use purlin_dist::frame::{Limits, Signal};
use purlin_dist::link::Settings;
use purlin_term::{Pid, Term};
use tokio::sync::{mpsc, oneshot};

/// Registers a process `sink` that passes on the messages it receives.
fn sink(cluster: &Cluster) -> mpsc::UnboundedReceiver<Term> {
    let (received, messages) = mpsc::unbounded_channel();
    let sink = cluster.node().spawn(
        async move |mut me: Process<Term>| {
            while received.send(me.receive().await).is_ok() {}
        },
    );
    cluster.node().register("sink", &sink).expect("the name is free");
    messages
}

/// Links the evaluating process of the BEAM, which traps exits, to the sink.
async fn link_to_sink(beam: &mut Beam) {
    let sink = "Sink = erpc:call('ours@127.0.0.1', erlang, whereis, [sink]), is_pid(Sink)";
    assert_eq!(beam.eval(sink).await, "true");
    assert_eq!(beam.eval("link(Sink)").await, "true");
}

/// Sends an expression to the sink.
async fn send(beam: &mut Beam, expression: &str) {
    let sent = format!("catch element(1, {{ok, {{sink, 'ours@127.0.0.1'}} ! {expression}}})");
    assert_eq!(beam.eval(&sent).await, "ok");
}

async fn next(messages: &mut mpsc::UnboundedReceiver<Term>) -> Term {
    in_time("a message", messages.recv()).await.expect("the sink lives")
}

#[tokio::test]
async fn terms_that_are_large_are_delivered() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let mut messages = sink(&cluster);
    link_to_sink(&mut beam).await;
    send(&mut beam, "lists:seq(1, 9000000)").await;
    send(&mut beam, "binary:copy(<<7>>, 256 bsl 20)").await;
    let list = next(&mut messages).await;
    assert_eq!(list.as_list().map(<[Term]>::len), Some(9_000_000));
    let binary = next(&mut messages).await;
    assert_eq!(binary.as_binary().map(<[u8]>::len), Some(256 << 20));
    assert_eq!(
        beam.eval("receive {'EXIT', Sink, Why} -> Why after 0 -> linked end").await,
        "linked"
    );
}

#[tokio::test]
async fn a_message_beyond_the_limits_is_dropped_and_the_links_stay() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let mut messages = sink(&cluster);
    link_to_sink(&mut beam).await;
    let deep = "lists:foldl(fun(_, Inner) -> [Inner] end, [], lists:seq(1, 600000))";
    send(&mut beam, deep).await;
    send(&mut beam, "next").await;
    assert_eq!(next(&mut messages).await, Term::atom("next"));
    assert_eq!(
        beam.eval("receive {'EXIT', Sink, Why} -> Why after 0 -> linked end").await,
        "linked"
    );
    let dropped: u64 = cluster.traffic().iter().map(|(_, traffic)| traffic.dropped).sum();
    assert_eq!(dropped, 1);
}

// L2, D1
#[tokio::test]
async fn an_exit_whose_reason_exceeds_the_limits_is_delivered_with_another_reason() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let watches = start(&cluster, "watches", async |mut me, cluster| {
        let parent = cluster.pid::<Term>(&pid(&mut me).await).expect("there is room");
        let watched = cluster.pid::<Term>(&pid(&mut me).await).expect("there is room");
        me.monitor(&watched);
        watched.send(Term::atom("end"));
        let down = down(&mut me).await.reason;
        let linked = cluster.pid::<Term>(&pid(&mut me).await).expect("there is room");
        linked.send(Term::atom("end"));
        let exit_of_a_link = exit(&mut me).await.reason;
        let links = me.pid().details().await.expect("it lives").links.len();
        parent.send(Term::atom("unlinked"));
        [down, exit_of_a_link, exit(&mut me).await.reason].map(|reason| (reason.to_string(), links))
    });
    let deep = "Deep = lists:foldl(fun(_, Inner) -> [Inner] end, [], lists:seq(1, 600000))";
    beam.eval(&format!("element(1, {{ok, {deep}}})")).await;
    beam.eval("Ours = erpc:call('ours@127.0.0.1', erlang, whereis, [watches])").await;
    beam.eval("Ours ! self(), Ours ! spawn(fun() -> receive 'end' -> exit(Deep) end end), ok")
        .await;
    let links = "Ours ! spawn(fun() -> link(Ours), receive 'end' -> exit(Deep) end end), ok";
    beam.eval(links).await;
    assert_eq!(beam.eval("receive unlinked -> exit(Ours, Deep) end").await, "true");
    for (reason, links) in found(watches).await {
        assert!(reason.starts_with("{bad_reason,<<"), "{reason}");
        assert_eq!(links, 0);
    }
    let dropped: u64 = cluster.traffic().iter().map(|(_, traffic)| traffic.dropped).sum();
    assert_eq!(dropped, 3);
}

// L2, D1: as nodes before OTP 22, `ei` and jinterface send them.
#[tokio::test]
async fn a_reason_in_the_control_message_that_exceeds_the_limits_is_replaced() {
    let epmd = Epmd::start();
    let node = Node::builder().workers(2).build().expect("a node");
    let term = purlin_term::Limits { memory: 64 << 10, ..Default::default() };
    let settings = Settings { limits: Limits { term, ..Limits::default() }, ..Settings::default() };
    let cluster = builder(&epmd, "ours").settings(settings).start(&node).await.expect("it joins");
    let watches = start(&cluster, "watches", async |mut me, cluster| {
        let theirs = cluster.pid::<Term>(&pid(&mut me).await).expect("there is room");
        me.monitor(&theirs);
        me.link(&theirs);
        [down(&mut me).await.reason, exit(&mut me).await.reason, exit(&mut me).await.reason]
    });
    let raw = Ours::start(&epmd, "raw").await;
    let mut peer = raw.call(cluster.name()).await;
    let ours = cluster.term_of(cluster.node().local_name("watches").expect("it is there").id());
    let (from, to) = (raw.pid(7), ours);
    let sent = Control::Send { to: to.clone(), token: None };
    peer.send(sent, Some(from.clone().into())).await;
    let reference = loop {
        if let Control::Monitor { reference, .. } = peer.next().await.control {
            break reference;
        }
    };
    while !matches!(peer.next().await.control, Control::Link { .. }) {}
    let large = Term::list((0..10_000).map(Term::from));
    let parts = || (from.clone(), to.clone(), Some(large.clone()));
    let (_, to, reason) = parts();
    peer.send(Control::Down { from: Named::Pid(from.clone()), to, reference, reason }, None).await;
    let ((from, to, reason), token) = (parts(), None);
    peer.send(Control::Exit { from, to, token, reason }, None).await;
    let ((from, to, reason), token) = (parts(), None);
    peer.send(Control::Exit2 { from, to, token, reason }, None).await;
    for reason in found(watches).await {
        let reason = reason.to_string();
        assert!(reason.starts_with("{bad_reason,<<"), "{reason}");
    }
    let dropped: u64 = cluster.traffic().iter().map(|(_, traffic)| traffic.dropped).sum();
    assert_eq!(dropped, 3);
}

// L2, D1
#[tokio::test]
async fn an_exit_of_more_fragments_than_allowed_is_delivered_with_another_reason() {
    let epmd = Epmd::start();
    let mut beam = Beam::start(&epmd, "beam").await;
    let limits = Limits { fragments: 1 << 20, ..Limits::default() };
    let settings = Settings { limits, ..Settings::default() };
    let node = Node::builder().workers(2).build().expect("a node");
    let cluster = builder(&epmd, "ours").settings(settings).start(&node).await.expect("it joins");
    let watches = start(&cluster, "watches", async |mut me, cluster| {
        let watched = cluster.pid::<Term>(&pid(&mut me).await).expect("there is room");
        me.monitor(&watched);
        watched.send(Term::atom("end"));
        down(&mut me).await.reason.to_string()
    });
    let ends = "spawn(fun() -> receive 'end' -> exit(binary:copy(<<7>>, 4 bsl 20)) end end)";
    beam.eval(&format!("{{watches, 'ours@127.0.0.1'}} ! {ends}")).await;
    let reason = found(watches).await;
    assert!(reason.starts_with("{bad_reason,<<"), "{reason}");
}

#[tokio::test]
async fn a_spawn_request_or_an_rpc_whose_arguments_exceed_the_limits_is_answered() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    cluster
        .export("rust", "echo", 1, async |given: Vec<Term>| Ok(given[0].clone()))
        .expect("short");
    let deep = "Deep = lists:foldl(fun(_, Inner) -> [Inner] end, [], lists:seq(1, 600000))";
    beam.eval(&format!("element(1, {{ok, {deep}}})")).await;
    let spawns = "R = spawn_request('ours@127.0.0.1', rust, echo, [Deep], [link, monitor]), \
                  receive {spawn_reply, R, error, Why} -> Why end";
    assert_eq!(beam.eval(spawns).await, "system_limit");
    let calls = "catch erpc:call('ours@127.0.0.1', rust, echo, [Deep])";
    let failed = beam.eval(calls).await;
    assert!(failed.contains("system_limit"), "{failed}");
    let call = "{call, rust, echo, [Deep], user}";
    let calls = format!("gen_server:call({{rex, 'ours@127.0.0.1'}}, {call}, infinity)");
    assert_eq!(beam.eval(&calls).await, "{badrpc,{'EXIT',{system_limit,[]}}}");
    // As C nodes and jinterface call, and a message that is not a call, which is not answered.
    let sends = |request: &str| format!("{{rex, 'ours@127.0.0.1'}} ! {{self(), {request}}}");
    let calls = format!("{}, {}, ok", sends("Deep"), sends(call));
    assert_eq!(beam.eval(&calls).await, "ok");
    let answer = beam.eval("receive {rex, Answer} -> Answer after 60000 -> timeout end").await;
    assert_eq!(answer, "{badrpc,{'EXIT',{system_limit,[]}}}");
    let dropped: u64 = cluster.traffic().iter().map(|(_, traffic)| traffic.dropped).sum();
    assert_eq!(dropped, 5);
}

#[tokio::test]
async fn native_records_of_otp_29_are_exchanged() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    if !beam.has_release(29).await {
        return;
    }
    let mut messages = sink(&cluster);
    let create = "Point = records:create(m, pt, [{x, 1}, {y, [2]}], #{is_exported => true})";
    beam.eval(create).await;
    send(&mut beam, "Point").await;
    let point = next(&mut messages).await;
    let record = point.as_record().expect("a native record");
    assert_eq!((point.to_string().as_str(), record.exported), ("#m:pt{x = 1,y = [2]}", true));
    send(&mut beam, "self()").await;
    let evaluator = next(&mut messages).await;
    let evaluator = cluster.pid::<Term>(evaluator.as_pid().expect("a pid")).expect("there is room");
    evaluator.send(point);
    assert_eq!(beam.eval("receive Back -> Back =:= Point end").await, "true");
}

// L9
#[tokio::test]
async fn an_exit_signal_to_an_alias_ends_its_process_unless_it_was_removed() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    if !beam.has_release(28).await {
        return;
    }
    for is_removed in [true, false] {
        let answers = cluster.clone();
        let (sender, ended): (oneshot::Sender<ExitReason>, _) = oneshot::channel();
        let process = cluster.node().spawn(async move |mut me: Process<Term>| {
            let alias = me.alias();
            let from = me.receive().await;
            let from = answers.pid::<Term>(from.as_pid().expect("a pid")).expect("there is room");
            if is_removed {
                me.unalias(&alias);
            }
            let alias = Term::from(answers.term_of_alias(&alias));
            from.send(Term::tuple([Term::atom("ready"), alias]));
            me.receive().await;
        });
        let name = format!("owner_{is_removed}");
        cluster.node().register(name.as_str(), &process).expect("the name is free");
        let watched = process.clone();
        tokio::spawn(async move { sender.send(watched.ended().await) });
        beam.eval(&format!("{{{name}, 'ours@127.0.0.1'}} ! self()")).await;
        // A fun, because a variable of the shell would keep the first alias.
        let exits = "(fun() -> receive {ready, Alias} -> exit(Alias, because) end end)()";
        assert_eq!(beam.eval(exits).await, "true");
        // In order behind the exit signal.
        beam.eval(&format!("{{{name}, 'ours@127.0.0.1'}} ! done")).await;
        let reason = in_time("the end", ended).await.expect("an end");
        match is_removed {
            true => assert_eq!(reason, ExitReason::Normal),
            false => assert_eq!(reason, ExitReason::error(TermReason(Term::atom("because")))),
        }
    }
}

// L1: as on a BEAM, which stores nothing about such a link.
#[tokio::test]
async fn a_link_to_a_process_that_does_not_exist_is_answered_without_a_proxy() {
    const LINKS: u32 = 100;
    let epmd = Epmd::start();
    let node = Node::builder().workers(2).build().expect("a node");
    let cluster = builder(&epmd, "ours").start(&node).await.expect("it joins");
    let ended = node.spawn(async |_: Process<Term>| ());
    in_time("the end", ended.ended()).await;
    until("the process leaves the table", || node.local_process(ended.id()).is_none()).await;
    let raw = Ours::start(&epmd, "raw").await;
    let mut peer = raw.call(cluster.name()).await;
    let ended = cluster.term_of(ended.id());
    let of_before = Pid { creation: ended.creation ^ 1, ..ended.clone() };
    let mut processes = None;
    for number in 0..LINKS {
        for to in [&ended, &of_before] {
            let from = raw.pid(10 + number);
            peer.send(Control::Link { from: from.clone(), to: to.clone() }, None).await;
            let Signal { control, payload } = peer.next().await;
            let Control::Exit { from: of, to: told, reason, .. } = control else {
                panic!("{control:?}")
            };
            assert_eq!((&of, &told), (to, &from));
            assert!(reason.or(payload).is_some_and(|why| why.is_atom("noproc")));
        }
        processes.get_or_insert_with(|| node.processes().len());
    }
    let added = node.processes().len().saturating_sub(processes.unwrap_or_default());
    assert!(added < LINKS as usize / 2, "{added} processes more");
}
