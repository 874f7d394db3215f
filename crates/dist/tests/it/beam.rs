//! Interoperation with a BEAM node: both directions of connecting, and the usual requests and
//! replies.

use crate::support::{Connected, Ours, ours_and_beam};
use purlin_dist::control::{Control, Named};
use purlin_dist::frame::Signal;
use purlin_term::{Atom, Term};

/// Answers a ping with `yes`.
async fn answer_ping(ours: &Ours, connected: &mut Connected) {
    let (from, tag, request) = connected.next_call().await;
    let [is_auth, _] = request.as_tuple().expect("a tuple") else { panic!("{request:?}") };
    assert!(is_auth.is_atom("is_auth"));
    connected.reply(ours, from, tag, Term::atom("yes")).await;
}

#[tokio::test]
async fn a_beam_pings_us_and_gets_pong() {
    let (_epmd, mut ours, mut beam) = ours_and_beam().await;
    beam.send("net_adm:ping('ours@127.0.0.1')").await;
    let mut connected = ours.called().await;
    assert_eq!(connected.link.peer(), &beam.name);
    answer_ping(&ours, &mut connected).await;
    assert_eq!(beam.line().await, "pong");
    assert_eq!(beam.eval("{nodes(), nodes(hidden)}").await, "{[],['ours@127.0.0.1']}");
}

#[tokio::test]
async fn we_connect_to_a_beam_and_it_pings_us_over_that_connection() {
    let (_epmd, ours, mut beam) = ours_and_beam().await;
    let mut connected = ours.call(&beam.name).await;
    beam.send("net_adm:ping('ours@127.0.0.1')").await;
    answer_ping(&ours, &mut connected).await;
    assert_eq!(beam.line().await, "pong");
}

#[tokio::test]
async fn messages_arrive_by_name_and_by_pid_both_ways() {
    let (_epmd, ours, mut beam) = ours_and_beam().await;
    let mut connected = ours.call(&beam.name).await;

    beam.eval("register(here, self())").await;
    let message = Term::tuple([Term::Pid(Box::new(ours.pid(7))), Term::from(42)]);
    let to_name =
        Control::RegSend { from: ours.pid(7), to: Atom::from_static("here"), token: None };
    connected.send(to_name, Some(message)).await;
    assert_eq!(beam.eval("receive {Us, N} -> Us ! {self(), N + 1}, N end").await, "42");
    let Signal { control, payload } = connected.next().await;
    let Control::SendSender { from, to, token: None } = control else { panic!("{control:?}") };
    assert_eq!(to, ours.pid(7));
    let answer = payload.expect("a message");
    assert_eq!(answer.as_tuple(), Some(&[Term::Pid(Box::new(from.clone())), Term::from(43)][..]));

    let to_pid = Control::to_pid(connected.link.flags(), ours.pid(7), from);
    connected.send(to_pid, Some(Term::atom("thanks"))).await;
    assert_eq!(beam.eval("receive M -> M end").await, "thanks");

    beam.eval("{there, 'ours@127.0.0.1'} ! hello").await;
    let Signal { control, payload } = connected.next().await;
    assert!(matches!(control, Control::RegSend { to, .. } if to == "there"));
    assert_eq!(payload, Some(Term::atom("hello")));
}

#[tokio::test]
async fn a_gen_server_call_is_answered_and_one_to_an_unknown_name_ends_with_noproc() {
    let (_epmd, ours, mut beam) = ours_and_beam().await;
    let mut connected = ours.call(&beam.name).await;

    beam.send("gen_server:call({server, 'ours@127.0.0.1'}, {add, 1, 2}, infinity)").await;
    let (from, tag, request) = connected.next_call().await;
    assert_eq!(request, Term::tuple([Term::atom("add"), Term::from(1), Term::from(2)]));
    connected.reply(&ours, from, tag, Term::from(3)).await;
    assert_eq!(beam.line().await, "3");

    beam.send("catch gen_server:call({nobody, 'ours@127.0.0.1'}, hello)").await;
    let (watcher, name, monitor) = loop {
        if let Control::Monitor { from, to, reference } = connected.next().await.control {
            break (from, to, reference);
        }
    };
    assert_eq!(name, Named::Name(Atom::from_static("nobody")));
    let flags = connected.link.flags();
    let (control, payload) = Control::down(flags, name, watcher, monitor, Term::atom("noproc"));
    connected.send(control, payload).await;
    let due = "{'EXIT',{noproc,{gen_server,call,[{nobody,'ours@127.0.0.1'},hello]}}}";
    assert_eq!(beam.line().await, due);
}

#[tokio::test]
async fn an_rpc_is_a_spawn_request_whose_value_is_the_exit_reason() {
    let (_epmd, ours, mut beam) = ours_and_beam().await;
    let mut connected = ours.call(&beam.name).await;

    beam.send("rpc:call('ours@127.0.0.1', rust, double, [21])").await;
    let (spawn, arguments) = loop {
        let Signal { control, payload } = connected.next().await;
        if let Control::Spawn(spawn) = control {
            break (spawn, payload.expect("arguments"));
        }
    };
    assert_eq!((spawn.module.as_str(), spawn.function.as_str()), ("erpc", "execute_call"));
    assert!(spawn.options.contains(&Term::atom("monitor")));
    let [result, module, function, values] = arguments.as_list().expect("a list") else {
        panic!("four arguments")
    };
    assert_eq!((module, function), (&Term::atom("rust"), &Term::atom("double")));
    let doubled = values.as_list().expect("a list")[0].as_integer().expect("a number") * 2;

    let worker = ours.pid(9);
    let spawned = Control::Spawned {
        request: spawn.request.clone(),
        to: spawn.from.clone(),
        linked: false,
        monitored: true,
        result: Ok(worker.clone()),
        token: None,
    };
    connected.send(spawned, None).await;
    let reason = Term::tuple([result.clone(), Term::atom("return"), Term::from(doubled)]);
    let flags = connected.link.flags();
    let worker = Named::Pid(worker);
    let (control, payload) = Control::down(flags, worker, spawn.from, spawn.request, reason);
    connected.send(control, payload).await;
    assert_eq!(beam.line().await, "42");
}

#[tokio::test]
async fn links_break_in_both_directions_and_unlink_is_acknowledged() {
    let (_epmd, ours, mut beam) = ours_and_beam().await;
    let mut connected = ours.call(&beam.name).await;
    let flags = connected.link.flags();

    // The BEAM learns the pid of a local process and links to it.
    beam.eval("register(here, self())").await;
    let to_name =
        Control::RegSend { from: ours.pid(7), to: Atom::from_static("here"), token: None };
    connected.send(to_name, Some(Term::Pid(Box::new(ours.pid(7))))).await;
    assert_eq!(beam.eval("receive Us when is_pid(Us) -> link(Us) end").await, "true");
    let Control::Link { from: theirs, to } = connected.next().await.control else {
        panic!("a link")
    };
    assert_eq!(to, ours.pid(7));

    assert_eq!(beam.eval("unlink(Us)").await, "true");
    let Control::UnlinkId { id, from, to } = connected.next().await.control else {
        panic!("an unlink")
    };
    connected.send(Control::UnlinkIdAck { id, from: to, to: from }, None).await;

    // A local process links and ends.
    connected.send(Control::Link { from: ours.pid(7), to: theirs.clone() }, None).await;
    let (exit, reason) = Control::exit(flags, ours.pid(7), theirs.clone(), Term::atom("finished"));
    connected.send(exit, reason).await;
    assert_eq!(beam.eval("receive {'EXIT', Us, R} -> R end").await, "finished");

    // A local process links to a remote one, which ends.
    beam.eval("P = spawn(fun() -> receive stop -> exit(stopped) end end), register(other, P)")
        .await;
    let to_name =
        Control::RegSend { from: ours.pid(7), to: Atom::from_static("here"), token: None };
    connected.send(to_name, Some(Term::atom("who"))).await;
    beam.eval("receive who -> Us ! P end").await;
    let other = connected.next().await.payload.expect("a pid");
    let other = other.as_pid().expect("a pid").clone();
    connected.send(Control::Link { from: ours.pid(8), to: other.clone() }, None).await;
    let to_pid = Control::to_pid(flags, ours.pid(8), other.clone());
    connected.send(to_pid, Some(Term::atom("stop"))).await;
    let Signal { control, payload } = connected.next().await;
    let gone = Control::Exit { from: other, to: ours.pid(8), token: None, reason: None };
    assert_eq!((control, payload), (gone, Some(Term::atom("stopped"))));
}

#[tokio::test]
async fn a_large_message_arrives_complete_in_both_directions() {
    let (_epmd, ours, mut beam) = ours_and_beam().await;
    let mut connected = ours.call(&beam.name).await;

    beam.eval("register(here, self())").await;
    let numbers: Vec<Term> = (0..200_000).map(|n| Term::from(n * 7)).collect();
    let message = Term::tuple([Term::Pid(Box::new(ours.pid(7))), Term::List(numbers)]);
    let to_name =
        Control::RegSend { from: ours.pid(7), to: Atom::from_static("here"), token: None };
    connected.send(to_name, Some(message)).await;
    let sum = "receive {Us, L} -> Us ! lists:reverse(L), {length(L), lists:sum(L)} end";
    assert_eq!(beam.eval(sum).await, "{200000,139999300000}");
    let answer = connected.next().await.payload.expect("a message");
    let due = (0..200_000).rev().map(|n| Term::from(n * 7));
    assert!(answer.as_list().expect("a list").iter().cloned().eq(due));
}
