//! What becomes of the messages: handlers, and what they are given.
//!
//! A handler belongs to one connection and is used by one process at a time. It is
//! given whole messages in the order in which they came, and is not given more
//! before it has returned: that is how a slow handler slows its client down.
//!
//! | module | role |
//! |---|---|
//! | `batch` | what a handler is given |
//! | `count` | the messages are counted, and that is all |
//! | `to_process` | the messages go to a process |
//! | `file` | the messages go to a file |

mod batch;
mod count;
mod file;
mod to_process;

use std::fmt;
use std::future::{Future, ready};

use purlin::ExitReason;

pub use self::batch::{Batch, Block, Session};
pub use self::count::Count;
pub use self::file::{File, OpenError};
pub use self::to_process::{Handed, ToProcess};
use crate::session::Level;
use crate::wire::Refusal;

/// Takes the messages of one connection.
///
/// ```
/// use purlin_ack::handler::{Batch, Handler, Unhandled};
/// use purlin_ack::wire::{Reason, Refusal};
///
/// /// Adds up numbers.
/// struct Adder(u64);
///
/// impl Handler for Adder {
///     async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
///         let mut refused = Vec::new();
///         for frame in batch.frames() {
///             match frame.payload.try_into().map(u64::from_le_bytes) {
///                 Ok(number) => self.0 = self.0.wrapping_add(number),
///                 Err(_) => {
///                     let id = frame.id.number();
///                     refused.push(Refusal { id, reason: Reason::NOT_TAKEN });
///                 }
///             }
///         }
///         if refused.is_empty() { Ok(()) } else { Err(Unhandled::Refused(refused)) }
///     }
/// }
/// ```
pub trait Handler: Send + 'static {
    /// Takes responsibility for a batch, as far as its [level](Batch::level) asks. When this returns the
    /// messages are acknowledged, and not before.
    ///
    /// *Cancellation*: the future is dropped, unfinished, if the connection is killed. Nothing of the
    /// batch is acknowledged then.
    ///
    /// # Errors
    /// [`Unhandled`]: some messages are refused, or nobody knows what became of them.
    fn handle(&mut self, batch: Batch<'_>) -> impl Future<Output = Result<(), Unhandled>> + Send;

    /// The highest level that it can take messages at: [`Level::Handled`] unless it says otherwise.
    /// A client that asks for more gets no session.
    fn offers(&self) -> Level {
        Level::Handled
    }

    /// What is stored of a client's messages, if they are stored so that they survive the server; asked
    /// when a session is opened. What is stored is neither handled nor acknowledged again.
    ///
    /// # Errors
    /// It cannot be found out. The client is told that the server is busy.
    fn stored(
        &mut self,
        client: [u8; 16],
    ) -> impl Future<Output = Result<Option<Stored>, ExitReason>> + Send {
        let _ = client;
        ready(Ok(None))
    }
}

/// What is stored of a client's messages: what became of all of an epoch up to one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The latest epoch.
    pub epoch: u64,
    /// The newest message of that.
    pub newest: u64,
    /// Those up to the newest that the handler has refused, in order, at least of the last window.
    ///
    /// A handler that stores messages and refuses others stores its refusals too: a client that has
    /// not heard of one before the server was killed would take the message for acknowledged.
    pub refused: Vec<Refusal>,
}

/// Why a batch was not handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unhandled {
    /// These messages of the batch, in order, are not taken; all others are handled. In a session the
    /// client is told. Without one those before the first of them are acknowledged, and the connection
    /// is closed.
    Refused(Vec<Refusal>),
    /// Nobody knows what became of the batch. Nothing of it is acknowledged, and the connection ends
    /// with this reason, as it does when the handler panics. A client sends it again until its patience
    /// ends, so a message that can never be taken is better refused.
    Failed(ExitReason),
}

impl fmt::Display for Unhandled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => write!(f, "{} messages were not taken", refused.len()),
            Self::Failed(reason) => write!(f, "the handler failed: {reason}"),
        }
    }
}

impl std::error::Error for Unhandled {}
