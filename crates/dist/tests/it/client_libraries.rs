//! Nodes written with the client libraries of Erlang/OTP: `ei` in C and jinterface in Java. Both programs run the same
//! commands, `client_libraries/node.c` and `client_libraries/JavaNode.java`.
//!
//! `PURLIN_SKIP_EI=1` and `PURLIN_SKIP_JINTERFACE=1` leave out the tests that need the library.

use std::process::{Command, Stdio};

use purlin::{ExitReason, Process};
use purlin_dist::NodeName;
use purlin_dist::cluster::{Cluster, TermReason};
use purlin_term::Term;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

use crate::cluster_groups::scope;
use crate::processes::{Received, down, exit, found, join, start, term};
use crate::support::{Beam, COOKIE, Epmd, HANG, in_time, until};

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/client_libraries");

/// A node of `ei` or jinterface.
struct Peer {
    program: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    name: NodeName,
    /// The compiled program.
    _folder: tempfile::TempDir,
}

#[derive(Clone, Copy)]
enum Library {
    Ei,
    Jinterface,
}

impl Library {
    /// The variable that leaves out the tests with the library, and the library's argument of `install-missing.sh`.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Ei => ("PURLIN_SKIP_EI", "ei"),
            Self::Jinterface => ("PURLIN_SKIP_JINTERFACE", "jinterface"),
        }
    }

    /// The commands that compile the program into a folder, and run it.
    fn commands(self, folder: &str) -> [Command; 2] {
        match self {
            Self::Ei => {
                let mut cc = Command::new("cc");
                cc.args(["-Wall", "-Wextra", "-Werror", "-pthread", "-o"]);
                cc.args([&format!("{folder}/node"), &format!("{SOURCES}/node.c"), "-lei"]);
                [cc, Command::new(format!("{folder}/node"))]
            }
            Self::Jinterface => {
                let jar = std::env::var("PURLIN_JINTERFACE");
                let jar = jar.unwrap_or_else(|_| "/usr/share/java/OtpErlang.jar".to_owned());
                let [mut javac, mut java] = ["javac", "java"].map(Command::new);
                javac.args(["-Xlint:all", "-Werror", "-d", folder, "-cp", &jar]);
                javac.arg(format!("{SOURCES}/JavaNode.java"));
                java.args([
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    &format!("{folder}:{jar}"),
                    "JavaNode",
                ]);
                [javac, java]
            }
        }
    }
}

impl Peer {
    /// Starts the node `peer`; returns `None` if the tests with the library are left out.
    async fn start(library: Library, epmd: &Epmd) -> Option<Self> {
        let (skip, name) = library.names();
        if std::env::var_os(skip).is_some_and(|value| value == "1") {
            eprintln!("skipped: {skip}=1, so no node of {name} was tested");
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let [mut compile, run] = library.commands(folder.path().to_str().expect("a path"));
        let compiled = compile.output();
        let remedy = format!("install it with scripts/install-missing.sh {name}, or set {skip}=1");
        let compiled = compiled.unwrap_or_else(|error| panic!("{compile:?}: {error}; {remedy}"));
        let errors = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{errors}{name} may be missing; {remedy}");
        let mut program = tokio::process::Command::from(run)
            .args(["peer", COOKIE])
            .env("ERL_EPMD_PORT", epmd.port.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("it was compiled");
        let input = program.stdin.take().expect("its input");
        let output = BufReader::new(program.stdout.take().expect("its output")).lines();
        let name = "peer@127.0.0.1".parse().expect("a name");
        let mut peer = Self { program, input, output, name, _folder: folder };
        assert_eq!(peer.line().await, "ready");
        Some(peer)
    }

    async fn line(&mut self) -> String {
        let line = in_time("a line", self.output.next_line()).await;
        line.expect("the peer writes").expect("the peer goes on")
    }

    /// Runs a command and returns the line that it prints.
    async fn run(&mut self, command: &str) -> String {
        self.input.write_all(format!("{command}\n").as_bytes()).await.expect("the peer reads");
        self.line().await
    }

    async fn runs(&mut self, commands: &[&str]) {
        for command in commands {
            assert_eq!(self.run(command).await, "ok", "{command}");
        }
    }
}

/// A purlin node, and a peer that is connected to it.
async fn connected(library: Library) -> Option<(Epmd, Cluster, Peer)> {
    let epmd = Epmd::start();
    let mut peer = Peer::start(library, &epmd).await?;
    let cluster = join(&epmd, "ours").await;
    peer.runs(&["connect ours@127.0.0.1"]).await;
    assert_eq!(peer.run("ping").await, "pong");
    Some((epmd, cluster, peer))
}

/// The exit reason of a process that ends with an atom.
fn reason(atom: &'static str) -> ExitReason {
    ExitReason::error(TermReason(Term::atom(atom)))
}

/// Receives `{Pid, hello}` and answers with the own pid.
async fn greeted(me: &mut Process<Received>, cluster: &Cluster) -> purlin::Pid<Term> {
    let greeting = term(me).await;
    let Some([Term::Pid(theirs), hello]) = greeting.as_tuple() else { panic!("{greeting}") };
    assert_eq!(*hello, Term::atom("hello"));
    let theirs = cluster.pid::<Term>(theirs).expect("there is room");
    let own = Term::from(cluster.term_of(me.id()));
    theirs.send(Term::tuple([own, Term::atom("welcome")]));
    theirs
}

macro_rules! with_each_library {
    ($($test:ident)*) => {
        mod ei {
            $(#[tokio::test] async fn $test() { super::$test(super::Library::Ei).await })*
        }
        mod jinterface {
            $(#[tokio::test] async fn $test() { super::$test(super::Library::Jinterface).await })*
        }
    };
}

with_each_library! {
    messages_pass_in_both_directions_and_functions_are_called
    a_peer_that_is_connected_to_receives_messages_and_answers_calls
    links_break_in_both_directions_unless_they_are_removed
    exit_signals_pass_in_both_directions
    a_monitor_of_a_process_of_the_peer_keeps_the_connection_and_fires_with_its_loss
    a_call_is_answered_by_a_node_that_shares_groups
}

async fn a_call_is_answered_by_a_node_that_shares_groups(library: Library) {
    let epmd = Epmd::start();
    let Some(mut peer) = Peer::start(library, &epmd).await else { return };
    let cluster = join(&epmd, "ours").await;
    let _groups = scope(&cluster, "pg").await;
    let echo = async |arguments: Vec<Term>| Ok(arguments[0].clone());
    cluster.export("rust", "echo", 1, echo).expect("short names");
    peer.runs(&["connect ours@127.0.0.1"]).await;
    // A BEAM that connects later is discovered, so the scope has decided about the peer.
    let mut beam = Beam::start(&epmd, "beam").await;
    beam.eval("register(pg, self()), net_kernel:connect_node('ours@127.0.0.1')").await;
    assert_eq!(beam.eval("receive {discover, _} -> yes end").await, "yes");
    assert_eq!(peer.run("rpc rust echo 21").await, "21");
}

async fn messages_pass_in_both_directions_and_functions_are_called(library: Library) {
    let Some((_epmd, cluster, mut peer)) = connected(library).await else { return };
    let talks = start(&cluster, "talks", async |mut me, cluster| {
        greeted(&mut me, &cluster).await;
        term(&mut me).await
    });
    peer.runs(&["send talks"]).await;
    assert_eq!(peer.run("receive").await, "welcome");
    peer.runs(&["answer thanks"]).await;
    assert_eq!(found(talks).await, Term::atom("thanks"));

    let double = async |arguments: Vec<Term>| match &arguments[..] {
        [Term::Integer(number)] => Ok(Term::from(2 * number)),
        _ => Err(Term::atom("badarg")),
    };
    cluster.export("rust", "double", 1, double).expect("short names");
    assert_eq!(peer.run("rpc rust double 21").await, "42");
    assert_eq!(
        peer.run("rpc rust nothing 1000").await.replace('\'', ""),
        "{badrpc,{EXIT,{undef,[{rust,nothing,[1000],[]}]}}}"
    );
    assert_eq!(peer.run("ping").await, "pong");
}

async fn a_peer_that_is_connected_to_receives_messages_and_answers_calls(library: Library) {
    let epmd = Epmd::start();
    let Some(mut peer) = Peer::start(library, &epmd).await else { return };
    let cluster = join(&epmd, "ours").await;
    assert_eq!(peer.run("accept").await, "listening");
    cluster.named::<Term>("box", &peer.name).expect("there is room").send(Term::atom("hello"));
    if matches!(library, Library::Ei) {
        assert_eq!(peer.line().await, "ok");
    }
    assert_eq!(peer.run("receive").await, "hello");
    let calls = cluster.clone();
    let there = peer.name.clone();
    let call = tokio::spawn(async move {
        calls.call::<Term>("box", &there, Term::atom("request"), HANG).await
    });
    assert_eq!(peer.run("receive").await, "call request");
    assert_eq!(in_time("the reply", call).await.expect("no panic"), Ok(Term::atom("request")));
    assert_eq!(cluster.nodes(), [peer.name.clone()]);
}

async fn links_break_in_both_directions_unless_they_are_removed(library: Library) {
    let Some((_epmd, cluster, mut peer)) = connected(library).await else { return };
    for case in 0..8 {
        let [we_link, we_end, unlinks] = [1, 2, 4].map(|bit| case & bit != 0);
        let name = format!("linked_{case}");
        let linked = start(&cluster, &name, async move |mut me, cluster| {
            let theirs = greeted(&mut me, &cluster).await;
            if we_link {
                me.link(&theirs);
            }
            assert_eq!(term(&mut me).await, Term::atom("linked"));
            if we_link && unlinks {
                me.unlink(&theirs);
            }
            theirs.send(Term::atom("next"));
            assert_eq!(term(&mut me).await, Term::atom("end"));
            if we_end {
                purlin::exit(reason("ended"));
            }
            match me.receive().await {
                Received::Exit(exit) => Some(exit.reason),
                _ => None,
            }
        });
        let greet = format!("send {name}");
        peer.runs(&[&greet]).await;
        assert_eq!(peer.run("receive").await, "welcome");
        if !we_link {
            peer.runs(&["link"]).await;
        }
        peer.runs(&["answer linked"]).await;
        assert_eq!(peer.run("receive").await, "next");
        if !we_link && unlinks {
            peer.runs(&["unlink"]).await;
        }
        peer.runs(&["answer end"]).await;
        if we_end {
            until("our process has ended", || cluster.node().local_name(&name).is_none()).await;
            let to_box = cluster.named::<Term>("box", &peer.name).expect("there is room");
            to_box.send(Term::atom("last"));
            let due: &[_] = if unlinks { &["last"] } else { &["exit ended", "last"] };
            let mut received = Vec::new();
            while received.len() < due.len() {
                received.push(peer.run("receive").await);
            }
            // The message is from another process, so the two are unordered.
            received.sort();
            assert_eq!(received, due, "case {case}");
        } else {
            // The greeting of the peer's next process is received if there is no exit signal before it.
            peer.runs(&["end stopped", &greet]).await;
            let due = (!unlinks).then(|| reason("stopped"));
            assert_eq!(found(linked).await, due, "case {case}");
        }
    }
}

async fn exit_signals_pass_in_both_directions(library: Library) {
    let Some((_epmd, cluster, mut peer)) = connected(library).await else { return };
    let exits = start(&cluster, "exits", async |mut me, cluster| {
        let theirs = greeted(&mut me, &cluster).await;
        let exit = exit(&mut me).await;
        assert_eq!(exit.from, Some(theirs.id()));
        purlin::exit_process(&theirs, reason("answered"));
        exit.reason
    });
    peer.runs(&["send exits"]).await;
    assert_eq!(peer.run("receive").await, "welcome");
    peer.runs(&["exit asked"]).await;
    assert_eq!(found(exits).await, reason("asked"));
    assert_eq!(peer.run("receive").await, "exit answered");
}

async fn a_monitor_of_a_process_of_the_peer_keeps_the_connection_and_fires_with_its_loss(
    library: Library,
) {
    let Some((_epmd, cluster, mut peer)) = connected(library).await else { return };
    let node = peer.name.clone();
    let watches = start(&cluster, "watches", async move |mut me, cluster| {
        let theirs = greeted(&mut me, &cluster).await;
        let to_box = cluster.named::<Term>("box", &node).expect("there is room");
        let monitors = [me.monitor(&theirs), me.monitor(&to_box)];
        let cancelled = me.monitor(&theirs);
        assert!(me.demonitor(cancelled));
        theirs.send(Term::atom("monitored"));
        assert_eq!(term(&mut me).await, Term::atom("still"));
        theirs.send(Term::atom("connected"));
        let mut downs = [down(&mut me).await, down(&mut me).await];
        downs.sort_by_key(|down| down.monitor != monitors[0]);
        assert_eq!(downs.each_ref().map(|down| down.monitor), monitors);
        downs.map(|down| down.reason)
    });
    peer.runs(&["send watches"]).await;
    assert_eq!([peer.run("receive").await, peer.run("receive").await], ["welcome", "monitored"]);
    peer.runs(&["answer still"]).await;
    assert_eq!(peer.run("receive").await, "connected");
    peer.program.kill().await.expect("it runs");
    assert_eq!(found(watches).await, [ExitReason::NoConnection, ExitReason::NoConnection]);
}
