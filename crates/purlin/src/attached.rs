//! What is started with a node and ends with it: an observer's page, a metrics exporter.
//!
//! Set up with the [`Builder`](crate::Builder), on any thread; started on the thread that builds the node.
//! Never holds up a process, and never keeps the node.

use std::any::Any;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use purlin_raw::quietly;

use crate::Node;

type Start = dyn Fn(&Node) -> io::Result<Box<dyn Any + Send>> + Send + Sync;

/// How something is started that ends with the node.
#[derive(Clone)]
pub(crate) struct Attachment(Arc<Start>);

impl Attachment {
    pub(crate) fn new<K: Send + 'static>(
        start: impl Fn(&Node) -> io::Result<K> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(move |node| Ok(Box::new(start(node)?))))
    }
}

impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Attachment")
    }
}

/// What was started with a node.
#[derive(Debug, Default)]
pub(crate) struct Attached(Mutex<Vec<Box<dyn Any + Send>>>);

impl Attached {
    /// Starts each, in order, until one cannot be.
    pub(crate) fn start(&self, all: &[Attachment], node: &Node) -> io::Result<()> {
        for Attachment(start) in all {
            let started = start(node)?;
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(started);
        }
        Ok(())
    }

    /// Ends them, the last that was started first.
    pub(crate) fn end(&self) {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        // WHY quietly: they are the user's, and the stop goes on.
        all.into_iter().rev().for_each(|one| quietly(|| drop(one)));
    }
}
