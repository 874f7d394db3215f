//! What is reported of a server that crashes, and what has to be remembered for it.
//!
//! The last message has gone into its handler when that crashes, so its text is written before, into
//! one buffer that is used again and again and has a limit. What is full takes nothing more, but a
//! collection walks to its end all the same. So what that takes is measured, and as many of the
//! messages that follow are not kept as makes it little on average.
//!
//! WHY it is not cut short by unwinding: that costs more than most messages, and poisons a lock that
//! the text is written under.

use std::fmt::{self, Write};
use std::time::{Duration, Instant};

use purlin_raw::quietly;

use super::{Mail, Server};
use crate::{ExitReason, Process, ProcessId};

/// How many bytes of a server's state are reported.
const STATE: usize = 8 * 1024;

/// How long the walk behind the limit may take, on average.
const WALK: Duration = Duration::from_micros(1);
/// How many messages in a row are not kept at most.
const NOT_KEPT: u128 = 1000;

/// Text up to a length; what is too much ends the writing.
#[derive(Default)]
struct Bounded {
    text: String,
    limit: usize,
    /// When it was full.
    full: Option<Instant>,
}

impl Bounded {
    fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Writes the value's `Debug` text instead of what was there; says how long that went on when
    /// it was full.
    fn write(&mut self, value: &dyn fmt::Debug) -> Duration {
        self.text.clear();
        // WHY quietly: the text is the user's code, and a report is no reason to end.
        quietly(|| {
            // That it does not fit is no error.
            let _ = write!(self, "{value:?}");
        });
        let Some(full) = self.full.take() else { return Duration::ZERO };
        self.text.push('…');
        full.elapsed()
    }
}

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.limit - self.text.len();
        if text.len() <= room {
            self.text.push_str(text);
            return Ok(());
        }
        let whole = (0..=room).rev().find(|place| text.is_char_boundary(*place));
        self.text.push_str(&text[..whole.unwrap_or(0)]);
        self.full.get_or_insert_with(Instant::now);
        Err(fmt::Error)
    }
}

/// The last message of a server, in words.
pub(super) struct LastMessage {
    /// Which handler it went to.
    kind: &'static str,
    message: Bounded,
    /// How many of the next are not kept.
    skip: u128,
}

impl LastMessage {
    pub(super) fn new(limit: usize) -> Self {
        Self { kind: "none", message: Bounded::new(limit), skip: 0 }
    }

    /// Remembers a message.
    #[inline]
    pub(super) fn note(&mut self, kind: &'static str, message: &dyn fmt::Debug) {
        if self.message.limit == 0 {
            return;
        }
        self.kind = kind;
        if self.skip > 0 {
            self.skip -= 1;
            self.message.text.clear();
            self.message.text.push_str("(not kept: one before it was long)");
        } else {
            let walked = self.message.write(message);
            self.skip = (walked.as_nanos() / WALK.as_nanos()).min(NOT_KEPT);
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
    let mut text = Bounded::new(STATE);
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
        last.note("cast", &0);
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
    fn what_follows_a_long_message_is_not_kept_for_a_while() {
        let mut last = LastMessage::new(100);
        last.note("cast", &vec![0; 1_000_000]);
        assert!(last.to_string().starts_with("cast [0, 0, 0, "));
        last.note("call", &7);
        assert_eq!(last.to_string(), "call (not kept: one before it was long)");
        for _ in 0..super::NOT_KEPT {
            last.note("info", &8);
        }
        assert_eq!(last.to_string(), "info 8");
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
