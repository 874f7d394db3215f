//! Load generator against servers of all strategies: all messages are sent and all answers
//! verified.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::common::NEVER;
use crate::common::plain::{Rules, Server};
use purlin_ack::client::{ConnectError, Lost};
use purlin_ack::load::{Load, LoadError, Plan, Summary};
use purlin_ack::session::{Level, Status};
use purlin_ack::strategy::Strategy;
use purlin_ack::wire::ACK;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::timeout;

async fn run(plan: Plan) -> (Summary, Result<(), LoadError>) {
    match Load::connect(plan).await {
        Ok(load) => finish(load).await,
        Err(error) => panic!("{error}"),
    }
}

async fn finish(mut load: Load) -> (Summary, Result<(), LoadError>) {
    let done = async {
        while load.round().await?.is_some() {}
        load.finish().await
    }
    .await;
    (load.summary(), done)
}

fn three_rounds(server: &Server, strategy: Strategy) -> Plan {
    let address = server.address.to_string();
    Plan { address, rounds: 3, messages: 1000, timeout: NEVER, ..Plan::classic(strategy) }
}

/// Serves any number of connections concurrently.
async fn many(rules: impl Fn(u64) -> Rules + Send + 'static) -> Server {
    Server::on(SocketAddr::from(([127, 0, 0, 1], 0)), Arc::default(), usize::MAX, rules).await
}

#[tokio::test]
async fn all_messages_are_sent_and_answers_counted_for_each_strategy() {
    for strategy in Strategy::ALL {
        let server =
            Server::start(move |_| Rules { order: strategy.order(), ..Rules::default() }).await;
        let (found, done) = run(three_rounds(&server, strategy)).await;
        done.unwrap();
        assert_eq!(found.rounds.len(), 3);
        assert!(found.rounds.iter().all(|round| round.messages == 1000));
        assert_eq!((found.answered.messages, found.answered.refused), (3000, 0));
        assert_eq!(found.latency.len(), 3000);
        let ledger = server.ledger();
        assert!(ledger.handled.iter().map(|(id, _)| *id).eq(0..3000), "{strategy}");
        assert!(ledger.handled.iter().all(|(_, payload)| payload == b"hello"));
        if strategy == Strategy::RequestReply {
            assert_eq!(found.answered.answers, 3000);
            assert!(ledger.reads.iter().all(|together| *together <= 1));
        }
    }
}

#[tokio::test]
async fn every_connection_sends_a_full_round() {
    let server = many(|_| Rules::default()).await;
    let plan = Plan { connections: 4, ..three_rounds(&server, Strategy::SyncAck) };
    let (found, done) = run(plan).await;
    done.unwrap();
    assert!(found.rounds.iter().all(|round| round.messages == 4000));
    assert_eq!((found.answered.messages, found.latency.len()), (12_000, 12_000));
    let ledger = server.ledger();
    assert_eq!((ledger.connections, ledger.handled.len()), (4, 12_000));
}

#[tokio::test]
async fn messages_of_every_size_are_sent_whole() {
    for size in [0, 1, 99, 100, 65_536] {
        let server = Server::start(|_| Rules::default()).await;
        let plan = three_rounds(&server, Strategy::SyncAck);
        let plan = Plan { size, rounds: 1, messages: 100, ..plan };
        let (found, done) = run(plan).await;
        done.unwrap();
        assert_eq!(found.answered.messages, 100);
        let ledger = server.ledger();
        assert!(ledger.handled.iter().all(|(_, payload)| payload.len() == size as usize));
    }
}

#[tokio::test]
async fn window_bounds_unanswered_messages() {
    let server = Server::start(|_| Rules::default()).await;
    let plan = Plan { window: Some(10), ..three_rounds(&server, Strategy::SyncAck) };
    run(plan).await.1.unwrap();
    let most = server.ledger().reads.iter().copied().max();
    assert_eq!(most, Some(10));
}

#[tokio::test]
async fn session_is_opened_per_connection_and_its_window_respected() {
    let server = many(|_| Rules { window: 20, refuses: Some(b'h'), ..Rules::default() }).await;
    let plan = Plan { level: Some(Level::Handled), ..three_rounds(&server, Strategy::Best) };
    let (found, done) = run(Plan { rounds: 1, ..plan }).await;
    done.unwrap();
    assert_eq!((found.answered.messages, found.answered.refused), (1000, 1000));
    assert!(found.to_string().contains("1000 of them"), "{found}");
    let ledger = server.ledger();
    assert_eq!(ledger.openings.len(), 1);
    assert!(ledger.reads.iter().all(|together| *together <= 20));
}

#[tokio::test]
async fn refused_session_is_reported() {
    let server = Server::start(|_| Rules { status: Some(Status::LEVEL), ..Rules::default() }).await;
    let plan = three_rounds(&server, Strategy::Best);
    let plan = Plan { level: Some(Level::Durable), connections: 2, ..plan };
    let refused = Load::connect(plan).await.unwrap_err().to_string();
    let due = format!(
        "{}: no session: the server does not offer this ack level (connection 1 of 2)",
        server.address
    );
    assert_eq!(refused, due);
}

#[tokio::test]
async fn surplus_answer_fails_the_load() {
    let server = Server::start(|_| Rules { lies: true, ..Rules::default() }).await;
    let (found, done) = run(three_rounds(&server, Strategy::SyncAck)).await;
    let failed = done.unwrap_err().to_string();
    assert!(failed.contains("the server answered "), "{failed}");
    assert_eq!(found.failure, Some(failed));
    assert_eq!(found.to_json()["failure"], found.failure.unwrap());
}

#[tokio::test]
async fn lost_connection_ends_the_load_and_keeps_earlier_results() {
    let server = Server::start(|_| Rules { dies_after: Some(1500), ..Rules::default() }).await;
    let (found, done) = run(three_rounds(&server, Strategy::SyncAck)).await;
    let failed = done.unwrap_err().to_string();
    assert!(failed.lines().count() == 1 && failed.contains("messages were answered"), "{failed}");
    assert_eq!(found.rounds.len(), 1);
    assert!((1000..=1500).contains(&found.answered.messages));
}

#[tokio::test]
async fn missing_answer_fails_the_load_after_the_timeout() {
    let server = Server::start(|_| Rules { mute: true, ..Rules::default() }).await;
    let plan = three_rounds(&server, Strategy::SyncAck);
    let (load, timeout) = impatient(plan).await;
    let (found, done) = finish(load).await;
    let failed = done.unwrap_err().to_string();
    assert!(failed.contains(&format!("the server has not answered for {timeout:?}")), "{failed}");
    assert_eq!((found.rounds.len(), found.per_second()), (0, None));
    assert!(found.to_json()["per_second"].is_null() && found.to_json()["latency_ns"].is_null());
}

/// Interval between the bytes of a slow answer.
const DRIP: Duration = Duration::from_millis(20);

/// Connects a load with a short timeout. Returns the load and the timeout.
///
/// WHY real time: the load's timeout is tested, and the server never answers. The timeout also
/// applies to connecting, so it is increased on a slow machine.
async fn impatient(plan: Plan) -> (Load, Duration) {
    let mut timeout = Duration::from_millis(50);
    loop {
        match Load::connect(Plan { timeout, ..plan.clone() }).await {
            Ok(load) => return (load, timeout),
            Err(LoadError::Failed(failed)) => {
                let slow = matches!(failed.why, ConnectError::Lost(Lost::Slow(_)));
                assert!(slow, "{failed}");
                timeout *= 2;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Listens for a load of one message.
async fn one_message() -> (TcpListener, Plan) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let preset = Plan::classic(Strategy::SyncAck);
    (listener, Plan { address, timeout: NEVER, rounds: 1, messages: 1, ..preset })
}

// WHY real time: see `impatient`; a byte that arrives late has the same result.
#[tokio::test]
async fn partial_answer_does_not_extend_the_timeout() {
    let (listener, plan) = one_message().await;
    let (mut load, given) = impatient(plan).await;
    tokio::spawn(async move {
        // Connections of earlier attempts have ended.
        let mut socket = loop {
            let (socket, _) = listener.accept().await.unwrap();
            let mut first = [0];
            if matches!(socket.peek(&mut first).await, Ok(1)) {
                break socket;
            }
        };
        let mut came = [0; 100];
        // Sends an ack without its last byte, a byte per DRIP, until the client closes.
        let mut left = ACK - 1;
        loop {
            match timeout(DRIP, socket.read(&mut came)).await {
                Ok(Ok(0) | Err(_)) => break,
                Ok(Ok(_)) => {}
                Err(_) if left > 0 => {
                    left -= 1;
                    // A closed connection is detected by the next read.
                    let _ = socket.write_all(&[0]).await;
                }
                Err(_) => {}
            }
        }
    });
    let failed = load.round().await.unwrap_err().to_string();
    assert!(failed.contains(&format!("the server has not answered for {given:?}")), "{failed}");
}

#[tokio::test]
async fn dropped_round_closes_the_connection_and_is_the_last() {
    let (listener, plan) = one_message().await;
    let mut load = Load::connect(plan).await.unwrap();
    let mut socket = listener.accept().await.unwrap().0;
    let mut message = [0; 17];
    tokio::select! {
        done = load.round() => panic!("there was no answer: {done:?}"),
        read = socket.read_exact(&mut message) => assert_eq!(read.unwrap(), 17),
    }
    assert_eq!(socket.read(&mut message).await.unwrap(), 0);
    assert_eq!(load.round().await.unwrap(), None);
    assert_eq!(load.summary().answered.messages, 0);
}

#[tokio::test]
async fn connect_fails_without_a_listener() {
    let (address, _) = Server::start(|_| Rules::default()).await.kill().await;
    let plan = Plan { address: address.to_string(), ..Plan::classic(Strategy::Best) };
    let refused = Load::connect(plan).await.unwrap_err().to_string();
    assert!(refused.starts_with(&format!("{address}: ")), "{refused}");
    assert_eq!(refused.lines().count(), 1);
}

#[tokio::test]
async fn json_has_the_plan_every_round_and_the_whole_histogram() {
    let server = Server::start(|_| Rules::default()).await;
    let plan = Plan { window: Some(500), ..three_rounds(&server, Strategy::AsyncAck) };
    let (found, done) = run(plan).await;
    done.unwrap();
    let found = found.to_json();
    assert_eq!((&found["schema"], &found["failure"]), (&1.into(), &serde_json::Value::Null));
    assert_eq!(found["plan"]["strategy"], "async-ack");
    assert_eq!((&found["plan"]["window"], &found["plan"]["batch"]), (&500.into(), &150.into()));
    let rounds = found["rounds"].as_array().unwrap();
    assert_eq!(rounds.len(), 3);
    let mut rates: Vec<_> =
        rounds.iter().map(|round| round["per_second"].as_f64().unwrap()).collect();
    rates.sort_by(f64::total_cmp);
    let spread = ["low", "median", "high"].map(|name| found["per_second"][name].as_f64().unwrap());
    assert_eq!(rates, spread);
    let latency = &found["latency_ns"];
    let buckets = latency["buckets"].as_array().unwrap();
    let counts = buckets.iter().map(|bucket| bucket["count"].as_u64().unwrap());
    assert_eq!(counts.sum::<u64>(), 3000);
    assert_eq!(latency["count"], 3000);
    assert_eq!(buckets.last().unwrap()["upto"], latency["max"]);
}
