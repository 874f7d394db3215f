//! The client against failing servers: messages sent, handled and reported.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::plain::{LARGEST, Ledger, Rules, Server, number};
use crate::common::untimed_client;
use purlin_ack::client::outbox::Window;
use purlin_ack::client::{Builder, Client, ConnectError, Ended, Lost, SendError};
use purlin_ack::session::{Level, Opening, Status};
use purlin_ack::wire::{Reason, Refusal};

/// Uses small writes, so that there are many.
fn builder(address: SocketAddr) -> Builder {
    untimed_client(address).batch(200)
}

async fn send(client: &Client, numbers: std::ops::Range<u32>) {
    for one in numbers {
        client.send(&number(one)).await.unwrap();
    }
}

#[tokio::test]
async fn messages_are_handled_once_in_order_without_failures() {
    let server = Server::start(|_| Rules::default()).await;
    let client = builder(server.address).connect().await.unwrap();
    assert_eq!(client.answered(), None);
    send(&client, 0..10_000).await;
    client.flush().await.unwrap();
    assert_eq!(client.answered(), Some(9_999));
    client.close().await.unwrap();
    assert!(server.ledger().numbers().into_iter().eq(0..10_000));
    assert_eq!(server.ledger().connections, 1);
}

#[tokio::test]
async fn session_handles_each_message_once_despite_lost_connections() {
    let server =
        Server::start(|_| Rules { dies_after: Some(700), window: 100, ..Rules::default() }).await;
    let client = builder(server.address).session(Level::Handled).connect().await.unwrap();
    send(&client, 0..10_000).await;
    client.close().await.unwrap();
    assert!(server.ledger().numbers().into_iter().eq(0..10_000));
    assert!(server.ledger().connections > 10);
    let openings: BTreeSet<_> =
        server.ledger().openings.iter().map(|opening| (opening.client, opening.epoch)).collect();
    assert_eq!(openings.len(), 1, "it is one client all the time");
}

// The server still handles messages of the first connection when the second one begins.
#[tokio::test]
async fn position_may_pass_messages_of_an_earlier_connection() {
    for resumes in [false, true] {
        let server = Server::start(|connection| match connection {
            0 => Rules { dies_after: Some(10), ..Rules::default() },
            1 => Rules { dies_after: Some(0), behind: 5, window: 1, ..Rules::default() },
            _ => Rules::default(),
        })
        .await;
        let builder = builder(server.address).session(Level::Handled);
        let builder = if resumes { builder.identity([7; 16]).resume(0) } else { builder };
        let client = builder.connect().await.unwrap();
        send(&client, 0..20).await;
        client.close().await.unwrap();
        assert!(server.ledger().numbers().into_iter().eq(0..20), "{:?}", server.ledger().numbers());
        let epochs = server.ledger().openings.iter().map(|it| it.epoch).collect::<BTreeSet<_>>();
        assert_eq!(epochs.len(), 1, "the epoch is not raised");
    }
}

#[tokio::test]
async fn without_a_session_each_message_is_handled_at_least_once() {
    let dies = |connection| (connection < 5).then_some(300 * (connection + 1));
    let server =
        Server::start(move |number| Rules { dies_after: dies(number), ..Rules::default() }).await;
    let client = builder(server.address).connect().await.unwrap();
    send(&client, 0..10_000).await;
    client.close().await.unwrap();
    let handled = server.ledger().numbers();
    assert!(BTreeSet::from_iter(handled).into_iter().eq(0..10_000));
    assert_eq!(server.ledger().connections, 6);
}

#[tokio::test]
async fn restarted_server_gets_unanswered_messages() {
    let server = Server::start(|_| Rules::default()).await;
    let client = builder(server.address).session(Level::Durable).connect().await.unwrap();
    send(&client, 0..1000).await;
    let (address, ledger) = server.kill().await;
    send(&client, 1000..2000).await;
    let server = Server::on(address, ledger, 1, |_| Rules::default()).await;
    client.close().await.unwrap();
    assert!(server.ledger().numbers().into_iter().eq(0..2000));
}

#[tokio::test]
async fn server_that_forgot_the_session_gets_unanswered_messages() {
    let server = Server::start(|_| Rules::default()).await;
    let client = builder(server.address).session(Level::Handled).connect().await.unwrap();
    send(&client, 0..1000).await;
    client.flush().await.unwrap();
    let (address, _) = server.kill().await;
    send(&client, 1000..2000).await;
    let server = Server::on(address, Arc::default(), 1, |_| Rules::default()).await;
    client.close().await.unwrap();
    assert!(server.ledger().numbers().into_iter().eq(1000..2000));
}

#[tokio::test]
async fn refused_messages_are_reported_with_payload_despite_lost_connections() {
    let server =
        Server::start(|_| Rules { refuses: Some(7), dies_after: Some(1000), ..Rules::default() })
            .await;
    let refusals = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&refusals);
    let client = builder(server.address)
        .session(Level::Handled)
        .on_refused(move |refused| sink.lock().unwrap().push(refused))
        .connect()
        .await
        .unwrap();
    send(&client, 0..5000).await;
    client.close().await.unwrap();
    let refusals = refusals.lock().unwrap();
    assert!(refusals.iter().all(|one| one.reason == Reason::NOT_TAKEN));
    assert!(
        refusals
            .iter()
            .map(|one| one.payload.clone())
            .eq((0..5000).filter(|number| number % 256 == 7).map(|one| number(one).to_vec()))
    );
    assert!(refusals.iter().all(|one| number(one.id as u32)[..] == one.payload));
    let handled = server.ledger().numbers();
    assert!(handled.into_iter().eq((0..5000).filter(|number| number % 256 != 7)));
    let line = format!("{:?}", refusals[0]);
    assert!(line.contains("id: 7") && !line.contains("payload"), "{line}");
}

#[tokio::test]
async fn answer_out_of_sequence_closes_the_connection_and_loses_no_message() {
    let server =
        Server::start(|connection| Rules { lies: connection < 3, ..Rules::default() }).await;
    let client = builder(server.address).connect().await.unwrap();
    send(&client, 0..1000).await;
    client.close().await.unwrap();
    assert_eq!(server.ledger().connections, 4);
    assert!(BTreeSet::from_iter(server.ledger().numbers()).into_iter().eq(0..1000));
}

#[tokio::test]
async fn window_bounds_unanswered_messages_and_close_returns_them_after_give_up_timeout() {
    let server = Server::start(|_| Rules { mute: true, ..Rules::default() }).await;
    // WHY real time: the client's give-up timeout is tested, and the server never answers.
    let client = builder(server.address)
        .window(Window { messages: 50, bytes: 1 << 20 })
        .answer_timeout(Duration::from_millis(20))
        .give_up_after(Duration::from_millis(100))
        .connect()
        .await
        .unwrap();
    for one in 0..50 {
        assert_eq!(client.try_send(&number(one)).unwrap(), Some(one.into()));
    }
    assert_eq!(client.try_send(&number(50)).unwrap(), None);
    let flushed = client.flush().await.unwrap_err();
    assert!(matches!(&flushed, Ended::GaveUp(_, _)), "{flushed}");
    assert!(flushed.to_string().contains("has not answered"), "{flushed}");
    let refused = client.send(&number(51)).await.unwrap_err();
    assert!(matches!(refused, SendError::Ended(Ended::GaveUp(..))), "{refused}");
    let left = client.close().await.unwrap_err();
    assert!(left.to_string().starts_with("50 messages are unanswered: "), "{left}");
    let due = (0..50).map(|one| (u64::from(one), number(one).to_vec()));
    assert!(left.messages.into_iter().eq(due));
}

#[tokio::test]
async fn sender_waiting_for_capacity_resumes() {
    let server = Server::start(|_| Rules::default()).await;
    let client = builder(server.address).window(Window { messages: 1, bytes: 1 }).connect().await;
    let client = Arc::new(client.unwrap());
    let senders: Vec<_> = (0..4)
        .map(|sender| {
            let client = Arc::clone(&client);
            tokio::spawn(async move { send(&client, sender * 100..(sender + 1) * 100).await })
        })
        .collect();
    for sender in senders {
        sender.await.unwrap();
    }
    client.close().await.unwrap();
    assert!(BTreeSet::from_iter(server.ledger().numbers()).into_iter().eq(0..400));
    assert_eq!(server.ledger().handled.len(), 400);
}

#[tokio::test]
async fn lingering_messages_are_coalesced_and_flush_sends_them_immediately() {
    let server = Server::start(|_| Rules::default()).await;
    let hour = Duration::from_secs(3600);
    // WHY real time: a message that lingered for the hour would hang the test.
    let client = builder(server.address).linger(hour).connect().await.unwrap();
    send(&client, 0..3).await;
    client.flush().await.unwrap();
    send(&client, 3..5).await;
    client.flush().await.unwrap();
    assert_eq!(server.ledger().reads, [3, 2]);
    // A batch of 200 bytes holds twelve of these and does not linger.
    send(&client, 5..18).await;
    while client.answered() < Some(16) {
        tokio::task::yield_now().await;
    }
    client.close().await.unwrap();
}

#[tokio::test]
async fn linger_time_without_an_end_lasts_until_a_flush() {
    let server = Server::start(|_| Rules::default()).await;
    let client = builder(server.address).linger(Duration::MAX).connect().await.unwrap();
    for one in 0..3 {
        send(&client, one..one + 1).await;
        // Lets the connection task see that the batch may linger.
        tokio::task::yield_now().await;
    }
    client.flush().await.unwrap();
    assert_eq!(server.ledger().reads, [3]);
    client.close().await.unwrap();
}

#[tokio::test]
async fn lingering_messages_are_sent_when_the_window_is_full() {
    let server = Server::start(|_| Rules::default()).await;
    let client = builder(server.address)
        // WHY real time: as above.
        .linger(Duration::from_secs(3600))
        .window(Window { messages: 10, bytes: 1 << 20 })
        .connect()
        .await
        .unwrap();
    for one in 0..25 {
        send(&client, one..one + 1).await;
        // Lets the connection task see that a batch may linger.
        tokio::task::yield_now().await;
    }
    client.close().await.unwrap();
    assert_eq!(server.ledger().reads, [10, 10, 5]);
}

#[tokio::test]
async fn dropped_client_sends_accepted_messages() {
    let server = Server::start(|_| Rules::default()).await;
    let client = builder(server.address).connect().await.unwrap();
    send(&client, 0..1000).await;
    drop(client);
    while server.ledger().handled.len() < 1000 {
        tokio::task::yield_now().await;
    }
    assert!(server.ledger().numbers().into_iter().eq(0..1000));
}

#[tokio::test]
async fn closed_client_rejects_messages_and_close_is_idempotent() {
    let server = Server::start(|_| Rules::default()).await;
    let client = builder(server.address).connect().await.unwrap();
    client.close().await.unwrap();
    client.close().await.unwrap();
    client.flush().await.unwrap();
    let refused = client.send(b"late").await.unwrap_err();
    assert_eq!(refused.to_string(), "the client is closed");
}

#[tokio::test]
async fn message_over_the_server_limit_is_rejected() {
    let server = Server::start(|_| Rules::default()).await;
    let client = builder(server.address).session(Level::Handled).connect().await.unwrap();
    let large = vec![0; LARGEST as usize + 1];
    let refused = client.send(&large).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a payload of 1048577 bytes, where the server takes 1048576 at most"
    );
    client.send(&large[1..]).await.unwrap();
    client.close().await.unwrap();
    assert_eq!(server.ledger().handled[0].1.len(), LARGEST as usize);
}

#[tokio::test]
async fn client_that_lost_its_numbering_opens_a_new_epoch() {
    let server = Server::start(|_| Rules::default()).await;
    let same = || builder(server.address).session(Level::Handled).identity([7; 16]).epoch(5);
    let before = same().connect().await.unwrap();
    send(&before, 0..10).await;
    before.close().await.unwrap();
    let after = same().connect().await.unwrap();
    assert_eq!(after.send(&number(10)).await.unwrap(), 0);
    after.close().await.unwrap();
    assert!(server.ledger().numbers().into_iter().eq(0..11));
    let epochs: Vec<_> = server.ledger().openings.iter().map(|opening| opening.epoch).collect();
    assert_eq!(epochs[..2], [5, 5]);
    assert!(epochs[2] > 5);

    let stale = same().connect().await.unwrap_err();
    assert!(matches!(stale, ConnectError::Refused(Status::STALE)), "{stale}");
}

#[tokio::test]
async fn resumed_client_continues_after_the_newest_message_that_the_server_answered() {
    let server =
        Server::start(|_| Rules { refuses: Some(7), dies_after: Some(100), ..Rules::default() })
            .await;
    let same = || builder(server.address).session(Level::Handled).identity([7; 16]).epoch(5);
    let earlier = same().connect().await.unwrap();
    send(&earlier, 0..10).await;
    earlier.close().await.unwrap();

    // The program has stored that the messages below 3 are answered, and was killed then.
    let reported = Arc::new(Mutex::new(Vec::new()));
    let report = Arc::clone(&reported);
    let resumed = same().resume(3).on_refused(move |one| report.lock().unwrap().push(one));
    let resumed = resumed.connect().await.unwrap();
    assert_eq!(resumed.answered(), Some(9));
    assert_eq!(resumed.send(&number(10)).await.unwrap(), 10);
    send(&resumed, 11..500).await;
    resumed.close().await.unwrap();
    let numbers = server.ledger().numbers();
    assert!(numbers.into_iter().eq((0..500).filter(|number| number % 256 != 7)));
    let first = &reported.lock().unwrap()[0];
    assert_eq!((first.id, first.reason, first.payload.len()), (7, Reason::NOT_TAKEN, 0));
    assert!(server.ledger().openings.iter().all(|opening| opening.epoch == 5));
}

#[tokio::test]
async fn resumed_client_of_a_server_that_has_forgotten_it_continues_its_own_numbering() {
    let server = Server::start(|_| Rules::default()).await;
    let resumed = builder(server.address).session(Level::Handled).epoch(5).resume(40);
    let resumed = resumed.connect().await.unwrap();
    assert_eq!(resumed.answered(), Some(39));
    assert_eq!(resumed.send(&number(40)).await.unwrap(), 40);
    resumed.close().await.unwrap();
    assert_eq!(server.ledger().openings[0].epoch, 5);
}

#[tokio::test]
async fn resumed_client_rejects_a_position_near_the_end_of_all_ids() {
    let server = Server::start(|_| Rules::default()).await;
    server.ledger().openings.push(Opening { client: [7; 16], epoch: 5, level: Level::Handled });
    server.ledger().newest = Some(u64::MAX - 1);
    let resumed = builder(server.address).session(Level::Handled).identity([7; 16]).epoch(5);
    let rejected = resumed.resume(u64::MAX).connect().await.unwrap_err();
    assert!(matches!(rejected, ConnectError::Lost(Lost::NotSent(_))), "{rejected}");
    assert!(server.ledger().openings.iter().all(|opening| opening.epoch == 5));
}

#[tokio::test]
async fn client_told_of_unknown_messages_after_a_reconnect_continues_in_a_new_epoch() {
    let ledger: Arc<Mutex<Ledger>> = Arc::default();
    let of_server = Arc::clone(&ledger);
    let server = Server::on(([127, 0, 0, 1], 0).into(), ledger, 1, move |number| {
        if number == 1 {
            // As if another client had used the same identity and epoch meanwhile.
            let mut ledger = of_server.lock().unwrap();
            ledger.newest = Some(1_000_000);
            ledger.refused = vec![Refusal { id: 15, reason: Reason::FAILED }];
        }
        Rules { dies_after: (number == 0).then_some(10), ..Rules::default() }
    })
    .await;
    let refused = Arc::new(Mutex::new(0));
    let of_client = Arc::clone(&refused);
    let client = builder(server.address).session(Level::Handled).identity([7; 16]).epoch(5);
    let client = client.on_refused(move |_| *of_client.lock().unwrap() += 1);
    let client = client.connect().await.unwrap();
    send(&client, 0..20).await;
    client.close().await.unwrap();
    let numbers: BTreeSet<_> = server.ledger().numbers().into_iter().collect();
    assert!(numbers.into_iter().eq(0..20));
    assert_eq!(*refused.lock().unwrap(), 0, "the refusal was of another client's message");
    let epochs: Vec<_> = server.ledger().openings.iter().map(|opening| opening.epoch).collect();
    assert_eq!(epochs[..2], [5, 5]);
    assert!(epochs[2] > 5);
}

#[tokio::test]
async fn client_replaced_by_a_later_epoch_returns_unanswered_messages() {
    let server = Server::start(|_| Rules { dies_after: Some(10), ..Rules::default() }).await;
    let client = builder(server.address).session(Level::Handled).identity([7; 16]).epoch(5);
    let client = client.connect().await.unwrap();
    server.ledger().openings.last_mut().unwrap().epoch = 6;
    send(&client, 0..20).await;
    let left = client.close().await.unwrap_err();
    assert!(matches!(left.why, Ended::Refused(Status::STALE)), "{left}");
    assert_eq!(left.messages.len(), 20);
}

#[tokio::test]
async fn client_retries_a_busy_server() {
    let busy = |number| (1..4).contains(&number).then_some(Status::BUSY);
    let server = Server::start(move |number| Rules {
        status: busy(number),
        dies_after: Some(10),
        ..Rules::default()
    })
    .await;
    let client = builder(server.address).session(Level::Handled).connect().await.unwrap();
    send(&client, 0..20).await;
    client.close().await.unwrap();
    assert!(server.ledger().numbers().into_iter().eq(0..20));
    assert!(server.ledger().connections >= 5);
}

#[tokio::test]
async fn permanently_refused_session_fails_connect() {
    for status in
        [Status::LEVEL, Status::VERSION, Status::NOT_ALLOWED, Status::MALFORMED, Status::EPOCH]
    {
        let server =
            Server::start(move |_| Rules { status: Some(status), ..Rules::default() }).await;
        let refused = builder(server.address).session(Level::Durable).connect().await.unwrap_err();
        assert_eq!(refused.to_string(), status.to_string());
    }
}

#[tokio::test]
async fn connect_fails_without_a_listener() {
    let (address, _) = Server::start(|_| Rules::default()).await.kill().await;
    let refused = builder(address).connect().await.unwrap_err();
    assert!(matches!(refused, ConnectError::Lost(Lost::Io(_))), "{refused}");
    assert_eq!(refused.to_string().lines().count(), 1);
}
