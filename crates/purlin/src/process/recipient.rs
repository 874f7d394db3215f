//! Recipient: address of a process that accepts a `T`, whatever the type of its messages.

use std::convert::identity;
use std::fmt;
use std::future::Future;
use std::hash::{Hash, Hasher};
use std::pin::Pin;
use std::sync::Arc;

use crate::node::erlang_types::Peer;
use crate::process::process_ref::sealed;
use crate::{Pid, ProcessId, SendError};

/// Address of a process that accepts values of type `T`, each converted into a message of the
/// process: typed adapter, made by [`Pid::map`] or from a [`Pid<T>`](Pid).
///
/// ```
/// use purlin::{Process, Recipient, Reply, spawn};
///
/// enum Msg { Price(u32), Total(Reply<u32>) }
///
/// # #[purlin::main] async fn main() {
/// let portfolio = spawn(async |mut me: Process<Msg>| {
///     let mut total = 0;
///     loop {
///         match me.receive().await {
///             Msg::Price(price) => total += price,
///             Msg::Total(reply) => reply.send(total),
///         }
///     }
/// });
/// // The sender of prices need not know `Msg`.
/// let prices: Recipient<u32> = portfolio.map(Msg::Price);
/// prices.send(40);
/// prices.send(2);
/// assert_eq!(portfolio.call(Msg::Total).await, Ok(42));
/// # }
/// ```
///
/// COST: two words; cloning increments two reference counts. A send calls the conversion through a
/// pointer.
pub struct Recipient<T> {
    peer: Peer,
    to: Arc<dyn Deliver<T>>,
}

/// Sends values to a process.
trait Deliver<T>: Send + Sync {
    fn send(&self, value: T);
    fn try_send(&self, value: T) -> Result<(), SendError<()>>;
    fn send_async<'a>(&'a self, value: T) -> Sending<'a>
    where
        T: 'a;
}

type Sending<'a> = Pin<Box<dyn Future<Output = Result<(), SendError<()>>> + Send + 'a>>;

/// Address of a process, with the conversion into its messages.
struct Adapter<M, F> {
    pid: Pid<M>,
    convert: F,
}

impl<T, M, F> Deliver<T> for Adapter<M, F>
where
    M: Send + 'static,
    F: Fn(T) -> M + Send + Sync,
{
    fn send(&self, value: T) {
        self.pid.send((self.convert)(value));
    }

    fn try_send(&self, value: T) -> Result<(), SendError<()>> {
        self.pid.try_send((self.convert)(value)).map_err(without_message)
    }

    fn send_async<'a>(&'a self, value: T) -> Sending<'a>
    where
        T: 'a,
    {
        let message = (self.convert)(value);
        Box::pin(async move { self.pid.send_async(message).await.map_err(without_message) })
    }
}

/// Drops the message of an error.
fn without_message<M>(error: SendError<M>) -> SendError<()> {
    match error {
        SendError::NoProcess(_) => SendError::NoProcess(()),
        SendError::Full(_) => SendError::Full(()),
    }
}

impl<M: Send + 'static> Pid<M> {
    /// Returns an address of this process that accepts values of type `T`, which `convert` makes
    /// into messages, on the sender's thread: often a variant of the message type, `Msg::Price`.
    ///
    /// COST: one allocation.
    pub fn map<T>(&self, convert: impl Fn(T) -> M + Send + Sync + 'static) -> Recipient<T> {
        let to = Arc::new(Adapter { pid: self.clone(), convert });
        Recipient { peer: self.address().clone().untyped(), to }
    }
}

impl<M: Send + 'static> From<&Pid<M>> for Recipient<M> {
    fn from(pid: &Pid<M>) -> Self {
        pid.map(identity)
    }
}

impl<T> Recipient<T> {
    /// Sends a value, as [`Pid::send`].
    pub fn send(&self, value: T) {
        self.to.send(value);
    }

    /// Sends a value, as [`Pid::try_send`].
    ///
    /// # Errors
    /// Returns [`SendError`] without the value, which has been converted, if the process has ended
    /// or its mailbox is full.
    pub fn try_send(&self, value: T) -> Result<(), SendError<()>> {
        self.to.try_send(value)
    }

    /// Waits until the mailbox has capacity, then sends a value, as [`Pid::send_async`].
    ///
    /// *Cancellation*: a future that is dropped before it is ready has sent nothing.
    ///
    /// # Errors
    /// Returns [`SendError`] without the value if the process has ended or ends meanwhile, or if a
    /// process sends to its own full mailbox.
    ///
    /// COST: as [`Pid::send_async`], and an allocation.
    pub fn send_async<'a>(
        &'a self,
        value: T,
    ) -> impl Future<Output = Result<(), SendError<()>>> + Send + 'a
    where
        T: 'a,
    {
        self.to.send_async(value)
    }

    /// Returns the id of the process.
    pub fn id(&self) -> ProcessId {
        ProcessId::of(&self.peer)
    }

    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }
}

impl<T> sealed::ToProcess for &Recipient<T> {
    fn id(&self) -> ProcessId {
        Recipient::id(self)
    }

    fn find(&self) -> sealed::Found {
        sealed::Found(Some(self.peer.clone()))
    }
}

impl<T> Clone for Recipient<T> {
    fn clone(&self) -> Self {
        Self { peer: self.peer.clone(), to: Arc::clone(&self.to) }
    }
}

/// Compares the processes, not the conversions.
impl<T> PartialEq for Recipient<T> {
    fn eq(&self, other: &Self) -> bool {
        self.peer.is_same(&other.peer)
    }
}

impl<T> Eq for Recipient<T> {}

impl<T> Hash for Recipient<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

impl<T> fmt::Debug for Recipient<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recipient({})", self.id())
    }
}
