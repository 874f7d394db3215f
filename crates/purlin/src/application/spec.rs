//! Specification of an application.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::Name;
use crate::supervisor::SupervisorSpec;

/// Default time an application has to stop.
const SHUTDOWN: Duration = Duration::from_secs(25);

/// Callback at a point in an application's life.
pub(super) type Hook = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// What a node does when an application ends without being stopped (OTP's restart types of
/// applications).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ApplicationType {
    /// The node logs the exit.
    #[default]
    Temporary,
    /// The node logs the exit, and stops unless the reason is `normal`.
    Transient,
    /// The node logs the exit and stops.
    Permanent,
}

/// Specification of an application.
///
/// ```
/// use purlin::application::ApplicationSpec;
/// use purlin::supervisor::{ChildSpec, SupervisorSpec};
/// use purlin::{ExitReason, Node, Process};
///
/// async fn shopkeeper(mut me: Process<String>) {
///     loop {
///         println!("sold {}", me.receive().await);
///     }
/// }
///
/// #[purlin::main]
/// async fn main() {
///     let tree = SupervisorSpec::one_for_one().child(ChildSpec::worker("keeper", shopkeeper));
///     let shop = ApplicationSpec::new("shop", tree).stop(async || println!("closed"));
///     let node = Node::current().expect("a process has a node");
///     let shop = node.start_application(shop).await.expect("it starts");
///     assert_eq!(node.applications().len(), 1);
///     assert_eq!(shop.stop().await, ExitReason::Normal);
/// }
/// ```
#[derive(Clone)]
pub struct ApplicationSpec {
    pub(super) name: Name,
    pub(super) supervisor: SupervisorSpec,
    pub(super) application_type: ApplicationType,
    pub(super) shutdown: Duration,
    pub(super) prep_stop: Option<Hook>,
    pub(super) stop: Option<Hook>,
}

impl ApplicationSpec {
    /// Creates the specification of an application with that name and top supervisor.
    pub fn new(name: &str, supervisor: impl Into<SupervisorSpec>) -> Self {
        Self {
            name: Name::from(name),
            supervisor: supervisor.into(),
            application_type: ApplicationType::Temporary,
            shutdown: SHUTDOWN,
            prep_stop: None,
            stop: None,
        }
    }

    /// Sets what the node does when the application ends without being stopped.
    pub fn application_type(mut self, application_type: ApplicationType) -> Self {
        self.application_type = application_type;
        self
    }

    /// Sets how long the application has to stop, hooks included; the default is 25 seconds. When
    /// the time is up, the application master is killed.
    pub fn shutdown(mut self, time: Duration) -> Self {
        self.shutdown = time;
        self
    }

    /// Sets the hook called at a stop request, before the supervision tree stops. It is cloned for the
    /// call, because an application may be started several times.
    pub fn prep_stop<F, Fut>(mut self, hook: F) -> Self
    where
        F: FnOnce() -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.prep_stop = Some(Arc::new(move || Box::pin(hook.clone()())));
        self
    }

    /// Sets the hook called after the supervision tree has stopped or has exited without a stop
    /// request.
    pub fn stop<F, Fut>(mut self, hook: F) -> Self
    where
        F: FnOnce() -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.stop = Some(Arc::new(move || Box::pin(hook.clone()())));
        self
    }

    /// Returns the application's name.
    pub fn name(&self) -> &Name {
        &self.name
    }
}

impl fmt::Debug for ApplicationSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApplicationSpec")
            .field("name", &self.name)
            .field("application_type", &self.application_type)
            .field("shutdown", &self.shutdown)
            .finish_non_exhaustive()
    }
}
