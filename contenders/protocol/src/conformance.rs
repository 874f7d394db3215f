//! Conformance test of the contender protocol, for programs in any language.
//!
//! For tests of contenders: [`examine`] starts the program, sends `hello`, runs every experiment it
//! offers with small parameters, tests every server it offers, sends malformed requests in between,
//! and ends the program in both ways. It does not judge performance.
//!
//! ```no_run
//! use std::process::Command;
//! let missing = purlin_contender::conformance::examine(|| Command::new("contender-mine"));
//! assert_eq!(missing, Ok(vec!["call-deep", "reply-deep", "selective"]));
//! ```

mod cases;
mod driver;
mod servers;
mod verdict;

use std::process::Command;

use serde_json::{Map, Value, json};

pub use driver::Contender;
pub use verdict::verdict;

use crate::acks::SERVED;
use crate::run::{EXPERIMENTS, Run};
use crate::variants::{Variants, WITH_VARIANTS};

/// Tests the contender that `command` starts; it is started twice. Returns the experiments without
/// a server that it does not offer.
///
/// # Errors
///
/// Returns the first violation of the protocol, with the request that revealed it.
pub fn examine(command: impl Fn() -> Command) -> Result<Vec<&'static str>, String> {
    let mut contender = Contender::start(command())?;
    let hello = contender.ask(r#"{"op":"hello"}"#)?;
    introduction(&hello)?;
    let missing = not_offered(&hello)?;
    for (experiment, params) in cases::good() {
        if missing.contains(&experiment) {
            let request = json!({"op": "run", "experiment": experiment, "params": params});
            refused(&mut contender, request.to_string().as_bytes())?;
        } else {
            run_one(&mut contender, experiment, &params)?;
        }
    }
    for variant in listed(&hello, "signals") {
        for params in cases::with_queues() {
            with_variant(&mut contender, "signals", params, variant)?;
        }
    }
    for (experiment, params) in
        cases::good().into_iter().filter(|(id, _)| WITH_VARIANTS.contains(id))
    {
        for variant in listed(&hello, experiment) {
            with_variant(&mut contender, experiment, params.clone(), variant)?;
        }
    }
    servers::examine(&mut contender, &hello)?;
    for bad in cases::bad() {
        refused(&mut contender, bad.as_bytes())?;
    }
    refused(&mut contender, b"\xff\xfe{\"op\":\"hello\"}")?;
    refused(&mut contender, &vec![b'['; 3 << 20])?;
    let again = contender.ask(r#"{"op":"hello"}"#)?;
    if again != hello {
        return Err(format!("after nonsense, hello gives {again}, not {hello}"));
    }
    contender.send(b"{\"op\":\"quit\"}\n")?;
    ended("quit", contender)?;
    ended("the end of input", Contender::start(command())?)?;
    Ok(missing)
}

/// Checks that the contender reports the version of the package it was built with, as recorded in
/// the lock file.
///
/// # Errors
///
/// Returns one line with both versions.
pub fn tells_version(command: Command, lock: &str, package: &str) -> Result<(), String> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    let built = lines.nth(1).and_then(|line| line.strip_prefix("version = ")).unwrap_or("missing");
    let built = format!("{package} {}", built.trim_matches('"'));
    let hello = Contender::start(command)?.ask(r#"{"op":"hello"}"#)?;
    if hello["version"] == built.as_str() {
        Ok(())
    } else {
        Err(format!("it reports {}, and the lock file has {built}", hello["version"]))
    }
}

/// Checks that the program rejects an unknown option: it exits immediately and unsuccessfully, with
/// one line that names the option.
///
/// # Errors
///
/// Returns one line that describes the actual behaviour.
pub fn refuses(mut command: Command, unknown: &[&str]) -> Result<(), String> {
    let said = command
        .args(unknown)
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|error| format!("it cannot be started: {error}"))?;
    let words = String::from_utf8_lossy(&said.stderr);
    let named = unknown.last().is_some_and(|last| words.contains(last));
    if !said.status.success() && words.lines().count() == 1 && named {
        Ok(())
    } else {
        Err(format!("after {unknown:?} it ends with {} and says {words:?}", said.status))
    }
}

/// Checks that a contender with the option `--workers N` runs on one worker for N = 1, as its first
/// note must say, and rejects invalid numbers.
///
/// # Errors
///
/// Returns one line that describes the actual behaviour.
pub fn obeys_workers(command: impl Fn() -> Command) -> Result<(), String> {
    let mut one = command();
    one.args(["--workers", "1"]);
    let hello = Contender::start(one)?.ask(r#"{"op":"hello"}"#)?;
    if !hello["notes"][0].as_str().is_some_and(|note| note.contains("of 1 workers")) {
        return Err(format!(
            "started with one worker it does not say so in its first note: {hello}"
        ));
    }
    ["0", "many"].iter().try_for_each(|number| refuses(command(), &["--workers", number]))
}

/// Checks an answer to `hello`.
fn introduction(hello: &Value) -> Result<(), String> {
    for field in ["name", "version"] {
        if hello[field].as_str().is_none_or(str::is_empty) {
            return Err(format!("hello has no {field}: {hello}"));
        }
    }
    if hello["os_pid"].as_u64().is_none_or(|pid| pid == 0) {
        return Err(format!("hello has no os_pid: {hello}"));
    }
    if !hello["notes"].as_array().is_some_and(|notes| notes.iter().all(Value::is_string)) {
        return Err(format!("the notes of hello are no list of strings: {hello}"));
    }
    Ok(())
}

/// Returns the experiments that an answer to `hello` does not list.
fn not_offered(hello: &Value) -> Result<Vec<&'static str>, String> {
    let Some(offered) = hello["experiments"].as_array() else {
        return Err(format!("the experiments of hello are no list: {hello}"));
    };
    let (named, missing): (Vec<_>, Vec<_>) =
        EXPERIMENTS.iter().partition(|id| offered.iter().any(|known| known == *id));
    let serves = |id: &str| offered.iter().any(|known| known == id);
    if named.is_empty() && !SERVED.into_iter().any(serves) {
        return Err(format!("hello names no experiment of the protocol: {hello}"));
    }
    Ok(missing)
}

/// Parses a request without a variant, on which the expected figures do not depend.
fn parsed(experiment: &str, params: &Value) -> Result<Run, String> {
    Run::parse(experiment, params.as_object().unwrap_or(&Map::new()), &Variants::default())
}

fn run_one(contender: &mut Contender, experiment: &str, params: &Value) -> Result<(), String> {
    let request = json!({"op": "run", "experiment": experiment, "params": params, "seed": 1});
    let run = parsed(experiment, params)?;
    let answer = contender.ask(&request.to_string())?;
    verdict(&run, &answer).map_err(|fault| format!("{request} gave {answer}: {fault}"))
}

/// Returns the variants that an answer to `hello` lists for an experiment.
fn listed<'a>(hello: &'a Value, experiment: &str) -> impl Iterator<Item = &'a Value> {
    hello["variants"][experiment].as_array().into_iter().flatten()
}

fn with_variant(
    contender: &mut Contender,
    experiment: &str,
    mut params: Value,
    variant: &Value,
) -> Result<(), String> {
    let run = parsed(experiment, &params)?;
    params["variant"] = variant.clone();
    let request = json!({"op": "run", "experiment": experiment, "params": params});
    let answer = contender.ask(&request.to_string())?;
    verdict(&run, &answer).map_err(|fault| format!("{request} gave {answer}: {fault}"))
}

fn refused(contender: &mut Contender, line: &[u8]) -> Result<(), String> {
    let asked = String::from_utf8_lossy(&line[..line.len().min(100)]).into_owned();
    contender.send(&[line, b"\n"].concat())?;
    let answer = contender.answer()?;
    match answer["error"].as_str() {
        Some(complaint) if !complaint.is_empty() && !complaint.contains('\n') => Ok(()),
        _ => Err(format!("{asked} should be refused with one line of error, gave {answer}")),
    }
}

fn ended(how: &str, contender: Contender) -> Result<(), String> {
    match contender.finish()? {
        Some(0) => Ok(()),
        status => Err(format!("{how} should end it with status 0, not {status:?}")),
    }
}
