//! A purlin node and BEAM nodes in one cluster.

use std::time::Duration;

use crate::processes::{Received, beam_and_ours, down, exit, found, join, pid, start, term};
use crate::support::{Beam, Epmd, HANG, until};
use purlin::{ExitReason, Monitored, Process, receive};
use purlin_dist::cluster::{CallError, GenCall, TermReason};
use purlin_term::{Pid, Term};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

fn why(reason: &ExitReason) -> Term {
    let ExitReason::Error(cause) = reason else { panic!("{reason} is no term") };
    cause.downcast_ref::<TermReason>().expect("a term").0.clone()
}

fn parse(text: &str) -> Term {
    text.parse().expect("a term")
}

#[tokio::test]
async fn a_beam_pings_us_and_exchanges_messages_by_name_and_by_pid() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    assert_eq!(beam.eval("net_adm:ping('ours@127.0.0.1')").await, "pong");
    assert_eq!(beam.eval("nodes(hidden)").await, "['ours@127.0.0.1']");
    assert_eq!(cluster.nodes(), [beam.name.clone()]);

    let answers = cluster.clone();
    let echo = cluster.node().spawn(async move |mut me: Process<Term>| {
        loop {
            let message = me.receive().await;
            let Some([Term::Pid(from), what]) = message.as_tuple() else { panic!("{message}") };
            let own = Term::from(answers.term_of(me.id()));
            let from = answers.pid::<Term>(from).expect("there is room");
            from.send(Term::tuple([own, what.clone()]));
        }
    });
    cluster.node().register("echo", &echo).expect("the name is free");
    beam.eval("{echo, 'ours@127.0.0.1'} ! {self(), [1, 2 | three]}").await;
    let answer = beam.eval("receive {Echo, What} -> What end").await;
    assert_eq!(answer, "[1,2|three]");
    beam.eval("Echo ! {self(), again}").await;
    assert_eq!(beam.eval("receive {Echo, again} -> node(Echo) end").await, "'ours@127.0.0.1'");
}

#[tokio::test]
async fn a_beam_calls_our_server_and_gets_noproc_if_there_is_none() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let answers = cluster.clone();
    let counter = cluster.node().spawn(async move |mut me: Process<Term>| {
        let mut count = 0;
        loop {
            let call = GenCall::try_from(me.receive().await).expect("a call");
            if call.request.is_atom("stop") {
                return ExitReason::error(TermReason(Term::atom("told_to")));
            }
            count += 1;
            answers.reply(call, Term::from(count));
        }
    });
    cluster.node().register("counter", &counter).expect("the name is free");
    let call = "gen_server:call({counter, 'ours@127.0.0.1'}, next, infinity)";
    assert_eq!(beam.eval(call).await, "1");
    assert_eq!(beam.eval(call).await, "2");
    let multi = "gen_server:multi_call(['ours@127.0.0.1'], counter, next)";
    assert_eq!(beam.eval(multi).await, "{[{'ours@127.0.0.1',3}],[]}");
    let gone = beam.eval("gen_server:call({nobody, 'ours@127.0.0.1'}, next, infinity)").await;
    assert!(gone.starts_with("{exit,{noproc,"), "{gone}");
    let stopped = beam.eval("gen_server:call({counter, 'ours@127.0.0.1'}, stop, infinity)").await;
    assert!(stopped.starts_with("{exit,{told_to,"), "{stopped}");
}

// L1, L2, L6
#[tokio::test]
async fn links_between_nodes_can_be_set_up_by_either_side() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    // The remote process links to the local one, which ends.
    let _waits: oneshot::Receiver<()> = start(&cluster, "waits", async |mut me, _| {
        let reason = term(&mut me).await;
        purlin::exit(ExitReason::error(TermReason(reason)))
    });
    let ours = cluster.node().local_name("waits").expect("it waits").id();
    let shell = beam.eval("register(main, self())").await;
    assert_eq!(shell, "true");
    let main = cluster.named::<Term>("main", &beam.name).expect("there is room");
    main.send(Term::from(cluster.term_of(ours)));
    beam.eval("Ours = receive P -> P end, link(Ours), Ours ! {oh, no}").await;
    assert_eq!(beam.eval("receive {'EXIT', Ours, Why} -> Why end").await, "{oh,no}");
    beam.eval("link(Ours)").await;
    assert_eq!(beam.eval("receive {'EXIT', Ours, noproc} -> yes end").await, "yes");

    // The local process links to the remote one, which ends.
    let links = start(&cluster, "links", async |mut me, cluster| {
        me.trap_exit(true);
        let theirs = cluster.pid::<Term>(&pid(&mut me).await).expect("there is room");
        me.link(&theirs);
        theirs.send(parse("{so, it, is}"));
        let first = exit(&mut me).await;
        me.link(&theirs);
        let second = exit(&mut me).await;
        assert_eq!([first.from, second.from], [Some(theirs.id()); 2]);
        assert_eq!(second.reason, ExitReason::NoProcess);
        why(&first.reason)
    });
    beam.eval("Theirs = spawn(fun() -> receive R -> exit(R) end end)").await;
    beam.eval("{links, 'ours@127.0.0.1'} ! Theirs").await;
    assert_eq!(found(links).await, parse("{so, it, is}"));
}

// As `link/1` of a BEAM, which fails with `badarg` for a name.
#[tokio::test]
async fn a_link_to_a_name_is_refused_and_a_monitor_of_it_is_not() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    beam.eval("register(main, spawn(fun() -> receive stop -> ok end end))").await;
    let name = beam.name.clone();
    let links = start(&cluster, "links", async move |mut me, cluster| {
        me.trap_exit(true);
        let main = cluster.named::<Term>("main", &name).expect("there is room");
        let monitor = me.monitor(&main);
        me.link(&main);
        let first = exit(&mut me).await;
        assert_eq!(first.from, Some(main.id()));
        me.link(&main);
        me.unlink(&main);
        main.send(Term::atom("stop"));
        let last = receive!(me, { Received::Down(down) => Some(down), Received::Exit(_) => None });
        assert_eq!(last.expect("no exit after the unlink").monitor, monitor);
        // `ended` monitors.
        assert_eq!(main.ended().await, ExitReason::NoProcess);
        let nowhere = "nowhere@127.0.0.1".parse().expect("a name");
        let nowhere = cluster.named::<Term>("main", &nowhere).expect("there is room");
        assert_eq!(nowhere.ended().await, ExitReason::NoConnection);
        first.reason.to_string()
    });
    let reason = found(links).await;
    let said = "{badarg,<<\"main on beam@127.0.0.1 is a name, and a process links to a pid only";
    assert!(reason.starts_with(said), "{reason}");
}

// L5: the other node acknowledges the unlink.
#[tokio::test]
async fn after_an_unlink_by_either_side_no_exit_signal_arrives() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let unlinks = start(&cluster, "unlinks", async |mut me, cluster| {
        me.trap_exit(true);
        let theirs = cluster.pid::<Term>(&pid(&mut me).await).expect("there is room");
        me.link(&theirs);
        me.unlink(&theirs);
        me.link(&theirs);
        me.unlink(&theirs);
        let monitor = me.monitor(&theirs);
        theirs.send(Term::atom("now"));
        let down = down(&mut me).await;
        assert_eq!(down.monitor, monitor);
        let none = receive!(me, { Received::Exit(_) => false, after Duration::ZERO => true });
        assert!(none, "an exit");
        // The same from the remote side.
        let theirs = cluster.pid::<Term>(&pid(&mut me).await).expect("there is room");
        theirs.send(Term::from(cluster.term_of(me.id())));
        assert_eq!(term(&mut me).await, Term::atom("unlinked"));
        theirs.send(Term::atom("now"));
        let monitor = me.monitor(&theirs);
        let last = receive!(me, { Received::Down(down) => Some(down), Received::Exit(_) => None });
        assert_eq!(last.expect("no exit").monitor, monitor);
        why(&down.reason)
    });
    beam.eval("Theirs = spawn(fun() -> receive R -> exit(R) end end)").await;
    beam.eval("{unlinks, 'ours@127.0.0.1'} ! Theirs").await;
    beam.eval(
        "Other = spawn(fun() -> receive P -> link(P), unlink(P), P ! unlinked end, \
         receive R -> exit(R) end end), {unlinks, 'ours@127.0.0.1'} ! Other",
    )
    .await;
    assert_eq!(found(unlinks).await, Term::atom("now"));
}

// D1, D2, D5
#[tokio::test]
async fn monitors_fire_across_nodes_by_pid_and_by_name() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let shell = beam.name.clone();
    let watches = start(&cluster, "watches", async move |mut me, cluster| {
        let theirs = cluster.pid::<Term>(&pid(&mut me).await).expect("there is room");
        let by_pid = me.monitor(&theirs);
        let named = cluster.named::<Term>("theirs", &shell).expect("there is room");
        let by_name = me.monitor(&named);
        let taken_back = me.monitor(&theirs);
        me.demonitor(taken_back);
        let nobody = cluster.named::<Term>("nobody", &shell).expect("there is room");
        let of_nobody = me.monitor(&nobody);
        assert_eq!(down(&mut me).await.monitor, of_nobody);
        // The monitor by name is set up once the process has answered by name: the two use different ordering keys.
        named.send(cluster.term_of(me.id()).into());
        assert!(term(&mut me).await.is_atom("here"));
        theirs.send(Term::atom("enough"));
        let mut downs = [down(&mut me).await, down(&mut me).await];
        downs.sort_by_key(|down| down.monitor);
        let mut monitors = [by_pid, by_name];
        monitors.sort();
        assert_eq!(downs.clone().map(|down| down.monitor), monitors);
        assert_eq!(downs[0].process, Monitored::Process(theirs.id()));
        downs.map(|down| why(&down.reason))
    });
    let theirs = "receive P -> P ! here end, receive R -> exit(R) end";
    beam.eval(&format!("Theirs = spawn(fun() -> {theirs} end)")).await;
    beam.eval("register(theirs, Theirs), {watches, 'ours@127.0.0.1'} ! Theirs").await;
    assert_eq!(found(watches).await, [Term::atom("enough"), Term::atom("enough")]);

    let waits = start(&cluster, "waits", async |mut me, _| {
        term(&mut me).await;
    });
    beam.eval("Ref = monitor(process, {waits, 'ours@127.0.0.1'})").await;
    beam.eval("Back = monitor(process, {waits, 'ours@127.0.0.1'}), demonitor(Back)").await;
    beam.eval("{waits, 'ours@127.0.0.1'} ! end_now").await;
    let seen = beam.eval("receive {'DOWN', Ref, process, Of, Reason} -> {Of, Reason} end").await;
    assert_eq!(seen, "{{waits,'ours@127.0.0.1'},normal}");
    found(waits).await;
    beam.eval("Gone = monitor(process, {waits, 'ours@127.0.0.1'})").await;
    let seen = beam.eval("receive {'DOWN', Gone, process, _, Late} -> Late end").await;
    assert_eq!(seen, "noproc");
}

// L4
#[tokio::test]
async fn exit_signals_are_sent_in_both_directions() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let kills = start(&cluster, "kills", async |mut me, cluster| {
        me.trap_exit(true);
        let theirs = cluster.pid::<Term>(&pid(&mut me).await).expect("there is room");
        let monitor = me.monitor(&theirs);
        theirs.exit(ExitReason::Kill);
        let down = down(&mut me).await;
        assert_eq!((down.monitor, down.reason), (monitor, ExitReason::Killed));
        // The same from the remote side.
        let theirs = cluster.pid::<Term>(&pid(&mut me).await).expect("there is room");
        theirs.send(Term::from(cluster.term_of(me.id())));
        why(&exit(&mut me).await.reason)
    });
    beam.eval("{kills, 'ours@127.0.0.1'} ! spawn(fun() -> receive never -> ok end end)").await;
    beam.eval(
        "{kills, 'ours@127.0.0.1'} ! spawn(fun() -> receive P -> exit(P, {by, them}) end end)",
    )
    .await;
    assert_eq!(found(kills).await, parse("{by, them}"));
}

#[tokio::test]
async fn a_beam_calls_our_functions_by_rpc_and_erpc() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let sum = async |arguments: Vec<Term>| match &arguments[..] {
        [Term::Integer(a), Term::Integer(b)] => Ok(Term::from(a + b)),
        _ => Err(Term::atom("badarg")),
    };
    cluster.export("rust", "sum", 2, sum).expect("short names");
    let node = "'ours@127.0.0.1'";
    assert_eq!(beam.eval(&format!("erpc:call({node}, rust, sum, [40, 2])")).await, "42");
    assert_eq!(beam.eval(&format!("rpc:call({node}, rust, sum, [40, 2])")).await, "42");
    let both = format!("erpc:multicall([node(), {node}], rust, sum, [1, 1])");
    let both = beam.eval(&both).await;
    assert!(both.starts_with("[{error,{exception,undef,") && both.ends_with("{ok,2}]"), "{both}");
    let bad = beam.eval(&format!("erpc:call({node}, rust, sum, [a, b])")).await;
    assert!(bad.contains("badarg"), "{bad}");
    let undef = beam.eval(&format!("erpc:call({node}, rust, nothing, [])")).await;
    assert!(undef.contains("undef"), "{undef}");
    assert_eq!(beam.eval(&format!("erpc:cast({node}, rust, sum, [1, 2])")).await, "ok");
}

#[tokio::test]
async fn we_call_servers_and_functions_of_a_beam() {
    let (_epmd, beam, cluster) = beam_and_ours().await;
    let node = cluster.rpc(&beam.name, "erlang", "node", vec![], HANG).await;
    assert_eq!(node, Ok(parse("'beam@127.0.0.1'")));
    let badrpc = cluster.rpc(&beam.name, "erlang", "hd", vec![Term::NIL], HANG).await;
    assert!(matches!(badrpc, Err(CallError::BadRpc(_))), "{badrpc:?}");
    let known =
        cluster.call::<Term>("kernel_sup", &beam.name, Term::atom("which_children"), HANG).await;
    assert!(known.expect("it answers").as_list().is_some_and(|children| !children.is_empty()));
    let nobody = cluster.call::<Term>("nobody", &beam.name, Term::NIL, HANG).await;
    let text = |error: &Result<Term, CallError>| error.as_ref().expect_err("no answer").to_string();
    assert!(text(&nobody).starts_with("noproc: no process has this name"), "{nobody:?}");
    assert_eq!(nobody, Err(CallError::Ended(ExitReason::NoProcess)));
    let nowhere = "nowhere@127.0.0.1".parse().expect("a name");
    let nowhere = cluster.call::<Term>("rex", &nowhere, Term::NIL, HANG).await;
    let said = "noconnection: the node of the process is not connected";
    assert!(text(&nowhere).starts_with(said), "{nowhere:?}");
    assert_eq!(nowhere, Err(CallError::Ended(ExitReason::NoConnection)));
}

#[tokio::test]
async fn our_functions_are_called_through_rex_by_our_nodes_and_by_a_beam() {
    let epmd = Epmd::start();
    let mut beam = Beam::start(&epmd, "beam").await;
    let (one, two) = (join(&epmd, "one").await, join(&epmd, "two").await);
    let half = async |mut arguments: Vec<Term>| match arguments.pop().and_then(|it| it.as_integer())
    {
        Some(0) => panic!("no half of nothing"),
        Some(whole) => Ok(Term::from(whole / 2)),
        None => Err(Term::atom("badarg")),
    };
    two.export("rust", "half", 1, half).expect("short names");
    let call = async |name: &str, arguments: &str| {
        let arguments = parse(arguments).as_list().expect("a list").to_vec();
        one.rpc(two.name(), "rust", name, arguments, HANG).await
    };
    let bad = |why: &str| Err(CallError::BadRpc(parse(why)));
    assert_eq!(call("half", "[84]").await, Ok(Term::from(42)));
    assert_eq!(call("half", "[x]").await, bad("{'EXIT', {badarg, []}}"));
    assert_eq!(call("third", "[x]").await, bad("{'EXIT', {undef, [{rust, third, [x], []}]}}"));
    let panicked = call("half", "[0]").await.expect_err("no value").to_string();
    assert!(
        panicked.starts_with("{badrpc,{'EXIT',{panic,<<\"no half of nothing\">>"),
        "{panicked}"
    );

    let rex = "gen_server:call({rex, 'two@127.0.0.1'}, {call, rust, half, [84], group_leader()}, \
               infinity)";
    assert_eq!(beam.eval(rex).await, "42");
    // A message that is not a call gets no reply and ends no process.
    beam.eval("gen_server:cast({rex, 'two@127.0.0.1'}, {cast, rust, half, [84], self()})").await;
    beam.eval("{rex, 'two@127.0.0.1'} ! {'$gen_call', {self(), tag}, nonsense}").await;
    assert_eq!(beam.eval(rex).await, "42");
}

#[tokio::test]
async fn a_killed_node_is_detected_and_a_restarted_one_is_a_new_node() {
    let (epmd, mut beam, cluster) = beam_and_ours().await;
    let name = beam.name.clone();
    let watches = start(&cluster, "watches", async move |mut me, cluster| {
        me.trap_exit(true);
        let theirs = pid(&mut me).await;
        let theirs = cluster.pid::<Term>(&theirs).expect("there is room");
        let own = me.pid();
        cluster.when_down(&name, move |node| {
            own.send(Received::Term(Term::from(node.as_str())));
        });
        me.link(&theirs);
        me.monitor(&theirs);
        me.monitor(&theirs);
        let shell = cluster.named::<Term>("main", &name).expect("there is room");
        shell.send(Term::atom("ready"));
        let exit = exit(&mut me).await.reason;
        let downs = [down(&mut me).await.reason, down(&mut me).await.reason];
        let gone = term(&mut me).await;
        // The next node of that name: messages to a name arrive, and the old pid refers to no process.
        assert_eq!(term(&mut me).await, Term::atom("again"));
        shell.send(Term::atom("hello"));
        me.monitor(&theirs);
        let late = down(&mut me).await.reason;
        (exit, downs, gone, late)
    });
    beam.eval("register(main, self()), {watches, 'ours@127.0.0.1'} ! self()").await;
    assert_eq!(beam.eval("receive ready -> yes end").await, "yes");
    beam.kill().await;
    let mut again = Beam::start(&epmd, "beam").await;
    again.eval("register(main, self()), {watches, 'ours@127.0.0.1'} ! again").await;
    assert_eq!(again.eval("receive hello -> yes end").await, "yes");
    let (exit, downs, gone, late) = found(watches).await;
    assert_eq!(exit, ExitReason::NoConnection);
    assert_eq!(downs, [ExitReason::NoConnection, ExitReason::NoConnection]);
    assert_eq!(gone, Term::from("beam@127.0.0.1"));
    assert_eq!(late, ExitReason::NoProcess);
}

#[tokio::test]
async fn a_beam_detects_that_our_node_has_left() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let waits = cluster.node().spawn(async |mut me: Process<Term>| {
        me.receive().await;
    });
    cluster.node().register("waits", &waits).expect("the name is free");
    beam.eval(
        "monitor_node('ours@127.0.0.1', true), R = monitor(process, {waits, 'ours@127.0.0.1'})",
    )
    .await;
    assert_eq!(beam.eval("net_adm:ping('ours@127.0.0.1')").await, "pong");
    drop(cluster);
    assert_eq!(beam.eval("receive {nodedown, Node} -> Node end").await, "'ours@127.0.0.1'");
    assert_eq!(beam.eval("receive {'DOWN', R, _, _, Why} -> Why end").await, "noconnection");
}

/// Messages between two of our nodes.
#[derive(Serialize, Deserialize)]
enum Order {
    Count { from: u32, to: u32, reply: Pid },
}

// M2: between two of our nodes, with Rust types.
#[tokio::test]
async fn our_nodes_exchange_rust_values_in_order() {
    let epmd = Epmd::start();
    let (one, two) = (join(&epmd, "one").await, join(&epmd, "two").await);
    one.receives::<u32>();
    two.receives::<Order>();
    let inside = two.clone();
    let counter = two.node().spawn(async move |mut me: Process<Order>| {
        loop {
            let Order::Count { from, to, reply } = me.receive().await;
            let reply = inside.pid::<u32>(&reply).expect("there is room");
            for number in from..to {
                reply.send(number);
                purlin::consume_budget().await;
            }
        }
    });
    two.node().register("counter", &counter).expect("the name is free");
    let (sender, result) = oneshot::channel();
    let inside = one.clone();
    let there = two.name().clone();
    one.node().spawn(async move |mut me: Process<u32>| {
        let counter = inside.named::<Order>("counter", &there).expect("there is room");
        let reply = inside.term_of(me.id());
        counter.send(Order::Count { from: 0, to: 20_000, reply });
        for expected in 0..20_000 {
            assert_eq!(me.receive().await, expected);
        }
        // A term that is not an `Order` is counted.
        let nonsense = inside.named::<Term>("counter", &there).expect("there is room");
        nonsense.send(Term::atom("nonsense"));
        let reply = inside.term_of(me.id());
        counter.send(Order::Count { from: 7, to: 8, reply });
        let _ = sender.send(me.receive().await);
    });
    assert_eq!(found(result).await, 7);
    // WHY waited for: it was sent by a different proxy than the last message, so the two are unordered.
    until("the message that is no order is counted", || two.undecoded() == 1).await;
}

// What `ei_rpc` of a C node and `sendRPC` of jinterface send.
#[tokio::test]
async fn rex_answers_a_call_that_is_a_plain_message() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let double = async |arguments: Vec<Term>| match &arguments[..] {
        [Term::Integer(number)] => Ok(Term::from(2 * number)),
        _ => Err(Term::atom("badarg")),
    };
    cluster.export("m", "double", 1, double).expect("short names");
    for (arguments, result) in [
        ("[21]", "42"),
        ("[x]", "{badrpc,{'EXIT',{badarg,[]}}}"),
        ("[]", "{badrpc,{'EXIT',{undef,[{m,double,[],[]}]}}}"),
    ] {
        let call = format!("{{self(), {{call, m, double, {arguments}, user}}}}");
        let sends = format!("{{rex, 'ours@127.0.0.1'}} ! {call}, ok");
        assert_eq!(beam.eval(&sends).await, "ok");
        let answer = "(fun() -> receive {rex, Result} -> Result end end)()";
        assert_eq!(beam.eval(answer).await, result);
    }
}

#[tokio::test]
async fn a_late_answer_to_multi_call_does_not_reach_the_mailbox() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let answers = cluster.clone();
    let late = cluster.node().spawn(async move |mut me: Process<Term>| {
        let call = GenCall::try_from(me.receive().await).expect("a call");
        // The caller has given up before it sends this.
        while !me.receive().await.is_atom("answer") {}
        answers.reply(call, Term::atom("late"));
        let from = me.receive().await;
        let from = answers.pid::<Term>(from.as_pid().expect("a pid")).expect("there is room");
        from.send(Term::atom("done"));
    });
    cluster.node().register("late", &late).expect("the name is free");
    let call = "gen_server:multi_call(['ours@127.0.0.1'], late, next, 1)";
    assert_eq!(beam.eval(call).await, "{[],['ours@127.0.0.1']}");
    beam.eval("{late, 'ours@127.0.0.1'} ! answer").await;
    beam.eval("{late, 'ours@127.0.0.1'} ! self()").await;
    assert_eq!(beam.eval("receive Any -> Any end").await, "done");
}
