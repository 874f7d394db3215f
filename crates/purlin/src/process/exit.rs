//! Exit reasons.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// Exit reason: why a process ended.
///
/// Cloning is cheap: at most a reference count. Reasons that Erlang has are displayed in Erlang's
/// notation.
///
/// ```
/// use purlin::ExitReason;
///
/// assert_eq!(ExitReason::error("no disk").to_string(), "no disk");
/// assert_eq!(ExitReason::shutdown_with("upgrade").to_string(), "{shutdown, upgrade}");
/// assert!(ExitReason::shutdown_with("upgrade").is_orderly());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExitReason {
    /// The process's function returned.
    Normal,
    /// The process was asked to end in an orderly way.
    Shutdown,
    /// As `Shutdown`, with a cause: Erlang's `{shutdown, Term}`.
    ShutdownWith(Cause),
    /// The process ended itself with `kill`. A *sent* `kill` cannot be trapped, and its receiver
    /// ends with [`ExitReason::Killed`] (L4).
    Kill,
    /// The process was killed by an exit signal.
    Killed,
    /// No such process exists: Erlang's `noproc`.
    NoProcess,
    /// The connection to the process's node was lost: Erlang's `noconnection`.
    NoConnection,
    /// A timeout expired.
    Timeout,
    /// The process was never started, because its node was full, stopping or stopped.
    SystemLimit,
    /// An error, or any other reason given by user code.
    Error(Cause),
    /// The process panicked.
    Panic(Arc<Panic>),
}

/// Cause of an exit reason, given by user code: an error or a text.
///
/// Two causes are equal if they display the same text. The original error can be downcast:
///
/// ```
/// use purlin::ExitReason;
///
/// let reason = ExitReason::error("four".parse::<u32>().unwrap_err());
/// let ExitReason::Error(cause) = &reason else { unreachable!() };
/// assert!(cause.downcast_ref::<std::num::ParseIntError>().is_some());
/// ```
///
/// COST: one word, and two allocations when it is created; cloning increments a reference count.
// WHY: boxed twice, so that a reason is two words; reasons travel in signals.
#[derive(Clone)]
pub struct Cause(Arc<Box<dyn Error + Send + Sync>>);

impl Cause {
    /// Creates a cause from an error, a text, or any value that converts into a boxed error.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Arc::new(error.into()))
    }

    /// Returns the original error if it is an `E`.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }

    /// Returns the original error.
    pub fn as_error(&self) -> &(dyn Error + Send + Sync + 'static) {
        &**self.0
    }
}

impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.to_string() == other.to_string()
    }
}

impl Eq for Cause {}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Panic that ended a process.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Panic {
    /// Message of the panic; empty if its payload was not a text.
    pub message: String,
    /// Source position of the panic, `file:line:column`; empty if unknown.
    pub place: String,
}

impl ExitReason {
    /// Creates a reason from an error or a text. Returns an `ExitReason` unchanged.
    pub fn error(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        match error.into().downcast::<Self>() {
            Ok(reason) => *reason,
            Err(error) => Self::Error(Cause::new(error)),
        }
    }

    /// Creates `{shutdown, Term}`: an orderly end with a cause.
    pub fn shutdown_with(why: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::ShutdownWith(Cause::new(why))
    }

    /// Returns whether the reason is an orderly end: `normal`, `shutdown` or `{shutdown, Term}`.
    pub fn is_orderly(&self) -> bool {
        matches!(self, Self::Normal | Self::Shutdown | Self::ShutdownWith(_))
    }
}

impl fmt::Display for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Normal => f.write_str("normal"),
            Self::Shutdown => f.write_str("shutdown"),
            Self::ShutdownWith(why) => write!(f, "{{shutdown, {why}}}"),
            Self::Kill => f.write_str("kill"),
            Self::Killed => f.write_str("killed"),
            Self::NoProcess => f.write_str("noproc"),
            Self::NoConnection => f.write_str("noconnection"),
            Self::Timeout => f.write_str("timeout"),
            Self::SystemLimit => f.write_str("system_limit"),
            Self::Error(cause) => fmt::Display::fmt(cause, f),
            Self::Panic(panic) => fmt::Display::fmt(panic, f),
        }
    }
}

impl Error for ExitReason {}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = if self.message.is_empty() { "no message" } else { &self.message };
        match self.place.as_str() {
            "" => write!(f, "panicked: {message}"),
            place => write!(f, "panicked at {place}: {message}"),
        }
    }
}

/// Ends the calling process with `reason`, from any call depth (P2): Erlang's `exit(Reason)`.
///
/// Unwinds the stack, so destructors run. Prints nothing.
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
    std::panic::resume_unwind(Box::new(catch::Exiting(reason)))
}

/// Catches panics and records their source positions.
pub(crate) mod catch {
    use std::any::Any;
    use std::cell::Cell;
    use std::panic::{self, AssertUnwindSafe};
    use std::sync::{Arc, Once};

    use purlin_raw::catch_panic;

    use super::{ExitReason, Panic};

    /// Payload with which [`super::exit`] unwinds.
    pub(super) struct Exiting(pub(super) ExitReason);

    thread_local! {
        /// Message and source position of the last panic in a process on this thread.
        static LAST: Cell<Option<Panic>> = const { Cell::new(None) };
    }

    /// Installs a panic hook that records the source position of panics inside processes. The
    /// previous hook still runs, so the output of a panic does not change.
    ///
    /// WHY: a hook for the whole program, because only a panic hook learns the position.
    pub(crate) fn install() {
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

    /// Runs `f`. A panic, or a call of [`super::exit`], becomes an exit reason.
    #[inline]
    pub(crate) fn panics<R>(f: impl FnOnce() -> R) -> Result<R, ExitReason> {
        panic::catch_unwind(AssertUnwindSafe(f)).map_err(described)
    }

    #[cold]
    fn described(payload: Box<dyn Any + Send>) -> ExitReason {
        let payload = match payload.downcast::<Exiting>() {
            Ok(exiting) => return exiting.0,
            Err(payload) => payload,
        };
        let message = text(&*payload);
        catch_panic(|| drop(payload));
        // A panic that user code caught has left its record too; comparing the messages tells them
        // apart.
        ExitReason::Panic(match LAST.take() {
            Some(last) if last.message == message => Arc::new(last),
            _ => Arc::new(Panic { message, place: String::new() }),
        })
    }

    fn text(payload: &(dyn Any + Send)) -> String {
        let owned = payload.downcast_ref::<String>().cloned();
        owned
            .or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string))
            .unwrap_or_default()
    }
}
