//! Programs that are stopped by real signals.

#![cfg(unix)]

use std::convert::Infallible;
use std::io::{self, BufRead as _, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use purlin::application::{self, ApplicationSpec};
use purlin::server::{self, Init, Mail, Server};
use purlin::supervisor::{ChildSpec, Shutdown, SupervisorSpec};
use purlin::{Exit, Node, Process};
use purlin_polling::until;

/// Server whose `init` prints a line and never returns.
#[derive(Debug)]
struct Hangs;

impl Server for Hangs {
    type Args = ();
    type Call = Infallible;
    type Cast = Infallible;
    type Info = Infallible;
    type Continue = Infallible;

    async fn init((): (), _: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
        println!("starting");
        std::future::pending().await
    }
}

/// Runs a test of this program again in a child process, and returns its output. Its standard error is
/// a pipe that nothing reads.
fn again(test: &str) -> (Child, impl Iterator<Item = String> + use<>) {
    let program = std::env::current_exe().expect("a test knows its own program");
    let mut command = Command::new(program);
    command.args([test, "--exact", "--nocapture"]).env(test, "1").stdout(Stdio::piped());
    let (_, unread) = io::pipe().expect("there are pipes");
    command.stderr(unread);
    let mut child = command.spawn().expect("it runs again");
    let output = child.stdout.take().expect("its output is a pipe");
    (child, BufReader::new(output).lines().map_while(Result::ok))
}

fn signal(signal: &str, child: &Child) {
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(kill.expect("there is kill").success());
}

const HANGS: &str = "a_program_whose_start_hangs_is_ended_all_the_same";

// G4: SIGTERM ends a program within its shutdown time, even during its start
#[test]
fn a_program_whose_start_hangs_is_ended_all_the_same() {
    if std::env::var_os(HANGS).is_some() {
        let node = Node::builder().build().expect("a node starts");
        let code = node.block_on(|_: Process<()>| {
            let tree = SupervisorSpec::one_for_one()
                .child(ChildSpec::server("hangs", |me| server::start_link::<Hangs>(me, ())));
            // WHY real time: the start never returns, so any time is too short for it.
            let hangs = ApplicationSpec::new("hangs", tree).shutdown(Duration::from_millis(100));
            application::run(hangs)
        });
        node.stop_blocking();
        std::process::exit(i32::from(code != ExitCode::SUCCESS));
    }
    let (mut child, mut lines) = again(HANGS);
    assert!(lines.any(|line| line.ends_with("starting")));
    signal("-TERM", &child);
    // The start never completes: a program that waited for it would not end.
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(1), "it was not stopped in its time");
}

const LINGERS: &str = "a_later_signal_ends_the_program_immediately";

/// Prints a line when it has started and when it is stopped, and does not end then.
async fn lingers(mut me: Process<Exit>) {
    me.trap_exit(true);
    println!("started");
    me.receive().await;
    println!("stopping");
    std::future::pending().await
}

// G4: after another signal the program does not wait for the application to stop
#[test]
fn a_later_signal_ends_the_program_immediately() {
    if std::env::var_os(LINGERS).is_some() {
        let node = Node::builder().build().expect("a node starts");
        let code = node.block_on(|_: Process<()>| {
            let child = ChildSpec::worker("lingers", lingers).shutdown(Shutdown::Infinity);
            let tree = SupervisorSpec::one_for_one().child(child);
            // WHY real time: longer than a signal takes to arrive. No test waits for it.
            let lingers = ApplicationSpec::new("lingers", tree).shutdown(Duration::from_secs(60));
            application::run(lingers)
        });
        node.stop_blocking();
        std::process::exit(i32::from(code != ExitCode::SUCCESS));
    }
    for (second, status) in [("-TERM", 143), ("-INT", 130)] {
        let (mut child, mut lines) = again(LINGERS);
        assert!(lines.any(|line| line.ends_with("started")));
        signal("-TERM", &child);
        assert!(lines.any(|line| line.ends_with("stopping")));
        // WHY repeated: signals in the first second count as one.
        until("it ends", || {
            signal(second, &child);
            child.try_wait().expect("it is a child").is_some()
        });
        assert_eq!(child.wait().expect("it has ended").code(), Some(status));
    }
}
