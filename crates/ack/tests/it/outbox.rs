//! Model test of the outbox against a server that loses connections.

use std::collections::VecDeque;

use proptest::prelude::*;
use purlin_ack::client::outbox::{NotSent, Outbox, TooLarge, Window};
use purlin_ack::frames::Frames;
use purlin_ack::wire::SizeOrder;

const WINDOW: Window = Window { messages: 20, bytes: 1000 };
const BATCH: usize = 100;
const LARGEST: u32 = 300;

#[derive(Clone, Debug)]
enum Step {
    /// The client pushes a message of this many bytes.
    Push(usize),
    /// The client writes a piece.
    Write,
    /// The server handles this many messages.
    Handle(usize),
    /// The server acknowledges what it has handled.
    Ack,
    /// The server refuses the next message.
    Refuse,
    /// The connection is lost and reestablished. The server grants a window of this many messages.
    Lose(u64),
    /// The server handles this many messages of a lost connection, in a session.
    HandleLate(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![3 => 0..20usize, 1 => 80..=LARGEST as usize];
    prop_oneof![
        8 => size.prop_map(Step::Push),
        4 => Just(Step::Write),
        4 => (1..5usize).prop_map(Step::Handle),
        2 => Just(Step::Ack),
        1 => Just(Step::Refuse),
        1 => (1..30u64).prop_map(Step::Lose),
        1 => (1..20usize).prop_map(Step::HandleLate),
    ]
}

/// A client, a server, and the history of both.
struct Both {
    outbox: Outbox,
    granted: u64,
    session: bool,
    /// Written and not read.
    wire: VecDeque<(u64, Vec<u8>)>,
    /// Written to earlier connections and not read.
    late: VecDeque<(u64, Vec<u8>)>,
    /// Newest message that the server has handled or refused, on this connection or in the session.
    newest: Option<u64>,
    /// Newest message read on this connection.
    read: Option<u64>,
    given: Vec<Vec<u8>>,
    handled: Vec<(u64, Vec<u8>)>,
    refused: Vec<(u64, Vec<u8>)>,
}

impl Both {
    fn new(session: bool) -> Self {
        let mut outbox = Outbox::new(WINDOW, BATCH);
        outbox.grant(u64::MAX, LARGEST);
        Self {
            outbox,
            granted: u64::MAX,
            session,
            wire: VecDeque::new(),
            late: VecDeque::new(),
            newest: None,
            read: None,
            given: Vec::new(),
            handled: Vec::new(),
            refused: Vec::new(),
        }
    }

    fn act(&mut self, step: Step) {
        match step {
            Step::Push(size) => self.push(size),
            Step::Write => _ = self.write(),
            Step::Handle(count) => (0..count).for_each(|_| self.handle()),
            Step::Ack => self.ack(),
            Step::Refuse => self.refuse(),
            Step::Lose(granted) => self.lose(granted),
            Step::HandleLate(count) => (0..count).for_each(|_| self.handle_late()),
        }
        let waiting = self.outbox.next_id() - self.outbox.first();
        assert!(waiting <= WINDOW.messages);
        assert!(self.outbox.bytes() <= WINDOW.bytes.max(12 + LARGEST as usize));
        assert_eq!(self.outbox.unanswered().count() as u64, waiting);
    }

    fn push(&mut self, size: usize) {
        let payload = vec![self.given.len() as u8; size];
        if let Some(id) = self.outbox.push(&payload).unwrap() {
            assert_eq!(id, self.given.len() as u64);
            self.given.push(payload);
        }
    }

    fn write(&mut self) -> bool {
        let first = self.outbox.unsent();
        let Some(piece) = self.outbox.piece() else { return false };
        let mut frames = Frames::new(&piece, SizeOrder::Little, LARGEST);
        let sent = (&mut frames).map(|frame| (frame.id.number(), frame.payload.to_vec()));
        let sent: Vec<_> = sent.collect();
        assert_eq!(frames.used(), piece.len(), "a piece is whole messages");
        assert!(!sent.is_empty());
        assert!(sent.iter().map(|(id, _)| *id).eq(first..self.outbox.unsent()));
        assert!(self.outbox.unsent() - self.outbox.first() <= self.granted);
        self.wire.extend(sent);
        true
    }

    /// Returns the next message that is new to the session.
    fn read(&mut self) -> Option<(u64, Vec<u8>)> {
        loop {
            let (id, payload) = self.wire.pop_front()?;
            self.read = Some(id);
            if self.newest.is_none_or(|newest| id > newest) {
                self.newest = Some(id);
                return Some((id, payload));
            }
            assert!(self.session, "without a session nothing comes twice on a connection");
        }
    }

    fn handle(&mut self) {
        let read = self.read();
        self.handled.extend(read);
    }

    fn handle_late(&mut self) {
        let Some((id, payload)) = self.late.pop_front() else { return };
        if self.newest.is_none_or(|newest| id > newest) {
            self.newest = Some(id);
            self.handled.push((id, payload));
        }
    }

    fn ack(&mut self) {
        self.answer(self.read);
    }

    fn answer(&mut self, newest: Option<u64>) {
        if let Some(newest) = newest {
            let before = self.outbox.first();
            let count = self.outbox.acked(newest).unwrap();
            assert_eq!(before + count, self.outbox.first());
            assert_eq!(self.outbox.first(), before.max(newest + 1));
        }
    }

    fn refuse(&mut self) {
        if let Some((id, payload)) = self.read() {
            assert_eq!(self.outbox.refused(id), Ok(Some(payload.clone())));
            assert_eq!(self.outbox.refused(id), Ok(None), "it is reported once");
            self.refused.push((id, payload));
        }
    }

    fn lose(&mut self, granted: u64) {
        self.read = None;
        if self.session {
            self.late.append(&mut self.wire);
            self.outbox.recall();
            self.answer(self.newest);
        } else {
            self.wire.clear();
            self.newest = None;
        }
        self.granted = granted;
        self.outbox.grant(granted, LARGEST);
        self.outbox.rewind();
    }

    fn until_all_is_answered(&mut self) {
        while !self.outbox.is_empty() {
            while self.write() {}
            while !self.wire.is_empty() {
                self.handle();
            }
            self.ack();
        }
        assert_eq!((self.outbox.bytes(), self.outbox.unanswered().count()), (0, 0));
    }
}

proptest! {
    #[test]
    fn session_handles_or_refuses_each_message_once_in_order(
        steps in prop::collection::vec(step(), 0..200),
    ) {
        let mut both = Both::new(true);
        steps.into_iter().for_each(|step| both.act(step));
        both.until_all_is_answered();
        prop_assert!(both.handled.is_sorted_by_key(|(id, _)| *id));
        let mut all = [both.handled, both.refused].concat();
        all.sort_unstable();
        let given = (0..).zip(both.given);
        prop_assert!(all.into_iter().eq(given));
    }

    #[test]
    fn without_a_session_each_message_is_handled_or_refused_at_least_once(
        steps in prop::collection::vec(step(), 0..200),
    ) {
        let mut both = Both::new(false);
        steps.into_iter().for_each(|step| both.act(step));
        both.until_all_is_answered();
        let mut all = [both.handled, both.refused].concat();
        all.sort_unstable();
        all.dedup();
        let given = (0..).zip(both.given);
        prop_assert!(all.into_iter().eq(given));
    }
}

#[test]
fn answer_to_unsent_message_returns_an_error_and_keeps_state() {
    let mut outbox = Outbox::new(WINDOW, BATCH);
    assert_eq!(outbox.acked(0), Err(NotSent { id: 0 }));
    outbox.push(b"one").unwrap();
    assert_eq!(outbox.refused(0), Err(NotSent { id: 0 }));
    assert!(outbox.piece().is_some());
    assert_eq!(outbox.acked(1), Err(NotSent { id: 1 }));
    assert_eq!(outbox.acked(0), Ok(1));
    assert_eq!(outbox.acked(0), Ok(0));
}

#[test]
fn message_over_the_limit_is_rejected_and_limit_itself_accepted() {
    let mut outbox = Outbox::new(WINDOW, BATCH);
    outbox.grant(1, 5);
    assert_eq!(outbox.push(b"longer"), Err(TooLarge { size: 6, limit: 5 }));
    assert_eq!(outbox.push(b"limit"), Ok(Some(0)));
}

#[test]
fn message_larger_than_the_window_is_sent_alone() {
    let mut outbox = Outbox::new(Window { messages: 9, bytes: 100 }, BATCH);
    assert_eq!(outbox.push(&[1; 500]), Ok(Some(0)));
    assert_eq!(outbox.push(b""), Ok(None));
    assert_eq!(outbox.piece().map(|piece| piece.len()), Some(512));
    assert_eq!(outbox.acked(0), Ok(1));
    assert_eq!(outbox.push(b""), Ok(Some(1)));
}

#[test]
fn messages_beyond_the_server_window_wait() {
    let mut outbox = Outbox::new(WINDOW, BATCH);
    outbox.grant(2, LARGEST);
    for _ in 0..5 {
        outbox.push(b"12345").unwrap();
    }
    assert_eq!(outbox.piece().map(|piece| piece.len()), Some(2 * 17));
    assert!(outbox.piece().is_none() && !outbox.has_unsent());
    assert_eq!(outbox.acked(0), Ok(1));
    assert_eq!(outbox.piece().map(|piece| piece.len()), Some(17));
    assert!(outbox.piece().is_none());
}
