//! Programs: a table of reactions for a machine, and the steps of its driver.
//!
//! A program is a term that `otp.escript` reads too. States and contents of events are small numbers.

use std::fmt::{self, Write as _};

/// Number of states.
pub(super) const STATES: u8 = 3;
/// Number of contents of events.
pub(super) const CONTENTS: u8 = 4;
/// Number of classes of events.
pub(super) const CLASSES: u8 = 3;

/// A machine and what its driver does.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// Whether `state_enter` has actions and is part of the trace.
    pub(super) enters: bool,
    /// Content of the internal event that `init` queues.
    pub(super) first: Option<u8>,
    /// Reactions for each state, class of events and content.
    pub(super) reactions: Vec<Reaction>,
    /// Changes of timeouts at the entry of each state.
    pub(super) entries: Vec<Vec<Change>>,
    pub(super) steps: Vec<Step>,
}

/// Class of an event: the reaction is the same for the events of a class.
#[derive(Clone, Copy)]
pub(super) enum Class {
    External,
    Internal,
    Timeout,
}

/// What the machine does with an event.
#[derive(Clone, Debug)]
pub(super) struct Reaction {
    pub(super) target: Target,
    pub(super) postpones: bool,
    /// Whether a call is answered, unless it is postponed.
    pub(super) replies: bool,
    pub(super) next_events: Vec<(Kind, u8)>,
    pub(super) changes: Vec<Change>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    Keep,
    Repeat,
    Next(u8),
    Stop,
    Fail,
}

/// Kind of an event that a machine queues.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Internal,
    Cast,
    Info,
}

/// Timeout of the state, of the next event, or with one of two names.
#[derive(Clone, Copy, Debug)]
pub(super) enum Timer {
    State,
    Event,
    A,
    B,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// Starts a timeout of that many seconds.
    Start(Timer, u8, u8),
    Update(Timer, u8),
    Cancel(Timer),
}

/// Step of the driver. After each the driver waits until the machine is at rest.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Do(Act),
    /// The machine is held in a handler meanwhile, so that events arrive together.
    Held(Vec<Act>),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    Call(u8),
    Cast(u8),
    Info(u8),
    /// That many seconds pass.
    Wait(u8),
}

impl Program {
    pub(super) fn reaction(&self, state: u8, class: Class, content: u8) -> &Reaction {
        let row = usize::from(state * CLASSES + class as u8);
        &self.reactions[row * usize::from(CONTENTS) + usize::from(content)]
    }
}

/// Writes a list of terms.
fn list<T: fmt::Display>(terms: &[T]) -> String {
    let mut text = String::from("[");
    for (number, term) in terms.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        write!(text, "{comma}{term}").expect("a text takes text");
    }
    text + "]"
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.first.map_or("none".to_owned(), |content| content.to_string());
        let entries: Vec<String> = self.entries.iter().map(|changes| list(changes)).collect();
        let (reactions, steps) = (list(&self.reactions), list(&self.steps));
        write!(f, "{{{},{first},{reactions},{},{steps}}}", self.enters, list(&entries))
    }
}

impl fmt::Display for Reaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, postpones, replies, next_events, changes } = self;
        let event = |(kind, content): &(Kind, u8)| format!("{{{kind},{content}}}");
        let next_events: Vec<String> = next_events.iter().map(event).collect();
        write!(f, "{{{target},{postpones},{replies},{},{}}}", list(&next_events), list(changes))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keep => f.write_str("keep"),
            Self::Repeat => f.write_str("repeat"),
            Self::Next(state) => write!(f, "{{next,{state}}}"),
            Self::Stop => f.write_str("{stop,normal}"),
            Self::Fail => f.write_str("{stop,oops}"),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Internal => "internal",
            Self::Cast => "cast",
            Self::Info => "info",
        })
    }
}

impl fmt::Display for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::State => "state",
            Self::Event => "event",
            Self::A => "a",
            Self::B => "b",
        })
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(timer, seconds, content) => {
                write!(f, "{{start,{timer},{seconds},{content}}}")
            }
            Self::Update(timer, content) => write!(f, "{{update,{timer},{content}}}"),
            Self::Cancel(timer) => write!(f, "{{cancel,{timer}}}"),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Do(act) => write!(f, "{act}"),
            Self::Held(acts) => write!(f, "{{held,{}}}", list(acts)),
        }
    }
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(content) => write!(f, "{{call,{content}}}"),
            Self::Cast(content) => write!(f, "{{cast,{content}}}"),
            Self::Info(content) => write!(f, "{{info,{content}}}"),
            Self::Wait(seconds) => write!(f, "{{wait,{seconds}}}"),
        }
    }
}
