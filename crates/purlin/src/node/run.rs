//! Running a process to its end from a thread outside the node: `block_on`, `main` and `test`.

use std::future::Future;
use std::sync::atomic::Ordering;
use std::sync::mpsc;

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
        assert!(!is_worker(), "blocked on a process inside a process: await it there");
        let stands_still = self.node_state().stands_still.load(Ordering::Relaxed);
        assert!(!stands_still, "blocked on a simulated node: use Simulation::run");
        let (tx, rx) = mpsc::channel();
        let pid = self.spawn(move |me| async move {
            let result = function(me).await;
            // The receiver is on this function's stack, so the send cannot fail.
            let _ = tx.send(result);
        });
        rx.recv().map_err(|_| {
            // The function is dropped slightly before the exit reason is stored.
            block_on(async { pid.ended().await })
        })
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
        eprintln!("purlin: {error}");
        std::process::exit(1)
    });
    let result = node.try_block_on(function);
    let report = node.stop_blocking();
    for hog in report.hogs.iter().chain(&report.stranded) {
        eprintln!("purlin: process {} ({}) would not end and was left", hog.id, hog.function);
    }
    result.unwrap_or_else(|reason| {
        eprintln!("purlin: the main process ended: {reason}");
        std::process::exit(101)
    })
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
