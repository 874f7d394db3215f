//! Entry point of a program that is one application: runs it until SIGTERM or SIGINT. Another signal
//! ends the program immediately.

use std::fmt::Display;
use std::future::poll_fn;
use std::process::ExitCode;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use super::{ApplicationSpec, ApplicationType};
use crate::node::run::print_error;
use crate::race::race;
use crate::{ExitReason, Node};

/// Time the node has to end its other processes after the application has stopped.
const AFTER: Duration = Duration::from_secs(6);

/// Time after the first signal in which further ones are ignored. WHY: some programs send a signal
/// twice, such as `timeout` to its child and to the group.
const REPEATED: Duration = Duration::from_secs(1);

/// Runs a program's application on the current node: starts it, waits for SIGTERM or SIGINT
/// (Ctrl-C), and stops it.
///
/// `main` returns the exit code, which ends the program. The status is 0 if the application stopped
/// in time after a signal, or ended with `normal` without one. It is 1 if the application failed to
/// start, or ended with another reason, for example because its supervisor gave up. A signal during
/// the start stops the application within the same time limit, whatever stage the start has
/// reached.
///
/// Another signal, a second later or more, ends the program immediately, with status 143 after
/// SIGTERM and 130 after SIGINT. What the processes have not finished is lost, as after SIGKILL.
///
/// The time limit is the application's shutdown time plus 6 seconds for the rest of the node. A
/// program that exceeds it prints an error and exits with status 1.
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
/// Panics outside a process.
pub async fn run(spec: ApplicationSpec) -> ExitCode {
    let node = Node::current().expect("an application is run inside a process: see purlin::main");
    // `run` decides what the end of the application means, so the node must not act on it.
    let spec = spec.application_type(ApplicationType::Temporary);
    let timeout = spec.shutdown.saturating_add(AFTER);
    // Installed before the start, so that a signal during the start is not lost.
    let mut signals = signals();
    let application = match node.begin_application(spec) {
        Ok(application) => application,
        Err(error) => return failed(&error),
    };
    let mut signalled = |cx: &mut Context<'_>| signals(cx).map(drop);
    let by_itself = match race(&mut signalled, application.up()).await {
        Some(Err(error)) => return failed(&error),
        Some(Ok(())) => race(&mut signalled, application.ended()).await,
        None => None,
    };
    let reason = match by_itself {
        Some(reason) => reason,
        None => {
            watch(timeout);
            // The task outlives this function, because the node stops after it.
            tokio::spawn(exit_at_signal(signals));
            application.stop().await
        }
    };
    if reason == ExitReason::Normal {
        return ExitCode::SUCCESS;
    }
    failed(&format_args!("application {} ended: {reason}", application.name()))
}

fn failed(error: &dyn Display) -> ExitCode {
    print_error(error);
    ExitCode::FAILURE
}

/// Starts a watchdog thread that exits the program with status 1 after `timeout`.
fn watch(timeout: Duration) {
    let overdue = move || {
        thread::sleep(timeout);
        print_error(&format_args!("the program did not stop within {timeout:?} and is ended"));
        std::process::exit(1);
    };
    let watching = thread::Builder::new().name("purlin-overdue".into()).spawn(overdue);
    if let Err(error) = watching {
        tracing::error!(%error, "no thread to watch over the stop");
    }
}

/// Ends the program at the next signal, except in the first second.
async fn exit_at_signal(mut signals: impl FnMut(&mut Context<'_>) -> Poll<i32>) {
    tokio::time::sleep(REPEATED).await;
    while signals(&mut Context::from_waker(Waker::noop())).is_ready() {}
    let status = poll_fn(|cx| signals(cx)).await;
    print_error(&"a second signal ends the program before it has stopped");
    std::process::exit(status);
}

/// Returns a poll function for SIGTERM and SIGINT, which is ready once for each signal, with the exit
/// status of a program that the signal ends. From this call on neither signal terminates the program.
#[cfg(unix)]
fn signals() -> impl FnMut(&mut Context<'_>) -> Poll<i32> + Send {
    use tokio::signal::unix::{SignalKind, signal};

    let listen = |kind: SignalKind| match signal(kind) {
        Ok(signal) => Some((signal, 128 + kind.as_raw_value())),
        Err(error) => {
            tracing::error!(%error, ?kind, "signals cannot be listened to");
            None
        }
    };
    let mut kinds = [SignalKind::terminate(), SignalKind::interrupt()].map(listen);
    move |cx| {
        let mut polled = kinds.iter_mut().flatten().map(|(signal, status)| {
            let came = signal.poll_recv(cx).is_ready();
            came.then_some(*status)
        });
        polled.find_map(|came| came).map_or(Poll::Pending, Poll::Ready)
    }
}

/// Returns a poll function for Ctrl-C, which is ready once for each, with the exit status.
#[cfg(not(unix))]
fn signals() -> impl FnMut(&mut Context<'_>) -> Poll<i32> + Send {
    let mut next = Some(Box::pin(tokio::signal::ctrl_c()));
    move |cx| {
        let Some(came) = &mut next else { return Poll::Pending };
        match came.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(())) => {
                next = Some(Box::pin(tokio::signal::ctrl_c()));
                Poll::Ready(130)
            }
            Poll::Ready(Err(error)) => {
                tracing::error!(%error, "signals cannot be listened to");
                next = None;
                Poll::Pending
            }
        }
    }
}
