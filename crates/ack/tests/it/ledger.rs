//! The client library against servers with failing handlers, checked with a ledger of sent, handled
//! and acknowledged messages; and clients that are killed or stopped.

use crate::common;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::common::programs::{self, Program};
use crate::common::{
    Kept, Nervous, for_each_at_once, runtime, start, start_with, until, untimed, untimed_client,
    untimed_server,
};
use purlin::ExitReason;
use purlin_ack::client::outbox::Window;
use purlin_ack::client::{Builder, Client, Ended, Refused, Unanswered};
use purlin_ack::handler::{Batch, Handler, Unhandled};
use purlin_ack::server::Limits;
use purlin_ack::session::Level;
use purlin_ack::strategy::Strategy;
use purlin_ack::wire::{Reason, Refusal};

/// Strategies that the client library supports.
const BATCHING: [Strategy; 5] =
    [Strategy::Throttle, Strategy::HeadRest, Strategy::SyncAck, Strategy::AsyncAck, Strategy::Best];
const MESSAGES: u64 = 3000;

/// Uses small writes and a small window, so that there are many failures and each costs little.
fn builder(address: SocketAddr) -> Builder {
    let window = Window { messages: 300, bytes: 1 << 20 };
    untimed_client(address).batch(400).window(window)
}

/// Sends numbers and waits until all are answered.
async fn send(client: &Client, numbers: std::ops::Range<u64>) -> Result<(), Unanswered> {
    for number in numbers {
        if client.send(&number.to_le_bytes()).await.is_err() {
            break;
        }
    }
    client.close().await
}

fn number(payload: &[u8]) -> u64 {
    u64::from_le_bytes(payload.try_into().expect("a number"))
}

/// Returns the handled numbers, in order.
fn handled(kept: &Kept) -> Vec<u64> {
    kept.take().into_iter().map(|(_, payload)| number(&payload)).collect()
}

#[test]
fn handler_panics_lose_no_message() {
    for_each_at_once(BATCHING, |strategy| {
        let nervous = Nervous::default();
        let server = start_with(untimed_server().strategy(strategy), &nervous);
        let address = server.address();
        runtime().block_on(async {
            let client = builder(address).connect().await.expect("the port is open");
            send(&client, 0..MESSAGES).await.expect("all are answered");
        });
        let panics = nervous.seen.load(Ordering::Relaxed) / 1000;
        assert!(panics >= MESSAGES / 1000, "{strategy}: {panics} panics");
        let handled = BTreeSet::from_iter(handled(&nervous.kept));
        assert!(handled.into_iter().eq(0..MESSAGES), "{strategy}: lost");
        server.until("all are gone", |counts| counts.connections == 0);
        assert_eq!(server.drain().failed, panics, "{strategy}");
    });
}

#[test]
fn session_handles_each_message_once_despite_handler_panics() {
    let nervous = Nervous::default();
    let server = start_with(untimed_server(), &nervous);
    let address = server.address();
    runtime().block_on(async {
        let client = builder(address).session(Level::Handled).connect().await;
        let client = client.expect("there is a session");
        send(&client, 0..MESSAGES).await.expect("all are answered");
    });
    assert!(nervous.seen.load(Ordering::Relaxed) >= MESSAGES + 3, "it has panicked");
    assert!(handled(&nervous.kept).into_iter().eq(0..MESSAGES));
    server.drain();
}

/// What the handler does with the message it cannot handle.
#[derive(Clone, Copy)]
enum Does {
    Fail,
    Panic,
    Refuse,
}

/// Handler with a message that it can never handle.
#[derive(Clone)]
struct Poisoned {
    kept: Kept,
    times: Arc<AtomicU64>,
    does: Does,
}

const POISON: u64 = 700;

impl Handler for Poisoned {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        let poison = batch.frames().find(|frame| number(frame.payload) == POISON);
        if let Some(poison) = poison {
            self.times.fetch_add(1, Ordering::Relaxed);
            match self.does {
                Does::Fail => {
                    return Err(Unhandled::Failed(ExitReason::shutdown_with("on purpose")));
                }
                Does::Panic => panic!("on purpose"),
                Does::Refuse => {
                    self.kept.push(&batch);
                    let refusal = Refusal { id: poison.id.number(), reason: Reason::NOT_TAKEN };
                    return Err(Unhandled::Refused(vec![refusal]));
                }
            }
        }
        self.kept.push(&batch);
        Ok(())
    }
}

// WHY real time: the client's give-up timeout is tested, and the message always fails. The second
// attempt happens at any speed of the machine: the timeout counts from the first failure, and the
// client compares them directly.
#[test]
fn failing_message_is_resent_until_the_client_gives_up() {
    let cases = [
        (Does::Fail, Some(Level::Handled)),
        (Does::Panic, Some(Level::Handled)),
        (Does::Fail, None),
        (Does::Panic, None),
    ];
    for_each_at_once(cases, |(does, level)| {
        let poisoned = Poisoned { kept: Kept::default(), times: Arc::default(), does };
        let server = start_with(untimed_server(), &poisoned);
        let address = server.address();
        let left = runtime().block_on(async {
            let builder = builder(address).give_up_after(Duration::from_millis(200));
            let builder = match level {
                Some(level) => builder.session(level),
                None => builder,
            };
            let client = builder.connect().await.expect("the port is open");
            send(&client, 0..MESSAGES).await.expect_err("one is never answered")
        });
        assert!(matches!(left.why, Ended::GaveUp(..)), "{left}");
        assert!(poisoned.times.load(Ordering::Relaxed) > 1, "it was tried again");
        // The returned messages start with a message of the failing batch and extend beyond it.
        let ids: Vec<_> = left.messages.iter().map(|(id, _)| *id).collect();
        assert!(ids[0] <= POISON && ids.contains(&POISON), "{ids:?}");
        assert!(left.messages.iter().all(|(id, payload)| number(payload) == *id));
        let handled = handled(&poisoned.kept);
        if level.is_some() {
            // A panicking handler ends the connection, including acks not received yet.
            let count = handled.len() as u64;
            assert!((ids[0]..=POISON).contains(&count), "{count} are handled, {ids:?} are left");
            assert!(handled.into_iter().eq(0..count), "each once");
        } else {
            assert!(BTreeSet::from_iter(handled).is_superset(&(0..ids[0]).collect()));
        }
        server.drain();
    });
}

#[test]
fn refused_message_does_not_block_others() {
    let poisoned = Poisoned { kept: Kept::default(), times: Arc::default(), does: Does::Refuse };
    let server = start_with(untimed_server(), &poisoned);
    let address = server.address();
    let refused = Arc::new(std::sync::Mutex::new(Vec::new()));
    let sink = Arc::clone(&refused);
    runtime().block_on(async {
        let builder = builder(address).session(Level::Handled);
        let builder =
            builder.on_refused(move |refused| sink.lock().expect("it is whole").push(refused));
        let client = builder.connect().await.expect("there is a session");
        send(&client, 0..MESSAGES).await.expect("all are answered");
    });
    assert_eq!(poisoned.times.load(Ordering::Relaxed), 1);
    assert!(handled(&poisoned.kept).into_iter().eq(0..MESSAGES));
    let refused = refused.lock().expect("it is whole");
    let reported: Vec<_> =
        refused.iter().map(|Refused { id, payload, .. }| (*id, number(payload))).collect();
    assert_eq!(reported, [(POISON, POISON)]);
    server.drain();
}

const ADDRESS: &str = "PURLIN_ACK_ADDRESS";
const SESSION: &str = "PURLIN_ACK_SESSION";

/// A client in a separate process. Sends until its standard input ends, and prints the highest
/// acknowledged id.
#[test]
fn the_client_in_a_program() {
    if !programs::is("ledger::the_client_in_a_program") {
        return;
    }
    let address = std::env::var(ADDRESS).expect("it is set").parse().expect("an address");
    let session = std::env::var_os(SESSION).is_some();
    let enough = Arc::new(AtomicBool::new(false));
    let set_enough = Arc::clone(&enough);
    thread::spawn(move || {
        programs::next_line();
        set_enough.store(true, Ordering::Relaxed);
    });
    runtime().block_on(async {
        let builder = builder(address);
        let builder = if session { builder.session(Level::Handled) } else { builder };
        let client = builder.connect().await.expect("the port is open");
        println!("\nconnected");
        let mut count = 0_u64;
        while !enough.load(Ordering::Relaxed) {
            for _ in 0..100 {
                client.send(&count.to_le_bytes()).await.expect("it is taken");
                count += 1;
            }
            client.flush().await.expect("all are answered");
            println!("answered {}", count - 1);
        }
        client.close().await.expect("all are answered");
        println!("done {count}");
    });
}

fn client(address: SocketAddr, session: bool) -> Program {
    let address = address.to_string();
    let mut settings = vec![(ADDRESS, OsStr::new(&address))];
    settings.extend(session.then_some((SESSION, OsStr::new("1"))));
    Program::start("ledger::the_client_in_a_program", &settings)
}

#[test]
fn killed_client_leaves_handled_messages_and_no_processes() {
    for strategy in BATCHING {
        let recorder = common::Recorder::default();
        let kept = recorder.0.clone();
        let server = start(untimed_server().strategy(strategy).handler(move |_| recorder.clone()));
        let before = server.node.processes().len();
        let mut client = client(server.address(), false);
        client.said("answered 999");
        client.signal("KILL");
        let answered = client.all_said("answered ");
        let answered = answered.last().map_or(999, |last| last.parse().expect("a number"));
        server.until("it is gone", |counts| counts.connections == 0);
        until("its processes have ended", || server.node.processes().len() <= before);
        let counts = server.drain();
        let handled = handled(&kept);
        let count = handled.len() as u64;
        assert!(handled.into_iter().eq(0..count), "{strategy}: whole messages, in order");
        assert!(count > answered, "{strategy}: {answered} is answered, {count} are handled");
        assert!(counts.messages <= count, "{strategy}: {} claimed", counts.messages);
    }
}

// WHY real time: the server's idle timeout is tested, and a stopped client stays silent.
#[test]
fn stopped_client_is_closed_by_the_idle_timeout_and_resumes() {
    for_each_at_once([true, false], |session| {
        let recorder = common::Recorder::default();
        let kept = recorder.0.clone();
        let limits = Limits { idle_timeout: Some(Duration::from_millis(100)), ..untimed() };
        let server = start(untimed_server().limits(limits).handler(move |_| recorder.clone()));
        let mut client = client(server.address(), session);
        client.said("answered 999");
        client.signal("STOP");
        // The socket is open but silent, like that of a machine that lost its network.
        server.until("it is closed", |counts| counts.idle_timeout > 0 && counts.connections == 0);
        let before = server.counts().connections_ever;
        client.signal("CONT");
        server.until("it is back", |counts| counts.connections_ever > before);
        client.send_line("enough");
        let count: u64 = client.said("done ").parse().expect("a number");
        client.finish();
        let handled = handled(&kept);
        if session {
            assert!(handled.into_iter().eq(0..count), "each once");
        } else {
            assert!(BTreeSet::from_iter(handled).into_iter().eq(0..count), "each at least once");
        }
        server.drain();
    });
}
