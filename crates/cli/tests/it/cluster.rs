//! Tests of `purlin node` and `purlin call` with BEAM nodes.

#![cfg(unix)]

use std::process::Output;

use crate::support::line;
use crate::support::nodes::{
    COOKIE, beam, epmd, eval, free_port, keep_cookie, logged, named, node, run, short_beam,
};

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_beam_pings_our_node_sends_to_its_echo_and_calls_its_functions() {
    let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
    let _epmd = epmd(&port);
    let (ours, said) = node(folder.path(), &port, &["--cookie", COOKIE]);
    let erl = format!("ERL_EPMD_PORT={port} erl -name me@127.0.0.1 -setcookie COOKIE");
    assert_eq!(
        said,
        [format!("ours@127.0.0.1 is up; try net_adm:ping('ours@127.0.0.1'). in {erl}")]
    );
    let found = eval(
        folder.path(),
        &port,
        &[
            "net_adm:ping('ours@127.0.0.1')",
            "nodes(hidden)",
            "begin {echo, 'ours@127.0.0.1'} ! {self(), hello}, receive {P, What} -> {node(P), What} end end",
            "gen_server:call({echo, 'ours@127.0.0.1'}, [1, two])",
            "rpc:call('ours@127.0.0.1', purlin, echo, [<<\"three\">>])",
            "[N || #{name := N, messages := 0, memory := M, pid := P} <- rpc:call('ours@127.0.0.1', purlin, processes, []), M > 0, node(P) == 'ours@127.0.0.1', N /= undefined]",
        ],
    );
    let due = [
        "pong",
        "['ours@127.0.0.1']",
        "{'ours@127.0.0.1',hello}",
        "[1,two]",
        "<<\"three\">>",
        "[echo]",
    ];
    assert_eq!(found, due);
    assert_eq!(ours.end("-TERM"), (Some(0), String::new()));
    // No error was logged.
    assert_eq!(logged(folder.path()), [""; 0]);
}

#[test]
fn a_published_node_is_listed_in_nodes_and_supports_global() {
    let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
    let _epmd = epmd(&port);
    let (ours, _) = node(folder.path(), &port, &["--cookie", COOKIE, "--published"]);
    let asked = [
        "net_adm:ping('ours@127.0.0.1')",
        "{nodes(), nodes(hidden)}",
        "global:sync()",
        "global:register_name(me, self())",
    ];
    let due = ["pong", "{['ours@127.0.0.1'],[]}", "ok", "yes"];
    assert_eq!(eval(folder.path(), &port, &asked), due);
    assert_eq!(ours.end("-TERM"), (Some(0), String::new()));
}

#[test]
fn a_node_without_epmd_starts_one_and_reads_its_cookie_from_the_home() {
    let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
    keep_cookie(folder.path(), &format!("{COOKIE}\n"), 0o400);
    let (ours, said) = node(folder.path(), &port, &[]);
    assert_eq!(
        said[0],
        format!(
            "no epmd at 127.0.0.1:{port}: started one at 127.0.0.1:{port} for as long as this command runs"
        )
    );
    assert!(said[1].ends_with(" erl -name me@127.0.0.1"), "{said:?}");
    assert_eq!(eval(folder.path(), &port, &["net_adm:ping('ours@127.0.0.1')"]), ["pong"]);

    let taken = run(folder.path(), &port, &["node", "--name", "ours@127.0.0.1"]);
    assert!(line(&taken, 2).contains("epmd knows another node called ours"));
    assert_eq!(ours.end("-INT"), (Some(0), String::new()));
    // The epmd has ended with the node.
    let gone = run(folder.path(), &port, &["call", "ours@127.0.0.1", "purlin", "processes"]);
    assert!(line(&gone, 2).contains("no epmd at"));
}

#[test]
fn a_node_whose_main_process_is_killed_by_another_node_exits_with_status_1() {
    let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
    let _epmd = epmd(&port);
    let (ours, _) = node(folder.path(), &port, &["--cookie", COOKIE]);
    let kill =
        "lists:usort([exit(P, kill) || P <- rpc:call('ours@127.0.0.1', erlang, processes, [])])";
    assert_eq!(eval(folder.path(), &port, &[kill]), ["[true]"]);
    assert_eq!(ours.wait().0, Some(1));
}

#[test]
fn functions_of_a_beam_are_called_with_arguments_in_erlang_syntax() {
    let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
    let _epmd = epmd(&port);
    let _beam = beam(folder.path(), &port, "beam");
    let call = |words: &[&str]| {
        let words = [&["call", "beam@127.0.0.1"], words, &["--cookie", COOKIE]].concat();
        run(folder.path(), &port, &words)
    };
    for (words, due) in [
        (&["erlang", "node"][..], "'beam@127.0.0.1'\n"),
        (&["erlang", "node", "[]"], "'beam@127.0.0.1'\n"),
        (&["lists", "seq", "[1, 5]"], "[1,2,3,4,5]\n"),
        (
            &["maps", "from_list", r#"[[{a, <<"x">>}, {"s", -1.5}]]"#],
            "#{a => <<\"x\">>,\"s\" => -1.5}\n",
        ),
    ] {
        let output = call(words);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), due), "{output:?}");
    }
    for (words, due) in [
        (&["erlang", "hd", "[[]]"][..], "{badrpc,{'EXIT',{badarg,"),
        (&["erlang", "nothing"], "{badrpc,{'EXIT',{undef,[{erlang,nothing,"),
        // WHY real time: the call never returns, so the timeout fires whatever its length.
        (&["timer", "sleep", "[infinity]", "--timeout", "0.2"], "no answer within 200ms"),
        (&["erlang", "halt"], "noconnection"),
    ] {
        let output = call(words);
        assert!(line(&output, 1).contains(due), "{output:?}");
        assert_eq!(stdout(&output), "");
    }
}

#[test]
fn a_function_of_a_beam_with_a_short_name_is_called() {
    let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
    let _epmd = epmd(&port);
    let _beam = short_beam(folder.path(), &port, "beam@localhost");
    let words = ["call", "beam@localhost", "erlang", "node", "--cookie", COOKIE];
    let output = run(folder.path(), &port, &words);
    assert_eq!(stdout(&output), "beam@localhost\n", "{output:?}");
}

#[test]
fn functions_of_our_node_are_called() {
    let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
    keep_cookie(folder.path(), COOKIE, 0o600);
    let (_ours, _) = node(folder.path(), &port, &[]);
    let call = |words: &[&str]| {
        run(folder.path(), &port, &[&["call", "ours@127.0.0.1", "purlin"], words].concat())
    };
    let output = call(&["echo", "[{ok, [1 | x]}]"]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "{ok,[1|x]}\n"));
    assert!(stdout(&call(&["processes"])).contains("name => echo"));
    let processes: serde_json::Value =
        serde_json::from_slice(&call(&["processes", "--json"]).stdout).expect("it is JSON");
    let mut processes = processes.as_array().expect("a list").iter();
    let echo = processes.find(|one| one["name"] == "echo").expect("it runs");
    assert!(echo["messages"] == 0 && echo["pid"].as_str().is_some_and(|pid| pid.contains('<')));
    let looked_at = ["call", "ours@127.0.0.1", "erlang", "registered"];
    assert_eq!(stdout(&run(folder.path(), &port, &looked_at)), "[echo]\n");
    let undef = "{badrpc,{'EXIT',{undef,[{purlin,nothing,[],[]}]}}}";
    assert_eq!(line(&call(&["nothing"]), 1), format!("purlin: {undef}\n"));
    let stranger = call(&["echo", "[1]", "--cookie", "another"]);
    assert!(line(&stranger, 2).contains("most likely it has another one"), "{stranger:?}");
}

#[test]
fn invalid_cluster_arguments_are_refused_in_one_line() {
    let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
    let a = "a@127.0.0.1";
    let long = "x".repeat(256);
    let refused = |words: &[&str], due: &str| {
        let output = run(folder.path(), &port, words);
        assert!(line(&output, 2).contains(due), "{words:?}: {output:?}");
    };
    refused(&["node", "--name", a], "no cookie: ");
    refused(&["call", a, "m", "f"], "give one with --cookie");
    refused(&["call", a, "m", "f", "--cookie", ""], "--cookie must be 1 to 255 characters");
    refused(&["node", "--name", a, "--cookie", &long], "--cookie must be 1 to 255 characters");
    refused(&["call", a, "m", "f", "--cookie", "x"], "no epmd at 127.0.0.1:");
    refused(
        &["call", "a@nowhere.invalid", "m", "f", "--cookie", "x"],
        "nowhere.invalid is not known",
    );
    refused(&["call", "a", "m", "f", "--cookie", "x"], "name@host");
    for name in ["a.b-c_d@127.0.0.1", "é@127.0.0.1"] {
        let due = "with letters a to z, digits, _ and - before the @";
        refused(&["node", "--name", name, "--cookie", "x"], due);
        refused(&["call", name, "m", "f", "--cookie", "x"], due);
    }
    refused(&["call", a, "m", "f", "{a}", "--cookie", "x"], "give a list, such as '[1, two]'");
    refused(&["call", a, "m", "f", "[a", "--cookie", "x"], "no Erlang term: ");
    refused(&["call", a, &long, "f", "--cookie", "x"], "255");
    refused(&["call", a, "m", "f", "--timeout", "-1"], "above 0");
    refused(&["node", "--name", a, "--cookie", "x", "--epmd", "here"], "an address and a port");
    refused(
        &["node", "--name", a, "--cookie", "x", "--epmd", "192.0.2.1:1"],
        "epmd at 192.0.2.1:1",
    );
    refused(&["node", "--name", a, "--cookie", "x", "--log", "much"], "much");
    keep_cookie(folder.path(), COOKIE, 0o644);
    refused(&["node", "--name", a], "others may read");
    keep_cookie(folder.path(), "\n", 0o600);
    refused(&["node", "--name", a], "is empty");
    keep_cookie(folder.path(), &long, 0o600);
    refused(&["node", "--name", a], "has more than 255 characters");
}

#[test]
fn an_invalid_epmd_port_and_an_unknown_node_are_reported() {
    let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
    let words = ["call", "a@127.0.0.1", "m", "f", "--cookie", "x"];
    let node = ["node", "--name", "a@127.0.0.1", "--cookie", "x"];
    for (port, words) in [("many", &words[..]), ("0", &words), ("0", &node), ("65536", &node)] {
        let output = run(folder.path(), port, words);
        assert!(line(&output, 2).contains("ERL_EPMD_PORT is not a port"), "{port}: {output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
    }
    let no_port = run(folder.path(), &port, &[&node[..], &["--epmd", "127.0.0.1:0"]].concat());
    assert!(line(&no_port, 2).contains("a port from 1 to 65535"), "{no_port:?}");
    let _epmd = epmd(&port);
    let unknown = run(folder.path(), &port, &words);
    assert!(line(&unknown, 2).contains("epmd knows no node a@127.0.0.1"), "{unknown:?}");
}

#[test]
fn a_node_on_another_host_is_found_by_that_hosts_epmd() {
    let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
    keep_cookie(folder.path(), COOKIE, 0o600);
    let place = format!("127.0.0.2:{port}");
    let (_ours, said) = named(folder.path(), &port, "ours@127.0.0.2", &["--epmd", &place]);
    assert!(said[0].starts_with(&format!("no epmd at {place}: ")), "{said:?}");
    let call = ["call", "ours@127.0.0.2", "purlin", "echo", "[hello]"];
    assert_eq!(stdout(&run(folder.path(), &port, &call)), "hello\n");
    let output = run(folder.path(), &free_port(), &[&call[..], &["--epmd", &place]].concat());
    assert_eq!(stdout(&output), "hello\n");
    let elsewhere = ["call", "ours@127.0.0.1", "purlin", "echo", "[hello]"];
    let elsewhere = run(folder.path(), &port, &elsewhere);
    assert!(line(&elsewhere, 2).contains("no epmd at 127.0.0.1:"), "{elsewhere:?}");
}

#[test]
fn a_refused_handshake_is_logged_in_one_line_unless_logging_is_off() {
    let refused = " WARN purlin_dist_protocol::listener: \
                   a handshake was refused: it does not know the cookie";
    let registered = " INFO purlin_dist_protocol::epmd::server: registered";
    for (words, due) in [
        (&[][..], &[refused][..]),
        (&["--log", "off"], &[]),
        (&["--log", "info"], &[registered, refused]),
    ] {
        let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
        keep_cookie(folder.path(), COOKIE, 0o600);
        let (ours, _) = node(folder.path(), &port, words);
        let call = ["call", "ours@127.0.0.1", "purlin", "processes", "--cookie", "another"];
        assert_eq!(run(folder.path(), &port, &call).status.code(), Some(2));
        assert_eq!(ours.end("-TERM"), (Some(0), String::new()));
        let lines = logged(folder.path());
        assert_eq!(lines.len(), due.len(), "{lines:?}");
        assert!(lines.iter().zip(due).all(|(line, due)| line.contains(due)), "{lines:?}");
    }
}
