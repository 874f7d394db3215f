//! A thousand clients, while rooms are killed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use purlin::{ExitReason, Process};
use tokio::sync::{Barrier, Semaphore};
use tokio::task::JoinSet;

use crate::client::{Any, Client, assert_journaled};
use crate::support::{Service, kill_room};

const CLIENTS: usize = 1000;
const ROOMS: usize = 20;
/// Number of acknowledged lines between two kills.
const BETWEEN: u32 = 20;
const LINES: usize = 2;
/// Number of rooms that are killed while clients send.
const KILLS: usize = 40;

#[purlin::test(workers = 2)]
async fn no_acknowledged_line_is_lost_and_each_client_gets_each_line_through_crashes_of_rooms() {
    let service = Service::start().await;
    let at = service.address;
    let (connected, killed) =
        (Arc::new(Barrier::new(CLIENTS + 1)), Arc::new(AtomicBool::new(false)));
    let answered = Arc::new(Semaphore::new(0));
    let mut clients = JoinSet::new();
    for n in 0..CLIENTS {
        let (connected, killed) = (Arc::clone(&connected), Arc::clone(&killed));
        let answered = Arc::clone(&answered);
        clients.spawn(async move {
            let mut client =
                Client::connect(at, &format!("room-{}", n % ROOMS), &format!("client-{n}")).await?;
            connected.wait().await;
            // The first clients send until the kills are over, so that every kill is under load.
            let mut number = 0;
            while number < LINES || (n < ROOMS && !killed.load(Ordering::Relaxed)) {
                assert!(client.say(&format!("line {number}")).await?, "the service does not stop");
                answered.add_permits(1);
                number += 1;
            }
            Ok::<_, Any>((n % ROOMS, client))
        });
    }
    connected.wait().await;
    let killer = purlin::spawn(async move |_: Process<()>| {
        for _ in 0..KILLS {
            answered.acquire_many(BETWEEN).await.expect("it is open").forget();
            assert!(kill_room(fastrand::usize(..)).await, "the rooms run");
        }
        killed.store(true, Ordering::Relaxed);
    });
    let mut all = Vec::new();
    while let Some(client) = clients.join_next().await {
        all.push(client.expect("no panic").expect("no error"));
    }
    assert_eq!(killer.ended().await, ExitReason::Normal);

    let acked: Vec<_> = all.iter().flat_map(|(_, client)| client.acked.clone()).collect();
    assert!(acked.len() >= CLIENTS * LINES);
    assert_journaled(&service.settings.journal, &acked);
    let mut lines: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for line in chat::read(&service.settings.journal).expect("the journal is valid") {
        lines.entry(line.room).or_default().insert(line.number);
    }
    let lines = Arc::new(lines);
    let mut clients = JoinSet::new();
    for (room, mut client) in all {
        let lines = Arc::clone(&lines);
        clients.spawn(async move { client.hear_all(&lines[&format!("room-{room}")]).await });
    }
    while let Some(heard) = clients.join_next().await {
        heard.expect("no panic").expect("no error");
    }
    assert_eq!(service.application.stop().await, ExitReason::Normal);
}
