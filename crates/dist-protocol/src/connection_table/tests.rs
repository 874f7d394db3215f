use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::cookie::Cookie;
use crate::flags::Flags;
use crate::handshake::{Acceptor, Initiator, LocalNode, Step, take_frame};

fn node(name: &str) -> NodeName {
    name.parse().expect("a name")
}

/// Two nodes, and up to one call from each to the other.
struct World {
    peers: [ConnectionTable; 2],
    calls: [Option<Call>; 2],
}

/// A call and its stream. The ends are numbered as the nodes are.
struct Call {
    from: Initiator,
    to: Acceptor,
    /// Frames in transit to each end; `None` is the end of the stream.
    pipes: [VecDeque<Option<Vec<u8>>>; 2],
    /// Whether each end is still open.
    open: [bool; 2],
    /// Whether the called node has neither refused nor completed the handshake.
    answering: bool,
    /// The connection recorded by each node.
    up: [Option<Up>; 2],
}

impl Call {
    fn send(&mut self, to: usize, mut out: &[u8]) {
        while let Some((frame, used)) = take_frame(out).expect("short frames") {
            self.pipes[to].push_back(Some(frame.to_vec()));
            out = &out[used..];
        }
    }
}

impl World {
    fn new() -> Self {
        let peers = ["a@h", "b@h"].map(|name| ConnectionTable::new(node(name)));
        Self { peers, calls: [None, None] }
    }

    fn local(&self, who: usize) -> LocalNode {
        LocalNode { name: self.peers[who].us.clone(), creation: 1, flags: Flags::OFFERED }
    }

    /// Lets a node call the other one, if its table permits and it has not called before.
    fn call(&mut self, who: usize) {
        let peer = self.peers[1 - who].us.clone();
        if self.calls[who].is_some() || !self.peers[who].call(&peer) {
            return;
        }
        let mut out = Vec::new();
        let from = Initiator::new(&self.local(who), peer, Cookie::new("x"), 1, &mut out);
        let to = Acceptor::new(self.local(1 - who), 2);
        let pipes = [VecDeque::new(), VecDeque::new()];
        let mut call =
            Call { from, to, pipes, open: [true, true], answering: false, up: [None, None] };
        call.send(1 - who, &out);
        self.calls[who] = Some(call);
    }

    /// Delivers the next frame of a call's stream to one end. Returns whether there was one.
    fn step(&mut self, caller: usize, at: usize) -> bool {
        let peer = self.peers[1 - at].us.clone();
        let Some(call) = &mut self.calls[caller] else { return false };
        let Some(came) = call.pipes[at].pop_front() else { return false };
        let Some(frame) = came else {
            self.close(caller, at);
            return true;
        };
        if !call.open[at] {
            return true;
        }
        let (mut out, calls, peers) = (Vec::new(), at == caller, &mut self.peers[at]);
        let step = match calls {
            true => call.from.take(&frame, &mut out),
            false => call.to.take(&frame, &mut out),
        };
        let step = match step {
            Ok(Step::Called(caller)) => {
                assert_eq!(caller.name, peer);
                let verdict = peers.called(&peer);
                call.answering = !matches!(verdict, Verdict::Nok | Verdict::NotAllowed);
                call.to.decide(verdict, Cookie::new("x"), &mut out).map(|()| Step::More)
            }
            Ok(Step::Alive) => call.from.go_on(peers.is_dead(&peer), &mut out).map(|()| Step::More),
            step => step,
        };
        call.send(1 - at, &out);
        match step {
            Ok(Step::Done(_)) => {
                let up = peers.up(&peer, calls);
                call.answering &= calls;
                call.up[at] = Some(up);
                if up.give_up_call {
                    self.close(at, at);
                }
                if let Some(old) = up.replaces {
                    self.end(at, old);
                }
            }
            Ok(_) => {}
            Err(_) => self.close(caller, at),
        }
        true
    }

    /// A node closes its end of a call's stream, or detects that the other end is closed.
    fn close(&mut self, caller: usize, at: usize) {
        let peer = self.peers[1 - at].us.clone();
        let Some(call) = &mut self.calls[caller] else { return };
        if !std::mem::replace(&mut call.open[at], false) {
            return;
        }
        call.pipes[1 - at].push_back(None);
        match call.up[at].take() {
            Some(up) => drop(self.peers[at].down(&peer, up.connection)),
            None if at == caller => self.peers[at].call_failed(&peer),
            None if call.answering => self.peers[at].answer_failed(&peer),
            None => {}
        }
    }

    /// A node ends an old connection.
    fn end(&mut self, at: usize, connection: u64) {
        let is_it = |call: &Option<Call>| {
            let up = call.as_ref().and_then(|call| call.up[at]);
            up.is_some_and(|up| up.connection == connection)
        };
        if let Some(caller) = self.calls.iter().position(is_it) {
            self.close(caller, at);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    // Covers, over many cases, every order in which the frames of both calls can arrive.
    #[test]
    fn simultaneous_connects_end_with_the_same_single_connection(
        schedule in prop::collection::vec(any::<[bool; 3]>(), 0..60),
        first in 0..2usize,
    ) {
        let mut world = World::new();
        world.call(first);
        for [calls, who, back] in schedule {
            if calls {
                world.call(usize::from(who));
            } else {
                world.step(usize::from(who), usize::from(back));
            }
        }
        // Delivers everything in transit.
        while [(0, 0), (0, 1), (1, 0), (1, 1)].into_iter().any(|(caller, at)| world.step(caller, at)) {}
        let up: Vec<_> = world.calls.iter().flatten().filter(|call| call.up != [None, None]).collect();
        prop_assert_eq!(up.len(), 1, "connections");
        prop_assert!(up[0].up.iter().all(Option::is_some), "one of them does not know");
        for peers in &world.peers {
            prop_assert_eq!(peers.up.len(), 1);
            prop_assert!(peers.calling.is_empty() && peers.answering.is_empty());
        }
    }
}

#[test]
fn node_is_called_once_at_a_time_and_never_calls_itself() {
    let mut peers = ConnectionTable::new(node("a@h"));
    assert!(!peers.call(&node("a@h")));
    assert_eq!(peers.called(&node("a@h")), Verdict::NotAllowed);
    assert!(peers.call(&node("b@h")) && !peers.call(&node("b@h")));
    peers.call_failed(&node("b@h"));
    assert!(peers.call(&node("b@h")));
}

#[test]
fn end_of_a_replaced_connection_does_not_disconnect_the_node() {
    let mut peers = ConnectionTable::new(node("a@h"));
    let old = peers.up(&node("b@h"), true);
    assert_eq!(peers.called(&node("b@h")), Verdict::Alive);
    let new = peers.up(&node("b@h"), false);
    assert_eq!((old.replaces, new.replaces), (None, Some(old.connection)));
    assert!(!peers.down(&node("b@h"), old.connection));
    assert!(peers.down(&node("b@h"), new.connection));
    assert!(peers.is_dead(&node("b@h")));
}
