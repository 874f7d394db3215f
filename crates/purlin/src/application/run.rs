//! A program that is one application: from its start until SIGTERM.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::process::ExitCode;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use super::{ApplicationError, ApplicationSpec, ApplicationType};
use crate::unless::unless;
use crate::{ExitReason, Node};

/// How long the node has, when the application has stopped, to end what else there is.
const AFTER: Duration = Duration::from_secs(6);

/// Runs a program's application on the current node: starts it, waits until the program is told to
/// end by SIGTERM or SIGINT (Ctrl-C), and stops it.
///
/// What `main` returns then ends the program: with status 0 if it was told to end and did so in its
/// time, or the application ended by itself with `normal`; and with 1 if it could not be started or
/// ended by itself with another reason, as when its supervisor gives up. One that is told while it
/// starts is stopped in the same time, however far it has come. A program that has not stopped within
/// the application's time, and a few seconds for the rest of the node, is ended with status 1 and says
/// so.
///
/// ```no_run
/// use std::process::ExitCode;
/// use purlin::application::{self, ApplicationSpec};
/// use purlin::supervisor::{ChildSpec, SupervisorSpec};
/// use purlin::Process;
///
/// async fn shopkeeper(mut me: Process<String>) {
///     println!("sold {}", me.receive().await);
/// }
///
/// #[purlin::main]
/// async fn main() -> ExitCode {
///     let tree = SupervisorSpec::one_for_one().child(ChildSpec::worker("keeper", shopkeeper));
///     application::run(ApplicationSpec::new("shop", tree)).await
/// }
/// ```
///
/// # Panics
/// Outside a process.
pub async fn run(spec: ApplicationSpec) -> ExitCode {
    let node = Node::current().expect("an application is run inside a process: see purlin::main");
    // What the end of the application means is said here.
    let spec = spec.application_type(ApplicationType::Temporary);
    let patience = spec.shutdown.saturating_add(AFTER);
    // Before the start, so that a signal that comes meanwhile is not lost.
    let told = signals();
    let application = match node.begin_application(spec) {
        Ok(application) => application,
        Err(error) => return failed(&error),
    };
    let mut told = pin!(told);
    let mut told = |cx: &mut Context<'_>| told.as_mut().poll(cx);
    let by_itself = match unless(&mut told, application.up()).await {
        Some(Err(error)) => return failed(&error),
        Some(Ok(())) => unless(told, application.ended()).await,
        None => None,
    };
    let reason = match by_itself {
        Some(reason) => reason,
        None => {
            watch(patience);
            application.stop().await
        }
    };
    if reason == ExitReason::Normal {
        return ExitCode::SUCCESS;
    }
    eprintln!("purlin: application {} ended: {reason}", application.name());
    ExitCode::FAILURE
}

fn failed(error: &ApplicationError) -> ExitCode {
    eprintln!("purlin: {error}");
    ExitCode::FAILURE
}

/// Ends the program if it has not ended by itself in that time.
fn watch(patience: Duration) {
    let overdue = move || {
        thread::sleep(patience);
        eprintln!("purlin: the program did not stop within {patience:?} and is ended");
        std::process::exit(1);
    };
    let watching = thread::Builder::new().name("purlin-overdue".into()).spawn(overdue);
    if let Err(error) = watching {
        tracing::error!(%error, "no thread to watch over the stop");
    }
}

/// Ready when the program is told to end. From the call on no such signal ends it by itself.
#[cfg(unix)]
fn signals() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};

    let listen = |kind| match signal(kind) {
        Ok(signal) => Some(signal),
        Err(error) => {
            tracing::error!(%error, ?kind, "signals cannot be listened to");
            None
        }
    };
    let mut kinds = [SignalKind::terminate(), SignalKind::interrupt()].map(listen);
    poll_fn(move |cx| {
        let mut came = kinds.iter_mut().flatten().map(|signal| signal.poll_recv(cx).is_ready());
        if came.any(|came| came) { Poll::Ready(()) } else { Poll::Pending }
    })
}

/// Ready when the program is told to end.
#[cfg(not(unix))]
async fn signals() {
    if let Err(error) = tokio::signal::ctrl_c().await {
        tracing::error!(%error, "signals cannot be listened to");
        std::future::pending::<()>().await;
    }
}
