//! An application's master: the process that is the parent of its top supervisor.
//!
//! It starts the supervisor, and then waits for one of two things: that it is told to stop, or that
//! the supervisor ends by itself. It traps exits; no one but the node, or `kill`, ends it otherwise.

use super::{ApplicationSpec, ApplicationType, Hook};
use crate::caught::Caught;
use crate::supervisor::SupervisorRef;
use crate::{Exit, ExitReason, Node, Process, Reply};

/// What a master receives.
pub(super) enum Mail {
    Exit(Exit),
    /// Answered when the tree has been started.
    AreYouUp(Reply<()>),
    Stop,
}

impl From<Exit> for Mail {
    fn from(exit: Exit) -> Self {
        Self::Exit(exit)
    }
}

/// The function of the master; the application ends with what it returns.
pub(super) async fn master(mut me: Process<Mail>, spec: ApplicationSpec) -> ExitReason {
    me.trap_exit(true);
    let supervisor = match spec.supervisor.clone().start_link(&me).await {
        Ok(supervisor) => supervisor,
        Err(error) => return error.reason,
    };
    tracing::info!(application = %spec.name, supervisor = %supervisor.id(), "application started");
    loop {
        match me.receive().await {
            Mail::AreYouUp(reply) => reply.send(()),
            Mail::Stop => {
                stop(&mut me, &spec, &supervisor, ExitReason::Shutdown).await;
                tracing::info!(application = %spec.name, "application stopped");
                return ExitReason::Normal;
            }
            Mail::Exit(exit) if exit.from == Some(supervisor.id()) => {
                call(&spec, spec.stop.as_ref()).await;
                ended(&spec, &exit.reason);
                return exit.reason;
            }
            // The node, which has waited long enough for its applications.
            Mail::Exit(Exit { from: None, reason }) => {
                stop(&mut me, &spec, &supervisor, reason.clone()).await;
                return reason;
            }
            Mail::Exit(_) => {}
        }
    }
}

/// Stops the tree.
async fn stop(
    me: &mut Process<Mail>,
    spec: &ApplicationSpec,
    supervisor: &SupervisorRef,
    reason: ExitReason,
) {
    call(spec, spec.prep_stop.as_ref()).await;
    supervisor.pid().exit(reason);
    let over = |mail: &Mail| matches!(mail, Mail::Exit(exit) if exit.from == Some(supervisor.id()));
    while !over(&me.receive().await) {}
    call(spec, spec.stop.as_ref()).await;
}

/// Calls what is the user's. A panic in it is reported; the tree is stopped all the same.
async fn call(spec: &ApplicationSpec, hook: Option<&Hook>) {
    let Some(hook) = hook else { return };
    if let Err(reason) = Caught::new(|| hook()).await {
        tracing::error!(application = %spec.name, %reason, "a hook of the application failed");
    }
}

/// The tree has ended by itself, which may mean the end of the node.
fn ended(spec: &ApplicationSpec, reason: &ExitReason) {
    let application_type = spec.application_type;
    tracing::error!(application = %spec.name, exited = %reason, ?application_type, "application exited");
    let stops = match application_type {
        ApplicationType::Temporary => false,
        ApplicationType::Transient => *reason != ExitReason::Normal,
        ApplicationType::Permanent => true,
    };
    if stops && let Some(node) = Node::current() {
        node.begin_stop();
    }
}
