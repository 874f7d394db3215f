//! Decoders: from incoming payloads to typed messages.

use std::any::TypeId;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use purlin::LookupError;
use purlin::remote::LocalProcess;
use purlin_dist_protocol::frame::{NoValue, Unread};
use purlin_term::{Term, ValueError};

use crate::cluster::connection::Connection;

/// Recipient of a payload: a process, which may be addressed by an alias.
pub(crate) struct Target<'a> {
    pub(crate) process: LocalProcess,
    pub(crate) alias: Option<ByAlias>,
    /// The connection over which the payload came.
    pub(crate) over: Option<&'a Arc<Connection>>,
}

/// Alias to which a payload was sent, by its number (L9), with priority or without (M6).
#[derive(Clone, Copy)]
pub(crate) struct ByAlias {
    pub(crate) number: u64,
    pub(crate) priority: bool,
}

impl Target<'_> {
    /// Sends the recipient a message.
    pub(crate) fn send<M: Send + 'static>(self, message: M) -> Result<(), LookupError> {
        match self.alias {
            Some(ByAlias { number, priority: false }) => self.process.alias(number)?.send(message),
            Some(ByAlias { number, priority: true }) => {
                self.process.alias(number)?.send_priority(message);
            }
            None => self.process.pid()?.send(message),
        }
        Ok(())
    }
}

/// Decodes a payload and sends the message to its recipient. Returns an error if it cannot be decoded.
type Decode = Arc<dyn Fn(Target<'_>, Unread<'_>) -> Result<(), NoValue> + Send + Sync>;

/// The decoders of a cluster, by message type.
#[derive(Default)]
pub(crate) struct Decoders {
    all: RwLock<HashMap<TypeId, Decode>>,
    /// Version of `all`: the number of registrations.
    version: AtomicU64,
}

/// The decoder a connection used last. Most messages have the type of the previous one.
#[derive(Default)]
pub(crate) struct LastUsed(Option<(u64, TypeId, Decode)>);

impl Decoders {
    pub(crate) fn add(&self, kind: TypeId, decode: Decode) {
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        let replaced = all.insert(kind, decode);
        // ORDER: release, partner of the acquire below; under the lock, so that the version covers the entry just
        // added.
        self.version.fetch_add(1, Ordering::Release);
        // WHY before the decoder is dropped: what its function has captured may use the cluster.
        drop(all);
        drop(replaced);
    }

    /// Adds a decoder that takes a term, for messages of type `M`.
    pub(crate) fn add_of_terms<M: 'static>(
        &self,
        decode: impl Fn(Target<'_>, Term) -> Result<(), String> + Send + Sync + 'static,
    ) {
        let decode = move |to: Target<'_>, message: Unread<'_>| {
            decode(to, message.term()?).map_err(|error| ValueError::Mismatch(error).into())
        };
        self.add(TypeId::of::<M>(), Arc::new(decode));
    }

    /// The decoder for a message type. COST: two comparisons if it is the one used last.
    pub(crate) fn find<'l>(&self, kind: TypeId, last: &'l mut LastUsed) -> Option<&'l Decode> {
        let version = self.version.load(Ordering::Acquire);
        let is_last = |(at, of, _): &(u64, TypeId, _)| *at == version && *of == kind;
        if !last.0.as_ref().is_some_and(is_last) {
            let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
            let found = all.get(&kind).map(|decode| (version, kind, Arc::clone(decode)));
            drop(all);
            let before = std::mem::replace(&mut last.0, found);
            // WHY caught: it may be the last copy, and the destructors of users must not end the connection.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(before)));
        }
        last.0.as_ref().map(|(_, _, decode)| decode)
    }
}
