//! What is reported of a server that crashes, and what has to be remembered for it.
//!
//! The last message has gone into its handler when that crashes, so its text is written before. It
//! goes into one buffer that is used again and again and has a limit: formatting stops where it is
//! full.

use std::fmt::{self, Write};

use purlin_raw::quietly;

use super::{Mail, Server};
use crate::{ExitReason, Process, ProcessId};

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
    /// Which handler it went to.
    kind: &'static str,
    message: Bounded,
}

impl LastMessage {
    pub(super) fn new(limit: usize) -> Self {
        Self { kind: "none", message: Bounded { text: String::new(), limit } }
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

impl fmt::Display for LastMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.message.text)
    }
}

/// Reports a crash.
#[cold]
pub(super) fn crash<S: Server>(
    me: &Process<Mail<S>>,
    state: &S,
    last: &LastMessage,
    reason: &ExitReason,
) {
    let mut text = Bounded { text: String::new(), limit: STATE };
    text.write(state);
    let info = me.pid().info();
    // WHY quietly: a subscriber is the user's.
    quietly(|| {
        tracing::error!(
            server = std::any::type_name::<S>(),
            pid = %info.id,
            name = info.name.as_deref(),
            mailbox = info.mailbox_len,
            last_message = %last,
            state = text.text,
            %reason,
            "server crashed"
        );
    });
}

/// Reports a message for which there is no handler.
#[cold]
pub(super) fn unhandled<S: Server>(pid: ProcessId, info: &dyn fmt::Debug) {
    let server = std::any::type_name::<S>();
    tracing::warn!(server, %pid, ?info, "a server was sent what it does not handle");
}

#[cfg(test)]
mod tests {
    use super::LastMessage;

    /// What is kept of a message where so many bytes may be.
    fn kept(limit: usize, message: &dyn std::fmt::Debug) -> String {
        let mut last = LastMessage::new(limit);
        last.note("cast", &"what was before");
        last.note("cast", message);
        last.to_string()
    }

    #[test]
    fn a_message_is_kept_as_far_as_there_is_room() {
        assert_eq!(kept(16, &Some(7)), "cast Some(7)");
        assert_eq!(kept(7, &Some(7)), "cast Some(7)");
        assert_eq!(kept(6, &Some(7)), "cast Some(7…");
        assert_eq!(kept(4, &"ééé"), "cast \"é…");
        assert_eq!(kept(5, &vec![0; 1_000_000]), "cast [0, 0…");
    }

    #[test]
    fn nothing_is_kept_where_nothing_may_be() {
        assert_eq!(kept(0, &Some(7)), "none ");
    }

    #[test]
    fn a_text_that_panics_is_cut_there() {
        struct Half;
        impl std::fmt::Debug for Half {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("half")?;
                panic!("on purpose")
            }
        }
        assert_eq!(kept(100, &Half), "cast half");
    }
}
