//! Why a process ended.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// Why a process ended.
///
/// Cheap to clone. Reasons print as Erlang writes them where Erlang has them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExitReason {
    /// Its function returned.
    Normal,
    /// It was told to end in an orderly way.
    Shutdown,
    /// It was killed.
    Killed,
    /// It was never started: its node was full or had stopped.
    SystemLimit,
    /// Its function returned an error, in the error's own words.
    Error(Arc<str>),
    /// It panicked.
    Panic(Arc<Panic>),
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
    /// Whether this is how processes end when nothing is wrong: `normal` or `shutdown`.
    pub fn is_orderly(&self) -> bool {
        matches!(self, Self::Normal | Self::Shutdown)
    }
}

impl fmt::Display for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Normal => f.write_str("normal"),
            Self::Shutdown => f.write_str("shutdown"),
            Self::Killed => f.write_str("killed"),
            Self::SystemLimit => f.write_str("system_limit"),
            Self::Error(error) => f.write_str(error),
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

/// Catching panics, and learning where they happened.
pub(crate) mod catch {
    use std::any::Any;
    use std::cell::Cell;
    use std::panic::{self, AssertUnwindSafe};
    use std::sync::{Arc, Once};

    use purlin_raw::quietly;

    use super::Panic;

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

    /// Runs `f`; a panic becomes a value.
    #[inline]
    pub(crate) fn panics<R>(f: impl FnOnce() -> R) -> Result<R, Arc<Panic>> {
        panic::catch_unwind(AssertUnwindSafe(f)).map_err(described)
    }

    #[cold]
    fn described(payload: Box<dyn Any + Send>) -> Arc<Panic> {
        let message = text(&*payload);
        quietly(|| drop(payload));
        // A panic that was caught by its owner left its place too; it is told by what it said.
        match LAST.take() {
            Some(last) if last.message == message => Arc::new(last),
            _ => Arc::new(Panic { message, place: String::new() }),
        }
    }

    fn text(payload: &(dyn Any + Send)) -> String {
        let owned = payload.downcast_ref::<String>().cloned();
        owned
            .or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string))
            .unwrap_or_default()
    }
}
