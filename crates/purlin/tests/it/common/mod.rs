//! Shared test helpers: nodes, waiting from outside a node, counted messages, log capture.

// WHY: each test binary uses only some of these.
#![allow(dead_code, unused_imports)]

pub(crate) mod chance;

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, io};

use purlin::{Down, Exit, ExitReason, Message, Node, Pid, Process};
pub(crate) use purlin_polling::{HANG, until};

/// Starts a node with the given number of workers.
pub(crate) fn node(workers: usize) -> Node {
    Node::builder().workers(workers).build().expect("a node starts")
}

/// Returns the node of the current process.
pub(crate) fn here() -> Node {
    Node::current().expect("this is a process")
}

/// Stops a node and asserts that every process yielded.
pub(crate) fn stop(node: &Node) {
    let report = node.stop_blocking();
    assert!(report.hogs.is_empty(), "processes that would not end: {:?}", report.hogs);
}

/// Runs a future on this thread, in a tokio runtime that is independent of all nodes.
pub(crate) fn outside<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime starts")
        .block_on(future)
}

/// Waits at most [`HANG`] for a process to end and returns its exit reason.
pub(crate) fn ends<M: Send + 'static>(pid: &Pid<M>) -> ExitReason {
    outside(async {
        let ended = tokio::time::timeout(HANG, pid.ended());
        ended.await.unwrap_or_else(|_| panic!("process {} has not ended", pid.id()))
    })
}

/// Exit reason of a process that fails.
pub(crate) fn boom() -> ExitReason {
    ExitReason::error("boom")
}

/// Ends with the reason that it receives.
pub(crate) async fn mortal(mut me: Process<ExitReason>) -> ExitReason {
    me.receive().await
}

/// Counts created and dropped tokens, to check that each is dropped exactly once.
#[derive(Clone, Default)]
pub(crate) struct DropCounter(Arc<Counts>);

#[derive(Default)]
struct Counts {
    born: AtomicUsize,
    dropped: AtomicUsize,
}

impl DropCounter {
    /// Creates a token.
    pub(crate) fn token(&self) -> Token {
        self.0.born.fetch_add(1, Ordering::Relaxed);
        Token(self.clone())
    }

    /// Creates a message that carries a token.
    pub(crate) fn message(&self, sender: usize, number: usize) -> Numbered {
        Numbered { sender, number, _token: self.token() }
    }

    /// Returns the number of tokens created.
    pub(crate) fn born(&self) -> usize {
        self.0.born.load(Ordering::Acquire)
    }

    /// Returns the number of tokens dropped.
    pub(crate) fn dropped(&self) -> usize {
        self.0.dropped.load(Ordering::Acquire)
    }
}

/// Token of a [`DropCounter`]. Not `Clone`, so that a value that contains it cannot be cloned either.
pub(crate) struct Token(DropCounter);

impl Drop for Token {
    fn drop(&mut self) {
        self.0.0.dropped.fetch_add(1, Ordering::AcqRel);
    }
}

/// Message type of a process that receives only exit and down messages.
#[derive(Debug, Message)]
pub(crate) enum Notice {
    #[from]
    Down(Down),
    #[from]
    Exit(Exit),
}

/// Counted message with its sender and sequence number.
pub(crate) struct Numbered {
    pub(crate) sender: usize,
    pub(crate) number: usize,
    _token: Token,
}

/// Panics when dropped, unless the thread is already panicking.
#[derive(Clone)]
pub(crate) struct PanicsWhenDropped(pub(crate) &'static str);

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("{}", self.0);
        }
    }
}

/// An error whose destructor panics.
pub(crate) struct Barbed(pub(crate) PanicsWhenDropped);

impl fmt::Debug for Barbed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.0)
    }
}

impl fmt::Display for Barbed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.0)
    }
}

impl std::error::Error for Barbed {}

/// Installs the global subscriber and returns a receiver of its output, line by line. Can be called
/// once per test binary.
pub(crate) fn log() -> Receiver<String> {
    let (write, log) = channel();
    let writer: &'static Log = Box::leak(Box::new(Log(Mutex::new(write))));
    tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer).init();
    log
}

/// Writer that forwards each line to a channel.
struct Log(Mutex<Sender<String>>);

impl io::Write for &Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = log.send(String::from_utf8_lossy(bytes).into_owned());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Waits for a log line that contains all of the given parts.
pub(crate) fn said(log: &Receiver<String>, all: &[&str]) {
    let mut before = Vec::new();
    loop {
        let Ok(line) = log.recv_timeout(HANG) else {
            panic!("{all:?} is in none of {before:#?}");
        };
        if all.iter().all(|part| line.contains(part)) {
            return;
        }
        before.push(line);
    }
}
