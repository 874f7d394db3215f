//! Receive markers: what a receive that waits for a reference examines.

use std::time::Duration;

use crate::common::{node, stop};
use crate::waiting::{MS, rest, simulated, uptime};
use purlin::{
    Down, ExitReason, Message, MonitorRef, Overflow, Pid, Process, Reference, SpawnOptions,
    receive, spawn, yield_now,
};

#[derive(Clone, Debug, PartialEq, Message)]
enum Msg {
    Number(u32),
    Reply(Reference, u32),
    Watched(MonitorRef, u32),
    #[from]
    Down(Down),
}
use Msg::{Number, Reply, Watched};

fn fill(me: &Process<Msg>, numbers: std::ops::Range<u32>) {
    numbers.for_each(|n| me.pid().send(Number(n)));
}

/// Scans once, as a receive for the reference does. Returns the number of messages examined and the
/// message received.
async fn scanned(me: &mut Process<Msg>, order: Reference) -> (usize, Option<Msg>) {
    let mut scan = me.scan_since(order, Some(Duration::ZERO));
    let mut examined = 0;
    while scan.has_next().await {
        let received = scan.examine(
            |_| true,
            |message| {
                examined += 1;
                if matches!(message, Reply(tag, _) if tag == order) {
                    Ok(message)
                } else {
                    Err(message)
                }
            },
        );
        if received.is_some() {
            return (examined, received);
        }
    }
    (examined, None)
}

// R8: one examination for a reply, however many messages wait before it
#[purlin::test(workers = 1)]
async fn messages_before_the_reference_are_not_examined(mut me: Process<Msg>) {
    for waiting in [0, 1, 10, 1000, 100_000] {
        fill(&me, 0..waiting);
        let order = me.make_ref();
        me.pid().send(Reply(order, 7));
        assert_eq!(scanned(&mut me, order).await, (1, Some(Reply(order, 7))));
        fill(&me, 0..3);
        assert_eq!(scanned(&mut me, order).await, (3, None), "only what came since");
        assert_eq!(me.flush().len(), waiting as usize + 3);
    }
}

// R8: the same by `receive!`, by the reductions that P5 defines
#[purlin::test(workers = 1)]
async fn waiting_for_a_tagged_reply_costs_the_same_with_any_number_of_messages_waiting(
    mut me: Process<Msg>,
) {
    const WAITING: u32 = 50_000;
    let echo = spawn(async |mut me: Process<(Reference, Pid<Msg>)>| {
        loop {
            let (tag, asker) = me.receive().await;
            asker.send(Reply(tag, 1));
        }
    });
    let mut spent = Vec::new();
    for waiting in [0, WAITING] {
        fill(&me, 0..waiting);
        // WHY: the messages are taken out of the inbox, and the counts are those of completed turns.
        me.make_ref();
        yield_now().await;
        let before = me.pid().info().reductions;
        for _ in 0..100 {
            let order = me.make_ref();
            echo.send((order, me.pid()));
            assert_eq!(receive!(me, tag == order, { Reply(tag, n) => n }), 1);
        }
        yield_now().await;
        spent.push(me.pid().info().reductions - before);
    }
    assert!(spent[1] < spent[0] + 1000, "{spent:?} reductions with 0 and {WAITING} waiting");

    // A receive by pattern alone examines them all.
    let before = me.pid().info().reductions;
    me.pid().send(Reply(me.make_ref(), 2));
    assert_eq!(receive!(me, { Reply(_, n) => n }), 2);
    yield_now().await;
    assert!(me.pid().info().reductions - before > u64::from(WAITING));
    assert_eq!(me.flush().len(), WAITING as usize);
}

// R8: an arm matches only if it binds the reference that the receive waits for
#[purlin::test(workers = 1)]
async fn only_messages_with_the_reference_match(mut me: Process<Msg>) {
    let (first, second) = (me.make_ref(), me.make_ref());
    assert_ne!(first, second);
    let own = me.pid();
    for message in
        [Reply(first, 1), Reply(second, 2), Number(3), Reply(second, 40), Reply(first, 5)]
    {
        own.send(message);
    }
    let big = receive!(me, order == second, { Reply(order, n) if n > 10 => (order, n) });
    assert_eq!(big, (second, 40));
    let none = receive!(me, order == second, {
        Reply(order, 99) => Some(order),
        whole @ Reply(order, _) if order == first => { drop(whole); None }
        after Duration::ZERO => None,
    });
    assert_eq!(none, None);
    // The name before `==` may be that of the reference.
    assert_eq!(receive!(me, second == second, { Reply(second, n) => n }), 2);
    assert_eq!(me.flush(), [Reply(first, 1), Number(3), Reply(first, 5)]);
}

// R8, R3: it waits for a message that comes later, or until the time is up
#[test]
fn a_receive_for_a_reference_waits_and_times_out() {
    simulated(async |mut me: Process<Msg>| {
        fill(&me, 0..100);
        let order = me.make_ref();
        let own = me.pid();
        spawn(async move |_: Process<()>| {
            own.send(Number(100));
            rest().await;
            own.send(Reply(order, 9));
        });
        assert_eq!(receive!(me, tag == order, { Reply(tag, n) => n, after 100 * MS => 0 }), 9);
        let began = uptime();
        assert_eq!(receive!(me, tag == order, { Reply(tag, n) => n, after MS => 0 }), 0);
        assert_eq!(uptime() - began, MS);
        assert_eq!(me.flush().len(), 101);
    });
}

// R8: a reply or the end of the process, by one reference
#[purlin::test]
async fn a_marked_monitor_finds_the_reply_or_the_down(mut me: Process<Msg>) {
    fill(&me, 0..1000);
    for answers in [true, false] {
        let server = spawn(async move |mut me: Process<(MonitorRef, Pid<Msg>)>| {
            let (tag, asker) = me.receive().await;
            if answers {
                asker.send(Watched(tag, 6));
                me.receive().await;
            }
        });
        let order = me.monitor_marked(&server);
        server.send((order, me.pid()));
        let answer = receive!(me, tag == order, {
            Watched(tag, n) => Ok(n),
            Msg::Down(Down { monitor: tag, reason, .. }) => Err(reason),
        });
        assert_eq!(answer, if answers { Ok(6) } else { Err(ExitReason::Normal) });
        assert_eq!(me.demonitor_flush(order), answers);
    }
    let ended = spawn(async |_: Process<()>| ());
    ended.ended().await;
    let order = me.monitor_marked(&ended);
    let reason =
        receive!(me, tag == order, { Msg::Down(Down { monitor: tag, reason, .. }) => reason });
    assert_eq!(reason, ExitReason::NoProcess);
    assert_eq!(me.flush().len(), 1000);
}

// R8: the latest eight references have a marker
#[purlin::test(workers = 1)]
async fn a_ninth_reference_replaces_the_marker_of_the_first(mut me: Process<Msg>) {
    fill(&me, 0..100);
    let orders: Vec<Reference> = (0..9).map(|_| me.make_ref()).collect();
    orders.iter().for_each(|order| me.pid().send(Reply(*order, 0)));
    assert_eq!(scanned(&mut me, orders[0]).await.0, 101, "from the oldest message on");
    for (examined, order) in (1..).zip(orders[1..].iter().rev()) {
        // The replies to the orders before it are still there.
        assert_eq!(scanned(&mut me, *order).await.0, 9 - examined);
    }
}

// R8, B1: a bound that drops the oldest messages moves the markers behind them
#[test]
fn dropping_the_oldest_messages_keeps_markers_valid() {
    simulated(async |_: Process<()>| {
        let options = SpawnOptions::new().bound(10, Overflow::DropOldest);
        let pid = options.spawn(async |mut me: Process<Msg>| {
            fill(&me, 0..10);
            let order = me.make_ref();
            me.pid().send(Reply(order, 1));
            // The turns after the sends drop the oldest message, then all up to the marker.
            for more in [0, 9] {
                fill(&me, 0..more);
                yield_now().await;
                assert_eq!(me.mailbox_len(), 10);
                let none = me.make_ref();
                assert_eq!(scanned(&mut me, none).await, (0, None));
            }
            assert_eq!(scanned(&mut me, order).await, (1, Some(Reply(order, 1))));
            assert_eq!(me.flush(), (0..9).map(Number).collect::<Vec<_>>());
        });
        let pid = pid.expect("there is room for a process");
        assert_eq!(pid.ended().await, ExitReason::Normal);
    });
}

// R8: references are unique in a node, and print as in Erlang
#[test]
fn references_of_all_workers_are_distinct() {
    let node = node(2);
    let made: Vec<Vec<Reference>> = node.block_on(async |mut me: Process<Vec<Reference>>| {
        for _ in 0..8 {
            let to = me.pid();
            spawn(async move |me: Process<()>| {
                to.send((0..3000).map(|_| me.make_ref()).collect());
            });
        }
        let mut made = Vec::new();
        for _ in 0..8 {
            made.push(me.receive().await);
        }
        made
    });
    let all: std::collections::HashSet<Reference> = made.iter().flatten().copied().collect();
    assert_eq!(all.len(), 8 * 3000);
    let text = format!("{:?}", made[0][0]);
    assert!(text.starts_with("#Ref<0.") && text.ends_with('>'), "{text}");
    assert_eq!(text, made[0][0].to_string());
    stop(&node);
}

mod model {
    //! Random steps, compared with a list of messages and the positions of the latest markers.

    use std::collections::VecDeque;

    use proptest::collection::vec;
    use proptest::prelude::{Just, Strategy, prop_oneof};
    use proptest::test_runner::{Config, TestRunner};

    use super::*;

    /// Markers of a process.
    const MARKERS: usize = 8;

    #[derive(Clone, Debug)]
    enum Step {
        /// Send this number of messages without a reference.
        Fill(u32),
        MakeRef,
        /// Send a reply that holds one of the references.
        Reply(usize),
        /// Take the oldest message.
        Oldest,
        /// Take the oldest message without a reference whose number has this remainder by 4.
        Chosen(u32),
        /// Wait, without time, for one of the references.
        Wait(usize),
        /// The same by `receive!`.
        Receive(usize),
        /// Monitor a process that has ended.
        Monitor,
        /// Remove one of the monitors and its message.
        Demonitor(usize),
        Flush,
        Yield,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0u32..5).prop_map(Step::Fill),
            4 => Just(Step::MakeRef),
            4 => (0usize..100).prop_map(Step::Reply),
            2 => Just(Step::Oldest),
            3 => (0u32..4).prop_map(Step::Chosen),
            6 => (0usize..100).prop_map(Step::Wait),
            2 => (0usize..100).prop_map(Step::Receive),
            1 => Just(Step::Monitor),
            1 => (0usize..100).prop_map(Step::Demonitor),
            1 => (0u8..8).prop_map(|n| if n == 0 { Step::Flush } else { Step::Yield }),
        ]
    }

    /// Selects an index: often one of the latest, sometimes an early one.
    fn choose(of: usize, number: usize) -> Option<usize> {
        let newest = of.checked_sub(1)?;
        Some(newest.saturating_sub(if number < 80 { number % 10 } else { number }))
    }

    /// A message of the list.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Entry {
        Number(u32),
        /// Holds the reference with this index.
        Reply(usize),
        /// The down message of the monitor with this index.
        Down(usize),
    }

    /// Number of messages examined, if the step counts them, and the messages received.
    type Seen = (Option<usize>, Vec<Entry>);

    async fn with_a_process(mut me: Process<Msg>, steps: Vec<Step>) -> Vec<Seen> {
        let ended = spawn(async |_: Process<()>| ());
        ended.ended().await;
        let (mut sent, mut orders, mut monitors) = (0, Vec::new(), Vec::new());
        let mut seen: Vec<(Option<usize>, Vec<Msg>)> = Vec::new();
        for step in steps {
            let (mut examined, mut received) = (None, None);
            match step {
                Step::Fill(count) => {
                    fill(&me, sent..sent + count);
                    sent += count;
                }
                Step::MakeRef => orders.push(me.make_ref()),
                Step::Reply(number) => {
                    if let Some(index) = choose(orders.len(), number) {
                        me.pid().send(Reply(orders[index], 0));
                    }
                }
                Step::Oldest => received = me.try_receive(),
                Step::Chosen(rest) => {
                    received = receive!(me, {
                        Number(n) if n % 4 == rest => Some(Number(n)),
                        after Duration::ZERO => None,
                    });
                }
                Step::Wait(number) => {
                    if let Some(index) = choose(orders.len(), number) {
                        let (count, reply) = scanned(&mut me, orders[index]).await;
                        (examined, received) = (Some(count), reply);
                    }
                }
                Step::Receive(number) => {
                    if let Some(index) = choose(orders.len(), number) {
                        received = receive!(me, tag == orders[index], {
                            Reply(tag, n) => Some(Reply(tag, n)),
                            after Duration::ZERO => None,
                        });
                    }
                }
                Step::Monitor => monitors.push(me.monitor(&ended)),
                Step::Demonitor(number) => {
                    if let Some(index) = choose(monitors.len(), number) {
                        me.demonitor_flush(monitors[index]);
                    }
                }
                Step::Flush => {
                    seen.push((None, me.flush()));
                    continue;
                }
                Step::Yield => yield_now().await,
            }
            seen.push((examined, received.into_iter().collect()));
        }
        seen.push((None, me.flush()));

        let entry = |message: Msg| match message {
            Number(n) => Entry::Number(n),
            Reply(tag, _) => {
                let index = orders.iter().position(|order| *order == tag);
                Entry::Reply(index.expect("the reference was made here"))
            }
            Msg::Down(down) => {
                let index = monitors.iter().position(|monitor| *monitor == down.monitor);
                Entry::Down(index.expect("the monitor was made here"))
            }
            Watched(..) => unreachable!("it is not sent"),
        };
        let entries =
            |messages: Vec<Msg>| -> Vec<Entry> { messages.into_iter().map(entry).collect() };
        seen.into_iter().map(|(examined, messages)| (examined, entries(messages))).collect()
    }

    fn with_a_list(steps: Vec<Step>) -> Vec<Seen> {
        // Each message and each reference has the time when it was sent or made.
        let (mut now, mut sent, mut monitors) = (0u64, 0, 0);
        let mut list: Vec<(u64, Entry)> = Vec::new();
        let mut orders: Vec<u64> = Vec::new();
        let mut markers: VecDeque<usize> = VecDeque::new();
        let mut seen = Vec::new();
        for step in steps {
            now += 1;
            let (mut examined, mut at) = (None, None);
            let of = |index: usize| move |(_, entry): &(u64, Entry)| *entry == Entry::Reply(index);
            match step {
                Step::Fill(count) => {
                    list.extend((sent..sent + count).map(|n| (now, Entry::Number(n))));
                    sent += count;
                }
                Step::MakeRef => {
                    // An empty mailbox needs no marker.
                    if !list.is_empty() {
                        markers.push_back(orders.len());
                        markers.drain(..markers.len().saturating_sub(MARKERS));
                    }
                    orders.push(now);
                }
                Step::Reply(number) => {
                    list.extend(choose(orders.len(), number).map(|at| (now, Entry::Reply(at))));
                }
                Step::Oldest => at = (!list.is_empty()).then_some(0),
                Step::Chosen(rest) => {
                    let chosen = |(_, entry): &(u64, Entry)| matches!(entry, Entry::Number(n) if n % 4 == rest);
                    at = list.iter().position(chosen);
                }
                Step::Wait(number) => {
                    if let Some(index) = choose(orders.len(), number) {
                        let is_older = |(time, _): &&(u64, Entry)| *time < orders[index];
                        let skipped = match markers.contains(&index) {
                            true => list.iter().take_while(is_older).count(),
                            false => 0,
                        };
                        at = list.iter().position(of(index));
                        examined = Some(at.map_or(list.len(), |at| at + 1) - skipped);
                    }
                }
                Step::Receive(number) => {
                    at = choose(orders.len(), number)
                        .and_then(|index| list.iter().position(of(index)));
                }
                Step::Monitor => {
                    list.push((now, Entry::Down(monitors)));
                    monitors += 1;
                }
                Step::Demonitor(number) => {
                    if let Some(index) = choose(monitors, number) {
                        list.retain(|(_, entry)| *entry != Entry::Down(index));
                    }
                }
                Step::Flush => {
                    seen.push((None, list.drain(..).map(|(_, entry)| entry).collect()));
                    continue;
                }
                Step::Yield => {}
            }
            seen.push((examined, at.map(|at| list.remove(at).1).into_iter().collect()));
        }
        seen.push((None, list.into_iter().map(|(_, entry)| entry).collect()));
        seen
    }

    // R1, R8, D3: any sequence of sends, references and receives behaves as with a list, and examines
    // what the markers say
    #[test]
    fn waiting_for_references_behaves_like_searching_a_list_from_a_position() {
        let node = node(1);
        let config = Config { cases: 300, failure_persistence: None, ..Config::default() };
        let result = TestRunner::new(config).run(&vec(step(), 0..150), |steps| {
            let expected = with_a_list(steps.clone());
            let seen = node.block_on(move |me| with_a_process(me, steps));
            proptest::prop_assert_eq!(seen, expected);
            Ok(())
        });
        result.unwrap_or_else(|failure| panic!("{failure}"));
        stop(&node);
    }
}
