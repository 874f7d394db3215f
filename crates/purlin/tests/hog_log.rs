//! What the log says of a process that does not await. A program of its own, because the monitor
//! logs on a thread of its own and so to the subscriber of the whole program.

mod common;

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use common::{node, outside, stop};
use purlin::{ExitReason, Process};

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
fn said(log: &Receiver<String>, all: &[&str]) {
    loop {
        let line = log.recv_timeout(Duration::from_secs(20)).expect("the log says it");
        if all.iter().all(|part| line.contains(part)) {
            return;
        }
    }
}

// F2: who, what and for how long, at the beginning and at the end
#[test]
fn the_log_names_a_hog_and_tells_its_end() {
    let (write, log) = channel();
    let subscriber = tracing_subscriber::fmt().with_ansi(false);
    subscriber.with_writer(Log(Mutex::new(write)).leaked()).init();
    let node = node(1);
    let (release, released) = channel::<()>();
    let hog = node.spawn(async move |_: Process<()>| {
        released.recv().expect("it is released");
    });
    let waits = node.spawn(async |_: Process<()>| {});
    assert_eq!(outside(waits.ended()), ExitReason::Normal);
    let pid = format!("pid={}", hog.id());
    said(&log, &["WARN", "does not await", &pid, "the_log_names_a_hog", "elapsed="]);
    release.send(()).expect("it waits");
    said(&log, &["WARN", "no longer holds up", &pid, "elapsed="]);
    assert_eq!(outside(hog.ended()), ExitReason::Normal);
    stop(&node);
}

impl Log {
    /// A subscriber's writer lives as long as the program.
    fn leaked(self) -> impl Fn() -> &'static Self {
        let log: &'static Self = Box::leak(Box::new(self));
        move || log
    }
}
