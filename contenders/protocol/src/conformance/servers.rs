//! Checks that a contender's servers acknowledge exactly the messages they receive, with a client
//! that sends a few messages of critical sizes and verifies every answer.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Contender, refused};
use crate::acks::{BEST, EITHER, SERVED, SYNC_OR_ASYNC, TAKEN};

/// Payload sizes of the messages on a connection, in bytes, chosen to trigger parser errors.
const SIZES: [u32; 8] = [5, 0, 1, 99, 100, 5, 70_000, 5];

/// Timeout for an expected answer. WHY: a guard against hanging, thousands of times the duration of
/// an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

/// Starts each server that the answer to `hello` lists, sends messages to it, and stops it.
pub(super) fn examine(contender: &mut Contender, hello: &Value) -> Result<(), String> {
    refused(contender, br#"{"op":"stop"}"#)?;
    for experiment in SERVED {
        let serve =
            |params: Value| json!({"op": "serve", "experiment": experiment, "params": params});
        let offers = |listed: &Vec<Value>| listed.iter().any(|known| known == experiment);
        if !hello["experiments"].as_array().is_some_and(offers) {
            refused(contender, serve(json!({})).to_string().as_bytes())?;
            continue;
        }
        let replies = experiment == "ack-request-reply";
        for params in cases(experiment, &hello["variants"][experiment])? {
            let request = serve(params);
            one(contender, &request, replies).map_err(|fault| format!("{request}: {fault}"))?;
        }
        for wrong in [json!({"cores": 0}), json!({"corse": 1}), json!({"variant": "none such"})] {
            refused(contender, serve(wrong).to_string().as_bytes())?;
        }
    }
    refused(contender, br#"{"op":"stop"}"#)
}

/// Returns the parameters of the requests for a server: without a variant, and with each variant of
/// the answer to `hello`.
fn cases(experiment: &str, listed: &Value) -> Result<Vec<Value>, String> {
    let due = match experiment {
        SYNC_OR_ASYNC => EITHER.map(|(name, _)| name).to_vec(),
        BEST => TAKEN.map(|(name, _)| name).to_vec(),
        _ => Vec::new(),
    };
    let listed: Vec<&str> =
        listed.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if let Some(missing) = due.into_iter().find(|name| !listed.contains(name)) {
        return Err(format!("{experiment}: the greeting does not name the variant {missing}"));
    }
    let variants = listed.into_iter().map(|name| json!({"variant": name}));
    let cases = [json!({})].into_iter().chain(variants).map(|mut params| {
        if experiment == SYNC_OR_ASYNC {
            params["cores"] = 1.into();
        }
        params
    });
    Ok(cases.collect())
}

/// Tests one server, from start to stop.
fn one(contender: &mut Contender, request: &Value, replies: bool) -> Result<(), String> {
    let answer = contender.ask(&request.to_string())?;
    let address = answer["address"].as_str().and_then(|text| text.parse::<SocketAddr>().ok());
    let address = address.ok_or_else(|| format!("it gave no address: {answer}"))?;
    refused(contender, request.to_string().as_bytes())?;
    let connections = 2;
    for _ in 0..connections {
        talk(address, replies).map_err(|error| format!("a client of it: {error}"))?;
    }
    let answer = contender.ask(r#"{"op":"stop"}"#)?;
    let due = connections * SIZES.len();
    if answer["received"].as_u64() != Some(due as u64) {
        return Err(format!("{due} messages were acknowledged, and it gave {answer}"));
    }
    if TcpStream::connect(address).is_ok() {
        return Err("it still listens when it is stopped".to_owned());
    }
    Ok(())
}

/// Sends all messages on one connection, and waits until they are acknowledged and the server
/// closes the connection. `replies`: whether each message is answered before the next is sent.
fn talk(address: SocketAddr, replies: bool) -> Result<(), String> {
    let mut stream = TcpStream::connect(address).map_err(said)?;
    stream.set_read_timeout(Some(ANSWER_TIMEOUT)).map_err(said)?;
    if replies {
        for (id, size) in (0..).zip(SIZES) {
            stream.write_all(&message(id, size.to_be_bytes(), size)).map_err(said)?;
            let mut reply = [0; 8];
            stream.read_exact(&mut reply).map_err(said)?;
            if reply != u64::to_le_bytes(id) {
                return Err(format!("message {id} was answered by {reply:?}"));
            }
        }
    } else {
        let all = (0..).zip(SIZES).flat_map(|(id, size)| message(id, size.to_le_bytes(), size));
        let all: Vec<u8> = all.collect();
        // The split is within the header of the second message.
        let (some, rest) = all.split_at(20);
        stream.write_all(some).map_err(said)?;
        stream.write_all(rest).map_err(said)?;
        let mut acknowledged = 0;
        while acknowledged < SIZES.len() as u64 {
            let mut ack = [0; 12];
            stream.read_exact(&mut ack).map_err(said)?;
            let (id, skipped) = ack.split_at(8);
            let id = u64::from_le_bytes(id.try_into().unwrap_or_default());
            let skipped = u32::from_le_bytes(skipped.try_into().unwrap_or_default());
            if acknowledged + u64::from(skipped) != id {
                return Err(format!(
                    "{acknowledged} messages are acknowledged, and then {id}, skipping {skipped}"
                ));
            }
            acknowledged = id + 1;
        }
    }
    stream.shutdown(Shutdown::Write).map_err(said)?;
    match stream.read(&mut [0]) {
        Ok(0) => Ok(()),
        Ok(_) => Err("there are more answers than messages".to_owned()),
        Err(error) => Err(format!("it does not close when its client has: {error}")),
    }
}

fn message(id: u64, written: [u8; 4], size: u32) -> Vec<u8> {
    let payload = (0..size).map(|place| place as u8);
    id.to_le_bytes().into_iter().chain(written).chain(payload).collect()
}

fn said(error: std::io::Error) -> String {
    error.to_string()
}
