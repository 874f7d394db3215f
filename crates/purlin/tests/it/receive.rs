//! Receiving: the oldest message, selective receive, timeouts and cancellation.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::common::{node, outside, stop};
use crate::waiting::{MS, rest, simulated, uptime};
use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use purlin::{ExitReason, Node, Process, ProcessState, receive, spawn, yield_now};
use purlin_testkit::Simulation;
use tokio::sync::oneshot;

#[derive(Debug, PartialEq)]
enum Msg {
    Number(i64),
    Text(String),
    Pair(i64, i64),
    Stop,
}
use Msg::{Number, Pair, Stop, Text};

fn text(text: &str) -> Msg {
    Text(text.to_string())
}

/// Sends all messages to the current process.
fn fill<M: Send + 'static>(me: &Process<M>, messages: impl IntoIterator<Item = M>) {
    messages.into_iter().for_each(|message| me.pid().send(message));
}

// R1: first in, first out
#[purlin::test(workers = 1)]
async fn receive_takes_the_oldest_message(mut me: Process<u32>) {
    fill(&me, 0..2000);
    for n in 0..1000 {
        assert_eq!(me.receive().await, n);
    }
    fill(&me, 2000..2010);
    for n in 1000..2010 {
        assert_eq!(me.receive().await, n);
    }
    assert_eq!(me.try_receive(), None);
}

// R1: the oldest message that matches any arm, not the oldest match of the first arm
#[purlin::test(workers = 1)]
async fn a_selective_receive_takes_the_oldest_match_and_leaves_the_rest_in_order(
    mut me: Process<Msg>,
) {
    fill(&me, [Number(1), text("a"), Number(20), text("b"), Stop, Number(30)]);
    let big = receive!(me, {
        Stop => panic!("there is an older match"),
        Number(n) if n > 10 => n,
    });
    assert_eq!(big, 20);
    assert_eq!(receive!(me, { Text(text) if text == "b" => text }), "b");
    receive!(me, { Stop => {} });
    assert_eq!(me.flush(), [Number(1), text("a"), Number(30)]);
}

// R1: a guard borrows the binding, and the arm's body owns it
#[purlin::test(workers = 1)]
async fn guards_examine_payloads_without_copying(mut me: Process<Msg>) {
    fill(&me, [text("short"), text("a longer one"), Pair(3, 4)]);
    let own: String = receive!(me, { Text(text) if text.len() > 6 => text });
    assert_eq!(own, "a longer one");
    let product = receive!(me, { Pair(a, b) if a * a + b * b == 25 => a * b });
    assert_eq!(product, 12);
    let length = receive!(me, { whole @ Text(_) if matches!(&whole, Text(text) if !text.is_empty()) => whole });
    assert_eq!(length, text("short"));
}

// R1: patterns are those of `match`
#[purlin::test(workers = 1)]
async fn patterns_may_be_alternatives_ranges_bindings_and_wildcards(mut me: Process<Msg>) {
    fill(&me, [Stop, Number(7), Pair(1, 2), text("x"), Number(-5)]);
    assert_eq!(receive!(me, { Number(n @ (-10..=-1 | 100..)) => n }), -5);
    assert_eq!(receive!(me, { Number(n) | Pair(n, _) => n }), 7);
    assert_eq!(receive!(me, { Number(n) | Pair(_, n) => n }), 2);
    let rest = receive!(me, { other => other });
    assert_eq!(rest, Stop);
    receive!(me, { _ => {} });
    assert_eq!(me.try_receive(), None);
}

// R1: constants, bindings by reference and mutable bindings are patterns too
#[purlin::test(workers = 1)]
async fn patterns_may_be_constants_and_bind_mutably_or_by_reference(mut me: Process<Msg>) {
    const NINE: i64 = 9;
    fill(&me, [Stop, Number(7), Pair(1, NINE), text("x"), Number(NINE), text("y")]);
    assert_eq!(receive!(me, { Number(NINE) => NINE }), NINE);
    assert_eq!(receive!(me, { Text(ref text) if text == "y" => text.clone() }), "y");
    let doubled = receive!(me, {
        Number(mut n) | Pair(mut n, 0) => {
            n *= 2;
            n
        }
    });
    assert_eq!(doubled, 14);
    assert_eq!(me.flush(), [Stop, Pair(1, NINE), text("x")]);
}

// R1: a guard on alternatives selects the alternative for which it holds, as in `match`
#[purlin::test(workers = 1)]
async fn a_guard_chooses_among_the_alternatives_of_its_arm(mut me: Process<Msg>) {
    fill(&me, [Pair(1, 20), Pair(30, 2), Pair(3, 4)]);
    for big in [20, 30] {
        assert_eq!(receive!(me, { Pair(n, _) | Pair(_, n) if n > 10 => n }), big);
    }
    let small = receive!(me, {
        Stop | Number(_) => 0,
        Pair(n, _) | Pair(_, n) if n > 3 => n,
    });
    assert_eq!(small, 4);
}

// R1: a guard whose panic is caught loses the message that it examined, and no other
#[purlin::test(workers = 1)]
async fn a_guard_that_panics_drops_its_message_once(mut me: Process<(u32, Arc<()>)>) {
    let alive = Arc::new(());
    fill(&me, (1..=3).map(|n| (n, Arc::clone(&alive))));
    let waits = async {
        receive!(me, { (n, _) if { assert_ne!(n, 2); n == 3 } => n });
    };
    assert!(AssertUnwindSafe(waits).catch_unwind().await.is_err());
    assert_eq!((me.mailbox_len(), Arc::strong_count(&alive)), (2, 3));
    let left: Vec<u32> = me.flush().into_iter().map(|(n, _)| n).collect();
    assert_eq!((left, Arc::strong_count(&alive)), (vec![1, 3], 1));
}

// R1: a guard may use values that must not be shared between threads
#[purlin::test(workers = 1)]
async fn a_guard_may_use_a_cell(mut me: Process<Msg>) {
    fill(&me, [Number(1), Number(2), Number(3)]);
    let examined = Cell::new(0);
    receive!(me, { Number(n) if { examined.set(examined.get() + 1); n == 3 } => {} });
    assert_eq!(examined.get(), 3);
}

// R1: syntax of arms
#[purlin::test(workers = 1)]
async fn arms_may_have_blocks_without_commas_and_trailing_commas(mut me: Process<Msg>) {
    fill(&me, [Number(1), Stop, text("t"), Pair(1, 1)]);
    let mut seen = Vec::new();
    for _ in 0..4 {
        let what = receive!(me, {
            Number(n) if n == 1 => {
                let twice = n * 2;
                twice
            }
            Stop => { -1 },
            Text(text) => text.len() as i64,
            Pair(a, b) if a == b => { a + b + 10 }
        });
        seen.push(what);
    }
    assert_eq!(seen, [2, -1, 1, 12]);
    let answer = if receive!(me, { Stop => true, after Duration::ZERO => false, }) { 1 } else { 2 };
    assert_eq!(answer, 2);
}

// R1: bindings may be mutable, and a message is destructured by move
#[purlin::test(workers = 1)]
async fn an_arm_may_modify_its_bindings(mut me: Process<(String, Vec<u8>)>) {
    fill(&me, [("a".to_string(), vec![1]), ("b".to_string(), vec![2])]);
    let (name, bytes) = receive!(me, {
        (name, mut bytes) if name == "b" => {
            bytes.push(3);
            (name, bytes)
        }
    });
    assert_eq!((name.as_str(), bytes), ("b", vec![2, 3]));
}

/// Arms that leave the receive in every possible way.
async fn leaves(me: &mut Process<Msg>) -> Result<Vec<i64>, std::num::ParseIntError> {
    let mut seen = Vec::new();
    loop {
        receive!(me, {
            Number(n) if n < 0 => continue,
            Number(n) => seen.push(n),
            Text(text) => seen.push(text.parse::<i64>()?),
            Pair(a, b) => {
                yield_now().await;
                let inner = receive!(me, { Number(n) if n == a + b => n });
                seen.push(inner);
            }
            Stop => break,
        });
        if seen.len() > 100 {
            return Ok(Vec::new());
        }
    }
    Ok(seen)
}

// R1: `break`, `continue`, `return`, `?`, `.await` and nested receive
#[purlin::test(workers = 1)]
async fn arms_may_leave_await_and_receive_again(mut me: Process<Msg>) {
    fill(&me, [Number(-1), Number(1), text("2"), Pair(1, 2), Number(9), Number(3), Stop]);
    assert_eq!(leaves(&mut me).await, Ok(vec![1, 2, 3, 9]));
    fill(&me, [Number(1), text("two"), Stop]);
    assert!(leaves(&mut me).await.is_err());
    assert_eq!(me.flush(), [Stop]);
    fill(&me, [Number(5), Stop, Number(6)]);
    let first = 'search: loop {
        loop {
            receive!(me, { Stop => break, Number(n) if n > 5 => break 'search n, Number(_) => {} });
        }
    };
    assert_eq!(first, 6);
}

// R1: the handle may be any place expression
#[purlin::test(workers = 1)]
async fn the_handle_may_be_a_field_or_a_reference(me: Process<u8>) {
    struct Server {
        me: Process<u8>,
    }
    let mut server = Server { me };
    fill(&server.me, [1, 2, 3]);
    assert_eq!(receive!(server.me, { 3 => 3 }), 3);
    let borrowed = &mut server;
    assert_eq!(receive!(borrowed.me, { n => n }), 1);
    let handle = &mut borrowed.me;
    assert_eq!(receive!(handle, { n => n }), 2);
}

// R2: it waits until a message matches, and other messages stay in the mailbox
#[test]
fn a_receive_waits_until_something_matches() {
    simulated(async |_: Process<()>| {
        let pid = spawn(async |mut me: Process<Msg>| {
            let n = receive!(me, { Number(n) if n > 10 => n });
            assert_eq!(n, 11);
            assert_eq!(me.flush(), [Number(1), Stop]);
        });
        for message in [Number(1), Stop] {
            pid.send(message);
            rest().await;
            assert_eq!(pid.info().state, ProcessState::Receiving);
            assert_eq!(pid.info().messages_in, 0);
        }
        pid.send(Number(11));
        assert_eq!(pid.ended().await, ExitReason::Normal);
    });
}

// R3: `after 0` scans the mailbox once and never waits
#[purlin::test(workers = 1)]
async fn after_zero_scans_once_and_never_waits(mut me: Process<u32>) {
    assert_eq!(receive!(me, { n => Some(n), after Duration::ZERO => None }), None);
    fill(&me, 0..1500);
    let last = receive!(me, { n if n == 1499 => Some(n), after Duration::ZERO => None });
    assert_eq!(last, Some(1499), "it was there, however far behind");
    let none = receive!(me, { n if n > 9999 => Some(n), after Duration::ZERO => None });
    assert_eq!(none, None);
    assert_eq!(me.flush().len(), 1499);
}

// R3: `after d`
#[test]
fn the_after_arm_runs_when_its_timeout_expires() {
    simulated(async |mut me: Process<Msg>| {
        fill(&me, [Stop]);
        let late = receive!(me, {
            Number(n) => n,
            after MS => {
                yield_now().await;
                -1
            }
        });
        assert_eq!((late, uptime()), (-1, MS));
        receive!(me, { Number(_) => panic!("it was not sent"), after 20 * MS => {} });
        assert_eq!(uptime(), 21 * MS);
        assert_eq!(me.flush(), [Stop]);
    });
}

// R3: an `after` arm alone, and one that does not run
#[test]
fn an_after_arm_may_be_the_only_one_and_a_match_takes_precedence() {
    simulated(async |mut me: Process<Msg>| {
        receive!(me, { after MS => {} });
        assert_eq!(uptime(), MS);
        fill(&me, [Stop]);
        receive!(me, { after Duration::ZERO => {} });
        let hour = Duration::from_secs(3600);
        assert_eq!(receive!(me, { Stop => 1, after hour => 2 }), 1);
        let never = Duration::MAX;
        fill(&me, [Number(3)]);
        assert_eq!(receive!(me, { Number(n) => n, after never => 2 }), 3);
        assert_eq!(uptime(), MS);
    });
}

// R3: messages that do not match do not extend the timeout
#[purlin::test]
async fn messages_that_do_not_match_do_not_extend_the_timeout(mut me: Process<Msg>) {
    let pid = me.pid();
    let (stop, mut stopped) = oneshot::channel::<()>();
    spawn(async move |_: Process<()>| {
        while stopped.try_recv().is_err() {
            pid.send(Stop);
            tokio::task::yield_now().await;
        }
    });
    // WHY real time: the sender is always runnable, and virtual time does not advance while a
    // process is. The receive times out at any speed of the machine, or never.
    let timely = receive!(me, { Number(_) => false, after 5 * MS => true });
    assert!(timely);
    stop.send(()).expect("it is still sending");
}

// R4: regardless of the number of wake-ups
#[test]
fn a_skipped_message_is_not_examined_again_by_the_same_receive() {
    const BEFORE: usize = 3000;
    const WAKES: usize = 100;
    Simulation::new(1).run(async |_: Process<()>| {
        let looks = Arc::new(AtomicUsize::new(0));
        let counter = looks.clone();
        let pid = spawn(async move |mut me: Process<usize>| {
            let looked = || counter.fetch_add(1, Ordering::Relaxed) < usize::MAX;
            receive!(me, { n if looked() && n == usize::MAX => {} });
            assert_eq!(counter.swap(0, Ordering::Relaxed), BEFORE + WAKES + 1);
            receive!(me, { n if looked() && n == BEFORE => {} });
            assert_eq!(counter.load(Ordering::Relaxed), BEFORE + 1, "another receive begins anew");
            assert_eq!(me.flush().len(), BEFORE + WAKES - 1);
        });
        (0..BEFORE).for_each(|n| pid.send(n));
        for n in 0..WAKES {
            rest().await;
            assert_eq!(looks.load(Ordering::Relaxed), BEFORE + n, "it was woken and looked");
            pid.send(BEFORE + n);
        }
        pid.send(usize::MAX);
        assert_eq!(pid.ended().await, ExitReason::Normal);
    });
}

// R6: everything, oldest first
#[purlin::test(workers = 1)]
async fn flush_takes_the_whole_mailbox(mut me: Process<u32>) {
    assert_eq!(me.flush(), []);
    fill(&me, 0..10);
    receive!(me, { 5 => {} });
    fill(&me, 10..12);
    assert_eq!(me.mailbox_len(), 11);
    assert_eq!(me.flush(), [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11]);
    assert_eq!(me.mailbox_len(), 0);
}

// R7: cancelled repeatedly by timeouts, `select!` and single polls: all messages arrive, in order
#[test]
fn a_cancelled_receive_loses_no_message() {
    const ALL: u32 = 20_000;
    let node = node(2);
    let pid = node.spawn(async |mut me: Process<u32>| {
        let mut next = 0;
        while next < ALL {
            // WHY `Duration::ZERO`: this timeout cancels the receive after one poll.
            let came = match next % 5 {
                0 => tokio::time::timeout(Duration::ZERO, me.receive()).await.ok(),
                1 => tokio::select! {
                    n = me.receive() => Some(n),
                    () = yield_now() => None,
                },
                2 => me.receive().now_or_never(),
                3 => tokio::select! {
                    n = async { receive!(me, { n if n % 5 == 3 => n }) } => Some(n),
                    () = yield_now() => None,
                },
                _ => tokio::time::timeout(Duration::ZERO, async {
                    receive!(me, { n if n > 0 => n, after Duration::from_secs(3600) => panic!() })
                })
                .await
                .ok(),
            };
            match came {
                Some(n) => {
                    assert_eq!(n, next);
                    next += 1;
                }
                None => yield_now().await,
            }
        }
    });
    let sender = pid.clone();
    node.spawn(async move |_: Process<()>| {
        for n in 0..ALL {
            sender.send(n);
            if n % 16 == 0 {
                yield_now().await;
            }
        }
    });
    assert_eq!(outside(pid.ended()), ExitReason::Normal);
    stop(&node);
}

// R2, R7: a receive that waits under its own waker is woken, even after turns that polled only the
// other futures
#[test]
fn a_receive_among_other_futures_is_woken_after_other_wake_ups() {
    simulated(async |_: Process<()>| {
        let (first, wakes) = oneshot::channel::<()>();
        let (tx, mut rx) = oneshot::channel();
        let pid = spawn(async move |mut me: Process<u32>| {
            let mut set: FuturesUnordered<Pin<Box<dyn Future<Output = u32> + Send + '_>>> =
                FuturesUnordered::new();
            set.push(Box::pin(async { me.receive().await }));
            set.push(Box::pin(wakes.map(|_| 0)));
            assert_eq!(set.next().await, Some(0));
            tx.send(()).expect("the test keeps the other end");
            assert_eq!(set.next().await, Some(7));
        });
        rest().await;
        first.send(()).expect("it waits");
        rest().await;
        assert_eq!(rx.try_recv(), Ok(()));
        assert_eq!(pid.info().state, ProcessState::Receiving);
        pid.send(7);
        assert_eq!(pid.ended().await, ExitReason::Normal);
    });
}

// R2, R7: the same with a selective receive, and with `join!`
#[test]
fn a_selective_receive_among_other_futures_is_woken() {
    simulated(async |_: Process<()>| {
        let (first, wakes) = oneshot::channel::<()>();
        let pid = spawn(async move |mut me: Process<u32>| {
            let chosen = async { receive!(me, { n if n > 10 => n }) };
            let group = futures_util::future::join_all([
                chosen.boxed(),
                wakes.map(|_| 1).boxed(),
                async {
                    yield_now().await;
                    2
                }
                .boxed(),
            ]);
            let (all, three) = tokio::join!(group, async { 3 });
            assert_eq!((all, three), (vec![11, 1, 2], 3));
            assert_eq!(me.flush(), [5]);
        });
        for wake in [5, 11] {
            rest().await;
            pid.send(wake);
        }
        rest().await;
        first.send(()).expect("it waits");
        assert_eq!(pid.ended().await, ExitReason::Normal);
    });
}

// R7: a handle used in another task panics, and no message is lost
#[purlin::test]
async fn a_handle_that_was_moved_to_another_task_cannot_receive(me: Process<u8>) {
    me.pid().send(9);
    let id = me.id();
    let shared = Arc::new(tokio::sync::Mutex::new(me));
    for way in 0..4 {
        let shared = shared.clone();
        let wandered = tokio::spawn(async move {
            let mut me = shared.lock().await;
            assert_eq!(me.pid().id(), me.id());
            match way {
                0 => drop(me.receive().await),
                1 => receive!(me, { _ => {} }),
                2 => drop(me.try_receive()),
                _ => drop(me.flush()),
            }
        });
        let panic = wandered.await.expect_err("it must not receive").into_panic();
        let said = panic.downcast::<String>().expect("a message in words");
        let expected = format!(
            "used outside of process {id}: only the function its handle was given to can receive, \
             link or monitor; another task awaits a channel to which that function sends"
        );
        assert_eq!(*said, expected);
    }
    assert_eq!(shared.lock().await.try_receive(), Some(9));
}

// R7: a handle used by another process panics too
#[purlin::test]
async fn a_handle_that_was_sent_to_another_process_cannot_receive(mut me: Process<Process<u8>>) {
    let to = me.pid();
    let giver = spawn(async move |me: Process<u8>| {
        me.pid().send(1);
        to.send(me);
        yield_now().await;
    });
    let mut stolen = me.receive().await;
    let taken = catch_unwind(AssertUnwindSafe(|| stolen.try_receive()));
    assert!(taken.is_err());
    assert_eq!(giver.ended().await, ExitReason::Normal);
}

// M4, R7: a message's destructor reads the mailbox while the mailbox is being emptied
#[test]
fn a_mailbox_that_is_read_while_it_is_emptied_stays_closed() {
    use std::sync::Mutex;
    type Place = Arc<Mutex<Option<Process<Reads>>>>;
    struct Reads(Place);
    impl Drop for Reads {
        fn drop(&mut self) {
            if let Some(me) = self.0.lock().unwrap_or_else(|p| p.into_inner()).as_mut() {
                // WHY: the message's destructor would re-enter here with the lock held.
                if let Ok(found) = catch_unwind(AssertUnwindSafe(|| me.try_receive())) {
                    std::mem::forget(found);
                }
            }
        }
    }
    let node = node(1);
    let place = Place::default();
    let kept = place.clone();
    let pid = node.spawn(async move |me: Process<Reads>| {
        me.pid().send(Reads(kept.clone()));
        *kept.lock().expect("the lock is not poisoned") = Some(me);
    });
    assert_eq!(outside(pid.ended()), ExitReason::Normal);
    place.lock().unwrap_or_else(|p| p.into_inner()).take();
    assert!(pid.try_send(Reads(Place::default())).is_err());
    stop(&node);
}

mod model {
    //! Random messages and random receives, compared with a list.

    use proptest::collection::vec;
    use proptest::prelude::{Just, Strategy, any, prop_oneof};
    use proptest::test_runner::{Config, TestRunner};

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        /// Send the number to the process itself.
        Send(u8),
        /// Take the oldest message.
        Oldest,
        /// Take the oldest message whose bit is set, if there is one.
        Chosen(u8),
        /// Poll a receive once and drop it.
        Polled,
        /// Poll a selective receive once and drop it.
        ChosenPolled(u8),
        Flush,
        Yield,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            8 => (0u8..8).prop_map(Step::Send),
            1 => Just(Step::Oldest),
            4 => any::<u8>().prop_map(Step::Chosen),
            1 => Just(Step::Polled),
            2 => any::<u8>().prop_map(Step::ChosenPolled),
            1 => (0u8..12).prop_map(|n| if n == 0 { Step::Flush } else { Step::Yield }),
        ]
    }

    fn is_in(set: u8, n: u8) -> bool {
        set & (1 << n) != 0
    }

    async fn with_a_process(mut me: Process<u8>, steps: Vec<Step>) -> Vec<Vec<u8>> {
        let mut seen = Vec::new();
        for step in steps {
            let got = match step {
                Step::Send(n) => {
                    me.pid().send(n);
                    continue;
                }
                Step::Yield => {
                    yield_now().await;
                    continue;
                }
                Step::Oldest => me.try_receive(),
                Step::Polled => me.receive().now_or_never(),
                Step::Chosen(set) => {
                    receive!(me, { n if is_in(set, n) => Some(n), after Duration::ZERO => None })
                }
                Step::ChosenPolled(set) => {
                    async { receive!(me, { n if is_in(set, n) => n }) }.now_or_never()
                }
                Step::Flush => {
                    seen.push(me.flush());
                    continue;
                }
            };
            seen.push(got.into_iter().collect());
        }
        seen.push(me.flush());
        seen
    }

    fn with_a_list(steps: Vec<Step>) -> Vec<Vec<u8>> {
        let mut list = Vec::new();
        let mut seen = Vec::new();
        for step in steps {
            let at = match step {
                Step::Send(n) => {
                    list.push(n);
                    continue;
                }
                Step::Yield => continue,
                Step::Oldest | Step::Polled => (!list.is_empty()).then_some(0),
                Step::Chosen(set) | Step::ChosenPolled(set) => {
                    list.iter().position(|&n| is_in(set, n))
                }
                Step::Flush => {
                    seen.push(std::mem::take(&mut list));
                    continue;
                }
            };
            seen.push(at.map(|at| list.remove(at)).into_iter().collect());
        }
        seen.push(list);
        seen
    }

    // R1, R3, R6, R7: any sequence of sends and receives behaves as with a list
    #[test]
    fn receiving_behaves_like_removing_from_a_list() {
        let node: Node = node(1);
        let config = Config { cases: 150, failure_persistence: None, ..Config::default() };
        let result = TestRunner::new(config).run(&vec(step(), 0..120), |steps| {
            let expected = with_a_list(steps.clone());
            let seen = node.block_on(move |me| with_a_process(me, steps));
            proptest::prop_assert_eq!(seen, expected);
            Ok(())
        });
        result.unwrap_or_else(|failure| panic!("{failure}"));
        stop(&node);
    }
}
