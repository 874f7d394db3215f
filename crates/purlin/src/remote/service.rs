//! System processes: tasks that serve a node's processes, such as the reader and writer of a connection.

use std::future::Future;

use crate::process::body::Body;
use crate::process::shared::Parent;
use crate::process::spawn::try_spawn_on;
use crate::signals::local_state::LocalState;
use crate::{Exit, Node, Process, ProcessId, SpawnError};

impl Node {
    /// Runs a future on the node's workers as a system process, and returns its id. The process has no links or
    /// monitors and ends with its future. Like a thread that is not a process, it is not suspended when it sends past a
    /// bound (M1).
    ///
    /// When the node stops, the process may continue while there are processes to serve and while proxies need it; then
    /// it is killed.
    ///
    /// # Errors
    /// Returns [`SpawnError`] with the future in it if the node is full or stopping.
    ///
    /// COST: as [`spawn()`](crate::spawn()).
    pub fn spawn_system<F>(&self, service: F) -> Result<ProcessId, SpawnError<F>>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let Some(_spawning) = self.begin_spawn() else {
            return Err(SpawnError::Stopping(service));
        };
        let make = |service: F, owner| {
            let function = move |me: Process<Exit>| async move {
                me.trap_exit(true);
                service.await;
            };
            Body::new(function, owner)
        };
        let mut local = LocalState::default();
        local.extended().cold().is_system = true;
        let spawned = try_spawn_on(self.node_core(), Parent::NODE, local, (), service, make);
        spawned.map(|pid| pid.id())
    }
}
