//! Reaching a BEAM from our node: processes spawned there, and aliases in both directions.

use std::sync::Arc;
use std::time::Duration;

use crate::processes;
use crate::processes::{Received, beam_and_ours, down, exit, found, join, start, term};
use crate::support::{Beam, Connected, Epmd, Ours, in_time, welcome};
use purlin::{ExitReason, Monitored, receive};
use purlin_dist::cluster::{NotSpawned, TermReason};
use purlin_dist::control::{Control, Spawn};
use purlin_dist::{Flags, NodeName};
use purlin_term::{Atom, Term};
use tokio::sync::Notify;

fn why(reason: &ExitReason) -> Term {
    let ExitReason::Error(cause) = reason else { panic!("{reason} is no term") };
    cause.downcast_ref::<TermReason>().expect("a term").0.clone()
}

/// Loads a module `t` on a BEAM with the given function `f/1`.
async fn module(beam: &mut Beam, function: &str) {
    let source = format!("-module(t). -export([f/1]). {function}");
    let load = format!(
        "Forms = fun Split(S, Found) -> case erl_scan:tokens([], S, 1) of \
           {{done, {{ok, Tokens, _}}, Rest}} -> {{ok, Form}} = erl_parse:parse_form(Tokens), \
             Split(Rest, [Form | Found]); \
           _ -> lists:reverse(Found) end end, \
         {{ok, t, Binary}} = compile:forms(Forms(\"{source} \", [])), \
         {{module, t}} = code:load_binary(t, \"t\", Binary), loaded"
    );
    assert_eq!(beam.eval(&load).await, "loaded");
}

#[tokio::test]
async fn our_processes_spawn_a_process_on_a_beam_and_send_to_it() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    module(&mut beam, "f(To) -> receive M -> To ! {self(), node(), group_leader(), M} end.").await;
    let there = beam.name.clone();
    let spawns = start(&cluster, "spawns", async move |mut me, cluster| {
        let to = Term::from(cluster.term_of(me.id()));
        let new = cluster.spawn(&there, "t", "f", vec![to]).await.expect("it is there");
        new.send(Term::atom("hello"));
        let answer = term(&mut me).await;
        let Some([Term::Pid(from), rest @ ..]) = answer.as_tuple() else { panic!("{answer}") };
        let same = cluster.pid::<Term>(from).expect("there is room");
        assert_eq!(same.id(), new.id(), "one proxy");
        rest.to_vec()
    });
    let user = beam.eval("whereis(user)").await;
    let said = found(spawns).await;
    assert_eq!([&said[0], &said[2]], [&Term::atom("beam@127.0.0.1"), &Term::atom("hello")]);
    let Term::Pid(leader) = &said[1] else { panic!("{said:?}") };
    // On another node the first number of a pid identifies the node.
    let number = format!(".{}.{}>", leader.id, leader.serial);
    assert!(user.ends_with(&number), "{user} {leader:?}");
}

// D1, L8: monitored from its start, however short it lives.
#[tokio::test]
async fn a_process_spawned_remotely_with_a_monitor_is_never_missed() {
    const TIMES: usize = 300;
    let (_epmd, beam, cluster) = beam_and_ours().await;
    let there = beam.name.clone();
    let spawns = start(&cluster, "spawns", async move |mut me, cluster| {
        for round in 0..TIMES {
            let reason = Term::tuple([Term::atom("round"), Term::from(round as u64)]);
            let spawned =
                cluster.spawn_monitor(&me, &there, "erlang", "exit", vec![reason.clone()]);
            let (new, monitor) = spawned.await.expect("it is there");
            let down = down(&mut me).await;
            assert_eq!((down.monitor, why(&down.reason)), (monitor, reason));
            assert_eq!(down.process, Monitored::Process(new.id()));
        }
        // After demonitoring, its end is not reported.
        let (new, monitor) = cluster
            .spawn_monitor(&me, &there, "timer", "sleep", vec![Term::atom("infinity")])
            .await
            .expect("it is there");
        let other = me.monitor(&new);
        assert!(me.demonitor(monitor));
        new.exit(ExitReason::Kill);
        let down = down(&mut me).await;
        assert_eq!((down.monitor, down.reason), (other, ExitReason::Killed));
        receive!(me, { Received::Down(_) => false, after Duration::ZERO => true })
    });
    assert!(found(spawns).await, "a down more");
}

// L1, L2, L8
#[tokio::test]
async fn a_process_spawned_remotely_with_a_link_shares_its_end_with_ours() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    beam.eval("register(main, self())").await;
    module(
        &mut beam,
        "f(N) -> process_flag(trap_exit, true), main ! {there, self()}, \
         receive {'EXIT', P, Why} -> main ! {N, node(P), Why} end.",
    )
    .await;
    let there = beam.name.clone();
    let spawns = start(&cluster, "spawns", async move |mut me, cluster| {
        for round in 0..100 {
            let reason = Term::tuple([Term::atom("round"), Term::from(round as u64)]);
            let spawned = cluster.spawn_link(&me, &there, "erlang", "exit", vec![reason.clone()]);
            let new = spawned.await.expect("it is there");
            let exit = exit(&mut me).await;
            assert_eq!((exit.from, why(&exit.reason)), (Some(new.id()), reason));
        }
        let unlinked = cluster.spawn_link(&me, &there, "t", "f", vec![Term::from(1)]).await;
        me.unlink(&unlinked.expect("it is there"));
        let linked = cluster.spawn_link(&me, &there, "t", "f", vec![Term::from(2)]).await;
        linked.expect("it is there");
        purlin::exit(ExitReason::error(TermReason(Term::atom("done"))))
    });
    let found = beam.eval("receive {N, Node, Why} -> {N, Node, Why} end").await;
    assert_eq!(found, "{2,'ours@127.0.0.1',done}");
    assert_eq!(beam.eval("receive {1, _, _} -> told after 0 -> untold end").await, "untold");
    drop(spawns.await);
}

#[tokio::test]
async fn a_failed_remote_spawn_returns_its_reason() {
    let (epmd, mut beam, cluster) = beam_and_ours().await;
    let other = join(&epmd, "other").await;
    let old = Flags::OFFERED - Flags::SPAWN;
    let old = Ours::start_with(epmd.ask(), "old", old, welcome).await;
    let _connected = old.call(cluster.name()).await;
    let (there, of_ours) = (beam.name.clone(), other.name().clone());
    let spawns = start(&cluster, "spawns", async move |mut me, cluster| {
        let nowhere: NodeName = "nowhere@127.0.0.1".parse().expect("a name");
        let refused = cluster.spawn_monitor(&me, &nowhere, "a", "b", vec![]).await;
        assert!(matches!(refused, Err(NotSpawned::NoConnection(_))), "{refused:?}");
        let many = vec![Term::NIL; 256];
        let refused = cluster.spawn_link(&me, &there, "a", "b", many).await;
        assert!(matches!(refused, Err(NotSpawned::BadArgument)), "{refused:?}");
        let refused = cluster.spawn(&there, &"a".repeat(256), "b", vec![]).await;
        assert!(matches!(refused, Err(NotSpawned::BadArgument)), "{refused:?}");
        let local = Term::Local([1, 2, 3][..].into());
        let refused = cluster.spawn(&there, "a", "b", vec![Term::list([local])]).await;
        assert!(matches!(refused, Err(NotSpawned::BadArgument)), "{refused:?}");
        let old = "old@127.0.0.1".parse().expect("a name");
        let refused = cluster.spawn_monitor(&me, &old, "a", "b", vec![]).await;
        assert!(matches!(refused, Err(NotSpawned::NotSupported)), "{refused:?}");
        // Not refused, but the process ends; on our node as on a BEAM.
        let mut ends = vec![];
        for there in [there, of_ours] {
            let spawned = cluster.spawn_monitor(&me, &there, "no", "such", vec![]).await;
            let (_, monitor) = spawned.expect("it is there");
            let down = down(&mut me).await;
            assert_eq!(down.monitor, monitor, "of the others there is none");
            ends.push(why(&down.reason));
        }
        ends
    });
    for undef in found(spawns).await {
        assert_eq!(undef.as_tuple().map(|parts| parts[0].clone()), Some(Term::atom("undef")));
    }
    assert_eq!(beam.eval("net_adm:ping('ours@127.0.0.1')").await, "pong");
}

/// Waits for a spawn request of our node, which gets no `user`.
async fn spawn_request(peer: &mut Connected) -> Spawn {
    loop {
        match peer.next().await.control {
            // The look-up of `user`.
            Control::Monitor { from, to, reference } => {
                let noproc = Some(Term::atom("noproc"));
                let down = Control::Down { from: to, to: from, reference, reason: noproc };
                peer.send(down, None).await;
            }
            Control::Spawn(spawn) => return *spawn,
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_spawn_request_ends_when_the_connection_is_lost() {
    let epmd = Epmd::start();
    let cluster = join(&epmd, "ours").await;
    let raw = Ours::start(&epmd, "raw").await;
    let mut peer = raw.call(cluster.name()).await;
    let there = raw.local.name.clone();
    let spawns = start(&cluster, "spawns", async move |mut me, cluster| {
        let refused = cluster.spawn_monitor(&me, &there, "a", "b", vec![]).await;
        assert!(matches!(refused, Err(NotSpawned::Lost)), "{refused:?}");
        receive!(me, { Received::Down(_) => false, after Duration::ZERO => true })
    });
    spawn_request(&mut peer).await;
    peer.link.close();
    assert!(found(spawns).await, "a down of a process that never was");
    let left = cluster.node().processes().len();
    assert!(left < 10, "{left} processes are left");
}

// D1
#[tokio::test]
async fn the_monitor_of_a_cancelled_spawn_that_fails_fires_once() {
    let epmd = Epmd::start();
    let cluster = join(&epmd, "ours").await;
    let raw = Ours::start(&epmd, "raw").await;
    let mut peer = raw.call(cluster.name()).await;
    for refuses in [true, false] {
        let there = raw.local.name.clone();
        let (asked, cancelled) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (cancels, is_cancelled) = (Arc::clone(&asked), Arc::clone(&cancelled));
        let name = format!("spawns {refuses}");
        let spawns = start(&cluster, &name, async move |mut me, cluster| {
            tokio::select! {
                spawned = cluster.spawn_monitor(&me, &there, "a", "b", vec![]) => panic!("{spawned:?}"),
                () = cancels.notified() => {}
            }
            is_cancelled.notify_one();
            let reason = down(&mut me).await.reason;
            (reason, receive!(me, { Received::Down(_) => false, after Duration::ZERO => true }))
        });
        let spawn = spawn_request(&mut peer).await;
        asked.notify_one();
        in_time("the cancellation", cancelled.notified()).await;
        if refuses {
            let (request, to, result) =
                (spawn.request, spawn.from, Err(Atom::from_static("system_limit")));
            let (linked, monitored, token) = (false, false, None);
            let refusal = Control::Spawned { request, to, linked, monitored, result, token };
            peer.send(refusal, None).await;
        } else {
            peer.link.close();
        }
        assert_eq!(found(spawns).await, (ExitReason::NoProcess, true));
    }
}

// L9
#[tokio::test]
async fn a_beam_sends_to_an_alias_of_ours_while_it_is_active() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    beam.eval("register(main, self())").await;
    let there = beam.name.clone();
    let gives = start(&cluster, "gives", async move |mut me, cluster| {
        let main = cluster.named::<Term>("main", &there).expect("there is room");
        let (alias, once) = (me.alias(), me.alias_once());
        let found = [&alias, &once].map(|alias| Term::from(cluster.term_of_alias(alias)));
        main.send(Term::list(found));
        let mut got = vec![];
        for _ in 0..4 {
            got.push(term(&mut me).await);
        }
        assert!(me.unalias(&alias));
        main.send(Term::atom("taken_back"));
        got.push(term(&mut me).await);
        got
    });
    beam.eval("[A, Once] = receive L when is_list(L) -> L end").await;
    beam.eval("A ! 1, Once ! 2, Once ! never, A ! 3, A ! 4").await;
    beam.eval("receive taken_back -> ok end, A ! late, {gives, 'ours@127.0.0.1'} ! 5").await;
    assert_eq!(found(gives).await, [1, 2, 3, 4, 5].map(Term::from));
    let dropped = cluster.node().drops();
    assert_eq!(dropped.alias, 2, "{dropped:?}");
    // An alias of no process, or of an earlier incarnation of our node.
    beam.eval("A ! nobody, make_ref() ! nobody").await;
    assert_eq!(beam.eval("net_adm:ping('ours@127.0.0.1')").await, "pong");
}

#[tokio::test]
async fn we_send_to_an_alias_of_a_beam_and_reply_to_its_calls_by_alias() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let sends = start(&cluster, "sends", async |mut me, cluster| {
        let Term::Reference(alias) = term(&mut me).await else { panic!("no alias") };
        for number in 0..3 {
            cluster.send_to_alias(&alias, Term::from(number)).await.expect("it is connected");
        }
        term(&mut me).await;
        cluster.send_to_alias(&alias, Term::atom("late")).await.expect("it is connected");
        let pid = processes::pid(&mut me).await;
        cluster.pid::<Term>(&pid).expect("there is room").send(Term::atom("last"));
    });
    beam.eval("A = alias(), {sends, 'ours@127.0.0.1'} ! A").await;
    let got = beam.eval("[receive N -> M end || M <- [0, 1, 2], N <- [M]]").await;
    assert_eq!(got, "[0,1,2]");
    beam.eval("unalias(A), {sends, 'ours@127.0.0.1'} ! go, {sends, 'ours@127.0.0.1'} ! self()")
        .await;
    assert_eq!(beam.eval("receive M1 -> M1 end").await, "last");
    found(sends).await;
}

// M6
#[tokio::test]
async fn a_beam_sends_with_priority_to_an_alias_of_ours() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    if !beam.has_release(28).await {
        return;
    }
    beam.eval("register(main, self())").await;
    let there = beam.name.clone();
    let gives = start(&cluster, "gives", async move |mut me, cluster| {
        let main = cluster.named::<Term>("main", &there).expect("there is room");
        let (alias, plain) = (me.priority_alias(), me.alias());
        let found = [&alias, &plain].map(|alias| Term::from(cluster.term_of_alias(alias)));
        main.send(Term::list(found));
        receive!(me, { Received::Term(term) if term.is_atom("last") => {} });
        let shown = |message| match message {
            Received::Term(term) => term,
            Received::Exit(exit) => why(&exit.reason),
            Received::Down(down) => panic!("{down:?}"),
        };
        Term::list(me.flush().into_iter().map(shown)).to_string()
    });
    beam.eval("[A, B] = receive L when is_list(L) -> L end, G = {gives, 'ours@127.0.0.1'}").await;
    beam.eval("G ! 1, erlang:send(A, 2, [priority]), A ! 3, exit(A, because, [priority])").await;
    beam.eval("erlang:send(B, 4, [priority]), exit(B, ordinary, [priority]), exit(A, late)").await;
    beam.eval("erlang:send(G, 5, [priority]), erlang:send(A, 6, [priority]), G ! last").await;
    assert_eq!(found(gives).await, "[2,because,6,1,3,4,ordinary,late,5]");
}

// M6: a BEAM before OTP 28 gets an ordinary message, and no exit signal
#[tokio::test]
async fn we_send_with_priority_to_an_alias_of_a_beam() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let sends = start(&cluster, "sends", async |mut me, cluster| {
        let Term::Reference(alias) = term(&mut me).await else { panic!("no alias") };
        let why = |why| ExitReason::error(TermReason(Term::atom(why)));
        let connected = "it is connected";
        cluster.send_to_alias(&alias, Term::from(1)).await.expect(connected);
        cluster.send_priority_to_alias(&alias, Term::from(2)).await.expect(connected);
        cluster.exit_to_alias(&alias, why("ordinary")).await.expect(connected);
        cluster.exit_priority_to_alias(&alias, why("because")).await.expect(connected);
        cluster.send_priority_to_alias(&alias, Term::from(3)).await.expect(connected);
        cluster.send_to_alias(&alias, Term::atom("last")).await.expect(connected);
        cluster.term_of(me.id()).into()
    });
    let got = beam
        .eval(
            "register(main, self()), \
             spawn(fun() -> process_flag(trap_exit, true), \
               A = try alias([priority]) catch error:badarg -> alias() end, \
               {sends, 'ours@127.0.0.1'} ! A, receive last -> ok end, \
               {messages, All} = process_info(self(), messages), \
               main ! {got, [case M of {'EXIT', From, Why} -> {From, Why}; _ -> M end || M <- All]} \
             end), \
             {got, Got} = receive {got, _} = It -> It end, \
             [case G of {_, Why} -> Why; _ -> G end || G <- Got]",
        )
        .await;
    let is_new = beam.has_release(28).await;
    assert_eq!(got, if is_new { "[2,because,3,1,ordinary]" } else { "[1,2,3]" });
    let sender: Term = found(sends).await;
    if is_new {
        let from = beam.eval("element(1, lists:nth(2, Got))").await;
        let Term::Pid(sender) = &sender else { panic!("{sender}") };
        // On another node the first number of a pid identifies the node.
        assert!(from.ends_with(&format!(".{}.{}>", sender.id, sender.serial)), "{from} {sender:?}");
    }
}
