//! Decoders: from incoming payloads to typed messages.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use purlin_term::{Term, ValueError};

use super::deliver::Target;
use crate::frame::{NoValue, Unread};

/// Decodes a payload and sends the message to its recipient. Returns an error if it cannot be decoded.
pub(super) type Decode = Arc<dyn Fn(Target, Unread<'_>) -> Result<(), NoValue> + Send + Sync>;

/// A [`Decode`] from a function that takes a term.
pub(super) fn of_terms<F>(decode: F) -> Decode
where
    F: Fn(Target, Term) -> Result<(), String> + Send + Sync + 'static,
{
    Arc::new(move |to, message| {
        let term = message.term().map_err(NoValue::Broken)?;
        decode(to, term).map_err(|error| NoValue::Other(ValueError::Mismatch(error)))
    })
}

/// The decoders of a cluster, by message type.
#[derive(Default)]
pub(super) struct Decoders {
    all: RwLock<HashMap<TypeId, Decode>>,
    /// Version of `all`: the number of registrations.
    told: AtomicU64,
}

/// The decoder a connection used last. Most messages have the type of the previous one.
#[derive(Default)]
pub(super) struct LastUsed(Option<(u64, TypeId, Decode)>);

impl Decoders {
    pub(super) fn add(&self, kind: TypeId, decode: Decode) {
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(kind, decode);
        // ORDER: release, partner of the acquire below; under the lock, so that the version covers the entry just
        // added.
        self.told.fetch_add(1, Ordering::Release);
    }

    /// The decoder for a message type. COST: two comparisons if it is the one used last.
    pub(super) fn find<'l>(&self, kind: TypeId, last: &'l mut LastUsed) -> Option<&'l Decode> {
        let told = self.told.load(Ordering::Acquire);
        let is_last = |(when, of, _): &(u64, TypeId, _)| *when == told && *of == kind;
        if !last.0.as_ref().is_some_and(is_last) {
            let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
            last.0 = all.get(&kind).map(|decode| (told, kind, Arc::clone(decode)));
        }
        last.0.as_ref().map(|(_, _, decode)| decode)
    }
}
