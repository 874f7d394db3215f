//! Extensions: values that start and end with a node, such as an observer page or a metrics
//! exporter.
//!
//! An extension is registered with the [`Builder`](crate::Builder) on any thread and starts on the
//! thread that builds the node. It never blocks a process and never keeps the node running.

use std::any::Any;
use std::sync::{Mutex, PoisonError};

use crate::process::unwind::contain;

/// Running extensions of a node.
#[derive(Debug, Default)]
pub(crate) struct Extensions(Mutex<Vec<Box<dyn Any + Send>>>);

impl Extensions {
    /// Adds an extension that has started.
    pub(crate) fn push(&self, started: Box<dyn Any + Send>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(started);
    }

    /// Drops the extensions in the reverse order of their start.
    pub(crate) fn stop(&self) {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        // WHY: `contain`, because destructors are user code and the stop must continue.
        all.into_iter().rev().for_each(|one| contain(|| drop(one)));
    }
}
