//! SIGTERM under the load of many clients.

use std::sync::Arc;

use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::{Barrier, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::client::{Any, Client, assert_journaled};
use crate::support::{HANG, clients, start};

const ROOMS: usize = 20;
/// Number of acknowledged lines before the signal.
const LINES: u32 = 3000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_acknowledged_line_is_lost_by_sigterm_and_no_client_sees_a_reset() {
    let folder = tempfile::tempdir().expect("a folder");
    let journal = folder.path().join("journal");
    let count = clients();
    // WHY all lines: the test looks for each in the journal.
    let (mut program, at) = start(&journal, u16::MAX);
    let (connected, acked) = (Arc::new(Barrier::new(count + 1)), Arc::new(Semaphore::new(0)));
    let mut clients = JoinSet::new();
    for n in 0..count {
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
