//! Guarantees of a link to senders, over an in-memory stream.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::pair::{established, link, message, pair, pid};
use crate::support::until;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use purlin_dist::Flags;
use purlin_dist::control::Control;
use purlin_dist::frame::{InvalidMessage, Payload, Signal, Unread, Unsendable};
use purlin_dist::link::{Ended, Link, Origin, Receive, Settings, Unsent};
use purlin_term::Term;
use tokio::io::AsyncReadExt;
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;

/// A long timeout. WHY one second: only tests with a paused clock use it, which advances when every task waits.
const LONG: Duration = Duration::from_secs(1);

fn large(bytes: usize) -> Term {
    Term::from(vec![7; bytes].as_slice())
}

#[tokio::test]
async fn a_small_message_overtakes_a_large_one_of_another_process_but_not_of_its_sender() {
    let (a, _b, mut signals) = pair(Settings::default());
    a.signal(message(1, large(10 << 20))).expect("it goes on");
    a.signal(message(1, Term::atom("mine"))).expect("it goes on");
    a.signal(message(2, Term::atom("others"))).expect("it goes on");
    let mut order = Vec::new();
    for _ in 0..3 {
        let Signal { payload, .. } = signals.recv().await.expect("it goes on");
        let payload = payload.expect("a message");
        order.push(
            payload
                .as_atom()
                .map_or("large", |atom| if *atom == "mine" { "mine" } else { "others" }),
        );
    }
    assert_eq!(order, ["others", "large", "mine"]);
}

#[test]
fn messages_of_a_process_arrive_in_order_whatever_their_sizes() {
    let sizes = prop_oneof![4 => 0..100usize, 1 => 60_000..70_000usize, 1 => 0..500_000usize];
    let sends = prop::collection::vec((0..4u32, sizes, any::<bool>()), 1..40);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let config =
        ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
    let ran = TestRunner::new(config).run(&sends, |sends| {
        let came = runtime.block_on(async {
            let (a, _b, mut signals) = pair(Settings::default());
            let count = sends.len();
            tokio::spawn(async move {
                for (number, (from, size, waits)) in sends.into_iter().enumerate() {
                    let payload = Term::tuple([Term::from(number), large(size)]);
                    let sent = match waits {
                        true => a.send(message(from, payload)).await,
                        false => a.signal(message(from, payload)),
                    };
                    sent.expect("it goes on");
                }
                a
            });
            let mut came = Vec::new();
            while came.len() < count {
                let Signal { control, payload } = signals.recv().await.expect("it goes on");
                let number = payload.as_ref().and_then(Term::as_tuple).expect("a tuple")[0].clone();
                came.push((control.sender().cloned(), number.as_integer().expect("a number")));
            }
            came
        });
        let mut last = HashMap::new();
        for (sender, number) in came {
            let before = last.insert(sender, number);
            prop_assert!(before.is_none_or(|before| before < number));
        }
        Ok(())
    });
    ran.expect("every order is kept");
}

#[tokio::test]
async fn a_large_message_arrives_under_continuous_load_from_other_processes() {
    let (a, _b, mut signals) = pair(Settings::default());
    let sender = a.clone();
    let flood =
        tokio::spawn(async move { while sender.send(message(2, large(1000))).await.is_ok() {} });
    // The large message is sent once the link has reached its high watermark.
    until("the link is busy", || a.traffic().waiting >= 1 << 20).await;
    a.signal(message(1, large(2 << 20))).expect("it goes on");
    let mut others = 0;
    while signals.recv().await.expect("it goes on").control.sender() != Some(&pid("a@h", 1)) {
        others += 1;
    }
    // Each of its 32 fragments of 64 KiB waits for at most the high watermark: 1 MiB of messages of 1 kB.
    assert!(others < 32 * 1100, "{others}");
    flood.abort();
}

#[tokio::test(start_paused = true)]
async fn a_sender_to_a_node_that_does_not_read_waits_until_it_reads() {
    let (a, _signals, mut there) = link(Settings::default());
    let mut sent = 0u32;
    while timeout(LONG, a.send(message(1, large(10_000)))).await.is_ok_and(|sent| sent.is_ok()) {
        sent += 1;
    }
    // The high watermark, and what fits into the stream.
    let most = (1 << 20) + (64 << 10) + 20_000;
    assert!((1 << 20..most).contains(&(sent * 10_000)), "{sent}");
    assert!(a.traffic().waiting < most as usize);

    let sender = a.clone();
    let more = tokio::spawn(async move { sender.send(message(1, Term::atom("last"))).await });
    let mut bytes = vec![0; 1 << 20];
    while !more.is_finished() {
        assert!(there.read(&mut bytes).await.is_ok_and(|count| count > 0));
    }
    assert_eq!(more.await.expect("it does not panic"), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_large_message_to_a_node_that_does_not_read_is_buffered_in_fragments_only() {
    let (a, _signals, there) = link(Settings::default());
    a.signal(message(1, large(50 << 20))).expect("it goes on");
    assert!(timeout(LONG, a.ended()).await.is_err());
    assert!(a.traffic().waiting <= 4 * (64 << 10), "{}", a.traffic().waiting);
    // It is discarded when the link ends.
    drop(there);
    assert!(matches!(a.ended().await, Ended::ByPeer | Ended::Io(_)));
}

#[tokio::test]
async fn closing_writes_earlier_messages_and_ends_both_sides() {
    let (a, b, mut signals) = pair(Settings::default());
    a.signal(message(1, large(3 << 20))).expect("it goes on");
    a.signal(message(1, Term::atom("last"))).expect("it goes on");
    a.close();
    let mut came = Vec::new();
    while let Some(Signal { payload, .. }) = signals.recv().await {
        came.push(payload.expect("a message"));
    }
    assert_eq!(came.last(), Some(&Term::atom("last")));
    assert_eq!(came.len(), 2);
    assert_eq!((a.ended().await, b.ended().await), (Ended::ByUs, Ended::ByPeer));
    let unsent = a.send(message(1, Term::NIL)).await;
    assert_eq!(unsent, Err(Unsent::Ended(Ended::ByUs)));
}

#[tokio::test(start_paused = true)]
async fn a_link_whose_peer_does_not_read_is_closed_within_the_tick_time() {
    let (a, _signals, _there) = link(Settings::default());
    a.signal(message(1, large(1 << 20))).expect("it goes on");
    a.close();
    assert_eq!(a.signal(message(1, Term::NIL)), Err(Unsent::Ended(Ended::ByUs)));
    assert_eq!(timeout(Settings::default().tick_time, a.ended()).await, Ok(Ended::ByUs));
}

#[tokio::test]
async fn a_panicking_receiver_ends_its_link() {
    struct Panics;
    impl Receive for Panics {
        async fn signal(
            &mut self,
            _: Control,
            _: Option<Unread<'_>>,
        ) -> Result<(), InvalidMessage> {
            panic!("on purpose")
        }
    }
    let (a, _signals, there) = link(Settings::default());
    let b = Link::start(there, established("a@h", Flags::OFFERED), Settings::default(), Panics);
    a.signal(message(1, Term::NIL)).expect("it goes on");
    assert_eq!((a.ended().await, b.ended().await), (Ended::ByPeer, Ended::ByUs));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_is_reported_after_the_receiver_has_returned_from_its_last_signal() {
    struct Blocks {
        entered: Arc<Notify>,
        goes_on: std::sync::mpsc::Receiver<()>,
        events: mpsc::UnboundedSender<&'static str>,
    }
    impl Receive for Blocks {
        async fn signal(
            &mut self,
            _: Control,
            _: Option<Unread<'_>>,
        ) -> Result<(), InvalidMessage> {
            self.entered.notify_one();
            self.goes_on.recv().expect("the test goes on");
            self.events.send("signal").expect("the test goes on");
            Ok(())
        }
    }
    let (a, _signals, there) = link(Settings::default());
    let (sender, mut events) = mpsc::unbounded_channel();
    let (go_on, goes_on) = std::sync::mpsc::channel();
    let entered = Arc::new(Notify::new());
    let blocks = Blocks { entered: Arc::clone(&entered), goes_on, events: sender.clone() };
    let peer = established("a@h", Flags::OFFERED);
    let b = Link::start(there, peer, Settings::default(), blocks);
    a.signal(message(1, Term::NIL)).expect("it goes on");
    entered.notified().await;
    b.close();
    assert_eq!(a.ended().await, Ended::ByPeer);
    let watches = tokio::spawn(async move {
        b.ended().await;
        sender.send("ended").expect("the test goes on");
    });
    // The task would observe an end that is reported too early.
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    go_on.send(()).expect("it waits");
    watches.await.expect("it ends");
    assert_eq!([events.recv().await, events.recv().await], [Some("signal"), Some("ended")]);
}

#[tokio::test(start_paused = true)]
async fn two_idle_links_keep_each_other_alive() {
    let (a, b, _signals) = pair(Settings::default());
    assert!(timeout(Duration::from_secs(3600), a.ended()).await.is_err());
    assert!(timeout(LONG, b.ended()).await.is_err());
}

#[tokio::test]
async fn a_signal_with_a_missing_or_extra_payload_is_not_sent() {
    let (a, _b, _signals) = pair(Settings::default());
    let link = Control::Link { from: pid("a@h", 1), to: pid("b@h", 1) };
    let bad = [Signal { control: link, payload: Some(Term::NIL) }, {
        let Signal { control, .. } = message(1, Term::NIL);
        Signal { control, payload: None }
    }];
    for signal in bad {
        assert_eq!(a.signal(signal), Err(Unsent::Unsendable(Unsendable::Payload)));
    }
}

/// Sends a message of that size without waiting for capacity.
fn put(link: &Link, origin: Origin, from: u32, bytes: usize) {
    let Signal { control, payload } = message(from, large(bytes));
    let payload = payload.map(Payload::Term);
    link.signal_behind(origin, control.sender(), &control, payload).expect("it is up");
}

#[tokio::test(start_paused = true)]
async fn a_link_owes_too_much_until_the_peer_has_read_its_answers() {
    let (link, _signals, mut there) =
        link(Settings { answer_limit: 500_000, ..Settings::default() });
    for from in 0..100 {
        put(&link, Origin::Process, 1, 10_000);
        put(&link, Origin::Process, 10 + from, 100_000);
    }
    assert!(!link.owes_too_much(), "messages of local processes do not count");
    for _ in 0..60 {
        put(&link, Origin::Peer, 2, 10_000);
    }
    assert!(link.owes_too_much());
    assert!(timeout(LONG, link.wait_for_answers()).await.is_err());
    tokio::spawn(async move { while there.read(&mut [0; 1000]).await.expect("it writes") > 0 {} });
    assert!(link.wait_for_answers().await);
    assert!(!link.owes_too_much());
    link.close();
    link.ended().await;
    assert!(!link.wait_for_answers().await, "it has ended");
}

#[tokio::test(start_paused = true)]
async fn large_answers_and_those_behind_them_are_owed_except_for_the_largest() {
    let settings = Settings { answer_limit: 500_000, ..Settings::default() };
    let large_ones: fn(&Link) =
        |link| (0..10).for_each(|from| put(link, Origin::Peer, from, 100_000));
    let behind: fn(&Link) = |link| (0..1200).for_each(|_| put(link, Origin::Peer, 1, 10));
    for more in [large_ones, behind] {
        let (link, _signals, mut there) = self::link(settings);
        put(&link, Origin::Peer, 1, 2_000_000);
        assert!(!link.owes_too_much(), "a single answer of any size delays no request");
        more(&link);
        assert!(link.owes_too_much());
        assert!(timeout(LONG, link.wait_for_answers()).await.is_err());
        tokio::spawn(
            async move { while there.read(&mut [0; 9000]).await.expect("it writes") > 0 {} },
        );
        assert!(link.wait_for_answers().await);
    }
}

#[tokio::test(start_paused = true)]
async fn deferred_answers_are_owed_and_let_the_messages_before_them_pass_a_pause() {
    let (link, _signals, _there) = link(Settings { answer_limit: 50_000, ..Settings::default() });
    let key = pid("b@h", 1);
    let defer = || link.defer(Some(&key), Some(Payload::Term(large(100_000)))).expect("a term");
    assert!(link.has_capacity(Some(&key)));
    link.pause(true);
    assert!(!link.has_capacity(Some(&key)));
    let first = defer();
    assert!(link.has_capacity(Some(&key)));
    assert!(!link.has_capacity(Some(&pid("b@h", 2))));
    let second = defer();
    assert!(link.owes_too_much());
    drop((first, second));
    assert!(!link.owes_too_much());
    assert!(!link.has_capacity(Some(&key)));
    link.pause(false);
    assert!(link.has_capacity(Some(&key)));
}

#[tokio::test(start_paused = true)]
async fn a_large_message_waits_for_the_end_of_a_pause_unless_an_answer_is_behind_it() {
    let (link, _there, mut signals) = pair(Settings::default());
    let next = async |signals: &mut mpsc::Receiver<Signal>| {
        let Signal { control, payload } = signals.recv().await.expect("it is up");
        (control.sender().expect("it has one").id, payload)
    };
    link.pause(true);
    put(&link, Origin::Process, 1, 100_000);
    put(&link, Origin::Process, 2, 100_000);
    assert!(timeout(LONG, signals.recv()).await.is_err());
    put(&link, Origin::Peer, 2, 10);
    assert_eq!(next(&mut signals).await, (2, Some(large(100_000))));
    assert_eq!(next(&mut signals).await, (2, Some(large(10))));
    assert!(timeout(LONG, signals.recv()).await.is_err());
    link.pause(false);
    assert_eq!(next(&mut signals).await, (1, Some(large(100_000))));
}
