//! Why a process ended.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// Why a process ended.
///
/// Cheap to clone: at most a counted reference. Reasons print as Erlang writes them where Erlang has
/// them.
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
    /// Its function returned.
    Normal,
    /// It was told to end in an orderly way.
    Shutdown,
    /// The same, and why: Erlang's `{shutdown, Term}`.
    ShutdownWith(Cause),
    /// It ended itself with `kill`. As a reason that is *sent* it cannot be trapped, and its receiver
    /// ends with [`ExitReason::Killed`] (L4).
    Kill,
    /// It was killed.
    Killed,
    /// There was no such process.
    NoProcess,
    /// The connection to its node was lost.
    NoConnection,
    /// Something did not come in time.
    Timeout,
    /// It was never started: its node was full or had stopped.
    SystemLimit,
    /// An error, or any other reason of the user's.
    Error(Cause),
    /// It panicked.
    Panic(Arc<Panic>),
}

/// What the user gave as a reason: an error, or a text.
///
/// Two are equal if they say the same. What was given can be had back:
///
/// ```
/// use purlin::ExitReason;
///
/// let reason = ExitReason::error("four".parse::<u32>().unwrap_err());
/// let ExitReason::Error(cause) = &reason else { unreachable!() };
/// assert!(cause.downcast_ref::<std::num::ParseIntError>().is_some());
/// ```
///
/// COST: one word, and two allocations when it is made; cloning counts a reference.
// WHY boxed once more: a reason is then two words, and reasons travel in signals.
#[derive(Clone)]
pub struct Cause(Arc<Box<dyn Error + Send + Sync>>);

impl Cause {
    /// Any error, a text, or what boxes into one.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Arc::new(error.into()))
    }

    /// The error that was given, if it is an `E`.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }

    /// The error that was given.
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

/// A panic, as a process's exit reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Panic {
    /// What the panic said; empty if it was no text.
    pub message: String,
    /// Where it happened, `file:line:column`; empty if unknown.
    pub place: String,
}

impl ExitReason {
    /// An error or a text of one's own as a reason. An `ExitReason` stays what it is.
    pub fn error(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        match error.into().downcast::<Self>() {
            Ok(reason) => *reason,
            Err(error) => Self::Error(Cause::new(error)),
        }
    }

    /// `{shutdown, Term}`: an orderly end, and why.
    pub fn shutdown_with(why: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::ShutdownWith(Cause::new(why))
    }

    /// Whether this is how processes end when nothing is wrong: `normal`, `shutdown`,
    /// `{shutdown, Term}`.
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

/// Ends the process that calls it, from any depth, with that reason (P2).
///
/// The stack is unwound, so destructors run; nothing is printed, and nothing after it is done.
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
/// Outside a process, with the reason; and it ends the program where panics abort.
#[track_caller]
pub fn exit(reason: ExitReason) -> ! {
    if !purlin_raw::in_process() {
        panic!("exit({reason}) was called outside of any process");
    }
    std::panic::resume_unwind(Box::new(catch::Exiting(reason)))
}

/// Catching panics, and learning where they happened.
pub(crate) mod catch {
    use std::any::Any;
    use std::cell::Cell;
    use std::panic::{self, AssertUnwindSafe};
    use std::sync::{Arc, Once};

    use purlin_raw::quietly;

    use super::{ExitReason, Panic};

    /// What [`super::exit`] unwinds with.
    pub(super) struct Exiting(pub(super) ExitReason);

    thread_local! {
        /// The last panic in a process of this thread: what it said, and where.
        static LAST: Cell<Option<Panic>> = const { Cell::new(None) };
    }

    /// Has panics inside processes leave their place behind. The hook that was there still runs,
    /// so what a panic prints does not change.
    ///
    /// WHY a hook of the whole program: the place of a panic is told to nobody else.
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

    /// Runs `f`; a panic, or an [`super::exit`], becomes a reason.
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
        quietly(|| drop(payload));
        // A panic that was caught by its owner left its place too; it is told by what it said.
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
