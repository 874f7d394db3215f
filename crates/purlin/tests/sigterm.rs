//! A program that is stopped by a real SIGTERM while its application starts.

#![cfg(unix)]

use std::convert::Infallible;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use purlin::application::{self, ApplicationSpec};
use purlin::server::{self, Init, Mail, Server};
use purlin::supervisor::{ChildSpec, SupervisorSpec};
use purlin::{Node, Process};

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
    // Run this test again in a child process.
    let test = std::env::current_exe().expect("a test knows its own program");
    let mut command = Command::new(test);
    command.args([HANGS, "--exact", "--nocapture"]).env(HANGS, "1").stdout(Stdio::piped());
    let mut child = command.spawn().expect("it runs again");
    let output = child.stdout.take().expect("its output is a pipe");
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.ends_with("starting")));
    let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(kill.expect("there is kill").success());
    // The start never completes: a program that waited for it would not end.
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(1), "it was not stopped in its time");
}
