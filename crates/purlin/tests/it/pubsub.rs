//! Publish and subscribe: topics, adapters, slow subscribers.

use crate::common::here;
use crate::waiting::{MS, rest, simulated, uptime};

use purlin::pubsub::PubSub;
use purlin::registry::RegisterError;
use purlin::{
    Exit, ExitReason, Message, Overflow, Pid, Process, ProcessId, SendError, SpawnOptions, spawn,
};

#[derive(Debug, PartialEq, Message)]
enum Msg {
    News(u32),
    #[from]
    Exit(Exit),
}

/// Receives nothing, and waits until it is stopped.
async fn stuck(_me: Process<u32>) {
    std::future::pending().await
}

/// Spawns a process that takes no message in the first 100 ms and then all, with a bound of two
/// messages.
fn slow(overflow: Overflow) -> Pid<u32> {
    let options = SpawnOptions::new().bound(2, overflow);
    let slow = options.spawn(async |mut me: Process<u32>| {
        tokio::time::sleep(100 * MS).await; // CLOCK: virtual
        for n in 1..=3 {
            assert_eq!(me.receive().await, n);
        }
    });
    slow.expect("the node is not full")
}

// N5: topics of any type, and subscribers of different types
#[purlin::test]
async fn subscribers_of_a_topic_receive_what_is_published(mut me: Process<Msg>) {
    let topics: PubSub<(u8, &str), u32> = PubSub::new();
    let other = spawn(async |mut me: Process<u32>| {
        assert_eq!(me.receive().await, 7);
        assert_eq!(me.receive().await, 8);
    });
    topics.subscribe((1, "a"), me.pid().map(Msg::News)).expect("it lives");
    topics.subscribe((1, "a"), &other).expect("it lives");
    topics.subscribe((2, "a"), &other).expect("it lives");
    assert_eq!(topics.subscribers(&(1, "a")), [me.id(), other.id()]);
    assert_eq!(topics.topics(&other), [(1, "a"), (2, "a")]);

    assert_eq!(topics.publish(&(1, "a"), 7).await, 2);
    assert_eq!(me.receive().await, Msg::News(7));
    assert_eq!(topics.try_publish(&(2, "a"), 8), 1);
    assert_eq!(topics.try_publish(&(3, "a"), 8), 0);
    other.ended().await;
    assert_eq!(topics.publish(&(2, "a"), 9).await, 0, "its subscriptions ended with it");
    let over = topics.subscribe((1, "a"), &other);
    assert_eq!(over, Err(RegisterError::NoProcess(other.id())));

    topics.subscribe((1, "a"), me.pid().map(Msg::News)).expect("it lives");
    assert_eq!(topics.try_publish(&(1, "a"), 9), 2, "one for each subscription");
    assert!(topics.unsubscribe(&(1, "a"), me.id()));
    assert_eq!(topics.try_publish(&(1, "a"), 9), 0);
    assert_eq!(me.flush(), [Msg::News(9), Msg::News(9)], "what was sent stays");
}

// N5, B1: the bound of the mailbox decides
#[test]
fn a_full_mailbox_drops_the_newest_or_the_oldest_message() {
    simulated(async |_: Process<()>| {
        for (overflow, left) in [(Overflow::DropNewest, [1, 2]), (Overflow::DropOldest, [3, 4])] {
            let topics: PubSub<&str, u32> = PubSub::new();
            let options = SpawnOptions::new().bound(2, overflow);
            let slow = options.spawn(async move |mut me: Process<u32>| {
                tokio::time::sleep(100 * MS).await; // CLOCK: virtual
                assert_eq!(me.flush(), left);
            });
            let slow = slow.expect("the node is not full");
            topics.subscribe("a", &slow).expect("it lives");
            for n in 1..=4 {
                assert_eq!(topics.publish("a", n).await, 1, "{overflow:?}");
                rest().await;
            }
            assert_eq!(slow.ended().await, ExitReason::Normal);
            assert_eq!(here().dropped_messages() % 2, 0, "each dropped message is counted");
        }
    });
}

// N5, B3: a full mailbox that rejects disconnects its subscriber
#[purlin::test]
async fn a_full_mailbox_that_rejects_is_disconnected(mut me: Process<Msg>) {
    me.trap_exit(true);
    let topics: PubSub<u8, u32> = PubSub::new();
    let options = SpawnOptions::new().bound(2, Overflow::Reject);
    let slow = options.link(&me).spawn(stuck);
    let slow: Pid<u32> = slow.expect("the node is not full");
    for topic in [1, 2] {
        topics.subscribe(topic, &slow).expect("it lives");
    }
    let sent: Vec<_> = (0..4).map(|n| topics.try_publish(&1, n)).collect();
    assert_eq!(sent, [1, 1, 0, 0]);
    assert_eq!(topics.subscribers(&2), [], "all its subscriptions are removed");
    let Msg::Exit(exit) = me.receive().await else { panic!("it is sent nothing else") };
    assert_eq!(exit.from, Some(slow.id()));
    assert_eq!(exit.reason.to_string(), "{shutdown, slow subscriber}");
    assert_eq!(here().drops().rejected, 1);
}

// N5, B1: the publisher waits, the other subscribers do not
#[test]
fn publish_waits_for_a_full_mailbox_that_waits() {
    simulated(async |me: Process<()>| {
        let topics: PubSub<u8, u32> = PubSub::new();
        let slow = slow(Overflow::Wait);
        let fast = spawn(async |mut me: Process<u32>| {
            for n in 1..=3 {
                assert_eq!(me.receive().await, n);
            }
            assert!(uptime() < 100 * MS, "it has the last message before there is capacity");
        });
        topics.subscribe(1, &slow).expect("it lives");
        topics.subscribe(1, &fast).expect("it lives");
        for n in 1..=3 {
            assert_eq!(topics.publish(&1, n).await, 2);
        }
        assert!(uptime() >= 100 * MS, "the third message waited");
        assert_eq!(fast.ended().await, ExitReason::Normal);
        assert_eq!(slow.ended().await, ExitReason::Normal);
        drop(me);
    });
}

// N5, B3: without waiting, the message is dropped and counted
#[purlin::test]
async fn try_publish_leaves_out_a_full_mailbox_that_waits() {
    let topics: PubSub<u8, u32> = PubSub::new();
    let options = SpawnOptions::new().bound(2, Overflow::Wait);
    let slow: Pid<u32> = options.spawn(stuck).expect("not full");
    topics.subscribe(1, &slow).expect("it lives");
    let sent: Vec<_> = (0..4).map(|n| topics.try_publish(&1, n)).collect();
    assert_eq!(sent, [1, 1, 0, 0]);
    assert_eq!(topics.subscribers(&1), [slow.id()], "it stays subscribed");
    let info = here().process_info(slow.id()).expect("it lives");
    assert_eq!(info.bound.map(|bound| bound.dropped), Some(2));
    slow.exit(ExitReason::Kill);
    slow.ended().await;
}

// N5, B3: a publisher does not wait for its own mailbox
#[purlin::test]
async fn a_publisher_with_a_full_mailbox_does_not_wait_for_itself() {
    let options = SpawnOptions::new().bound(2, Overflow::Wait);
    let publisher = options.spawn(async |mut me: Process<u32>| {
        let topics: PubSub<u8, u32> = PubSub::new();
        topics.subscribe(1, &me.pid()).expect("it lives");
        for (n, sent) in [1, 1, 0].into_iter().enumerate() {
            assert_eq!(topics.publish(&1, n as u32).await, sent);
        }
        assert_eq!(me.flush(), [0, 1]);
        assert_eq!(me.pid().info().bound.map(|bound| bound.dropped), Some(1));
    });
    assert_eq!(publisher.expect("the node is not full").ended().await, ExitReason::Normal);
}

// N5: a recipient returns an error without the value, and compares by its process
#[purlin::test]
async fn a_recipient_reports_the_end_of_its_process(me: Process<Msg>) {
    let news = me.pid().map(Msg::News);
    assert_eq!(news, me.pid().map(|n: u32| Msg::News(n + 1)));
    assert_eq!(news.id(), me.id());
    let ended: Pid<u32> = spawn(async |_: Process<u32>| {});
    ended.ended().await;
    let recipient = ended.map(|text: &str| text.len() as u32);
    assert_eq!(recipient.try_send("x"), Err(SendError::NoProcess(())));
    assert_eq!(recipient.send_async("x").await, Err(SendError::NoProcess(())));
    recipient.send("x");
    let _: ProcessId = recipient.id();
}
