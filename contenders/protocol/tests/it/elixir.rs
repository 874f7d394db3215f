//! Conformance of the Elixir contender, compiled and run on the BEAM.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use purlin_contender::conformance::{Contender, examine};
use serde_json::json;

use crate::built::{built, sources};

/// Returns the folder with the compiled Elixir contender; `None` if Elixir is not installed.
fn compiled() -> Option<PathBuf> {
    let shared = sources("beam", "erl").into_iter();
    let shared =
        shared.filter(|file| ["mini_json.erl", "params.erl"].iter().any(|of| file.ends_with(of)));
    let (shared, own) = (shared.collect::<Vec<_>>(), sources("elixir", "ex"));
    built("contender-elixir", &["erlc", "elixirc"], &[&shared[..], &own].concat(), |folder| {
        let mut erlc = Command::new("erlc");
        let mut elixirc = Command::new("elixirc");
        erlc.args(["-Wall", "-Werror", "-o"]).arg(folder).args(&shared);
        elixirc.args(["--warnings-as-errors", "-pa"]).arg(folder);
        elixirc.arg("-o").arg(folder).args(&own);
        [erlc, elixirc].into_iter().all(|mut compiler| {
            let name = compiler.get_program().to_string_lossy().into_owned();
            match compiler.output() {
                // WHY not a failure: Elixir is only needed for comparisons, not by purlin.
                Err(error) => {
                    println!(
                        "skipped: {name} cannot be started ({error}): install Elixir, on Debian with `apt-get install elixir`"
                    );
                    false
                }
                Ok(output) => {
                    let said = [output.stdout, output.stderr].concat();
                    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&said));
                    true
                }
            }
        })
    })
}

fn elixir(flags: &str, directory: &Path) -> Command {
    let mut command = Command::new("elixir");
    command.args(["--erl", flags, "-pa"]).arg(directory).args(["-e", "Contender.main()"]);
    command
}

#[test]
fn elixir_contender_conforms_to_the_protocol() {
    if let Some(directory) = compiled() {
        assert_eq!(examine(|| elixir("+P 4000000", &directory)), Ok(vec!["message-moved"]));
    }
}

#[test]
fn elixir_contender_reports_its_versions() {
    let Some(directory) = compiled() else {
        return;
    };
    let mut contender = Contender::start(elixir("+P 4000000", &directory)).unwrap();
    let hello = contender.ask(r#"{"op":"hello"}"#).unwrap();
    let version = hello["version"].as_str().unwrap();
    assert!(version.starts_with("Elixir 1.") && version.contains(" on Erlang/OTP "), "{version}");
}

/// Returns the maximum number of messages that a sync-ack server acknowledges per read, for 40 000 messages of 17 bytes
/// sent at full speed.
fn most_in_a_read(contender: &mut Contender, variant: &str) -> u32 {
    const MESSAGES: u64 = 40_000;
    let serve =
        json!({"op": "serve", "experiment": "ack-sync-ack", "params": {"variant": variant}});
    let answer = contender.ask(&serve.to_string()).unwrap();
    let mut stream = TcpStream::connect(answer["address"].as_str().unwrap()).unwrap();
    let mut sends = stream.try_clone().unwrap();
    let messages = (0..MESSAGES)
        .flat_map(|id| [&id.to_le_bytes(), &[5, 0, 0, 0, 1, 2, 3, 4][..], &[5]].concat());
    let messages: Vec<u8> = messages.collect();
    let writer = std::thread::spawn(move || sends.write_all(&messages).unwrap());
    let (mut all, mut most) = (0, 0);
    while all < MESSAGES {
        let mut ack = [0; 12];
        stream.read_exact(&mut ack).unwrap();
        let count = u32::from_le_bytes(ack[8..].try_into().unwrap()) + 1;
        all += u64::from(count);
        most = most.max(count);
    }
    writer.join().unwrap();
    drop(stream);
    assert_eq!(contender.ask(r#"{"op":"stop"}"#).unwrap(), json!({"received": MESSAGES}));
    most
}

// E: the servers of 2015 read with the runtime's default buffer; the effect of a larger one is a variant.
#[test]
fn read_size_is_the_default_buffer_or_that_of_the_variant() {
    let Some(directory) = compiled() else {
        return;
    };
    let mut contender = Contender::start(elixir("+P 4000000", &directory)).unwrap();
    let hello = contender.ask(r#"{"op":"hello"}"#).unwrap();
    let named = hello["variants"]["ack-sync-ack"].clone();
    assert_eq!(named, json!(["default-buffer", "buffer-64k"]), "the natural one first");
    // Maximum number of messages that end within one read; the first may have begun in the read before.
    let [classic, larger] = [1460, 65_536].map(|bytes: u32| bytes.div_ceil(17));
    assert!(most_in_a_read(&mut contender, "default-buffer") <= classic);
    let most = most_in_a_read(&mut contender, "buffer-64k");
    assert!(classic < most && most <= larger, "{most} messages in a read");
}
