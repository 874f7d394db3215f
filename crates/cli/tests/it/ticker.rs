//! Tests of the complete application of the guide, `examples/ticker.rs`, as a program, and of the code in Erlang and
//! Elixir in the guide.

#![cfg(unix)]

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use purlin::{Node, Process};
use purlin_ack::client::Client;
use purlin_ack::session::Level;

use crate::support::nodes::{COOKIE, epmd, eval, free_port};
use crate::support::running::Running;
use crate::support::until;

const CLIENTS: usize = 8;
/// Number of recorded trades before the program is stopped.
const WARM: usize = 1000;

/// Returns the program; Cargo builds it with the tests.
fn program() -> PathBuf {
    let own = std::env::current_exe().expect("a test has a path");
    let built = own.ancestors().nth(2).expect("it lies in deps").join("examples/ticker");
    assert!(built.is_file(), "run the tests with `cargo test`, which builds {}", built.display());
    built
}

/// Starts the program in a folder; returns it and the address for trades.
fn start(folder: &Path, words: &[&str], port: &str) -> (Running, String) {
    let errors = File::create(folder.join("errors")).expect("the folder is writable");
    let mut command = Command::new(program());
    command.arg(journal(folder)).args(words).stderr(errors);
    command.env("TICKER_COOKIE", COOKIE).env("ERL_EPMD_PORT", port);
    let mut ticker = Running::start(&mut command);
    let line = ticker.line();
    let address = line.strip_prefix("trades on ").expect(&line).to_owned();
    (ticker, address)
}

fn journal(folder: &Path) -> PathBuf {
    folder.join("journal")
}

fn lines(folder: &Path) -> Vec<String> {
    let journal = std::fs::read_to_string(journal(folder)).unwrap_or_default();
    journal.lines().map(str::to_owned).collect()
}

/// Sends payloads in a session and waits until all are answered. Returns those that were refused.
fn trade(address: &str, payloads: &[&str]) -> Vec<u64> {
    let node = Node::builder().workers(1).build().expect("a node starts");
    let (tx, refused) = std::sync::mpsc::channel();
    let address = address.to_owned();
    let payloads: Vec<_> = payloads.iter().map(|payload| payload.as_bytes().to_owned()).collect();
    node.block_on(async move |_: Process<()>| {
        let client = Client::builder(address).session(Level::Handled);
        let client = client.on_refused(move |refused| tx.send(refused.id).expect("it is read"));
        let client = client.connect().await.expect("it listens");
        for payload in payloads {
            client.send(&payload).await.expect("it goes on");
        }
        client.close().await.expect("all is answered");
    });
    node.stop_blocking();
    refused.into_iter().collect()
}

/// Sends trades of one symbol until the program has gone. Returns those that were acknowledged.
async fn trade_until_the_end(address: String, client: usize) -> Vec<String> {
    // WHY no retries: the program does not come back.
    let trades = Client::builder(address).give_up_after(Duration::ZERO).connect().await;
    let trades = trades.expect("it listens");
    let mut sent = HashMap::new();
    for price in 1_u32.. {
        let line = format!("C{client} {price}");
        let Ok(id) = trades.send(line.as_bytes()).await else { break };
        sent.insert(id, line);
    }
    if let Err(unanswered) = trades.close().await {
        unanswered.messages.iter().for_each(|(id, _)| drop(sent.remove(id)));
    }
    sent.into_values().collect()
}

#[cfg(target_os = "linux")]
#[test]
fn the_page_is_opened_although_its_address_cannot_be_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    let full = File::options().write(true).open("/dev/full").expect("Linux has it");
    let mut command = Command::new(program());
    command.arg(journal(folder.path())).stderr(full);
    command.env("TICKER_COOKIE", COOKIE).env("ERL_EPMD_PORT", "0");
    let mut ticker = Running::start(&mut command);
    let line = ticker.line();
    assert!(line.starts_with("trades on "), "{line:?}");
    assert_eq!(ticker.end("-TERM"), (Some(0), "stopping\nstopped\n".into()));
}

// G4, E1: every acknowledged trade is on disk; SIGTERM stops in order
#[test]
fn every_acknowledged_trade_is_in_the_journal_after_sigterm_under_load() {
    let folder = tempfile::tempdir().expect("a folder");
    let (ticker, address) = start(folder.path(), &[], "0");
    let node = Node::builder().workers(1).build().expect("a node starts");
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (address, (tx, rx)) = (address.clone(), std::sync::mpsc::channel());
            node.spawn(async move |_: Process<()>| {
                tx.send(trade_until_the_end(address, client).await).expect("the test waits");
            });
            rx
        })
        .collect();
    until("the load runs", || lines(folder.path()).len() >= WARM);
    let (status, printed) = ticker.end("-TERM");
    let acknowledged: Vec<String> =
        clients.into_iter().flat_map(|client| client.recv().expect("a client ends")).collect();

    // The application has 10 s; after that it exits with another status.
    assert_eq!((status, &*printed), (Some(0), "stopping\nstopped\n"));
    let lines = lines(folder.path());
    let written: HashSet<&String> = lines.iter().collect();
    assert_eq!(written.len(), lines.len(), "no trade was written twice");
    let lost: Vec<_> = acknowledged.iter().filter(|line| !written.contains(line)).collect();
    assert!(lost.is_empty(), "acknowledged and not written: {lost:?}");
    assert!(!acknowledged.is_empty());
}

#[test]
fn processes_of_a_beam_subscribe_to_trades_and_call_the_market() {
    let (folder, port) = (tempfile::tempdir().expect("a folder"), free_port());
    let _epmd = epmd(&port);
    std::fs::write(journal(folder.path()), "OLD 5\nOLD 7\n").expect("the folder is writable");
    let (ticker, address) = start(folder.path(), &["ticker@127.0.0.1"], &port);
    let printed = std::thread::scope(|scope| {
        let beam = scope.spawn(|| {
            let joins = "{pg:start_link(ticker), pg:join(ticker, 'ACME', self())}";
            let price = |symbol| {
                format!(
                    "gen_server:call({{market, 'ticker@127.0.0.1'}}, {{price, <<\"{symbol}\">>}})"
                )
            };
            let next = "gen_server:call({market, 'ticker@127.0.0.1'}, {next, <<\"ACME\">>})";
            let ping = "net_adm:ping('ticker@127.0.0.1')";
            let receive = "receive Trade -> Trade end";
            let (acme, old, none) = (price("ACME"), price("OLD"), price("NONE"));
            eval(folder.path(), &port, &[joins, ping, receive, &acme, &old, &none, next])
        });
        // The subscription arrives at the ticker some time after the connection.
        while !beam.is_finished() {
            trade(&address, &["ACME 1250"]);
        }
        beam.join().expect("it does not panic")
    });
    let trade = "#{price => 1250,symbol => <<\"ACME\">>}";
    let last = ["pong", trade, "1250", "7", "undefined", "1250"];
    assert_eq!(printed[1..], last, "{printed:?}");
    assert_eq!(ticker.end("-INT"), (Some(0), "stopping\nstopped\n".into()));
}

#[test]
fn acknowledged_trades_survive_a_kill_and_invalid_trades_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (ticker, address) = start(folder.path(), &[], "0");
    assert_eq!(trade(&address, &["ACME 1250", "ACME", "ACME 0", "B C 7", "BEE 7"]), [1, 2, 3]);
    drop(ticker);
    // A program that was killed while it wrote.
    let torn = OpenOptions::new().append(true).open(journal(folder.path()));
    torn.and_then(|mut torn| torn.write_all(b"ACME 1")).expect("the journal is writable");
    let (ticker, address) = start(folder.path(), &[], "0");
    let long = format!("{} 1", "LONG".repeat(100));
    assert_eq!(trade(&address, &["ACME 1300", &long]), [0_u64; 0]);
    assert_eq!(lines(folder.path()), ["ACME 1250", "BEE 7", "ACME 1300", &long]);
    assert_eq!(ticker.end("-INT").0, Some(0));
}

#[test]
fn the_call_in_the_guide_works_in_elixir() {
    const CALL: &str = r#"GenServer.call({:market, :"ticker@127.0.0.1"}, {:price, "ACME"})"#;
    assert!(include_str!("../../../../docs/guide/cluster.md").contains(CALL));
    let (folder, port) = (tempfile::tempdir().expect("a folder"), free_port());
    let _epmd = epmd(&port);
    std::fs::write(journal(folder.path()), "ACME 1250\n").expect("the folder is writable");
    let _ticker = start(folder.path(), &["ticker@127.0.0.1"], &port);
    let mut command = Command::new("elixir");
    command
        .args(["--erl", "+S 1:1 +sbwt none -start_epmd false"])
        .args(["--name", "desk@127.0.0.1", "--cookie", COOKIE])
        .args(["-e", &format!("IO.inspect({CALL})")])
        .env("ERL_EPMD_PORT", &*port)
        .env("HOME", folder.path());
    let output = command.output().expect("elixir is there");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1250\n", "{output:?}");
}

/// Returns the first block of code in that language on the page *Coming from another system*.
fn block(language: &str) -> &'static str {
    let page = include_str!("../../../../docs/guide/coming-from.md");
    let (_, rest) = page.split_once(&format!("```{language}\n")).expect("the page has a block");
    rest.split_once("```").expect("the block ends").0
}

#[test]
fn the_markets_in_erlang_and_elixir_in_the_guide_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        let output = command.args(arguments).current_dir(&folder).output().expect("it is there");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("it is text")
    };
    let asks = "Market ! {trade, acme, 1250}, Market ! {price, acme, self()}, \
                receive {price, Price} -> io:format(\"~p~n\", [Price]) end, halt().";
    std::fs::write(folder.path().join("market.erl"), block("erlang")).expect("it is writable");
    run("erlc", &["-Werror", "market.erl"]);
    let erlang = format!("Market = spawn(market, market, [#{{}}]), {asks}");
    assert_eq!(run("erl", &["-noinput", "-eval", &erlang]), "1250\n");

    let asks = "market = spawn(Market, :market, [%{}])
                send(market, {:trade, \"ACME\", 1250})
                send(market, {:price, \"ACME\", self()})
                receive do: ({:price, price} -> IO.inspect(price))";
    let script = format!("{}\n{asks}\n", block("elixir"));
    std::fs::write(folder.path().join("market.exs"), script).expect("it is writable");
    assert_eq!(run("elixir", &["market.exs"]), "1250\n");
}

// G4: an application that cannot be started ends its program and logs the reason
#[test]
fn a_journal_that_cannot_be_opened_is_one_line_and_status_1() {
    let output = Command::new(program()).arg("/no/such/folder/journal").output();
    let output = output.expect("it is built");
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    let failed: Vec<_> = errors.lines().filter(|line| !line.contains(" can be seen at ")).collect();
    assert_eq!(failed.len(), 1, "{errors}");
    assert!(failed[0].starts_with("purlin: application ticker was not started: "), "{errors}");
}

#[test]
fn invalid_arguments_give_one_line_of_error_and_status_2() {
    for words in [&[][..], &["journal", "name", "more"], &["journal", "no name"]] {
        let folder = tempfile::tempdir().expect("a folder");
        let output = Command::new(program()).current_dir(&folder).args(words).output();
        let output = output.expect("it is built");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {errors}");
        let said: Vec<_> =
            errors.lines().filter(|line| !line.contains(" can be seen at ")).collect();
        assert!(said.len() == 1 && said[0].starts_with("ticker: "), "{words:?}: {errors}");
    }
}
