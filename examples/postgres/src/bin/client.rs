//! `postgres_client ADDRESS OUTBOX`: sends the lines of its standard input, each exactly once.
//!
//! | output | meaning |
//! |---|---|
//! | `holds N` | first line: the outbox has N messages, the first N lines of the input since it was empty |
//! | `answered N` | all messages up to number N are answered |
//! | `refused N REASON` | the server has refused message N; printed at least once |
//! | `done` | the input has ended, and all messages are answered |

use std::env;
use std::error::Error;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use example_postgres::outbox::Outbox;
use purlin_ack::client::{Backoff, Client, ConnectError};
use purlin_ack::session::Level;
use purlin_ack::wire::LARGEST;
use tokio::io::{AsyncReadExt as _, Stdin};
use tokio::sync::Notify;
use tokio::time::sleep;

type Failure = Box<dyn Error + Send + Sync>;

/// Length of the longest line, without its line feed.
const LONGEST: usize = LARGEST as usize;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [address, path] = &arguments[..] else {
        eprintln!("usage: postgres_client ADDRESS OUTBOX");
        return ExitCode::from(2);
    };
    let outbox = match Outbox::open(Path::new(path)) {
        Ok(outbox) => outbox,
        Err(error) => {
            eprintln!("postgres_client: {path}: {error}");
            return ExitCode::from(2);
        }
    };
    match run(address, outbox).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("postgres_client: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(address: &str, mut outbox: Outbox) -> Result<(), Failure> {
    println!("holds {}", outbox.count());
    let client = Arc::new(connect(address, &outbox).await?);
    let answered = client.answered().map_or(0, |newest| newest + 1);
    if answered > outbox.count() {
        let held = outbox.count();
        return Err(format!("{answered} messages are answered, and the outbox has {held}").into());
    }
    for message in outbox.messages_from(answered)? {
        client.send(&message?).await?;
    }
    let sent = Arc::new(Notify::new());
    tokio::spawn(report(Arc::clone(&client), Arc::clone(&sent)));
    sent.notify_one();
    let mut input = Lines { input: tokio::io::stdin(), bytes: Vec::new(), ended: false };
    while let Some(lines) = input.next().await? {
        outbox.append(&lines).await?;
        let whole = lines.strip_suffix(b"\n").unwrap_or(&lines);
        for message in whole.split(|byte| *byte == b'\n') {
            client.send(message).await?;
        }
        sent.notify_one();
    }
    client.close().await?;
    report_answered(&client);
    outbox.clear()?;
    println!("done");
    Ok(())
}

/// Opens the session of the outbox. Waits for a server.
async fn connect(address: &str, outbox: &Outbox) -> Result<Client, ConnectError> {
    let mut failures = 0;
    loop {
        let client = Client::builder(address)
            .session(Level::Durable)
            .identity(outbox.client())
            .epoch(outbox.epoch())
            .resume(0)
            // WHY: the messages are in the outbox, so giving up gains nothing.
            .give_up_after(Duration::MAX)
            // The server waits for its database before it answers.
            .connect_within(Duration::from_secs(30))
            .on_refused(|refused| println!("refused {} {}", refused.id, refused.reason));
        match client.connect().await {
            Err(ConnectError::Lost(lost)) => {
                eprintln!("postgres_client: {lost}, trying again");
                sleep(Backoff::default().wait(failures, fastrand::f64())).await;
                failures += 1;
            }
            connected => return connected,
        }
    }
}

/// Prints how far the messages are answered, each time the messages sent so far are.
async fn report(client: Arc<Client>, sent: Arc<Notify>) {
    loop {
        sent.notified().await;
        if client.flush().await.is_err() {
            return;
        }
        report_answered(&client);
    }
}

fn report_answered(client: &Client) {
    if let Some(newest) = client.answered() {
        println!("answered {newest}");
    }
}

/// Reader of whole lines.
struct Lines {
    input: Stdin,
    /// Bytes read and not returned.
    bytes: Vec<u8>,
    ended: bool,
}

impl Lines {
    /// Returns the lines that have arrived, at least one, each with a line feed at its end.
    async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let lines = self.bytes.split_inclusive(|byte| *byte == b'\n');
            let valid = lines.take_while(|line| line.ends_with(b"\n") && line.len() <= LONGEST + 1);
            let end = valid.map(<[u8]>::len).sum();
            if end > 0 {
                let rest = self.bytes.split_off(end);
                return Ok(Some(std::mem::replace(&mut self.bytes, rest)));
            }
            if self.ended && self.bytes.is_empty() {
                return Ok(None);
            }
            if self.bytes.len() > LONGEST {
                return Err(io::Error::other(format!("a line exceeds {LONGEST} bytes")));
            }
            if self.input.read_buf(&mut self.bytes).await? == 0 {
                self.ended = true;
                // The last line may lack its line feed.
                if !self.bytes.is_empty() {
                    self.bytes.push(b'\n');
                }
            }
        }
    }
}
