//! Trace options: limits, and the text shown of messages.

use std::any::{Any, TypeId, type_name};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::process::unwind::contain;

use crate::observe::beginning;

type Show = Arc<dyn Fn(&dyn Any) -> Option<String> + Send + Sync>;

/// Limits of a trace, and the text it shows of messages.
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
    /// 10,000 events per second; 1,000,000 in total, of which the last 10,000 are kept; 100 processes; no children.
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
    /// Sets the most events in a second of node time; at one more the trace stops.
    pub fn events_per_second(mut self, events: u32) -> Self {
        self.per_second = events;
        self
    }

    /// Sets the most events in total; at one more the trace stops.
    pub fn events(mut self, events: u64) -> Self {
        self.in_all = events;
        self
    }

    /// Sets how many of the latest events are kept, from 1 to 100,000.
    pub fn kept(mut self, events: usize) -> Self {
        self.kept = events.clamp(1, 100_000);
        self
    }

    /// Sets the most processes traced at a time. A process that has ended or that another trace has taken over does not
    /// count.
    pub fn processes(mut self, processes: usize) -> Self {
        self.processes = processes;
        self
    }

    /// Sets whether processes spawned by traced processes are traced too.
    pub fn children(mut self, follow: bool) -> Self {
        self.children = follow;
        self
    }

    /// Shows text made from the messages of type `M`, such as their `Debug` text, instead of the type; it is cut to
    /// 1000 bytes. `show` is run by the process that sends the message, and by a process that receives it in order. It
    /// should be short. If it panics, the type is shown.
    pub fn show<M: 'static>(mut self, show: impl Fn(&M) -> String + Send + Sync + 'static) -> Self {
        let shown = move |message: &dyn Any| message.downcast_ref::<M>().map(&show);
        self.shows.insert(TypeId::of::<M>(), Arc::new(shown));
        self
    }

    /// Returns the text of a message in an event.
    pub(super) fn text_of(
        &self,
        message_type: &'static str,
        message: Option<&dyn Any>,
    ) -> Cow<'static, str> {
        let shown = message.and_then(|message| {
            let show = self.shows.get(&message.type_id())?;
            let mut shown = None;
            contain(|| shown = show(message));
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
