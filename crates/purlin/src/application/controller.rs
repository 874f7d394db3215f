//! Application controller: starts and lists the applications of a node.
//!
//! Every function may be called from any thread, process or task.

use super::ApplicationSpec;
use super::master::master;
use super::table::{ApplicationError, ApplicationRef};
use crate::process::yielding::without_wait;
use crate::{ExitReason, Name, Node};

impl Node {
    /// Starts an application on this node and waits until its supervision tree is up (G4).
    ///
    /// *Cancellation*: dropping the future does not stop the application.
    ///
    /// # Errors
    /// Returns [`ApplicationError`] if an application of that name exists, its top supervisor fails
    /// to start, or the node is stopping.
    pub async fn start_application(
        &self,
        spec: ApplicationSpec,
    ) -> Result<ApplicationRef, ApplicationError> {
        let application = match self.begin_application(spec) {
            Ok(application) => application,
            Err(error) => return Err(without_wait(error).await),
        };
        application.up().await?;
        Ok(application)
    }

    /// Starts an application like [`Node::start_application`], without waiting for its supervision
    /// tree.
    pub(super) fn begin_application(
        &self,
        spec: ApplicationSpec,
    ) -> Result<ApplicationRef, ApplicationError> {
        let (name, shutdown) = (spec.name.clone(), spec.shutdown);
        // WHY: declared before the lock and so dropped after it, because the exit reason of a
        // master may hold a user value.
        let mut ended = Vec::new();
        let mut table = self.node_state().applications.lock();
        ended.extend(table.started.extract_if(.., |one| !one.is_alive()));
        if table.closed {
            return Err(ApplicationError::Failed(name, ExitReason::SystemLimit));
        }
        if table.started.iter().any(|one| one.name == name) {
            return Err(ApplicationError::AlreadyStarted(name));
        }
        match self.try_spawn(move |me| master(me, spec)) {
            Ok(master) => {
                let begun = ApplicationRef { name, shutdown, master };
                table.started.push(begun.clone());
                Ok(begun)
            }
            Err(error) => {
                // WHY before the specification is dropped: it holds user values.
                drop(table);
                Err(ApplicationError::Failed(name, error.without_function().into_reason()))
            }
        }
    }

    /// Returns the running application of that name.
    pub fn application(&self, name: &str) -> Option<ApplicationRef> {
        self.node_state().applications.running().into_iter().find(|one| &*one.name == name)
    }

    /// Returns the names of the running applications, in start order.
    pub fn applications(&self) -> Vec<Name> {
        self.node_state().applications.running().into_iter().map(|one| one.name).collect()
    }
}
