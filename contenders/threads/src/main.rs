//! Blocking servers as a contender of the lab: Rust's standard library and one thread per
//! connection.
//!
//! The lab starts this program, which speaks the contender protocol on standard input and output.
//! Only the kernel limits such a server: it is the baseline for experiments in which a client waits
//! for each reply.

mod connection;
mod server;

use std::process::ExitCode;

use purlin_contender::{EXPERIMENTS, Hello, Serve, serve_program_with_servers};

fn main() -> ExitCode {
    if let Some(word) = std::env::args().nth(1) {
        eprintln!("contender-threads: {word:?} is no option; it takes none");
        return ExitCode::FAILURE;
    }
    let hello = Hello::new("threads", concat!("threads ", env!("CARGO_PKG_VERSION")))
        .without(&EXPERIMENTS)
        .serving(&["ack-request-reply", "ack-sync-ack"])
        .note("a thread that blocks for each connection; nothing but Rust's standard library")
        .note("it has no processes and no messages, hence no other experiments; no two threads work on a connection, hence no throttle, head-rest and async-ack");
    serve_program_with_servers(
        &hello,
        |asked| Err(format!("this contender does not run {}", asked.experiment())),
        |asked: Serve| match (asked.strategy, asked.cores) {
            (_, Some(_)) => Err("the threads of this contender run on all cores".to_owned()),
            ("request-reply", None) => server::start(connection::request_reply),
            ("sync-ack", None) => server::start(connection::sync_ack),
            (other, None) => Err(format!("this contender does not serve {}", other)),
        },
    )
}
