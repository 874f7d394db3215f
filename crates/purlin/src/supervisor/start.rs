//! Starting supervisors.

use std::sync::Arc;

use super::ChildType;
use super::child::ChildSpec;
use super::error::StartError;
use super::handle::ChildHandle;
use super::mail::{Mail, SupervisorMail};
use super::process::supervise;
use super::spec::{DynamicSupervisorSpec, SupervisorSpec};
use super::supervisor_ref::{DynamicSupervisorRef, SupervisorRef};
use crate::{ExitReason, Node, Pid, Process};

impl SupervisorSpec {
    /// Starts the supervisor, linked to the calling process, and waits until its children have been
    /// started.
    ///
    /// The caller is its *parent*: an exit signal from the parent, for any reason, stops the
    /// supervisor, which stops its children and ends with that reason. Exit signals of other
    /// processes are ignored.
    ///
    /// *Cancellation*: dropping the future does not stop the supervisor, which stays linked.
    ///
    /// # Errors
    /// Returns [`StartError`]; its reason is `{shutdown, {failed_to_start_child, …}}` if a child
    /// failed to start. The supervisor has ended by then. Since they are linked, the caller is sent
    /// an exit signal with that reason too.
    ///
    /// # Panics
    /// Panics outside the calling process's own turn.
    pub async fn start_link<M: Send + 'static>(
        self,
        me: &Process<M>,
    ) -> Result<SupervisorRef, StartError> {
        Ok(self.spawn_link(me).up().await.map(SupervisorRef::new)?)
    }

    /// Starts the supervisor like [`SupervisorSpec::start_link`] on a node, from any thread or
    /// task, without a parent. Only [`SupervisorRef::stop`], an exit signal without a sender, the
    /// node's stop and `kill` end it.
    ///
    /// # Errors
    /// As [`SupervisorSpec::start_link`].
    pub async fn start(self, node: &Node) -> Result<SupervisorRef, StartError> {
        let pid = node.spawn(move |me| supervise(me, self, None));
        Ok(Starting(pid).up().await.map(SupervisorRef::new)?)
    }

    fn spawn_link<M: Send + 'static>(self, me: &Process<M>) -> Starting {
        let parent = Some(me.id());
        Starting(me.spawn_link(move |me| supervise(me, self, parent)))
    }
}

impl<A: Send + 'static, C: ChildHandle> DynamicSupervisorSpec<A, C> {
    /// Starts the supervisor; see [`SupervisorSpec::start_link`].
    ///
    /// # Errors
    /// As [`SupervisorSpec::start_link`].
    ///
    /// # Panics
    /// As [`SupervisorSpec::start_link`].
    pub async fn start_link<M: Send + 'static>(
        self,
        me: &Process<M>,
    ) -> Result<DynamicSupervisorRef<A, C>, StartError> {
        Ok(DynamicSupervisorRef::new(self.spec.start_link(me).await?))
    }

    /// Starts the supervisor on a node; see [`SupervisorSpec::start`].
    ///
    /// # Errors
    /// As [`SupervisorSpec::start`].
    pub async fn start(self, node: &Node) -> Result<DynamicSupervisorRef<A, C>, StartError> {
        Ok(DynamicSupervisorRef::new(self.spec.start(node).await?))
    }
}

impl ChildSpec<SupervisorRef> {
    /// Creates the spec of a child supervisor. It is permanent, and may take any time to stop its
    /// own children.
    pub fn supervisor(id: impl Into<Arc<str>>, spec: impl Into<SupervisorSpec>) -> Self {
        let spec = spec.into();
        Self::new(id, ChildType::Supervisor, move |me, _| {
            let started = spec.clone().spawn_link(me);
            Box::pin(async move { Ok(Some(started.up().await?.address().clone().untyped())) })
        })
    }
}

/// A supervisor that is starting its children.
struct Starting(Pid<SupervisorMail>);

impl Starting {
    /// Waits until the initial children have been started.
    async fn up(self) -> Result<Pid<SupervisorMail>, ExitReason> {
        let up = self.0.answer_or_end(|reply| SupervisorMail(Mail::AreYouUp(reply))).await;
        up.map(|()| self.0)
    }
}
