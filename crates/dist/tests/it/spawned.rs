//! Processes that a BEAM spawns on our node.

use crate::processes::join;
use crate::support::{Beam, Epmd, until};
use purlin_dist::cluster::Cluster;
use purlin_term::Term;

/// Joins a purlin node with `rust:sum/2`, and with `rust:echo/1`, which sends a process every message back until it
/// receives `stop`.
async fn ours(epmd: &Epmd) -> Cluster {
    let cluster = join(epmd, "ours").await;
    let sum = async |arguments: Vec<Term>| {
        let integers: Option<Vec<i64>> = arguments.iter().map(Term::as_integer).collect();
        integers.map(|all| Term::from(all.iter().sum::<i64>())).ok_or(Term::atom("badarg"))
    };
    cluster.export("rust", "sum", 2, sum).expect("short names");
    let (inside, name) = (cluster.clone(), cluster.name().to_string());
    let echo = move |mut me: purlin::Process<Term>, arguments: Vec<Term>| {
        let (inside, name) = (inside.clone(), name.clone());
        async move {
            let to = arguments[0].as_pid().and_then(|pid| inside.pid::<Term>(pid));
            let to = to.ok_or(Term::atom("badarg"))?;
            to.send(Term::tuple([Term::from(inside.term_of(me.id())), Term::from(name.as_str())]));
            loop {
                match me.receive().await {
                    stop if stop.is_atom("stop") => return Ok(stop),
                    message => to.send(message),
                }
            }
        }
    };
    cluster.export_process("rust", "echo", 1, echo).expect("short names");
    cluster
}

#[tokio::test]
async fn a_spawned_process_ends_with_the_reason_that_erlang_expects() {
    let epmd = Epmd::start();
    let mut beam = Beam::start(&epmd, "beam").await;
    let _cluster = ours(&epmd).await;
    let end = |options: &str, call: &str| {
        format!(
            "(fun() -> R = spawn_request('ours@127.0.0.1', rust, {call}, {options}), \
             receive {{spawn_reply, R, ok, P}} -> \
             receive {{'DOWN', R, process, P, W}} -> W; {{'EXIT', P, W}} -> {{exit, W}} end; \
             {{spawn_reply, R, error, W}} -> {{refused, W}} end end)()"
        )
    };
    assert_eq!(beam.eval(&end("[monitor]", "sum, [1, 2]")).await, "normal");
    assert_eq!(beam.eval(&end("[monitor]", "sum, [1, a]")).await, "{badarg,[]}");
    let undef = "{undef,[{rust,nothing,[1],[]}]}";
    assert_eq!(beam.eval(&end("[monitor]", "nothing, [1]")).await, undef);
    assert_eq!(beam.eval(&end("[link]", "sum, [1, 2]")).await, "{exit,normal}");
    assert_eq!(beam.eval(&end("[link]", "sum, [1, a]")).await, "{exit,{badarg,[]}}");
    let tagged = "[{monitor, [{tag, 'DOWN'}]}]";
    assert_eq!(beam.eval(&end(tagged, "sum, [1, 2]")).await, "normal");
    // D1, L2: however short it lives, its end is reported with its own reason.
    let many = "lists:usort([begin P = spawn_link('ours@127.0.0.1', rust, sum, [1, X]), \
                M = monitor(process, P), receive {'EXIT', P, W} -> demonitor(M, [flush]), W end end \
                || _ <- lists:seq(1, 100), X <- [1, a]])";
    assert_eq!(beam.eval(many).await, "[normal,{badarg,[]}]");
    let many = "lists:usort([begin {_, M} = spawn_monitor('ours@127.0.0.1', rust, sum, [1, X]), \
                receive {'DOWN', M, _, _, W} -> W end end || _ <- lists:seq(1, 100), X <- [1, a]])";
    assert_eq!(beam.eval(many).await, "[normal,{badarg,[]}]");
    // The ways other libraries spawn.
    beam.eval("P1 = proc_lib:spawn_link('ours@127.0.0.1', rust, sum, [1, a])").await;
    assert_eq!(beam.eval("receive {'EXIT', P1, W1} -> W1 end").await, "{badarg,[]}");
    let blocks = "rpc:block_call('ours@127.0.0.1', rust, sum, [20, 22])";
    assert_eq!(beam.eval(blocks).await, "42");
}

#[tokio::test]
async fn spawn_options_are_accepted_and_refused_as_by_erlang() {
    let epmd = Epmd::start();
    let mut beam = Beam::start(&epmd, "beam").await;
    let mut other = Beam::start(&epmd, "other").await;
    let _cluster = ours(&epmd).await;
    for (option, is_valid) in [
        ("link", true),
        ("{monitor, [{tag, down}]}", true),
        ("{priority, high}", true),
        ("{fullsweep_after, 10}", true),
        ("{min_heap_size, 500}", true),
        ("{min_bin_vheap_size, 500}", true),
        ("{max_heap_size, 0}", true),
        ("{max_heap_size, #{size => 5000000, kill => true}}", true),
        ("{message_queue_data, off_heap}", true),
        ("{reply, yes}", true),
        ("{reply_tag, spawn_reply}", true),
        ("bogus", false),
        ("{bogus, 1}", false),
        ("{priority, bogus}", false),
        ("{min_heap_size, x}", false),
        ("{fullsweep_after, -1}", false),
        ("{max_heap_size, x}", false),
        ("{timeout, 5}", false),
        ("{link, true, 1}", false),
    ] {
        let result = if is_valid { "ok" } else { "badopt" };
        for (node, call) in [("ours", "rust, sum, [1, 2]"), ("other", "erlang, '+', [1, 2]")] {
            let spawns = format!(
                "(fun() -> R = spawn_request('{node}@127.0.0.1', {call}, [{option}]), \
                 receive {{spawn_reply, R, ok, _}} -> ok; {{spawn_reply, R, error, W}} -> W end end)()"
            );
            assert_eq!(beam.eval(&spawns).await, result, "{option} on {node}");
        }
    }
    assert_eq!(other.eval("yes").await, "yes");
}

// L2: the link exists from the start, and a spawned process is like any other.
#[tokio::test]
async fn a_spawned_process_receives_and_is_linked_to_its_parent() {
    let epmd = Epmd::start();
    let mut beam = Beam::start(&epmd, "beam").await;
    let cluster = ours(&epmd).await;
    beam.eval("P = spawn_link('ours@127.0.0.1', rust, echo, [self()])").await;
    assert_eq!(beam.eval("receive {P, Name} -> Name end").await, "<<\"ours@127.0.0.1\">>");
    assert_eq!(beam.eval("P ! {hello, 1}, receive {hello, N} -> N end").await, "1");
    assert_eq!(beam.eval("P ! stop, receive {'EXIT', P, Why} -> Why end").await, "normal");

    // The parent ends, and the child with it.
    let parent = "spawn(fun() -> spawn_link('ours@127.0.0.1', rust, echo, [Main]), \
                  receive R -> exit(R) end end)";
    beam.eval(&format!("Main = self(), Parent = {parent}")).await;
    beam.eval("Child = receive {C, <<_/binary>>} -> C end").await;
    beam.eval("M = monitor(process, Child), Parent ! gone").await;
    assert_eq!(beam.eval("receive {'DOWN', M, _, _, Reason} -> Reason end").await, "gone");

    // It ends, like all else, when the connection is lost.
    beam.eval("P3 = spawn_link('ours@127.0.0.1', rust, echo, [self()])").await;
    beam.eval("receive {P3, <<_/binary>>} -> yes end").await;
    let runs = |cluster: &Cluster| {
        let all = cluster.node().processes();
        all.iter().filter(|one| one.function.contains("spawn_for")).count()
    };
    assert_eq!(runs(&cluster), 1);
    beam.eval("erlang:disconnect_node('ours@127.0.0.1')").await;
    until("it ends", || runs(&cluster) == 0).await;
}
