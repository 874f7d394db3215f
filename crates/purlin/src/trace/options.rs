//! How much is seen of processes that are followed.

use std::any::{Any, TypeId, type_name};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use purlin_raw::quietly;

use crate::observe::beginning;

type Show = Arc<dyn Fn(&dyn Any) -> Option<String> + Send + Sync>;

/// How much a trace may see, and what it keeps.
#[derive(Clone)]
#[must_use]
pub struct Options {
    pub(super) per_second: u32,
    pub(super) in_all: u64,
    pub(super) kept: usize,
    pub(super) processes: usize,
    pub(super) children: bool,
    shows: HashMap<TypeId, Show>,
}

impl Default for Options {
    /// 10,000 events a second, 1,000,000 in all, of which the last 10,000 are kept; 100 processes; no children.
    fn default() -> Self {
        Self {
            per_second: 10_000,
            in_all: 1_000_000,
            kept: 10_000,
            processes: 100,
            children: false,
            shows: HashMap::new(),
        }
    }
}

impl Options {
    /// How many events there may be in a second of the node's time; at one more the trace stops itself.
    pub fn events_per_second(mut self, events: u32) -> Self {
        self.per_second = events;
        self
    }

    /// How many events there may be in all; then the trace stops itself.
    pub fn events(mut self, events: u64) -> Self {
        self.in_all = events;
        self
    }

    /// How many events are kept, the last ones: at least 1, at most 100,000.
    pub fn kept(mut self, events: usize) -> Self {
        self.kept = events.clamp(1, 100_000);
        self
    }

    /// How many processes may be followed.
    pub fn processes(mut self, processes: usize) -> Self {
        self.processes = processes;
        self
    }

    /// Whether those are followed too whom a process that is followed spawns.
    pub fn children(mut self, follow: bool) -> Self {
        self.children = follow;
        self
    }

    /// Shows something of the messages of that type, such as their `Debug` text, instead of the type: the first
    /// thousand bytes. `show` is run by the process that sends, and by one that receives in order; it should be
    /// short. If it panics the type is shown.
    pub fn show<M: 'static>(mut self, show: impl Fn(&M) -> String + Send + Sync + 'static) -> Self {
        let shown = move |message: &dyn Any| message.downcast_ref::<M>().map(&show);
        self.shows.insert(TypeId::of::<M>(), Arc::new(shown));
        self
    }

    /// What is told of a message.
    pub(super) fn told(
        &self,
        message_type: &'static str,
        message: Option<&dyn Any>,
    ) -> Cow<'static, str> {
        let shown = message.and_then(|message| {
            let show = self.shows.get(&message.type_id())?;
            let mut shown = None;
            quietly(|| shown = show(message));
            shown
        });
        shown.map_or(Cow::Borrowed(message_type), |shown| beginning(&shown).into())
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shows = self.shows.len();
        f.debug_struct(type_name::<Self>())
            .field("per_second", &self.per_second)
            .field("in_all", &self.in_all)
            .field("kept", &self.kept)
            .field("processes", &self.processes)
            .field("children", &self.children)
            .field("shows", &shows)
            .finish()
    }
}
