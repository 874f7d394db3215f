//! Running a process to its end from a thread outside the node: `block_on`, `main` and `test`.

use std::fmt::Display;
use std::future::Future;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use crate::call::request::block_on;
use crate::node::context::is_worker;
use crate::{Builder, ExitReason, Node, Process};

impl Node {
    /// Runs a process to its end and returns the result of its function. Blocks this thread.
    ///
    /// # Panics
    /// Panics with the exit reason if the process panicked, was ended by an exit signal, or could
    /// not be spawned; [`Node::try_block_on`] returns it. Panics on a worker thread, which it would
    /// stall, and on a simulated node, which does not run meanwhile.
    #[track_caller]
    pub fn block_on<M, R, F, Fut>(&self, function: F) -> R
    where
        M: Send + 'static,
        R: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future<Output = R> + Send + 'static,
    {
        match self.try_block_on(function) {
            Ok(result) => result,
            Err(reason) => panic!("the process that was waited for ended: {reason}"),
        }
    }

    /// Runs a process to its end and returns the result of its function. Blocks this thread.
    ///
    /// # Errors
    /// Returns the exit reason if the process panicked, was ended by an exit signal, or could not be
    /// spawned.
    ///
    /// # Panics
    /// Panics on a worker thread, which it would stall, and on a simulated node that is not driven.
    #[track_caller]
    pub fn try_block_on<M, R, F, Fut>(&self, function: F) -> Result<R, ExitReason>
    where
        M: Send + 'static,
        R: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future<Output = R> + Send + 'static,
    {
        self.run_process(function).map_err(|ended| ended.reason)
    }

    #[track_caller]
    fn run_process<M, R, F, Fut>(&self, function: F) -> Result<R, Ended>
    where
        M: Send + 'static,
        R: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future<Output = R> + Send + 'static,
    {
        assert!(!is_worker(), "blocked on a process inside a process: await it there");
        let stands_still = self.node_state().stands_still.load(Ordering::Relaxed);
        assert!(!stands_still, "blocked on a simulated node: use Simulation::run");
        let (tx, rx) = mpsc::channel();
        let unwound = Arc::new(AtomicBool::new(false));
        let guard = UnwindGuard(Arc::clone(&unwound));
        let pid = self.spawn(move |me| async move {
            let _guard = guard;
            let result = function(me).await;
            // The receiver is on this function's stack, so the send cannot fail.
            let _ = tx.send(result);
        });
        rx.recv().map_err(|_| {
            // The function is dropped slightly before the exit reason is stored.
            let reason = block_on(async { pid.ended().await });
            // ORDER: the exit reason, which was read before, is stored after the function is dropped.
            Ended { reason, itself: unwound.load(Ordering::Relaxed) }
        })
    }
}

/// End of a process without a result.
struct Ended {
    reason: ExitReason,
    /// Whether its function unwound, by [`crate::exit`] or a panic. An exit signal drops it.
    itself: bool,
}

/// Records whether it is dropped while its thread unwinds.
struct UnwindGuard(Arc<AtomicBool>);

impl Drop for UnwindGuard {
    fn drop(&mut self) {
        // ORDER: see `run_process`.
        self.0.store(thread::panicking(), Ordering::Relaxed);
    }
}

/// Expansion of [`macro@crate::main`]: runs one process on a new node, then stops the node.
pub fn run_main<M, R, F, Fut>(builder: Builder, function: F) -> R
where
    M: Send + 'static,
    R: Send + 'static,
    F: FnOnce(Process<M>) -> Fut + Send + 'static,
    Fut: Future<Output = R> + Send + 'static,
{
    let node = builder.build().unwrap_or_else(|error| {
        print_error(&error);
        std::process::exit(1)
    });
    let result = node.run_process(function);
    // ORDER: a process that the node's stop has ended was ended after this was stored.
    let stopped = node.node_state().stopping.load(Ordering::SeqCst);
    let report = node.stop_blocking();
    for hog in report.hogs.iter().chain(&report.stranded) {
        print_error(&format_args!(
            "process {} ({}) would not end and was left",
            hog.id, hog.function
        ));
    }
    result.unwrap_or_else(|Ended { reason, itself }| {
        // WHY not any `shutdown`: it is also the signal of a linked supervisor that has given up.
        if reason.is_orderly() && (itself || stopped) {
            std::process::exit(0)
        }
        print_error(&format_args!("the main process ended: {reason}"));
        std::process::exit(101)
    })
}

/// Prints one line to standard error.
pub(crate) fn print_error(error: &dyn Display) {
    // WHY the result is ignored: `eprintln!` panics if standard error is closed or full.
    let _ = writeln!(io::stderr(), "purlin: {error}");
}

/// Expansion of [`macro@crate::test`]: as `main`, but a failure fails the test.
#[track_caller]
pub fn run_test<M, R, F, Fut>(builder: Builder, function: F) -> R
where
    M: Send + 'static,
    R: Send + 'static,
    F: FnOnce(Process<M>) -> Fut + Send + 'static,
    Fut: Future<Output = R> + Send + 'static,
{
    let node = builder.build().expect("the test's node starts");
    let result = node.try_block_on(function);
    let report = node.stop_blocking();
    match result {
        Ok(result) => {
            let left = report.hogs.len() + report.stranded.len();
            assert_eq!(left, 0, "processes that would not end: {report:?}");
            result
        }
        Err(reason) => panic!("the test's process ended: {reason}"),
    }
}
