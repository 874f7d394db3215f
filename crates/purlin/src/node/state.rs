//! Node state that all processes of a node share.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};
use std::sync::{RwLock, Weak};

use tokio::sync::watch;

use crate::application::Applications;
use crate::node::drops::DropCounts;
use crate::node::erlang_types::Peer;
use crate::node::extensions::Extensions;
use crate::node::log_limit::LogLimit;
use crate::node::names::Names;
use crate::observe::Journal;
use crate::signals::reference::Reference;
use crate::{Name, ProcessInfo};

/// Node state that all processes share.
#[derive(Debug)]
pub(crate) struct NodeState {
    pub(crate) creation: u32,
    pub(crate) name: String,
    /// Counters of messages that were never received.
    pub(crate) dropped: DropCounts,
    /// Registered names.
    pub(crate) names: Names,
    /// Running applications.
    pub(crate) applications: Applications,
    /// Extensions, which end with the node.
    pub(crate) extensions: Extensions,
    /// The layer that connects the node to others.
    pub(crate) layer: RwLock<Option<Weak<dyn Any + Send + Sync>>>,
    /// Rate limit of warnings about processes that do not yield.
    pub(crate) stall_warnings: LogLimit,
    /// Journal of recent crashes, reports and restarts.
    pub(crate) journal: Journal,
    /// Next batch of numbers for references.
    pub(crate) batches: AtomicU64,
    /// Whether the node is simulated and is not driven now, so that nothing runs.
    pub(crate) stands_still: AtomicBool,
    /// Set once the node starts no more processes.
    pub(crate) stopping: AtomicBool,
    /// Number of spawns from outside the node that are in progress.
    pub(crate) outside_spawns: AtomicUsize,
    /// Number of failed spawns; distinguishes their placeholders.
    pub(crate) failed_spawns: AtomicU32,
    /// Report of the stop, once the node has stopped.
    pub(crate) stopped: watch::Sender<Option<StopReport>>,
}

impl NodeState {
    pub(crate) fn new(creation: u32, name: String) -> Self {
        Self {
            creation,
            name,
            dropped: DropCounts::default(),
            names: Names::default(),
            applications: Applications::default(),
            extensions: Extensions::default(),
            layer: RwLock::default(),
            stall_warnings: LogLimit::default(),
            journal: Journal::default(),
            batches: AtomicU64::new(Reference::first_batch(creation)),
            stands_still: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            outside_spawns: AtomicUsize::new(0),
            failed_spawns: AtomicU32::new(0),
            stopped: watch::Sender::new(None),
        }
    }

    /// Returns the registered name of a process, if it is a process of this node and has one.
    pub(crate) fn name_of(&self, process: &Peer) -> Option<Name> {
        let is_ours = process.shared().creation == self.creation;
        is_ours.then(|| self.names.of(process.slot())).flatten()
    }
}

/// Report of a node's stop.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StopReport {
    /// Processes in a turn that did not end in time; they were left behind.
    pub hogs: Vec<ProcessInfo>,
    /// Processes that were ready but had no worker, because others did not yield; also left behind.
    pub stranded: Vec<ProcessInfo>,
}
