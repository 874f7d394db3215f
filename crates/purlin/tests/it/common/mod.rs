//! What several test files share: a node, a way to wait from outside, a message that is counted, the
//! log.

// WHY: each test file is a program of its own and uses some of these.
#![allow(dead_code, unused_imports)]

pub(crate) mod chance;

use std::future::Future;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use purlin::{Down, Exit, ExitReason, Message, Node, Pid};
pub(crate) use purlin_polling::{HANG, until};

/// A node of that many workers.
pub(crate) fn node(workers: usize) -> Node {
    Node::builder().workers(workers).build().expect("a node starts")
}

/// The node of the process that asks.
pub(crate) fn here() -> Node {
    Node::current().expect("this is a process")
}

/// Stops a node and demands that every process let go.
pub(crate) fn stop(node: &Node) {
    let report = node.stop_blocking();
    assert!(report.hogs.is_empty(), "processes that would not end: {:?}", report.hogs);
}

/// Runs a future on this thread, in a tokio runtime that has nothing to do with any node.
pub(crate) fn outside<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime starts")
        .block_on(future)
}

/// Waits for the end of a process, at most for [`HANG`].
pub(crate) fn ends<M: Send + 'static>(pid: &Pid<M>) -> ExitReason {
    outside(async {
        let ended = tokio::time::timeout(HANG, pid.ended());
        ended.await.unwrap_or_else(|_| panic!("process {} has not ended", pid.id()))
    })
}

/// Counts how many of a kind there were and are, to see that each is dropped exactly once.
#[derive(Clone, Default)]
pub(crate) struct Census(Arc<Counts>);

#[derive(Default)]
struct Counts {
    born: AtomicUsize,
    dropped: AtomicUsize,
}

impl Census {
    /// One more.
    pub(crate) fn token(&self) -> Token {
        self.0.born.fetch_add(1, Ordering::Relaxed);
        Token(self.clone())
    }

    /// One more, in a message.
    pub(crate) fn message(&self, sender: usize, number: usize) -> Numbered {
        Numbered { sender, number, _token: self.token() }
    }

    /// How many there ever were.
    pub(crate) fn born(&self) -> usize {
        self.0.born.load(Ordering::Acquire)
    }

    /// How many have gone.
    pub(crate) fn dropped(&self) -> usize {
        self.0.dropped.load(Ordering::Acquire)
    }
}

/// One of a [`Census`]. Not `Clone`: what carries it cannot be copied.
pub(crate) struct Token(Census);

impl Drop for Token {
    fn drop(&mut self) {
        self.0.0.dropped.fetch_add(1, Ordering::AcqRel);
    }
}

/// What a process receives that only looks at the ends of others.
#[derive(Debug, Message)]
pub(crate) enum Notice {
    #[from]
    Down(Down),
    #[from]
    Exit(Exit),
}

/// A message that is counted: who sent it, and the how manyeth it was.
pub(crate) struct Numbered {
    pub(crate) sender: usize,
    pub(crate) number: usize,
    _token: Token,
}

/// Panics when it is dropped, unless the thread does already.
#[derive(Clone)]
pub(crate) struct PanicsWhenDropped(pub(crate) &'static str);

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("{}", self.0);
        }
    }
}

/// Has all that the program logs passed on, a line each. Once in a program.
pub(crate) fn log() -> Receiver<String> {
    let (write, log) = channel();
    let writer: &'static Log = Box::leak(Box::new(Log(Mutex::new(write))));
    tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer).init();
    log
}

/// Passes on what is written.
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

/// Waits until the log has said all of it, in one line.
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
