//! Publish and subscribe: messages to all subscribers of a topic, as Elixir's `Phoenix.PubSub`.
//!
//! ```
//! use purlin::pubsub::PubSub;
//! use purlin::{Process, Recipient};
//!
//! #[derive(Debug, PartialEq)]
//! enum Msg { Traded(u32) }
//!
//! #[purlin::main]
//! async fn main(mut me: Process<Msg>) -> Result<(), purlin::registry::RegisterError> {
//!     let trades = PubSub::new();
//!     trades.subscribe("ACME".to_string(), me.pid().map(Msg::Traded))?;
//!     assert_eq!(trades.publish("ACME", 1250).await, 1);
//!     assert_eq!(me.receive().await, Msg::Traded(1250));
//!
//!     assert!(trades.unsubscribe("ACME", me.id()));
//!     assert_eq!(trades.publish("ACME", 1260).await, 0);
//!     Ok(())
//! }
//! ```
//!
//! # Slow subscribers
//!
//! The bound of the subscriber's mailbox ([`SpawnOptions::bound`](crate::SpawnOptions::bound))
//! decides what happens to a message for a full mailbox:
//!
//! | overflow policy | a message for a full mailbox |
//! |---|---|
//! | no bound | does not occur; the mailbox grows |
//! | [`Overflow::DropNewest`] | is dropped |
//! | [`Overflow::DropOldest`] | is sent, and the oldest is dropped |
//! | [`Overflow::Wait`] | [`publish`](PubSub::publish) waits; [`try_publish`](PubSub::try_publish) drops it |
//! | [`Overflow::Reject`] | is dropped and disconnects the subscriber: all its subscriptions are removed, and it is sent the exit signal `{shutdown, slow subscriber}` |
//!
//! Every message dropped is counted (B3).
//!
//! # Other nodes
//!
//! A message goes to subscribers that have subscribed to this value, thus usually of one node. To
//! reach other nodes, publish to a process group ([`pg`](crate::pg)) that a cluster shares, with a
//! process in it on each node that publishes what it receives to the subscribers there.

use std::borrow::Borrow;
use std::fmt;
use std::hash::Hash;

use crate::process::process_ref::exit_process;
use crate::process::yielding::without_wait;
use crate::registry::{RegisterError, Registry};
use crate::{ExitReason, Overflow, ProcessId, Recipient, SendError, ToProcess, consume_budget};

/// Table of subscribers by topic. `K` is the type of the topics and `T` that of the messages.
///
/// A subscription ends with its process (N5). Clones share one table.
///
/// COST: subscribing is a registration in a [`Registry`]. Publishing takes the read lock of one
/// shard of the table, clones the list of the subscribers of the topic, and sends each a clone of
/// the message.
pub struct PubSub<K, T> {
    topics: Registry<K, Recipient<T>>,
}

impl<K, T> PubSub<K, T>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    T: Clone + 'static,
{
    /// Creates a table without subscribers.
    pub fn new() -> Self {
        Self { topics: Registry::duplicate() }
    }

    /// Subscribes a process to a topic. A process that subscribes several times gets each message
    /// as many times.
    ///
    /// # Errors
    /// Returns [`RegisterError::NoProcess`] if the process has ended.
    pub fn subscribe(
        &self,
        topic: K,
        subscriber: impl Into<Recipient<T>>,
    ) -> Result<(), RegisterError> {
        self.topics.register(topic, &subscriber.into(), ())
    }

    /// Removes all subscriptions of a process to a topic. Returns whether there was one. Messages
    /// that have been sent stay in the mailbox.
    pub fn unsubscribe<Q>(&self, topic: &Q, process: impl ToProcess) -> bool
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.topics.unregister(topic, process)
    }

    /// Sends a message to all subscribers of a topic, in the order of their subscription, and
    /// waits for those whose mailbox is full and waits ([`Overflow::Wait`]); see [the table of
    /// policies](self#slow-subscribers). Returns the number of subscribers that it was sent to,
    /// including those whose mailbox dropped it or an older one.
    ///
    /// The messages of one publisher arrive at each subscriber in the order published, if the
    /// publisher awaits each. A slow subscriber delays the publisher and the slow ones after it, and
    /// not the other subscribers of this message.
    ///
    /// *Cancellation*: dropping the future leaves out the subscribers that have not been sent to.
    pub async fn publish<Q>(&self, topic: &Q, message: T) -> usize
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let (mut sent, mut full) = (0, Vec::new());
        let subscribers = self.topics.lookup(topic);
        if subscribers.is_empty() {
            return without_wait(0).await;
        }
        for (subscriber, ()) in subscribers {
            match self.offer(&subscriber, message.clone()) {
                Offered::Sent => sent += 1,
                Offered::Full => full.push(subscriber),
                Offered::Over => {}
            }
            consume_budget().await;
        }
        for subscriber in full {
            match subscriber.send_async(message.clone()).await {
                Ok(()) => sent += 1,
                // The publisher's own mailbox, for which it cannot wait.
                Err(SendError::Full(())) => count_drop(&subscriber),
                Err(SendError::NoProcess(())) => {}
            }
        }
        sent
    }

    /// [`publish`](Self::publish) without waiting: a subscriber whose mailbox is full and waits
    /// does not get the message. Works on any thread.
    pub fn try_publish<Q>(&self, topic: &Q, message: T) -> usize
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let mut sent = 0;
        for (subscriber, ()) in self.topics.lookup(topic) {
            match self.offer(&subscriber, message.clone()) {
                Offered::Sent => sent += 1,
                Offered::Full => count_drop(&subscriber),
                Offered::Over => {}
            }
        }
        sent
    }

    /// Sends a message if the mailbox has capacity, and disconnects a subscriber whose mailbox
    /// rejects it.
    fn offer(&self, subscriber: &Recipient<T>, message: T) -> Offered {
        match subscriber.try_send(message) {
            Ok(()) => Offered::Sent,
            Err(SendError::NoProcess(())) => Offered::Over,
            Err(SendError::Full(())) if waits(subscriber) => Offered::Full,
            Err(SendError::Full(())) => {
                count_drop(subscriber);
                self.topics.unregister_all(subscriber);
                exit_process(subscriber, ExitReason::shutdown_with("slow subscriber"));
                Offered::Over
            }
        }
    }

    /// Returns the ids of a topic's subscribers, one for each subscription.
    pub fn subscribers<Q>(&self, topic: &Q) -> Vec<ProcessId>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.topics.lookup(topic).iter().map(|(subscriber, ())| subscriber.id()).collect()
    }

    /// Returns the topics of a process, one for each subscription.
    pub fn topics(&self, process: impl ToProcess) -> Vec<K> {
        self.topics.keys(process)
    }
}

/// Result of [`PubSub::offer`].
enum Offered {
    Sent,
    /// The mailbox is full, and senders wait.
    Full,
    /// The process has ended or has been disconnected.
    Over,
}

fn waits<T>(subscriber: &Recipient<T>) -> bool {
    subscriber.peer().bound().is_some_and(|bound| bound.overflow() == Overflow::Wait)
}

/// Counts a message that a full mailbox did not accept (B3).
fn count_drop<T>(subscriber: &Recipient<T>) {
    if let Some(bound) = subscriber.peer().bound() {
        bound.reject();
    }
}

impl<K, T> Default for PubSub<K, T>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    T: Clone + 'static,
{
    fn default() -> Self {
        Self::new()
    }
}

impl<K, T> Clone for PubSub<K, T> {
    fn clone(&self) -> Self {
        Self { topics: self.topics.clone() }
    }
}

impl<K, T> fmt::Debug for PubSub<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PubSub")
    }
}
