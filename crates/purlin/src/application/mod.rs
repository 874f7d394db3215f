//! Applications: trees of processes that start and stop as one (G4).
//!
//! An [`ApplicationSpec`] names a top supervisor. Started on a node it has a process of its own, the
//! *master*, which is the supervisor's parent, and which runs what the application does before and
//! after its tree has stopped. The node keeps its applications in the order of their start, and stops
//! them in reverse before it tells anybody else to end (E1). [`run`] does all that for a program, from
//! its start to SIGTERM.
//!
//! | file | role |
//! |---|---|
//! | `master` | the process |
//! | `controller` | which applications a node has; starting one, stopping all |
//! | `run` | a program that is one application |

mod controller;
mod master;
mod run;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

pub use controller::{ApplicationError, ApplicationRef};
pub(crate) use controller::{Applications, stop_all};
pub use run::run;

use crate::Name;
use crate::supervisor::SupervisorSpec;

/// How long an application has to stop, unless said otherwise.
const SHUTDOWN: Duration = Duration::from_secs(25);

/// What is done at a moment in an application's life.
type Hook = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// What the end of an application means for its node, where nobody has stopped it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ApplicationType {
    /// It is reported.
    #[default]
    Temporary,
    /// It is reported, and if the application did not end with `normal` the node stops.
    Transient,
    /// It is reported and the node stops.
    Permanent,
}

/// An application as it is specified.
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
    name: Name,
    supervisor: SupervisorSpec,
    application_type: ApplicationType,
    shutdown: Duration,
    prep_stop: Option<Hook>,
    stop: Option<Hook>,
}

impl ApplicationSpec {
    /// An application of that name whose tree has that supervisor at its top.
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

    /// What its end means for its node.
    pub fn application_type(mut self, application_type: ApplicationType) -> Self {
        self.application_type = application_type;
        self
    }

    /// How long it has to stop, with what is done before and after; 25 seconds unless said otherwise.
    /// When the time is up its master is killed.
    pub fn shutdown(mut self, time: Duration) -> Self {
        self.shutdown = time;
        self
    }

    /// What is done when it is to stop, before its tree is told.
    pub fn prep_stop<F, Fut>(mut self, hook: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.prep_stop = Some(Arc::new(move || Box::pin(hook())));
        self
    }

    /// What is done when its tree has stopped, or has ended by itself.
    pub fn stop<F, Fut>(mut self, hook: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.stop = Some(Arc::new(move || Box::pin(hook())));
        self
    }

    /// What it is called.
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
