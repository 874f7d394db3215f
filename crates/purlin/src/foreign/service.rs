//! What serves the processes of a node and is none of a program's own: what reads and writes a connection.

use std::future::Future;

use crate::home::Parent;
use crate::local::Local;
use crate::spawn::try_spawn_on;
use crate::{Exit, Node, Process, ProcessId};

impl Node {
    /// Runs a future on the node's workers, as a process that nobody is told of and that is told of nothing. It
    /// ends with its future. Like a thread that is no process it is not suspended when it sends past a bound (M1).
    /// When the node stops it may go on while there are processes to serve, and as long as
    /// stand-ins need it; then it is killed.
    ///
    /// `None` if the node is full or stops; then the future is dropped.
    ///
    /// COST: as [`spawn()`](crate::spawn()).
    pub fn serve(&self, service: impl Future<Output = ()> + Send + 'static) -> Option<ProcessId> {
        let function = move |me: Process<Exit>| async move {
            me.trap_exit(true);
            service.await;
        };
        let mut local = Local::default();
        local.rare().rarer().serves = true;
        let spawned = self.spawn_from_outside(function, |function| {
            try_spawn_on(self.realm(), Parent::NODE, local, function)
        });
        spawned.ok().map(|pid| pid.id())
    }
}
