//! Exit reasons.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::process::unwind::contain;

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
/// A panic in the error's destructor has no effect.
///
/// COST: one word, and two allocations when it is created; cloning increments a reference count.
// WHY: boxed twice, so that a reason is two words; reasons travel in signals.
#[derive(Clone)]
pub struct Cause(Arc<Contained>);

/// Error whose destructor, which is user code, may panic.
///
/// WHY here: the last clone of a reason is dropped in any process, as a supervisor, or by the runtime.
#[derive(Debug)]
struct Contained(Box<dyn Error + Send + Sync>);

impl Drop for Contained {
    fn drop(&mut self) {
        // A box of this error, which has no size, allocates nothing.
        let error = std::mem::replace(&mut self.0, Box::new(fmt::Error));
        contain(|| drop(error));
    }
}

impl Cause {
    /// Creates a cause from an error, a text, or any value that converts into a boxed error.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Arc::new(Contained(error.into())))
    }

    /// Returns the original error if it is an `E`.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.as_error().downcast_ref()
    }

    /// Returns the original error.
    pub fn as_error(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.0.0
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
        fmt::Debug::fmt(self.as_error(), f)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_error(), f)
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
