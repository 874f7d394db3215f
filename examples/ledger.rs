//! A program that is one application: a ledger written to over TCP, until SIGTERM.
//!
//! A client sends lines. The program appends each line to the ledger file and replies with the
//! line's number; by then the line is in the file. That holds also if the program is stopped while
//! clients are sending:
//!
//! ```text
//! application "ledger"
//! └─ supervisor, rest for one
//!    ├─ book     owns the file
//!    ├─ clerks   supervisor, simple one for one: a clerk for each connection
//!    └─ door     accepts connections
//! ```
//!
//! They stop in reverse start order. The door stops first, so that no client connects any more;
//! then the clerks; last the book, when no clerk is left to write to it.
//!
//! Run it with `cargo run --example ledger`, followed by `--` and the path of the ledger file. Write
//! to it with `nc`, and stop it with `kill` or Ctrl-C.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use purlin::application::{self, ApplicationSpec};
use purlin::supervisor::{ChildSpec, ChildTemplate, DynamicSupervisorRef, SupervisorSpec};
use purlin::{Exit, ExitReason, Process, Reply, whereis};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Any error ends its process; the supervisor decides what follows.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Messages to the book.
enum Note {
    Entry(String, Reply<u64>),
    Exit(Exit),
}

impl From<Exit> for Note {
    fn from(exit: Exit) -> Self {
        Note::Exit(exit)
    }
}

/// Writes entries and replies with their numbers. At an exit signal it syncs the file and ends.
async fn book(mut me: Process<Note>, path: String) -> Result<ExitReason, io::Error> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    me.register("book").map_err(io::Error::other)?;
    me.trap_exit(true);
    let mut count = 0;
    loop {
        match me.receive().await {
            Note::Entry(line, reply) => {
                writeln!(file, "{line}")?;
                count += 1;
                reply.send(count);
            }
            Note::Exit(exit) => {
                file.sync_all()?;
                return Ok(exit.reason);
            }
        }
    }
}

/// Serves one connection.
async fn clerk(_me: Process<()>, socket: TcpStream) -> Result<(), Failure> {
    let (read, mut write) = socket.into_split();
    let mut lines = BufReader::new(read).lines();
    let book = whereis::<Note>("book")?;
    while let Some(line) = lines.next_line().await? {
        let number = book.call(|reply| Note::Entry(line, reply)).await?;
        write.write_all(format!("{number}\n").as_bytes()).await?;
    }
    Ok(())
}

/// Accepts connections.
async fn door(_me: Process<()>) -> Result<(), Failure> {
    let clerks = DynamicSupervisorRef::<TcpStream>::whereis("clerks")?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on {}", listener.local_addr()?);
    loop {
        let (socket, _) = listener.accept().await?;
        clerks.start_child(socket).await?;
    }
}

fn ledger(path: String) -> ApplicationSpec {
    let clerks = SupervisorSpec::simple_one_for_one(ChildTemplate::temporary("clerk", clerk));
    let tree = SupervisorSpec::rest_for_one()
        .child(ChildSpec::worker("book", move |me| book(me, path)))
        .child(ChildSpec::supervisor("clerks", clerks.name("clerks")))
        .child(ChildSpec::worker("door", door));
    ApplicationSpec::new("ledger", tree)
        .shutdown(Duration::from_secs(10))
        .prep_stop(async || println!("stopping"))
        .stop(async || println!("stopped"))
}

#[purlin::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [path] = &arguments[..] else {
        eprintln!("ledger: {arguments:?} is not one argument: give the file that is the ledger");
        return ExitCode::from(2);
    };
    application::run(ledger(path.clone())).await
}
