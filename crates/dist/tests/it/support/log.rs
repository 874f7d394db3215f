//! Capture of log output on this thread.

use std::io;
use std::sync::{Arc, Mutex};

use tracing::subscriber::DefaultGuard;

/// Lines logged on this thread since its creation.
pub(crate) struct Log {
    lines: Arc<Mutex<Vec<u8>>>,
    _guard: DefaultGuard,
}

#[derive(Clone)]
struct Writer(Arc<Mutex<Vec<u8>>>);

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("the lock is not poisoned").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    pub(crate) fn new() -> Self {
        let lines = Arc::default();
        let writer = Writer(Arc::clone(&lines));
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .without_time()
            .with_writer(move || writer.clone())
            .finish();
        Self { lines, _guard: tracing::subscriber::set_default(subscriber) }
    }

    /// Returns all lines so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        let lines = self.lines.lock().expect("the lock is not poisoned");
        String::from_utf8_lossy(&lines).lines().map(str::to_owned).collect()
    }

    /// Asserts that there is exactly one line, and that it contains `text`.
    pub(crate) fn is_one_line_with(&self, text: &str) {
        let lines = self.lines();
        assert!(matches!(&lines[..], [line] if line.contains(text)), "{text:?}: {lines:#?}");
    }
}
