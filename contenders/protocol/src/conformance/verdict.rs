//! Whether an answer is what the table of the protocol says. Pure.

use serde_json::Value;

use crate::local::{WORK_START, work};
use crate::run::{Exchange, Mode, Payload, Run};

/// Judges the answer to one run by the table of the protocol.
///
/// # Errors
///
/// The first figure that is not what it must be.
pub fn verdict(run: &Run, answer: &Value) -> Result<(), String> {
    if let Some(error) = answer.get("error") {
        return Err(format!("it reports an error: {error}"));
    }
    let (ops, messages) = due(run);
    if figure(answer, "elapsed_ns")? == 0 && ops > 0 {
        return Err("no time has passed".to_owned());
    }
    equal(answer, "ops", ops)?;
    equal(answer, "sent", messages)?;
    equal(answer, "received", messages)?;
    match run {
        Run::CallVsSend { mode: Mode::Remote, .. } => {
            figure(answer, "queue_peak")?;
            figure(answer, "queue_peak_bytes").map(drop)
        }
        Run::TailCall { .. } => equal(answer, "left", 0),
        Run::Exchange(exchange) => equal(answer, "sink", sink(exchange)),
        Run::MessageSize(payload) | Run::Bandwidth(payload) => {
            equal(answer, "elements", elements(payload))?;
            equal(answer, "sink", sink(&payload.exchange))
        }
        Run::Skynet { leaves } => equal(answer, "sum", leaves * (leaves - 1) / 2),
        _ => Ok(()),
    }
}

/// The operations, and the messages or processes that must be sent and received.
fn due(run: &Run) -> (u64, u64) {
    match *run {
        Run::CallVsSend { mode: Mode::Local, n } => (n, 0),
        Run::CallVsSend { mode: Mode::Remote, n } => (n, n),
        Run::TailCall { n, reps } => (n * reps, 0),
        Run::SpawnChain { n, reps } => (n * reps, n * reps),
        Run::Exchange(exchange)
        | Run::MessageSize(Payload { exchange, .. })
        | Run::Bandwidth(Payload { exchange, .. }) => {
            (exchange.n * exchange.reps, exchange.messages())
        }
        Run::SerialSpawn { total, .. } => (total, total),
        Run::PingPong { n } => (n, 2 * n),
        Run::Throughput { n }
        | Run::FanIn { n, .. }
        | Run::ThreadRing { n, .. }
        | Run::ForkJoin { n } => (n, n),
        Run::Skynet { leaves } => (leaves, leaves),
    }
}

fn elements(payload: &Payload) -> u64 {
    payload.exchange.messages() * payload.s
}

fn sink(exchange: &Exchange) -> u64 {
    2 * exchange.reps * work(WORK_START, exchange.pieces * exchange.work)
}

fn equal(answer: &Value, name: &str, due: u64) -> Result<(), String> {
    match figure(answer, name)? {
        found if found == due => Ok(()),
        found => Err(format!("{name} is {found}, not {due}")),
    }
}

fn figure(answer: &Value, name: &str) -> Result<u64, String> {
    match answer.get(name).and_then(Value::as_i64) {
        Some(value) if value >= 0 => Ok(value.unsigned_abs()),
        _ => Err(format!("{name} is no integer from 0 to 2^63 - 1")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_contender_that_loses_a_message_is_caught() {
        let run = Run::PingPong { n: 10 };
        let mut answer = json!({"elapsed_ns": 5, "ops": 10, "sent": 20, "received": 20});
        assert_eq!(verdict(&run, &answer), Ok(()));
        answer["received"] = 19.into();
        assert_eq!(verdict(&run, &answer), Err("received is 19, not 20".to_owned()));
    }

    #[test]
    fn a_tree_that_sums_up_wrongly_is_caught() {
        let run = Run::Skynet { leaves: 10 };
        let mut answer = json!({"elapsed_ns": 5, "ops": 10, "sent": 10, "received": 10, "sum": 45});
        assert_eq!(verdict(&run, &answer), Ok(()));
        answer["sum"] = 44.into();
        assert_eq!(verdict(&run, &answer), Err("sum is 44, not 45".to_owned()));
    }

    #[test]
    fn an_error_a_missing_figure_and_a_negative_one_are_caught() {
        let run = Run::Throughput { n: 1 };
        for answer in [
            json!({"error": "no"}),
            json!({"elapsed_ns": 5, "ops": 1, "sent": 1}),
            json!({"elapsed_ns": -5, "ops": 1, "sent": 1, "received": 1}),
            json!([1]),
        ] {
            assert!(verdict(&run, &answer).is_err(), "{answer}");
        }
    }
}
