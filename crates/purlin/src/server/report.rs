//! Crash reports of servers, and the text of the last message that they contain.
//!
//! A message has been moved into its handler when the handler crashes. Its text is therefore
//! written beforehand, into one reused buffer with a limit. A full buffer takes no more text, but a
//! collection in the message is still walked to its end. The duration of that walk is measured, and
//! the text of as many following messages is skipped as keeps the average cost low.
//!
//! Text is also skipped while a server handles more than a million messages per second, because it
//! takes longer than the rest of a message then: after a short burst of recorded messages, until
//! some of the following ones take longer.
//!
//! WHY the walk is not aborted by unwinding: unwinding costs more than most messages, and poisons a
//! lock that the text is written under.

use std::fmt::{self, Write};
use std::time::{Duration, Instant};

use crate::process::unwind::contain;

use super::behaviour::{Mail, Server};
use crate::{ExitReason, Process};

/// Limit of a server's state in a report, in bytes.
const STATE_LIMIT: usize = 8 * 1024;

/// Limit of the average duration per message of the walk beyond the limit.
const MAX_FORMAT_TIME: Duration = Duration::from_micros(1);
/// Upper limit of consecutive messages whose text is skipped.
const MAX_SKIPPED: u32 = 1000;

/// Number of messages between two readings of the clock. As many may lack their text after a server
/// was busy.
const BURST: u32 = 64;
/// Average duration of a message below which a server is busy.
const BUSY: Duration = Duration::from_micros(1);

/// Text buffer with a limit; text beyond it ends the writing.
#[derive(Default)]
struct Bounded {
    text: String,
    limit: usize,
    /// Time at which the limit was reached.
    full: Option<Instant>,
}

impl Bounded {
    fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Returns the value's `Debug` text, cut at the limit.
    fn of(value: &dyn fmt::Debug, limit: usize) -> Self {
        let mut bounded = Self::new(limit);
        bounded.write(value);
        bounded
    }

    /// Replaces the text by the value's `Debug` text; returns how long formatting continued after
    /// the limit was reached.
    fn write(&mut self, value: &dyn fmt::Debug) -> Duration {
        self.text.clear();
        // WHY panics are contained: `Debug` is user code, and a report must not end the server.
        contain(|| {
            // Text beyond the limit is not an error.
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
        let whole = (0..=room).rev().find(|end| text.is_char_boundary(*end));
        self.text.push_str(&text[..whole.unwrap_or(0)]);
        self.full.get_or_insert_with(Instant::now);
        Err(fmt::Error)
    }
}

/// Text of a server's last message.
pub(super) struct LastMessage {
    /// Kind of the handler that received it.
    kind: &'static str,
    message: Bounded,
    /// Number of following messages whose text is skipped.
    skip: u32,
    /// Whether the text of the last message was skipped.
    skipped: bool,
    /// Number of messages recorded in the present burst; 0 if its text is skipped.
    recorded: u32,
    /// Begin of the burst, once it has begun.
    since: Option<Instant>,
}

impl LastMessage {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            kind: "none",
            message: Bounded::new(limit),
            skip: 0,
            skipped: false,
            recorded: 0,
            since: None,
        }
    }

    /// Notes a message: its kind, and its text unless that is skipped.
    pub(super) fn note(&mut self, kind: &'static str, message: &dyn fmt::Debug) {
        let skipped = self.skips();
        if !skipped {
            self.record(message);
        }
        self.set_kind(kind, skipped);
    }

    /// Records the text of a message of the mailbox, unless that is skipped. Returns whether it is.
    /// Then [`LastMessage::set_kind`] has to be called, unless it is a system message.
    ///
    /// WHY the kind is set apart: the caller distinguishes the kinds anyway.
    #[inline]
    pub(super) fn note_text<S: Server>(&mut self, mail: &Mail<S>) -> bool {
        let skipped = self.skips();
        if !skipped {
            self.record_mail(mail);
        }
        skipped
    }

    /// Sets the kind of the last message, and whether its text was skipped.
    #[inline]
    pub(super) fn set_kind(&mut self, kind: &'static str, skipped: bool) {
        self.kind = kind;
        self.skipped = skipped;
    }

    /// Counts a message; returns whether its text is skipped.
    #[inline]
    fn skips(&mut self) -> bool {
        if self.skip > 1 {
            self.skip -= 1;
            return true;
        }
        self.ends_skip()
    }

    /// Returns whether the text of a message is skipped that is the last of a skip or is in none. A
    /// last one is not skipped if it ends a burst that was not short.
    #[inline(never)]
    fn ends_skip(&mut self) -> bool {
        if self.message.limit == 0 {
            self.skip = u32::MAX;
            return true;
        }
        if self.skip == 0 {
            return false;
        }
        self.skip = 0;
        self.recorded > 0 || self.since.is_none() || self.end_burst(Instant::now())
    }

    /// Records the text of a message of the mailbox, unless it is a system message.
    #[inline(never)]
    fn record_mail<S: Server>(&mut self, mail: &Mail<S>) {
        match mail {
            Mail::Call(call) => self.record(call),
            Mail::Cast(cast) => self.record(cast),
            Mail::Info(info) => self.record(info),
            Mail::System(_) => {}
        }
    }

    #[inline(never)]
    fn record(&mut self, message: &dyn fmt::Debug) {
        self.since.get_or_insert_with(Instant::now);
        let walked = self.message.write(message);
        let skip = walked.as_nanos() / MAX_FORMAT_TIME.as_nanos();
        self.skip = u32::try_from(skip).unwrap_or(u32::MAX).min(MAX_SKIPPED);
        self.recorded += 1;
        if self.recorded == BURST {
            self.end_burst(Instant::now());
        }
    }

    /// Ends a burst. If it was short, begins one whose text is skipped. Returns whether it was.
    fn end_burst(&mut self, now: Instant) -> bool {
        let short = self.since.take().is_some_and(|began| now.duration_since(began) < BUSY * BURST);
        self.recorded = 0;
        if short {
            (self.skip, self.since) = (BURST, Some(now));
        }
        short
    }
}

impl fmt::Display for LastMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.message.limit {
            0 => "(not recorded)",
            _ if self.skipped => "(not recorded, to save time)",
            _ => &self.message.text,
        };
        write!(f, "{} {text}", self.kind)
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
    // WHY panics are contained: the subscriber is user code.
    // COST: the values are computed only if a subscriber takes the event.
    contain(|| {
        tracing::error!(
            server = std::any::type_name::<S>(),
            pid = %me.id(),
            name = me.pid().info().name.as_deref(),
            mailbox = me.pid().mailbox_len(),
            last_message = %last,
            state = Bounded::of(state, STATE_LIMIT).text,
            %reason,
            "server crashed"
        );
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the recorded text of a message under this limit.
    fn kept(limit: usize, message: &dyn std::fmt::Debug) -> String {
        let mut last = LastMessage::new(limit);
        last.note("cast", &0);
        last.note("cast", message);
        last.to_string()
    }

    #[test]
    fn message_text_is_cut_at_the_limit() {
        assert_eq!(kept(16, &Some(7)), "cast Some(7)");
        assert_eq!(kept(7, &Some(7)), "cast Some(7)");
        assert_eq!(kept(6, &Some(7)), "cast Some(7…");
        assert_eq!(kept(4, &"ééé"), "cast \"é…");
        assert_eq!(kept(5, &vec![0; 1_000_000]), "cast [0, 0…");
    }

    #[test]
    fn messages_after_a_long_one_are_skipped() {
        let mut last = LastMessage::new(100);
        last.note("cast", &vec![0; 1_000_000]);
        assert!(last.to_string().starts_with("cast [0, 0, 0, "));
        last.note("call", &7);
        assert_eq!(last.to_string(), "call (not recorded, to save time)");
        for _ in 0..super::MAX_SKIPPED {
            last.note("info", &8);
        }
        assert_eq!(last.to_string(), "info 8");
    }

    /// Returns the record of a server at the end of a burst that took this time.
    fn after_burst(took: Duration) -> LastMessage {
        let mut last = LastMessage::new(100);
        last.note("cast", &0);
        let now = last.since.expect("a burst has begun") + took;
        assert_eq!(last.end_burst(now), took < BUSY_BURST);
        last
    }

    const BUSY_BURST: Duration = BUSY.saturating_mul(BURST);
    const SHORT: Duration = BUSY_BURST.saturating_sub(Duration::from_nanos(1));

    #[test]
    fn messages_after_a_short_burst_are_skipped() {
        for (took, skipped) in [(SHORT, true), (BUSY_BURST, false)] {
            let mut last = after_burst(took);
            last.note("cast", &1);
            assert_eq!(last.to_string() != "cast 1", skipped, "{last}");
        }
    }

    #[test]
    fn text_is_recorded_again_when_messages_become_rare() {
        let mut last = after_burst(SHORT);
        last.since = last.since.and_then(|at| at.checked_sub(2 * BUSY_BURST));
        let skipped = (1..=BURST).position(|n| {
            last.note("cast", &n);
            !last.skipped
        });
        assert_eq!(skipped, Some(BURST as usize - 1));
        assert_eq!((last.skip, last.recorded), (0, 1));
    }

    #[test]
    fn busy_server_records_no_text() {
        let mut last = after_burst(SHORT);
        // A time in the future stands for one that has just been read, on any machine.
        let future = last.since.map(|at| at + Duration::from_secs(3600));
        for n in 0..10_000 {
            last.since = future;
            last.note("cast", &n);
            assert!(last.skipped);
        }
    }

    #[test]
    fn burst_ends_with_its_last_message() {
        let mut last = LastMessage::new(100);
        for n in 1..BURST {
            last.note("cast", &n);
            assert_eq!(last.recorded, n);
        }
        last.note("cast", &BURST);
        assert_eq!(last.recorded, 0);
    }

    #[test]
    fn limit_0_records_no_text() {
        assert_eq!(kept(0, &Some(7)), "cast (not recorded)");
    }

    #[test]
    fn text_of_a_panicking_debug_impl_is_cut_at_the_panic() {
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
