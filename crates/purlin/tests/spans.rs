//! Tracing spans of processes.

#[path = "it/common/mod.rs"]
mod common;

use std::io;
use std::sync::{Arc, Mutex};

use common::{ends, node, stop};
use purlin::trace::{Traced, spanned};
use purlin::{ExitReason, Process, SpawnOptions, yield_now};
use tracing_subscriber::fmt::MakeWriter;

/// Captured log output.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("the lock is not poisoned").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

async fn clerk(mut me: Process<Traced<u32>>) {
    let order = me.receive().await;
    yield_now().await;
    tracing::info!("in the shop");
    let (sold, n) = order
        .within_async(async |n| {
            yield_now().await;
            tracing::info!("at the till");
            (true, n)
        })
        .await;
    assert_eq!((sold, n), (true, 7));
    tracing::info!("closing");
}

// Tracing spans carry the pid and name of the process; a message can carry its span
#[test]
fn log_lines_carry_the_process_span_and_the_span_of_the_message() {
    let log = Log::default();
    let subscriber =
        tracing_subscriber::fmt().with_writer(log.clone()).with_ansi(false).without_time().finish();
    tracing::subscriber::set_global_default(subscriber).expect("none is set");
    let node = node(1);
    let named = SpawnOptions::new().name("sam");
    let pid = named.spawn_on(&node, spanned(clerk)).expect("the name is free");
    let request = tracing::info_span!("request", customer = 12);
    request.in_scope(|| pid.send(Traced::new(7)));
    assert_eq!(ends(&pid), ExitReason::Normal);
    stop(&node);
    let log =
        String::from_utf8(log.0.lock().expect("the lock is not poisoned").clone()).expect("text");
    let line = |what: &str| log.lines().find(|line| line.ends_with(what)).expect("it is logged");
    let me = format!("process{{pid={} ", pid.id());
    for what in ["in the shop", "closing"] {
        let line = line(what);
        assert!(line.contains(&me) && line.contains("name=sam"), "{line}");
        assert!(line.contains("clerk") && !line.contains("request"), "{line}");
    }
    assert!(line("at the till").contains("request{customer=12}"), "{log}");
}
