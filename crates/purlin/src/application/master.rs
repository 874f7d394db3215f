//! Application master: the process that is the parent of an application's top supervisor.
//!
//! The master starts the supervisor, then waits for a stop request or for the supervisor's exit. It
//! traps exits: only a signal from outside any process, or `kill`, ends it otherwise.

use super::spec::{ApplicationSpec, ApplicationType, Hook};
use super::table::Mail;
use crate::process::catch_unwind::CatchUnwind;
use crate::process::unwind::contain;
use crate::supervisor::SupervisorRef;
use crate::{Exit, ExitReason, Node, Process};

/// Process function of the master; its return value is the application's exit reason.
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
            // Sent from outside any process.
            Mail::Exit(Exit { from: None, reason }) => {
                stop(&mut me, &spec, &supervisor, reason.clone()).await;
                return reason;
            }
            Mail::Exit(_) => {}
        }
    }
}

/// Stops the supervision tree, with the `prep_stop` hook before and the `stop` hook after it.
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

/// Calls a user's hook. A panic in it is logged and does not keep the supervision tree from
/// stopping.
async fn call(spec: &ApplicationSpec, hook: Option<&Hook>) {
    let Some(hook) = hook else { return };
    if let Err(reason) = CatchUnwind::new(async { hook().await }).await {
        // WHY contained: the `Display` of a reason is user code.
        contain(|| {
            tracing::error!(application = %spec.name, %reason, "a hook of the application failed");
        });
    }
}

/// Handles the supervisor's exit without a stop request: logs it, and stops the node if the
/// application type demands it.
fn ended(spec: &ApplicationSpec, reason: &ExitReason) {
    let application_type = spec.application_type;
    contain(|| {
        tracing::error!(application = %spec.name, exited = %reason, ?application_type, "application exited");
    });
    let stops = match application_type {
        ApplicationType::Temporary => false,
        ApplicationType::Transient => *reason != ExitReason::Normal,
        ApplicationType::Permanent => true,
    };
    if stops && let Some(node) = Node::current() {
        node.begin_stop();
    }
}
