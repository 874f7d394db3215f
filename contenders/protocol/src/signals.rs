//! Draws, counters and limits of the senders and the receiver of `signals`.
//!
//! A [`Draws`] and a [`Stint`] belong to one sender, a [`Receipts`] to the receiver. A [`Room`],
//! the limit of signals in flight, is shared by all of a run. [`report`] computes the answer from
//! their counts. Nothing here sends or blocks.
//!
//! The time of a sender's last signal is that of its last clock reading, not the time at which it
//! saw the request to stop: between the two it may have waited to be scheduled. The same applies to
//! the receiver.
//!
//! COST: one multiplication per draw; per [`LOOK_EVERY`] signals, one clock reading at both ends,
//! one atomic addition by the sender, and one atomic store by the receiver.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::run::{End, Signals};
use crate::sample::Sample;

/// Number of signals between two checks of the clock and of the signals in flight.
const CHECK_INTERVAL: u64 = 64;

/// Number of outcomes of a draw; one of them asks for `off_heap` and one for `on_heap`.
const OUTCOMES: u64 = 200_000;

/// The next action of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// Send a message.
    Message,
    /// Send an exit signal.
    Exit,
    /// Ask the receiver to change its queue.
    Switch,
}

/// The infinite sequence of draws of one sender.
///
/// `x = (20077 · x + 12345) mod 2^31`; the draw is `floor(200 000 · x / 2^31)`.
#[derive(Clone, Debug)]
pub struct Draws {
    x: u64,
    switches: u64,
    exits: u64,
}

impl Draws {
    /// Creates the sequence of the sender with this number, from 0.
    #[must_use]
    pub fn new(asked: &Signals, sender: u64) -> Self {
        let switches = 2 * asked.switch;
        let exits = switches + (OUTCOMES - switches) * asked.exit_percent / 100;
        let x = ((asked.seed & 0x7fff_ffff) + sender * 1_073_741_789 + 1) & 0x7fff_ffff;
        Draws { x, switches, exits }
    }

    /// Returns the next draw.
    #[inline]
    pub fn draw(&mut self) -> Draw {
        self.x = (self.x * 20_077 + 12_345) & 0x7fff_ffff;
        match (self.x * OUTCOMES) >> 31 {
            draw if draw < self.switches => Draw::Switch,
            draw if draw < self.exits => Draw::Exit,
            _ => Draw::Message,
        }
    }
}

/// Limit and count of signals in flight. If the limit is exceeded, all senders end early: a run
/// with fewer senders would not be the one requested.
#[derive(Clone, Debug)]
pub struct InFlightLimit {
    most: u64,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    sent: AtomicU64,
    received: AtomicU64,
    full: AtomicBool,
}

impl InFlightLimit {
    /// Creates a limit, with no signals in flight.
    #[must_use]
    pub fn new(most: u64) -> Self {
        InFlightLimit { most, counts: Arc::default() }
    }

    /// Publishes the number of signals received so far.
    fn received(&self, received: u64) {
        // ORDER: relaxed, here and below: the count may be stale, and no other data depends on it.
        self.counts.received.store(received, Ordering::Relaxed);
    }

    /// Counts signals as sent; returns whether further signals are allowed.
    fn sent(&self, more: u64) -> bool {
        let sent = self.counts.sent.fetch_add(more, Ordering::Relaxed) + more;
        let under_way = sent.saturating_sub(self.counts.received.load(Ordering::Relaxed));
        if under_way >= self.most {
            self.counts.full.store(true, Ordering::Relaxed);
        }
        !self.counts.full.load(Ordering::Relaxed)
    }
}

/// Progress of one sender.
#[derive(Debug)]
pub struct Stint {
    room: InFlightLimit,
    due: Instant,
    begun: Instant,
    sent: u64,
    last: Option<Instant>,
    in_time: Option<u64>,
    cut: bool,
}

impl Stint {
    /// Starts now; signals sent after `due` are late.
    #[must_use]
    pub fn begin(due: Instant, room: InFlightLimit) -> Self {
        Stint { room, due, begun: Instant::now(), sent: 0, last: None, in_time: None, cut: false }
    }

    /// Counts one sent signal; returns whether further signals are allowed.
    #[inline]
    pub fn sent(&mut self) -> bool {
        self.sent += 1;
        if self.sent.is_multiple_of(CHECK_INTERVAL) {
            self.check();
        }
        !self.cut
    }

    fn check(&mut self) {
        self.cut = !self.room.sent(CHECK_INTERVAL);
        let now = Instant::now();
        self.last = Some(now);
        if self.in_time.is_none() && now > self.due {
            self.in_time = Some(self.sent);
        }
    }

    /// Ends now and returns the counts.
    #[must_use]
    pub fn end(self) -> Sent {
        Sent {
            sent: self.sent,
            late: self.in_time.map_or(0, |in_time| self.sent - in_time),
            cut: self.cut,
            begun: self.begun,
            last: self.last.unwrap_or_else(Instant::now),
        }
    }
}

/// Progress of the receiver.
#[derive(Debug)]
pub struct Receipts {
    room: InFlightLimit,
    messages: u64,
    exits: u64,
    switches: u64,
    last: Option<Instant>,
}

impl Receipts {
    /// Creates an empty count.
    #[must_use]
    pub fn new(room: InFlightLimit) -> Self {
        Receipts { room, messages: 0, exits: 0, switches: 0, last: None }
    }

    /// Counts a message.
    #[inline]
    pub fn message(&mut self) {
        self.messages += 1;
        self.counted();
    }

    /// Counts an exit signal.
    #[inline]
    pub fn exit(&mut self) {
        self.exits += 1;
        self.counted();
    }

    /// Counts a request to change the queue.
    #[inline]
    pub fn switch(&mut self) {
        self.switches += 1;
        self.counted();
    }

    #[inline]
    fn counted(&mut self) {
        let received = self.messages + self.exits + self.switches;
        if received.is_multiple_of(CHECK_INTERVAL) {
            self.room.received(received);
            self.last = Some(Instant::now());
        }
    }

    /// Ends now and returns the counts; no further signal will arrive.
    #[must_use]
    pub fn end(self) -> Received {
        let ended = Instant::now();
        let Receipts { messages, exits, switches, last, .. } = self;
        Received { messages, exits, switches, last: last.unwrap_or(ended), ended }
    }
}

/// Counts of one sender.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Number of signals sent.
    pub sent: u64,
    /// Number of signals sent after the end of the duration, in steps of 64.
    pub late: u64,
    /// Whether the sender ended early because of the limit of signals in flight.
    pub cut: bool,
    /// Time before the first signal was sent.
    pub begun: Instant,
    /// Time at which the last signal was sent.
    pub last: Instant,
}

/// Counts of the receiver.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// Number of messages.
    pub messages: u64,
    /// Number of exit signals.
    pub exits: u64,
    /// Number of requests to change the queue.
    pub switches: u64,
    /// Time at which the last signal was received.
    pub last: Instant,
    /// Time at which it was certain that no further signal would arrive.
    pub ended: Instant,
}

/// Returns the sample of a run; `reported_at` is the time at which the last sender had reported its
/// counts.
#[must_use]
pub fn report(
    asked: &Signals,
    senders: &[Sent],
    reported_at: Instant,
    receiver: &Received,
) -> Sample {
    let begun = senders.iter().map(|sender| sender.begun).min().unwrap_or(reported_at);
    let last = match asked.end {
        End::Send => senders.iter().map(|sender| sender.last).max().unwrap_or(reported_at),
        End::Receive => receiver.last,
    };
    let sum = |of: fn(&Sent) -> u64| senders.iter().map(of).sum::<u64>();
    let sent = sum(|sender| sender.sent);
    let received = receiver.messages + receiver.exits + receiver.switches;
    let drain = receiver.ended.saturating_duration_since(reported_at);
    Sample::new(last.saturating_duration_since(begun), sent, sent, received)
        .with("messages", receiver.messages)
        .with("exits", receiver.exits)
        .with("switches", receiver.switches)
        .with("late", sum(|sender| sender.late))
        .with("cut", sum(|sender| u64::from(sender.cut)))
        .with("drain_ns", nanoseconds(drain))
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(exit_percent: u64, switch: u64) -> Signals {
        Signals {
            end: End::Send,
            senders: 1,
            ms: 1,
            exit_percent,
            s: 1,
            switch,
            rest_ms: 0,
            room: 1000,
            seed: 0,
        }
    }

    fn drawn(asked: &Signals, sender: u64) -> [u64; 3] {
        let mut draws = Draws::new(asked, sender);
        let mut counts = [0; 3];
        for _ in 0..4_000_000 {
            counts[draws.draw() as usize] += 1;
        }
        counts
    }

    #[test]
    fn every_sender_draws_signals_in_the_requested_proportion() {
        for sender in [0, 1, 63] {
            assert_eq!(drawn(&asked(0, 0), sender), [4_000_000, 0, 0]);
            assert_eq!(drawn(&asked(100, 0), sender), [0, 4_000_000, 0]);
            let [messages, exits, switches] = drawn(&asked(50, 1), sender);
            assert!(messages.abs_diff(exits) < 10_000, "{messages} and {exits}");
            // 40 are expected.
            assert!((10..=90).contains(&switches), "{switches}");
        }
    }

    #[test]
    fn draws_are_determined_by_the_seed() {
        let with = |seed| {
            let mut draws = Draws::new(&Signals { seed, ..asked(50, 0) }, 3);
            (0..1000).map(move |_| draws.draw()).collect::<Vec<_>>()
        };
        assert_eq!(with(7), with(7));
        assert_ne!(with(7), with(8));
        assert_eq!(with(u64::MAX >> 1).len(), 1000);
    }

    #[test]
    fn senders_end_when_the_limit_of_signals_in_flight_is_reached() {
        let room = InFlightLimit::new(1000);
        // WHY real time: an end that is never reached.
        let later = Instant::now() + Duration::from_secs(3600);
        let mut stints = [0, 1].map(|_| Stint::begin(later, room.clone()));
        let mut sent = 0;
        while stints.iter_mut().all(Stint::sent) {
            sent += 2;
            // Received signals are no longer in flight.
            if sent == 512 {
                let mut receipts = Receipts::new(room.clone());
                (0..512).for_each(|_| receipts.message());
            }
        }
        assert!((1512 - 2 * CHECK_INTERVAL..1512 + 2 * CHECK_INTERVAL).contains(&sent), "{sent}");
        // All senders end, whatever is received from now on.
        let mut receipts = Receipts::new(room);
        (0..sent).for_each(|_| receipts.message());
        assert!(stints.iter_mut().all(|stint| (0..CHECK_INTERVAL).any(|_| !stint.sent())));
        assert!(stints.into_iter().all(|stint| stint.end().cut));
    }

    #[test]
    fn signals_sent_after_the_duration_are_late() {
        // WHY real time: an end that has passed, and one that is never reached.
        let now = Instant::now();
        let account = |due| {
            let mut stint = Stint::begin(due, InFlightLimit::new(u64::MAX));
            assert!((0..10 * CHECK_INTERVAL).all(|_| stint.sent()));
            stint.end()
        };
        let hour = Duration::from_secs(3600);
        assert_eq!(account(now + hour).late, 0);
        assert_eq!(account(now).late, 9 * CHECK_INTERVAL);
    }

    #[test]
    fn clock_stops_at_the_last_send_or_receipt_according_to_the_mode() {
        // WHY real time: `Instant` has no other origin; all times are relative to it.
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let sender = |begun, last, cut| {
            let (begun, last) = (at(begun), at(last));
            Sent { sent: 10, late: 2, cut, begun, last }
        };
        let senders = [sender(1, 20, false), sender(2, 30, true)];
        let receiver =
            Received { messages: 13, exits: 6, switches: 1, last: at(50), ended: at(60) };
        for (end, ms) in [(End::Send, 29), (End::Receive, 49)] {
            let asked = Signals { end, ..asked(50, 1) };
            let sample = report(&asked, &senders, at(35), &receiver);
            assert_eq!(sample.elapsed_ns, ms * 1_000_000);
            assert_eq!((sample.ops, sample.sent, sample.received), (20, 20, 20));
            let more = [("late", 4), ("cut", 1), ("drain_ns", 25_000_000)];
            assert!(more.iter().all(|figure| sample.extra.contains(figure)), "{sample:?}");
        }
    }

    #[test]
    fn waiting_after_the_last_signal_is_not_counted() {
        let room = InFlightLimit::new(u64::MAX);
        let mut stint = Stint::begin(Instant::now(), room.clone());
        let mut receipts = Receipts::new(room);
        for _ in 0..CHECK_INTERVAL {
            assert!(stint.sent());
            receipts.exit();
        }
        // WHY real time: an order of instants, at any distance.
        let then = Instant::now();
        assert!(stint.end().last <= then);
        let received = receipts.end();
        assert!(received.last <= then && then <= received.ended);
        assert_eq!(received.exits, CHECK_INTERVAL);
    }
}
