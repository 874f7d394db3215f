//! SIGTERM under the load of a thousand clients.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::{Barrier, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::client::{Any, Client, assert_journaled};
use crate::support::HANG;

const CLIENTS: usize = 1000;
const ROOMS: usize = 20;
/// Number of acknowledged lines before the signal.
const LINES: u32 = 3000;

/// The program, killed when the test ends.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(journal: &std::path::Path) -> (Program, SocketAddr) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chat"));
    command
        .args(["--port", "0", "--drain", "600", "--journal"])
        .arg(journal)
        .stdout(Stdio::piped());
    let mut program = Program(command.spawn().expect("it starts"));
    let output = program.0.stdout.take().expect("it is piped");
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).expect("it prints its address");
    let address = line.trim().trim_start_matches("chat: http://").trim_end_matches('/');
    (program, address.parse().unwrap_or_else(|_| panic!("{line:?} has no address")))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_acknowledged_line_is_lost_by_sigterm_and_no_client_sees_a_reset() {
    let folder = tempfile::tempdir().expect("a folder");
    let journal = folder.path().join("journal");
    let (mut program, at) = start(&journal);
    let (connected, acked) = (Arc::new(Barrier::new(CLIENTS + 1)), Arc::new(Semaphore::new(0)));
    let mut clients = JoinSet::new();
    for n in 0..CLIENTS {
        let (connected, acked) = (Arc::clone(&connected), Arc::clone(&acked));
        clients.spawn(async move {
            let mut client =
                Client::connect(at, &format!("room-{}", n % ROOMS), &format!("client-{n}")).await?;
            connected.wait().await;
            let mut number = 0;
            while client.say(&format!("line {number}")).await? {
                acked.add_permits(1);
                number += 1;
            }
            Ok::<_, Any>(client.acked)
        });
    }
    connected.wait().await;
    timeout(HANG, acked.acquire_many(LINES))
        .await
        .expect("lines are acknowledged")
        .expect("it is open")
        .forget();
    let id = Pid::from_child(&program.0);
    kill_process(id, Signal::TERM).expect("it runs");
    let mut all = Vec::new();
    while let Some(client) = clients.join_next().await {
        all.extend(client.expect("no panic").expect("a Close frame and no reset"));
    }
    let status = tokio::task::spawn_blocking(move || program.0.wait()).await;
    assert!(status.expect("no panic").expect("it is a child").success());
    assert!(all.len() >= LINES as usize);
    assert_journaled(&journal, &all);
}
