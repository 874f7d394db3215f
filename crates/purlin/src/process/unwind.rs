//! Unwinding: `exit`, and how the runtime catches panics.

use std::any::Any;
use std::cell::Cell;
use std::ops::Deref;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Once};

use purlin_raw::{catch_panic, current_local};

use crate::node::erlang_types::ErlangTypes;
use crate::{ExitReason, Panic};

/// Ends the calling process with `reason`, from any call depth (P2): Erlang's `exit(Reason)`.
///
/// Unwinds the stack, so destructors run. Prints nothing. Code that catches the unwinding only delays
/// the end: the process ends with `reason` at its next await, or when its function returns.
///
/// ```
/// # use purlin::{ExitReason, Process, spawn};
/// # #[purlin::main] async fn main() {
/// let pid = spawn(async |_: Process<()>| {
///     let deep = || purlin::exit(ExitReason::error("enough"));
///     deep();
/// });
/// assert_eq!(pid.ended().await.to_string(), "enough");
/// # }
/// ```
///
/// # Panics
/// Panics outside a process, with the reason. Aborts the program if it was built with `panic =
/// "abort"`.
#[track_caller]
pub fn exit(reason: ExitReason) -> ! {
    if !purlin_raw::in_process() {
        panic!("exit({reason}) was called outside of any process");
    }
    // WHY: recorded before the unwinding, which user code may catch.
    let recorded = reason.clone();
    let unused = current_local::<ErlangTypes, _>(|local| local.call_exit(recorded)).flatten();
    let is_recorded = unused.is_none();
    drop(unused);
    panic::resume_unwind(Box::new(Exiting { reason, is_recorded }))
}

/// Payload with which [`exit`] unwinds.
struct Exiting {
    reason: ExitReason,
    /// Whether the process was not about to end already.
    is_recorded: bool,
}

thread_local! {
    /// Message and source position of the last panic in a process on this thread.
    static LAST: Cell<Option<Panic>> = const { Cell::new(None) };
}

/// Installs a panic hook that records the source position of panics inside processes. The
/// previous hook still runs, so the output of a panic does not change.
///
/// WHY: a hook for the whole program, because only a panic hook learns the position.
pub(crate) fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if purlin_raw::in_process() {
                let place = info.location().map(ToString::to_string).unwrap_or_default();
                LAST.set(Some(Panic { message: text(info.payload()), place }));
            }
            before(info);
        }));
        if cfg!(panic = "abort") {
            tracing::warn!(
                "built with panic = \"abort\": a panic in a process ends the whole program"
            );
        }
    });
}

/// Runs `f`. A panic, or a call of [`exit`], becomes an exit reason.
///
/// If user code within `f` has caught the unwinding of an [`exit`], a later panic becomes the reason
/// of that `exit`.
#[inline]
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> Result<R, ExitReason> {
    panic::catch_unwind(AssertUnwindSafe(f)).map_err(described)
}

#[cold]
fn described(payload: Box<dyn Any + Send>) -> ExitReason {
    let called = current_local::<ErlangTypes, _>(|local| local.take_called_exit()).flatten();
    let payload = match payload.downcast::<Exiting>() {
        Ok(exiting) => return called.unwrap_or(exiting.reason),
        Err(payload) => payload,
    };
    let message = text(&*payload);
    catch_panic(|| drop(payload));
    if let Some(called) = called {
        return called;
    }
    // A panic that user code caught has left its record too; comparing the messages tells them
    // apart.
    ExitReason::Panic(match LAST.take() {
        Some(last) if last.message == message => Arc::new(last),
        _ => Arc::new(Panic { message, place: String::new() }),
    })
}

fn text(payload: &(dyn Any + Send)) -> String {
    let owned = payload.downcast_ref::<String>().cloned();
    owned.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
}

/// Runs `f`, user code whose panic, or call of [`exit`], has no effect.
#[inline]
pub(crate) fn contain(f: impl FnOnce()) {
    if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(f)) {
        discard(payload);
    }
}

/// Value of a user whose destructor is contained.
#[derive(Clone)]
pub(crate) struct Contained<T>(Option<T>);

impl<T> Contained<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Some(value))
    }

    /// Returns the value, whose destructor is not contained then.
    pub(crate) fn into_inner(mut self) -> T {
        self.0.take().expect("only `into_inner` and `drop` take it")
    }
}

impl<T> Deref for Contained<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("only `into_inner` and `drop` take it")
    }
}

impl<T> Drop for Contained<T> {
    fn drop(&mut self) {
        contain(|| drop(self.0.take()));
    }
}

#[cold]
fn discard(payload: Box<dyn Any + Send>) {
    if payload.downcast_ref::<Exiting>().is_some_and(|exiting| exiting.is_recorded) {
        drop(current_local::<ErlangTypes, _>(|local| local.take_called_exit()));
    }
    catch_panic(|| drop(payload));
}
