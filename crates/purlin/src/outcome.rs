//! What a process's function may return, and what that says about its end.

use std::convert::Infallible;
use std::error::Error;

use crate::ExitReason;

/// What a process's function may return.
///
/// `()` and `Ok(())` end the process with reason `normal`, so `?` works in a process: an error ends
/// it and is the reason; an [`ExitReason`] as the error is itself the reason.
///
/// ```
/// # use purlin::{Process, spawn, ExitReason};
/// async fn careful(_me: Process<()>) -> Result<(), std::num::ParseIntError> {
///     let n: i32 = "four".parse()?;
///     println!("{n}");
///     Ok(())
/// }
/// # #[purlin::main] async fn main() {
/// let pid = spawn(careful);
/// let reason = pid.ended().await;
/// assert_eq!(reason.to_string(), "invalid digit found in string");
/// # }
/// ```
pub trait Outcome {
    /// The reason with which the process ends.
    fn into_reason(self) -> ExitReason;
}

impl Outcome for () {
    #[inline]
    fn into_reason(self) -> ExitReason {
        ExitReason::Normal
    }
}

impl Outcome for Infallible {
    fn into_reason(self) -> ExitReason {
        match self {}
    }
}

/// Names the type of what never returns, which stable Rust lets no one write.
mod never {
    /// What a function pointer returns.
    pub trait Returns {
        /// Its type.
        type Value;
    }

    impl<T> Returns for fn() -> T {
        type Value = T;
    }
}

/// A function whose last expression is an endless loop; it ends only by a signal or a panic.
impl Outcome for <fn() -> ! as never::Returns>::Value {
    fn into_reason(self) -> ExitReason {
        self
    }
}

impl Outcome for ExitReason {
    fn into_reason(self) -> ExitReason {
        self
    }
}

impl<T: Outcome, E: Into<Box<dyn Error + Send + Sync>>> Outcome for Result<T, E> {
    fn into_reason(self) -> ExitReason {
        match self {
            Ok(outcome) => outcome.into_reason(),
            Err(error) => ExitReason::error(error),
        }
    }
}
