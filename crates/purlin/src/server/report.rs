//! Crash reports of servers, and the text of the last message that they contain.
//!
//! A message has been moved into its handler when the handler crashes. Its text is therefore
//! written beforehand, into one reused buffer with a limit. A full buffer takes no more text, but a
//! collection in the message is still walked to its end. The duration of that walk is measured, and
//! the text of as many following messages is skipped as keeps the average cost low.
//!
//! Text is also skipped while a server handles more than a million messages per second, because it
//! takes longer than the rest of a message then: after a short burst of recorded messages, for at
//! most 1000 messages and until some of them take long.
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
const MAX_SKIPPED: u128 = 1000;

/// Number of recorded messages between two readings of the clock.
const BURST: u32 = 64;
/// Time for [`BURST`] recorded messages below which text is skipped: a microsecond per message. Time
/// for [`CHECK_EVERY`] skipped messages from which text is recorded again.
const SHORT_BURST: Duration = Duration::from_micros(BURST as u64);
/// Number of messages skipped after a short burst between two readings of the clock.
///
/// WHY fewer: they are those whose text a server that has become idle lacks.
const CHECK_EVERY: u128 = 16;

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
    skip: u128,
    /// Whether the text of the last message was skipped.
    skipped: bool,
    /// Number of messages recorded in the present burst.
    recorded: u32,
    /// Begin of the burst, once it has begun.
    since: Option<Instant>,
    /// Last reading of the clock in a skip after a short burst.
    checked: Option<Instant>,
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
            checked: None,
        }
    }

    /// Records a message.
    #[inline]
    pub(super) fn note(&mut self, kind: &'static str, message: &dyn fmt::Debug) {
        if self.message.limit == 0 {
            return;
        }
        self.kind = kind;
        self.skipped = self.skips();
        if !self.skipped {
            self.record(message);
        }
    }

    /// Returns whether the text of the present message is skipped.
    #[inline]
    fn skips(&mut self) -> bool {
        if self.skip == 0 {
            return false;
        }
        self.skip -= 1;
        !self.skip.is_multiple_of(CHECK_EVERY) || self.is_still_busy()
    }

    /// Returns whether the last skipped messages took a short time. Ends the skip otherwise.
    #[inline(never)]
    fn is_still_busy(&mut self) -> bool {
        let Some(checked) = self.checked else { return true };
        let now = Instant::now();
        let busy = now.duration_since(checked) < SHORT_BURST;
        if !busy {
            self.skip = 0;
        }
        self.checked = (self.skip > 0).then_some(now);
        busy
    }

    #[inline(never)]
    fn record(&mut self, message: &dyn fmt::Debug) {
        self.since.get_or_insert_with(Instant::now);
        let walked = self.message.write(message);
        self.skip = (walked.as_nanos() / MAX_FORMAT_TIME.as_nanos()).min(MAX_SKIPPED);
        self.recorded += 1;
        if self.recorded == BURST {
            self.end_burst(Instant::now());
        }
    }

    fn end_burst(&mut self, now: Instant) {
        let began = self.since.take();
        if began.is_some_and(|began| now.duration_since(began) < SHORT_BURST) {
            (self.skip, self.checked) = (MAX_SKIPPED, Some(now));
        }
        self.recorded = 0;
    }
}

impl fmt::Display for LastMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if self.skipped { "(not recorded, to save time)" } else { &self.message.text };
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
        last.end_burst(last.since.expect("a burst has begun") + took);
        last
    }

    const SHORT: Duration = SHORT_BURST.saturating_sub(Duration::from_nanos(1));

    #[test]
    fn messages_after_a_short_burst_are_skipped() {
        for (took, skipped) in [(SHORT, true), (SHORT_BURST, false)] {
            let mut last = after_burst(took);
            last.note("cast", &1);
            assert_eq!(last.to_string() != "cast 1", skipped, "{last}");
        }
    }

    #[test]
    fn text_is_recorded_again_when_messages_become_rare() {
        let mut last = after_burst(SHORT);
        last.checked = last.checked.and_then(|at| at.checked_sub(2 * SHORT_BURST));
        let skipped = (1..=MAX_SKIPPED).position(|n| {
            last.note("cast", &n);
            !last.skipped
        });
        assert!(skipped.is_some_and(|skipped| skipped < CHECK_EVERY as usize), "{skipped:?}");
        assert_eq!((last.skip, last.checked), (0, None));
    }

    #[test]
    fn busy_server_records_text_again_after_the_longest_skip() {
        let mut last = after_burst(SHORT);
        // A time in the future stands for one that has just been read, on any machine.
        let future = last.checked.map(|at| at + Duration::from_secs(3600));
        for _ in 0..MAX_SKIPPED {
            last.checked = future;
            last.note("cast", &1);
            assert!(last.skipped);
        }
        last.note("cast", &2);
        assert_eq!(last.to_string(), "cast 2");
    }

    #[test]
    fn burst_ends_with_its_last_message() {
        let mut last = LastMessage::new(100);
        for n in 1..BURST {
            last.note("cast", &n);
            assert_eq!(last.recorded, n);
        }
        last.note("cast", &BURST);
        assert_eq!((last.recorded, last.since), (0, None));
    }

    #[test]
    fn limit_0_records_no_message() {
        assert_eq!(kept(0, &Some(7)), "none ");
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
