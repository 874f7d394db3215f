//! A published purlin node among BEAMs: they connect to it, and it supports `global`.

use std::process::Stdio;

use crate::processes::{beam_until, idler, join, join_published};
use crate::support::{Beam, COOKIE, Connected, Epmd, Ours, in_time, until, until_async};
use purlin::{ExitReason, Pid};
use purlin_dist::cluster::{Cluster, NodeChange, NotRegistered};
use purlin_dist::control::Control;
use purlin_term::{Atom, Term};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::mpsc;

fn name(cluster: &Cluster, name: &'static str) -> Option<Pid<Term>> {
    cluster.whereis_global::<Term>(&Term::atom(name))
}

#[tokio::test]
async fn a_published_node_is_visible_and_a_hidden_one_is_not() {
    let epmd = Epmd::start();
    let mut beam = Beam::start(&epmd, "beam").await;
    let (ours, hidden) = (join_published(&epmd, "ours").await, join(&epmd, "hidden").await);
    let (tx, mut rx) = mpsc::unbounded_channel();
    ours.when_changed(move |node, change| tx.send((node.clone(), change)).expect("it waits"));
    beam.eval("net_kernel:monitor_nodes(true, [{node_type, all}])").await;
    assert_eq!(beam.eval("net_kernel:connect_node('ours@127.0.0.1')").await, "true");
    assert_eq!(beam.eval("net_kernel:connect_node('hidden@127.0.0.1')").await, "true");
    assert_eq!(beam.eval("net_kernel:connect_node('nobody@127.0.0.1')").await, "false");
    assert_eq!(
        beam.eval("{nodes(), nodes(hidden)}").await,
        "{['ours@127.0.0.1'],['hidden@127.0.0.1']}"
    );
    let ups = "[receive {nodeup, N, _} -> N end || N <- ['ours@127.0.0.1', 'hidden@127.0.0.1']]";
    assert_eq!(beam.eval(ups).await, "['ours@127.0.0.1','hidden@127.0.0.1']");
    let names = beam
        .eval("{ok, Names} = net_adm:names({127,0,0,1}), lists:sort([N || {N, _} <- Names])")
        .await;
    assert_eq!(names, r#"["beam","hidden","ours"]"#);
    assert_eq!(rx.recv().await, Some((beam.name.clone(), NodeChange::Up { visible: true })));
    ours.export("rust", "one", 0, async |_| Ok(Term::from(1))).expect("short names");
    assert_eq!(beam.eval("rpc:call('ours@127.0.0.1', rust, one, [])").await, "1");
    assert_eq!(beam.eval("global:sync()").await, "ok");
    assert!(hidden.disconnect(&beam.name) && ours.disconnect(&beam.name));
    assert_eq!(rx.recv().await, Some((beam.name.clone(), NodeChange::Down { visible: true })));
    let downs =
        "[receive {nodedown, N, _} -> N end || N <- ['ours@127.0.0.1', 'hidden@127.0.0.1']]";
    assert_eq!(beam.eval(downs).await, "['ours@127.0.0.1','hidden@127.0.0.1']");
}

/// Starts two BEAMs and our node, all connected to each other.
async fn three(epmd: &Epmd) -> (Beam, Beam, Cluster) {
    let mut a = Beam::start(epmd, "a").await;
    let mut b = Beam::start(epmd, "b").await;
    assert_eq!(a.eval("net_adm:ping('b@127.0.0.1')").await, "pong");
    assert_eq!(a.eval("global:sync()").await, "ok");
    let ours = join_published(epmd, "ours").await;
    ours.connect(&a.name).await.expect("it is there");
    for beam in [&mut a, &mut b] {
        beam_until(beam, "lists:member('ours@127.0.0.1', nodes())").await;
        assert_eq!(beam.eval("global:sync()").await, "ok");
    }
    // Our node has the same view.
    let known = "lists:sort([N || {N, _} <- \
                 gen_server:call({global_name_server, 'ours@127.0.0.1'}, get_known, infinity)])";
    beam_until(&mut a, &format!("{known} =:= ['a@127.0.0.1', 'b@127.0.0.1']")).await;
    (a, b, ours)
}

#[tokio::test]
async fn three_connected_nodes_share_all_global_names() {
    let epmd = Epmd::start();
    let mut early = Beam::start(&epmd, "early").await;
    assert_eq!(early.eval("global:register_name(early, self())").await, "yes");
    let (mut a, mut b, ours) = three(&epmd).await;
    assert_eq!(a.eval("global:register_name(of_a, self())").await, "yes");
    assert_eq!(b.eval("global:register_name(of_b, self())").await, "yes");
    assert_eq!(b.eval("global:register_name(of_a, self())").await, "no");
    let kept = ours.register_global(Term::atom("of_ours"), idler(&ours).id()).await;
    assert_eq!(kept, Ok(()));
    // In a stable cluster names are registered without delay; with retries, each of these would wait longer than the
    // last.
    let names = "[begin yes = global:register_name({n, N}, P), global:unregister_name({n, N}) end || \
         P <- [spawn(fun() -> receive never -> ok end end)], N <- lists:seq(1, 50)], given";
    assert_eq!(b.eval(names).await, "given");
    // A late node learns all names, and the others learn its names.
    assert_eq!(early.eval("net_adm:ping('b@127.0.0.1')").await, "pong");
    assert_eq!(early.eval("global:sync()").await, "ok");
    let all = "[early,of_a,of_b,of_ours]";
    for beam in [&mut early, &mut a, &mut b] {
        beam_until(beam, &format!("lists:sort(global:registered_names()) =:= {all}")).await;
        beam_until(beam, "length(nodes()) =:= 3").await;
    }
    until("all names", || {
        ["early", "of_a", "of_b", "of_ours"].iter().all(|known| name(&ours, known).is_some())
    })
    .await;
    assert_eq!(b.eval("node(global:whereis_name(of_ours))").await, "'ours@127.0.0.1'");
    // Messages to names arrive.
    name(&ours, "of_b").expect("it is known").send(Term::atom("hello"));
    assert_eq!(b.eval("receive hello -> got end").await, "got");
    // Names disappear with their processes, and on request.
    let of_ours = name(&ours, "of_ours").expect("it is known");
    a.eval("R = monitor(process, global:whereis_name(of_ours)), global:send(of_ours, stop)").await;
    assert_eq!(a.eval("receive {'DOWN', R, _, _, Why} -> Why end").await, "normal");
    assert_eq!(of_ours.ended().await, ExitReason::Normal);
    for beam in [&mut early, &mut a, &mut b] {
        beam_until(beam, "global:whereis_name(of_ours) =:= undefined").await;
    }
    until("it is forgotten", || name(&ours, "of_ours").is_none()).await;
    assert!(ours.unregister_global(Term::atom("of_a")).await);
    assert!(!ours.unregister_global(Term::atom("of_a")).await);
    assert_eq!(b.eval("global:whereis_name(of_a)").await, "undefined");
    b.eval("global:unregister_name(of_b)").await;
    assert!(name(&ours, "of_b").is_none());
    assert_eq!(ours.nodes().len(), 3, "nobody was thrown out");
}

#[tokio::test]
async fn a_global_name_is_given_once_and_each_process_has_at_most_one() {
    let epmd = Epmd::start();
    let (mut a, _b, ours) = three(&epmd).await;
    let one = idler(&ours).id();
    assert_eq!(a.eval("global:register_name(x, self())").await, "yes");
    assert_eq!(ours.register_global(Term::atom("x"), one).await, Err(NotRegistered::Taken));
    assert_eq!(ours.register_global(Term::atom("y"), one).await, Ok(()));
    let named = NotRegistered::Named(Term::atom("y"));
    assert_eq!(ours.register_global(Term::atom("z"), one).await, Err(named));
    assert_eq!(a.eval("global:register_name(y, self())").await, "no");
    // Of concurrent attempts at most one succeeds.
    let tries: Vec<_> = (0..4)
        .map(|_| {
            let (ours, process) = (ours.clone(), idler(&ours).id());
            tokio::spawn(async move { ours.register_global(Term::atom("z"), process).await })
        })
        .collect();
    a.eval("[spawn(fun() -> global:register_name(z, self()), receive never -> ok end end) || _ <- [1, 2, 3]]")
        .await;
    let mut got = 0;
    for each in tries {
        got += usize::from(each.await.expect("it does not panic").is_ok());
    }
    assert!(got <= 1, "{got}");
    beam_until(&mut a, "is_pid(global:whereis_name(z))").await;
    let of_a = a.eval("node(global:whereis_name(z)) =:= node()").await;
    assert_eq!(of_a == "false", got == 1);
    let hidden = join(&epmd, "hidden").await;
    let refused = hidden.register_global(Term::atom("h"), idler(&hidden).id()).await;
    assert_eq!(refused, Err(NotRegistered::NotPublished));
}

#[tokio::test]
async fn of_two_processes_with_one_name_one_survives_when_their_nodes_connect() {
    let epmd = Epmd::start();
    // The lesser of two nodes decides: once theirs, once ours.
    for (theirs, own) in [("a", "b"), ("b", "a")] {
        let mut beam = Beam::start(&epmd, theirs).await;
        let ours = join_published(&epmd, own).await;
        let process = idler(&ours);
        assert_eq!(ours.register_global(Term::atom("x"), process.id()).await, Ok(()));
        let other = "P = spawn(fun() -> receive never -> ok end end), global:register_name(x, P)";
        assert_eq!(beam.eval(other).await, "yes");
        ours.connect(&beam.name).await.expect("it is there");
        assert_eq!(beam.eval("global:sync()").await, "ok");
        // The process on the lesser node survives.
        if theirs == "a" {
            assert_eq!(process.ended().await, ExitReason::Killed);
            until("ours knows", || name(&ours, "x").is_some_and(|x| x.id() != process.id())).await;
            assert_eq!(beam.eval("global:whereis_name(x) =:= P").await, "true");
        } else {
            beam_until(&mut beam, "not is_process_alive(P)").await;
            beam_until(&mut beam, "node(global:whereis_name(x)) =/= node()").await;
            assert!(name(&ours, "x").is_some_and(|x| x.id() == process.id()));
        }
        drop(ours);
        beam.kill().await;
    }
}

#[tokio::test]
async fn a_lost_connection_leaves_no_overlapping_partitions() {
    let epmd = Epmd::start();
    let (mut a, mut b, ours) = three(&epmd).await;
    assert_eq!(a.eval("erlang:disconnect_node('b@127.0.0.1')").await, "true");
    until("ours parts with one of them", || ours.nodes().len() < 2).await;
    beam_until(&mut a, "not lists:member('b@127.0.0.1', nodes())").await;
    beam_until(&mut b, "not lists:member('a@127.0.0.1', nodes())").await;
    // The partition heals.
    beam_until(&mut a, "net_adm:ping('b@127.0.0.1') =:= pong andalso global:sync() =:= ok andalso lists:member('b@127.0.0.1', nodes())").await;
    until("they are together", || ours.nodes().len() == 2 || ours.nodes().is_empty()).await;
    ours.connect(&a.name).await.expect("it is there");
    beam_until(&mut b, "length(nodes()) =:= 2").await;
    assert_eq!(b.eval("global:sync()").await, "ok");
    assert_eq!(a.eval("global:register_name(x, self())").await, "yes");
    until("the name is known", || name(&ours, "x").is_some()).await;
}

#[tokio::test]
async fn two_published_nodes_of_ours_share_names_with_and_without_a_beam() {
    let epmd = Epmd::start();
    let (one, two) = (join_published(&epmd, "one").await, join_published(&epmd, "two").await);
    assert_eq!(one.register_global(Term::atom("x"), idler(&one).id()).await, Ok(()));
    one.connect(two.name()).await.expect("it is there");
    one.sync_global().await;
    two.sync_global().await;
    assert!(name(&two, "x").is_some() && name(&two, "y").is_none());
    let mut beam = Beam::start(&epmd, "beam").await;
    assert_eq!(beam.eval("net_adm:ping('two@127.0.0.1')").await, "pong");
    beam_until(&mut beam, "length(nodes()) =:= 2").await;
    assert_eq!(beam.eval("global:sync()").await, "ok");
    beam_until(&mut beam, "is_pid(global:whereis_name(x))").await;
    assert_eq!(beam.eval("global:register_name(y, self())").await, "yes");
    until("both know", || name(&one, "y").is_some() && name(&two, "y").is_some()).await;
    assert_eq!(two.register_global(Term::atom("z"), idler(&two).id()).await, Ok(()));
    assert!(name(&one, "z").is_some());
    assert_eq!(beam.eval("is_pid(global:whereis_name(z))").await, "true");
    // The names of a node that leaves disappear.
    drop(two);
    until("one has forgotten", || name(&one, "z").is_none()).await;
    beam_until(
        &mut beam,
        "global:registered_names() =/= [] andalso global:whereis_name(z) =:= undefined",
    )
    .await;
}

/// Sends a message to the server of `global`.
async fn to_server(raw: &Ours, peer: &Connected, message: Term) {
    let to = Atom::from_static("global_name_server");
    peer.send(Control::RegSend { from: raw.pid(7), to, token: None }, Some(message)).await;
}

/// Returns the nodes that the server of `global` knows.
async fn known(raw: &Ours, peer: &mut Connected) -> Term {
    let tag = Term::atom("tag");
    let asker = Term::tuple([raw.pid(7).into(), tag.clone()]);
    let call = Term::tuple([Term::atom("$gen_call"), asker, Term::atom("get_known")]);
    to_server(raw, peer, call).await;
    loop {
        if let Some(payload) = peer.next().await.payload
            && let Some([its, known]) = payload.as_tuple()
            && *its == tag
        {
            return known.clone();
        }
    }
}

#[tokio::test]
async fn an_announced_node_that_cannot_be_reached_is_synchronized_when_it_connects() {
    let epmd = Epmd::start();
    let ours = join_published(&epmd, "ours").await;
    let raw = Ours::start(&epmd, "raw").await;
    let mut peer = raw.call(ours.name()).await;
    let late = Term::tuple([Term::atom("late@127.0.0.1"), Term::from(8)]);
    let new = [
        Term::atom("new_nodes"),
        Term::atom("raw@127.0.0.1"),
        Term::NIL,
        Term::NIL,
        Term::list([late]),
        Term::NIL,
    ];
    to_server(&raw, &peer, Term::tuple([Term::atom("$gen_cast"), Term::tuple(new)])).await;
    until_async("it is forgotten", async || known(&raw, &mut peer).await == Term::NIL).await;
    let late = join_published(&epmd, "late").await;
    assert_eq!(late.register_global(Term::atom("x"), idler(&late).id()).await, Ok(()));
    late.connect(ours.name()).await.expect("it is there");
    until("the name is known", || name(&ours, "x").is_some()).await;
}

/// With Elixir's `Node` module.
#[tokio::test]
async fn elixir_monitors_our_node_and_lists_it() {
    let epmd = Epmd::start();
    let ours = join_published(&epmd, "ours").await;
    let script = r#"
        node = :"ours@127.0.0.1"
        true = Node.connect(node)
        true = Node.monitor(node, true)
        [^node] = Node.list()
        :pong = Node.ping(node)
        IO.puts("monitors")
        receive do {:nodedown, ^node} -> IO.puts("down") end
        [] = Node.list()
        :ignored = (Node.monitor(node, true); receive do {:nodedown, ^node} -> :ignored end)
        IO.puts("done")
    "#;
    let mut elixir = tokio::process::Command::new("elixir")
        .args(["--name", "elixir@127.0.0.1", "--cookie", COOKIE, "-e", script])
        .env("ERL_EPMD_PORT", epmd.port.to_string())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("elixir is there");
    let mut lines = BufReader::new(elixir.stdout.take().expect("its output")).lines();
    let mut line = async || {
        let line = in_time("a line of Elixir", lines.next_line()).await;
        line.expect("it writes").expect("it goes on")
    };
    assert_eq!(line().await, "monitors");
    drop(ours);
    assert_eq!(line().await, "down");
    assert_eq!(line().await, "done");
    assert!(elixir.wait().await.expect("it ends").success());
}
