//! Checks an answer against the table of the protocol. Pure.

use serde_json::Value;

use crate::local::{WORK_START, work};
use crate::run::{Exchange, Expiry, Hog, LoopKind, Mode, Payload, Run, Signals, Timers};
use crate::savina::Savina;

/// Percentiles of single messages or round trips: optional, but required in `hog`.
const DELAYS: [&str; 3] = ["p50_ns", "p99_ns", "max_ns"];

/// Checks the answer to one run against the table of the protocol.
///
/// # Errors
///
/// Returns the first figure that is not as required.
pub fn verdict(run: &Run, answer: &Value) -> Result<(), String> {
    if let Some(error) = answer.get("error") {
        return Err(format!("it reports an error: {error}"));
    }
    if let Some((ops, messages)) = due(run) {
        if figure(answer, "elapsed_ns")? == 0 && ops > 0 {
            return Err("no time has passed".to_owned());
        }
        equal(answer, "ops", ops)?;
        equal(answer, "sent", messages)?;
        equal(answer, "received", messages)?;
    }
    if DELAYS.iter().any(|name| answer.get(name).is_some()) {
        in_order(answer)?;
    }
    match run {
        Run::CallVsSend { mode: Mode::Remote, .. } => {
            figure(answer, "queue_peak")?;
            figure(answer, "queue_peak_bytes").map(drop)
        }
        Run::TailCall { .. } => equal(answer, "left", 0),
        Run::Exchange(exchange) => equal(answer, "sink", sink(exchange)),
        Run::MessageSize(payload) | Run::Bandwidth(payload) | Run::MessageMoved(payload) => {
            equal(answer, "elements", elements(payload))?;
            equal(answer, "sink", sink(&payload.exchange))
        }
        Run::Skynet { leaves } => equal(answer, "sum", leaves * (leaves - 1) / 2),
        Run::CallDeep { waiting, .. }
        | Run::ReplyDeep { waiting, .. }
        | Run::Timers(Timers { window: waiting, .. }) => equal(answer, "waiting", *waiting),
        Run::TimerExpiry(asked) => {
            figure(answer, "overdue")?;
            if asked.spread_ms > 0 { in_order(answer) } else { Ok(()) }
        }
        Run::Selective { k, .. } => equal(answer, "waiting", *k),
        Run::Restart { reps, .. } => equal(answer, "alive", *reps),
        Run::Hog(hog) => trips(hog, answer),
        Run::Signals(asked) => signals(asked, answer),
        Run::Savina(asked) => savina(asked, answer),
        _ => Ok(()),
    }
}

/// Returns the required number of operations, and of messages or processes sent and received, if
/// the request determines them.
fn due(run: &Run) -> Option<(u64, u64)> {
    Some(match *run {
        Run::CallVsSend { mode: Mode::Local, n, .. } => (n, 0),
        Run::CallVsSend { mode: Mode::Remote, n, .. } => (n, n),
        Run::TailCall { n, reps } => (n * reps, 0),
        Run::SpawnChain { n, reps } | Run::ExitCascade { n, reps } | Run::Restart { n, reps } => {
            (n * reps, n * reps)
        }
        Run::Exchange(exchange)
        | Run::MessageSize(Payload { exchange, .. })
        | Run::Bandwidth(Payload { exchange, .. })
        | Run::MessageMoved(Payload { exchange, .. }) => {
            (exchange.n * exchange.reps, exchange.messages())
        }
        Run::SerialSpawn { total, .. } => (total, total),
        Run::PingPong { n }
        | Run::Call { n, .. }
        | Run::CallDeep { n, .. }
        | Run::ReplyDeep { n, .. } => (n, 2 * n),
        Run::Throughput { n, .. }
        | Run::FanIn { n, .. }
        | Run::ThreadRing { n, .. }
        | Run::ForkJoin { n, .. }
        | Run::FanOut { n, .. }
        | Run::Selective { reps: n, .. }
        | Run::Timers(Timers { n, .. })
        | Run::TimerExpiry(Expiry { n, .. })
        | Run::IdleMemory { n }
        | Run::MonitorChurn { n }
        | Run::LinkChurn { n } => (n, n),
        Run::Skynet { leaves } => (leaves, leaves),
        Run::Savina(asked) => asked.due(),
        Run::Hog(_) | Run::Signals(_) => return None,
    })
}

/// Checks the counts of round trips: all started trips completed, unless the contender reports that
/// it starved.
fn trips(hog: &Hog, answer: &Value) -> Result<(), String> {
    let (started, back) = (figure(answer, "sent")?, figure(answer, "received")?);
    equal(answer, "ops", back)?;
    match hog.pace {
        LoopKind::Open => equal(answer, "sent", hog.ms)?,
        LoopKind::Closed if started == 0 => {
            return Err("sent is 0: no round trip started".to_owned());
        }
        LoopKind::Closed => {}
    }
    in_order(answer)?;
    if figure(answer, "late_p50_ns")? > figure(answer, "late_p99_ns")? {
        return Err("late_p50_ns and late_p99_ns are not in order".to_owned());
    }
    match figure(answer, "starved")? {
        0 if back == started && figure(answer, "elapsed_ns")? > 0 => Ok(()),
        1 if back < started => Ok(()),
        starved => Err(format!("starved is {starved}, but {back} of {started} are back")),
    }
}

/// Checks the counts of signals, and that only the requested kinds occur.
fn signals(asked: &Signals, answer: &Value) -> Result<(), String> {
    let sent = figure(answer, "sent")?;
    if sent == 0 || figure(answer, "elapsed_ns")? == 0 {
        return Err("nothing was sent, or in no time".to_owned());
    }
    equal(answer, "ops", sent)?;
    equal(answer, "received", sent)?;
    let (exits, switches) = (figure(answer, "exits")?, figure(answer, "switches")?);
    equal(answer, "messages", sent.saturating_sub(exits).saturating_sub(switches))?;
    match asked.exit_percent {
        0 => equal(answer, "exits", 0)?,
        100 => equal(answer, "messages", 0)?,
        _ => {}
    }
    if asked.switch == 0 && switches > 0 {
        return Err(format!("switches is {switches}, and none was asked for"));
    }
    if figure(answer, "late")? > sent || figure(answer, "cut")? > asked.senders {
        return Err("more are late than were sent, or more are cut than sent".to_owned());
    }
    figure(answer, "drain_ns").map(drop)
}

/// Checks the additional fields of a Savina program.
fn savina(asked: &Savina, answer: &Value) -> Result<(), String> {
    let steps = match asked {
        Savina::Spread { .. } => {
            figure(answer, "calibration_ns")?;
            figure(answer, "steps")?
        }
        Savina::Philosophers { .. } => figure(answer, "denied")?,
        _ => 0,
    };
    asked.fields(steps).into_iter().try_for_each(|(name, due)| equal(answer, name, due))
}

/// Checks that the percentiles are complete, but for `p90_ns`, and ascending.
fn in_order(answer: &Value) -> Result<(), String> {
    let [median, most, longest] = DELAYS.map(|name| figure(answer, name));
    let (median, most, longest) = (median?, most?, longest?);
    let between = answer.get("p90_ns").map_or(Ok(median), |_| figure(answer, "p90_ns"))?;
    if [median, between, most, longest].is_sorted() {
        Ok(())
    } else {
        Err("p50_ns, p90_ns, p99_ns and max_ns are not in order".to_owned())
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
    use crate::variants::Flow;

    #[test]
    fn lost_message_is_detected() {
        let run = Run::PingPong { n: 10 };
        let mut answer = json!({"elapsed_ns": 5, "ops": 10, "sent": 20, "received": 20});
        assert_eq!(verdict(&run, &answer), Ok(()));
        answer["received"] = 19.into();
        assert_eq!(verdict(&run, &answer), Err("received is 19, not 20".to_owned()));
    }

    #[test]
    fn percentiles_are_absent_or_complete_and_ascending() {
        let run = Run::Throughput { n: 10, flow: Flow::Unbounded };
        let mut answer = json!({"elapsed_ns": 5, "ops": 10, "sent": 10, "received": 10});
        assert_eq!(verdict(&run, &answer), Ok(()));
        answer["p50_ns"] = 3.into();
        answer["p99_ns"] = 3.into();
        let missing = "max_ns is no integer from 0 to 2^63 - 1";
        assert_eq!(verdict(&run, &answer), Err(missing.to_owned()));
        answer["max_ns"] = 3.into();
        assert_eq!(verdict(&run, &answer), Ok(()));
        answer["p50_ns"] = 4.into();
        let wrong = "p50_ns, p90_ns, p99_ns and max_ns are not in order";
        assert_eq!(verdict(&run, &answer), Err(wrong.to_owned()));
    }

    #[test]
    fn wrong_sum_of_a_tree_is_detected() {
        let run = Run::Skynet { leaves: 10 };
        let mut answer = json!({"elapsed_ns": 5, "ops": 10, "sent": 10, "received": 10, "sum": 45});
        assert_eq!(verdict(&run, &answer), Ok(()));
        answer["sum"] = 44.into();
        assert_eq!(verdict(&run, &answer), Err("sum is 44, not 45".to_owned()));
    }

    #[test]
    fn supervisor_that_gave_up_is_detected() {
        let run = Run::Restart { n: 5, reps: 2 };
        let mut answer =
            json!({"elapsed_ns": 5, "ops": 10, "sent": 10, "received": 10, "alive": 2});
        assert_eq!(verdict(&run, &answer), Ok(()));
        answer["alive"] = 1.into();
        assert_eq!(verdict(&run, &answer), Err("alive is 1, not 2".to_owned()));
    }

    #[test]
    fn lost_round_trip_is_detected_unless_the_run_starved() {
        let run = Run::Hog(Hog { pace: LoopKind::Open, hogs: 2, ms: 10 });
        let mut answer = json!({
            "elapsed_ns": 5, "ops": 10, "sent": 10, "received": 10,
            "starved": 0, "p50_ns": 1, "p99_ns": 2, "max_ns": 2, "late_p50_ns": 1, "late_p99_ns": 1,
        });
        assert_eq!(verdict(&run, &answer), Ok(()));
        answer["received"] = 9.into();
        assert_eq!(verdict(&run, &answer), Err("ops is 10, not 9".to_owned()));
        answer["ops"] = 9.into();
        let fault = "starved is 0, but 9 of 10 are back";
        assert_eq!(verdict(&run, &answer), Err(fault.to_owned()));
        answer["starved"] = 1.into();
        assert_eq!(verdict(&run, &answer), Ok(()));
        answer["p99_ns"] = 3.into();
        assert!(verdict(&run, &answer).is_err());
    }

    #[test]
    fn error_missing_figure_and_negative_figure_are_detected() {
        let run = Run::Throughput { n: 1, flow: Flow::Unbounded };
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
