//! How messages of each type are made of what comes.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use purlin_term::{Term, ValueError};

use super::deliver::For;
use crate::frame::{NoValue, Unread};

/// Makes a message out of what has come and sends it; an error says why it is none.
pub(super) type Decode = Arc<dyn Fn(For, Unread<'_>) -> Result<(), NoValue> + Send + Sync>;

/// [`Decode`] of what has come as a term.
pub(super) fn of_terms<F>(decode: F) -> Decode
where
    F: Fn(For, Term) -> Result<(), String> + Send + Sync + 'static,
{
    Arc::new(move |to, message| {
        let term = message.term().map_err(NoValue::Broken)?;
        decode(to, term).map_err(|error| NoValue::Other(ValueError::Mismatch(error)))
    })
}

/// What the cluster was told to read.
#[derive(Default)]
pub(super) struct Decoders {
    all: RwLock<HashMap<TypeId, Decode>>,
    /// How often it was told.
    told: AtomicU64,
}

/// What a connection has used last: most messages are of the type of the one before.
#[derive(Default)]
pub(super) struct LastUsed(Option<(u64, TypeId, Decode)>);

impl Decoders {
    pub(super) fn add(&self, kind: TypeId, decode: Decode) {
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(kind, decode);
        // ORDER: release, partner of the acquire below; under the lock, so that it counts what was added.
        self.told.fetch_add(1, Ordering::Release);
    }

    /// The one for messages of that type. COST: two comparisons, if it is the one that was used last.
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
