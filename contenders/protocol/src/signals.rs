//! What the senders and the receiver of `signals` draw, count and look at.
//!
//! A [`Draws`] and a [`Stint`] belong to one sender, a [`Receipts`] to the receiver, a [`Room`] is
//! shared by all of a run, and [`report`] makes the answer of their accounts. Nothing here sends,
//! and nothing waits.
//!
//! The last signal of a sender was sent when it last looked at the clock, and not when it saw that
//! it was to stop: in between it may have waited for its turn. The same holds for the receiver.
//!
//! COST: a multiplication for each draw; for each [`LOOK_EVERY`] signals a clock reading by both
//! ends, an atomic addition by the sender, and an atomic store by the receiver.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::run::{End, Signals};
use crate::sample::Sample;

/// Signals from one look at the clock, and at the room that is left, to the next.
const LOOK_EVERY: u64 = 64;

/// The draws there are: of each of them one asks for `off_heap` and one for `on_heap`.
const OUTCOMES: u64 = 200_000;

/// What a sender does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// Sends a message.
    Message,
    /// Sends an exit signal.
    Exit,
    /// Asks the receiver to keep its queue otherwise.
    Switch,
}

/// The draws of one sender; they never end.
///
/// `x = (20077 · x + 12345) mod 2^31`, and of it `floor(200 000 · x / 2^31)`.
#[derive(Clone, Debug)]
pub struct Draws {
    x: u64,
    switches: u64,
    exits: u64,
}

impl Draws {
    /// Those of the sender with this number, counted from 0.
    #[must_use]
    pub fn new(asked: &Signals, sender: u64) -> Self {
        let switches = 2 * asked.switch;
        let exits = switches + (OUTCOMES - switches) * asked.exit_percent / 100;
        let x = ((asked.seed & 0x7fff_ffff) + sender * 1_073_741_789 + 1) & 0x7fff_ffff;
        Draws { x, switches, exits }
    }

    /// The next of them.
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

/// How many signals may be under way, and how many are. Once there are more, all senders end early:
/// what a few of them would go on to do is not what was asked for.
#[derive(Clone, Debug)]
pub struct Room {
    most: u64,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    sent: AtomicU64,
    received: AtomicU64,
    full: AtomicBool,
}

impl Room {
    /// Room for so many, and none under way.
    #[must_use]
    pub fn new(most: u64) -> Self {
        Room { most, counts: Arc::default() }
    }

    /// The receiver has received so many by now.
    fn received(&self, received: u64) {
        // ORDER: relaxed, here and below: a figure that may be late, and nothing hangs on it.
        self.counts.received.store(received, Ordering::Relaxed);
    }

    /// So many more were sent; whether there is room for others.
    fn sent(&self, more: u64) -> bool {
        let sent = self.counts.sent.fetch_add(more, Ordering::Relaxed) + more;
        let under_way = sent.saturating_sub(self.counts.received.load(Ordering::Relaxed));
        if under_way >= self.most {
            self.counts.full.store(true, Ordering::Relaxed);
        }
        !self.counts.full.load(Ordering::Relaxed)
    }
}

/// One sender at work.
#[derive(Debug)]
pub struct Stint {
    room: Room,
    due: Instant,
    begun: Instant,
    sent: u64,
    last: Option<Instant>,
    in_time: Option<u64>,
    cut: bool,
}

impl Stint {
    /// Begins now; what is sent after `due` is late.
    #[must_use]
    pub fn begin(due: Instant, room: Room) -> Self {
        Stint { room, due, begun: Instant::now(), sent: 0, last: None, in_time: None, cut: false }
    }

    /// One more was sent; whether there is room for another.
    #[inline]
    pub fn sent(&mut self) -> bool {
        self.sent += 1;
        if self.sent.is_multiple_of(LOOK_EVERY) {
            self.look();
        }
        !self.cut
    }

    fn look(&mut self) {
        self.cut = !self.room.sent(LOOK_EVERY);
        let now = Instant::now();
        self.last = Some(now);
        if self.in_time.is_none() && now > self.due {
            self.in_time = Some(self.sent);
        }
    }

    /// Ends now.
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

/// What the receiver receives.
#[derive(Debug)]
pub struct Receipts {
    room: Room,
    messages: u64,
    exits: u64,
    switches: u64,
    last: Option<Instant>,
}

impl Receipts {
    /// Of nothing so far.
    #[must_use]
    pub fn new(room: Room) -> Self {
        Receipts { room, messages: 0, exits: 0, switches: 0, last: None }
    }

    /// A message with a list.
    #[inline]
    pub fn message(&mut self) {
        self.messages += 1;
        self.counted();
    }

    /// An exit signal.
    #[inline]
    pub fn exit(&mut self) {
        self.exits += 1;
        self.counted();
    }

    /// A request to keep the queue otherwise.
    #[inline]
    pub fn switch(&mut self) {
        self.switches += 1;
        self.counted();
    }

    #[inline]
    fn counted(&mut self) {
        let received = self.messages + self.exits + self.switches;
        if received.is_multiple_of(LOOK_EVERY) {
            self.room.received(received);
            self.last = Some(Instant::now());
        }
    }

    /// Nothing more is to come.
    #[must_use]
    pub fn end(self) -> Received {
        let ended = Instant::now();
        let Receipts { messages, exits, switches, last, .. } = self;
        Received { messages, exits, switches, last: last.unwrap_or(ended), ended }
    }
}

/// The account of one sender.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Signals sent.
    pub sent: u64,
    /// Those of them that were sent after the time was over, counted in steps of 64.
    pub late: u64,
    /// Whether it ended for want of room.
    pub cut: bool,
    /// Before the first was sent.
    pub begun: Instant,
    /// When the last was sent.
    pub last: Instant,
}

/// The account of the receiver.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// Messages with a list.
    pub messages: u64,
    /// Exit signals.
    pub exits: u64,
    /// Requests to keep the queue otherwise.
    pub switches: u64,
    /// When the last was received.
    pub last: Instant,
    /// When it was known that nothing more was to come.
    pub ended: Instant,
}

/// The answer to a run; `told` is when the last sender had told its account.
#[must_use]
pub fn report(asked: &Signals, senders: &[Sent], told: Instant, receiver: &Received) -> Sample {
    let begun = senders.iter().map(|sender| sender.begun).min().unwrap_or(told);
    let last = match asked.end {
        End::Send => senders.iter().map(|sender| sender.last).max().unwrap_or(told),
        End::Receive => receiver.last,
    };
    let sum = |of: fn(&Sent) -> u64| senders.iter().map(of).sum::<u64>();
    let sent = sum(|sender| sender.sent);
    let received = receiver.messages + receiver.exits + receiver.switches;
    let drain = receiver.ended.saturating_duration_since(told);
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
    fn signals_are_drawn_as_often_as_was_asked_by_every_sender() {
        for sender in [0, 1, 63] {
            assert_eq!(drawn(&asked(0, 0), sender), [4_000_000, 0, 0]);
            assert_eq!(drawn(&asked(100, 0), sender), [0, 4_000_000, 0]);
            let [messages, exits, switches] = drawn(&asked(50, 1), sender);
            assert!(messages.abs_diff(exits) < 10_000, "{messages} and {exits}");
            // 40 are due.
            assert!((10..=90).contains(&switches), "{switches}");
        }
    }

    #[test]
    fn another_seed_gives_other_draws_and_the_same_one_repeats_them() {
        let with = |seed| {
            let mut draws = Draws::new(&Signals { seed, ..asked(50, 0) }, 3);
            (0..1000).map(move |_| draws.draw()).collect::<Vec<_>>()
        };
        assert_eq!(with(7), with(7));
        assert_ne!(with(7), with(8));
        assert_eq!(with(u64::MAX >> 1).len(), 1000);
    }

    #[test]
    fn senders_end_when_as_many_as_there_is_room_for_are_under_way_and_not_before() {
        let room = Room::new(1000);
        // WHY real time: an end that is never reached.
        let later = Instant::now() + Duration::from_secs(3600);
        let mut stints = [0, 1].map(|_| Stint::begin(later, room.clone()));
        let mut sent = 0;
        while stints.iter_mut().all(Stint::sent) {
            sent += 2;
            // What has been received makes room.
            if sent == 512 {
                let mut receipts = Receipts::new(room.clone());
                (0..512).for_each(|_| receipts.message());
            }
        }
        assert!((1512 - 2 * LOOK_EVERY..1512 + 2 * LOOK_EVERY).contains(&sent), "{sent}");
        // It is over for all, whatever is received now.
        let mut receipts = Receipts::new(room);
        (0..sent).for_each(|_| receipts.message());
        assert!(stints.iter_mut().all(|stint| (0..LOOK_EVERY).any(|_| !stint.sent())));
        assert!(stints.into_iter().all(|stint| stint.end().cut));
    }

    #[test]
    fn what_is_sent_after_the_time_is_late() {
        // WHY real time: an end that has passed, and one that is never reached.
        let now = Instant::now();
        let account = |due| {
            let mut stint = Stint::begin(due, Room::new(u64::MAX));
            assert!((0..10 * LOOK_EVERY).all(|_| stint.sent()));
            stint.end()
        };
        let hour = Duration::from_secs(3600);
        assert_eq!(account(now + hour).late, 0);
        assert_eq!(account(now).late, 9 * LOOK_EVERY);
    }

    #[test]
    fn each_end_of_the_clock_is_taken_from_those_whom_it_concerns() {
        // WHY real time: `Instant` has no other begin; all times are counted from it.
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
    fn what_a_sender_and_the_receiver_wait_for_after_their_last_signal_is_not_counted() {
        let room = Room::new(u64::MAX);
        let mut stint = Stint::begin(Instant::now(), room.clone());
        let mut receipts = Receipts::new(room);
        for _ in 0..LOOK_EVERY {
            assert!(stint.sent());
            receipts.exit();
        }
        // WHY real time: an order of instants, at any distance.
        let then = Instant::now();
        assert!(stint.end().last <= then);
        let received = receipts.end();
        assert!(received.last <= then && then <= received.ended);
        assert_eq!(received.exits, LOOK_EVERY);
    }
}
