//! Extensions: values that start and end with a node, such as an observer page or a metrics
//! exporter.
//!
//! An extension is registered with the [`Builder`](crate::Builder) on any thread and starts on the
//! thread that builds the node. It never blocks a process and never keeps the node running.

use std::any::Any;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use purlin_raw::catch_panic;

use crate::Node;

type Start = dyn Fn(&Node) -> io::Result<Box<dyn Any + Send>> + Send + Sync;

/// Start function of an extension.
#[derive(Clone)]
pub(crate) struct Extension(Arc<Start>);

impl Extension {
    pub(crate) fn new<K: Send + 'static>(
        start: impl Fn(&Node) -> io::Result<K> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(move |node| Ok(Box::new(start(node)?))))
    }
}

impl fmt::Debug for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Extension")
    }
}

/// Running extensions of a node.
#[derive(Debug, Default)]
pub(crate) struct Extensions(Mutex<Vec<Box<dyn Any + Send>>>);

impl Extensions {
    /// Starts the extensions in order. Returns the first error without starting the rest.
    pub(crate) fn start(&self, all: &[Extension], node: &Node) -> io::Result<()> {
        for Extension(start) in all {
            let started = start(node)?;
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(started);
        }
        Ok(())
    }

    /// Drops the extensions in the reverse order of their start.
    pub(crate) fn stop(&self) {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        // WHY: `catch_panic`, because destructors are user code and the stop must continue.
        all.into_iter().rev().for_each(|one| catch_panic(|| drop(one)));
    }
}
