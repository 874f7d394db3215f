//! Return types of process functions, and the exit reasons they stand for.

use std::convert::Infallible;
use std::error::Error;

use crate::ExitReason;

/// Return type of a process's function.
///
/// `()` and `Ok(())` end the process with the reason `normal`. An error is the exit reason, so `?`
/// works in a process; an [`ExitReason`] as the error is the reason itself.
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
    /// Returns the reason with which the process ends.
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

/// Names the never type, which stable Rust does not allow to be written.
mod never {
    /// Return type of a function pointer.
    pub trait Returns {
        /// The type.
        type Value;
    }

    impl<T> Returns for fn() -> T {
        type Value = T;
    }
}

/// A function that ends with an endless loop; only a signal or a panic ends it.
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
