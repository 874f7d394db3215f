//! What is reported of a server that crashes, and what has to be remembered for it.
//!
//! The last message has gone into its handler when that crashes, so its text is written before. It
//! goes into one buffer that is used again and again and has a limit: formatting stops where it is
//! full.

use std::fmt::{self, Write};

use purlin_raw::quietly;

use super::Server;
use crate::{ExitReason, ProcessId};

/// How many bytes of a server's state are reported.
const STATE: usize = 8 * 1024;

/// Text up to a length; what is too much ends the writing.
#[derive(Default)]
struct Bounded {
    text: String,
    limit: usize,
}

impl Bounded {
    /// Writes the value's `Debug` text instead of what was there.
    fn write(&mut self, value: &dyn fmt::Debug) {
        self.text.clear();
        // WHY quietly: the text is the user's code, and a report is no reason to end.
        quietly(|| {
            if write!(self, "{value:?}").is_err() {
                self.text.push('…');
            }
        });
    }
}

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.limit - self.text.len();
        if text.len() <= room {
            self.text.push_str(text);
            return Ok(());
        }
        self.text.push_str(&text[..text.floor_char_boundary(room)]);
        Err(fmt::Error)
    }
}

/// The last message of a server, in words.
pub(super) struct LastMessage {
    /// Where it came from; empty before the first.
    kind: &'static str,
    message: Bounded,
}

impl LastMessage {
    pub(super) fn new(limit: usize) -> Self {
        Self { kind: "", message: Bounded { text: String::new(), limit } }
    }

    /// Remembers a message.
    #[inline]
    pub(super) fn note(&mut self, kind: &'static str, message: &dyn fmt::Debug) {
        if self.message.limit > 0 {
            self.kind = kind;
            self.message.write(message);
        }
    }
}

/// Reports a crash.
#[cold]
pub(super) fn crash<S: Server>(pid: ProcessId, last: &LastMessage, state: &S, reason: &ExitReason) {
    let mut text = Bounded { text: String::new(), limit: STATE };
    text.write(state);
    let server = std::any::type_name::<S>();
    let (kind, message, state) = (last.kind, &last.message.text, &text.text);
    // WHY quietly: a subscriber is the user's.
    quietly(|| {
        tracing::error!(server, %pid, kind, last_message = message, state, %reason, "server crashed");
    });
}

/// Reports a message for which there is no handler.
#[cold]
pub(super) fn unhandled<S: Server>(pid: ProcessId, message: &dyn fmt::Debug) {
    let server = std::any::type_name::<S>();
    tracing::warn!(server, %pid, ?message, "a server was sent what it does not handle");
}
