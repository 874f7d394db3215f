//! Message handlers.
//!
//! A handler belongs to one connection and is used by one process at a time. It receives whole
//! messages in order of arrival, and no further messages until it has returned. This backpressure
//! slows down the client of a slow handler.
//!
//! | module | role |
//! |---|---|
//! | `batch` | batch passed to a handler |
//! | `count` | discards messages; the server counts them |
//! | `to_process` | sends messages to a process |
//! | `file` | appends messages to a log on disk |

mod batch;
mod count;
mod file;
mod to_process;

use std::fmt;
use std::future::{Future, ready};

use purlin::ExitReason;

pub use self::batch::{Batch, Block, Session};
pub use self::count::Count;
pub use self::file::{Converted, File, OpenError, convert};
pub use self::to_process::{HandedBatch, ToProcess};
use crate::wire::Refusal;
use crate::wire::session::Level;

/// Handles the messages of one connection.
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
    /// Takes responsibility for a batch, up to its [level](Batch::level). The messages are
    /// acknowledged only after this method has returned.
    ///
    /// *Cancellation*: the future is dropped if the connection is killed. No message of the batch
    /// is acknowledged then.
    ///
    /// # Errors
    /// Returns [`Unhandled`] if some messages are refused, or if the fate of the batch is unknown.
    fn handle(&mut self, batch: Batch<'_>) -> impl Future<Output = Result<(), Unhandled>> + Send;

    /// Returns the highest level the handler supports, by default [`Level::Handled`]. A client that
    /// requests a higher level gets no session. A connection without a session is closed if the
    /// [level of the server](crate::server::Builder::level) is higher.
    fn offers(&self) -> Level {
        Level::Handled
    }

    /// Returns the stored position of a client, if the handler stores messages persistently. Called
    /// when a session is opened. Messages up to that position are neither handled nor acknowledged
    /// again.
    ///
    /// # Errors
    /// Returns an error if the position cannot be determined. The session is then refused with the
    /// status *busy*.
    fn stored(
        &mut self,
        client: [u8; 16],
    ) -> impl Future<Output = Result<Option<Stored>, ExitReason>> + Send {
        let _ = client;
        ready(Ok(None))
    }
}

/// Stored position of a client: the fate of all messages of an epoch up to the newest stored one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Latest epoch of the client.
    pub epoch: u64,
    /// Newest stored message of that epoch.
    pub newest: u64,
    /// Messages up to `newest` that the handler has refused, in order; at least those within the
    /// last window.
    ///
    /// A handler that stores messages and refuses others must store its refusals too. Otherwise a
    /// client that has not received a refusal when the server is killed takes the message for
    /// acknowledged.
    pub refused: Vec<Refusal>,
}

/// Why a batch was not handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unhandled {
    /// The handler refuses these messages, in order, and has handled all others of the batch. In a
    /// session the client receives the refusals. Without a session the messages before the first
    /// refusal are acknowledged, and the connection is closed.
    Refused(Vec<Refusal>),
    /// The fate of the batch is unknown. No message of it is acknowledged, and the connection ends
    /// with this reason, as after a panic of the handler. The client resends the batch until it
    /// gives up, so refuse a message that can never be handled.
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
