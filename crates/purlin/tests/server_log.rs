//! Log messages of a crashing server. A separate test binary, because the subscriber is global.

#[path = "it/common/mod.rs"]
mod common;

use std::convert::Infallible;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use purlin::server::{self, Init, Mail, Next, Server};
use purlin::state_machine::{self, Event, Machine, StateMachine, Timeout, Transition};
use purlin::{ExitReason, Process, Reply};

/// Returns the next log line about a server.
fn said(log: &Receiver<String>) -> String {
    loop {
        let line = log.recv_timeout(common::HANG).expect("the log says something");
        if line.contains("server") && !line.contains("process ended") {
            return line;
        }
    }
}

/// Server that can be made to fail in several ways.
#[derive(Debug)]
struct Till<const BYTES: usize>(u32);

#[derive(Debug)]
enum Call {
    Panic { coins: Vec<u32>, reply: Reply<()> },
}

impl<const BYTES: usize> Server for Till<BYTES> {
    type Args = u32;
    type Call = Call;
    type Cast = ExitReason;
    type Info = &'static str;
    type Continue = ();

    const LAST_MESSAGE_LIMIT: usize = BYTES;

    async fn init(n: u32, _: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
        Ok(Init::Ready(Till(n)))
    }

    async fn handle_call(
        &mut self,
        call: Call,
        _: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        let Call::Panic { coins, reply } = call;
        self.0 += coins.iter().sum::<u32>();
        drop(reply);
        panic!("the till is full")
    }

    async fn handle_cast(
        &mut self,
        reason: ExitReason,
        _: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        Ok(Next::Stop(reason))
    }
}

/// State machine that postpones an event and fails in the next.
#[derive(Debug)]
struct Lamp;

impl StateMachine for Lamp {
    type Args = ();
    type State = &'static str;
    type Call = Infallible;
    type Cast = u32;
    type Info = Infallible;
    type Internal = u8;
    type TimeoutName = Infallible;

    async fn init(
        (): (),
        _: &mut Process<state_machine::Mail<Self>>,
    ) -> server::Result<state_machine::Init<Self>> {
        Ok(state_machine::Init::Ready(Lamp, "dark"))
    }

    async fn handle_event(
        &mut self,
        event: Event<Self>,
        _: &&'static str,
        _: &mut Process<state_machine::Mail<Self>>,
    ) -> server::Result<Transition<Self>> {
        if let Event::Internal(_) = event {
            return Err("burnt out".into());
        }
        let dark = Transition::keep_state().postpone(event);
        let dark = dark.next_event(Event::Internal(1)).next_event(Event::Internal(2));
        Ok(dark.timeout(Timeout::State, Duration::ZERO, 9))
    }
}

// G1, G6: a crash is logged with server, last message, state and reason; a regular stop is not logged
#[test]
fn the_log_has_the_last_message_and_the_state_of_a_server_that_crashes() {
    let log = common::log();
    let node = common::node(2);
    common::outside(async {
        let start = async |n| node.start::<Till<40>>(n).name("till").await.expect("it starts");
        let till = start(1).await;
        let coins: Vec<u32> = (1..1000).collect();
        let call = till.call(|reply| Call::Panic { coins, reply });
        assert!(call.await.is_err());
        let line = said(&log);
        let pid = format!("pid={}", till.id());
        for part in [
            "ERROR",
            "server crashed",
            "server_log::Till<40>",
            &pid,
            "name=\"till\"",
            "last_message=call Panic { coins: [1, 2, 3, 4, 5, 6, 7, 8, … ",
            "state=\"Till(499501)\"",
            "server_log.rs:",
            "the till is full",
        ] {
            assert!(line.contains(part), "no {part} in {line}");
        }
        assert!(!line.contains("closure"), "{line}");

        till.pid().ended().await;
        let till = start(2).await;
        till.send("hello");
        let line = said(&log);
        assert!(line.contains("WARN") && line.contains("info=\"hello\""), "{line}");
        till.cast(ExitReason::shutdown_with("upgrade"));
        till.pid().ended().await;
        let till = start(3).await;
        till.cast(ExitReason::error("burgled"));
        till.pid().ended().await;
        let line = said(&log);
        assert!(line.contains("last_message=cast Error(\"burgled\") "), "the third: {line}");
        assert!(line.contains("reason=burgled"), "{line}");

        let blind = node.start::<Till<0>>(4).await.expect("it starts");
        blind.cast(ExitReason::error("burgled"));
        blind.pid().ended().await;
        let line = said(&log);
        assert!(
            line.contains("last_message=cast (not recorded) ") && line.contains("Till(4)"),
            "{line}"
        );

        let lamp = node.start::<Machine<Lamp>>(()).await.expect("it starts");
        lamp.cast(7);
        lamp.pid().ended().await;
        let line = said(&log);
        for part in [
            "server_log::Lamp",
            "last_message=continue Internal(1) ",
            "Machine { state: \\\"dark\\\", data: Lamp, queued: [Internal(2)], \
             postponed: [Cast(7)], timeouts: {State: 9} }",
            "reason=burnt out",
        ] {
            assert!(line.contains(part), "no {part} in {line}");
        }
    });
    common::stop(&node);
}
