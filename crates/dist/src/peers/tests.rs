use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::cookie::Cookie;
use crate::flags::Flags;
use crate::handshake::{Acceptor, Called, Initiator, Local, Refused, Step, take_frame};

fn node(name: &str) -> NodeName {
    name.parse().expect("a name")
}

/// Two nodes, and up to one call of each of the other.
struct World {
    peers: [Peers; 2],
    calls: [Option<Call>; 2],
}

/// A call and its stream, both ends.
struct Call {
    from: Initiator,
    to: Acceptor,
    /// Frames for the one who is called, and for who calls; `None` when it has ended.
    pipes: [Option<VecDeque<Vec<u8>>>; 2],
    /// The connection that each node has made of it.
    up: [Option<Up>; 2],
}

impl Call {
    fn push(pipe: &mut Option<VecDeque<Vec<u8>>>, mut out: &[u8]) {
        while let Some((frame, used)) = take_frame(out).expect("short frames") {
            if let Some(pipe) = pipe {
                pipe.push_back(frame.to_vec());
            }
            out = &out[used..];
        }
    }
}

impl World {
    fn new() -> Self {
        let peers = ["a@h", "b@h"].map(|name| Peers::new(node(name)));
        Self { peers, calls: [None, None] }
    }

    fn local(&self, who: usize) -> Local {
        Local { name: self.peers[who].us.clone(), creation: 1, flags: Flags::OFFERED }
    }

    /// Has a node call the other one, if it would.
    fn call(&mut self, who: usize) {
        let peer = self.peers[1 - who].us.clone();
        if self.calls[who].is_some() || !self.peers[who].call(&peer) {
            return;
        }
        let mut out = Vec::new();
        let cookie = Cookie::new("x");
        let from = Initiator::new(&self.local(who), peer, cookie, 1, &mut out);
        let to = Acceptor::new(self.local(1 - who), 2);
        let mut call =
            Call { from, to, pipes: [const { Some(VecDeque::new()) }; 2], up: [None, None] };
        Call::push(&mut call.pipes[0], &out);
        self.calls[who] = Some(call);
    }

    /// Lets the next frame of a call arrive: with who is called, or with who calls. Whether there was one.
    fn step(&mut self, caller: usize, back: bool) -> bool {
        let Some(call) = &mut self.calls[caller] else { return false };
        let at = if back { caller } else { 1 - caller };
        let peer = self.peers[1 - at].us.clone();
        let Some(pipe) = &mut call.pipes[usize::from(back)] else { return false };
        let Some(frame) = pipe.pop_front() else { return false };
        let mut out = Vec::new();
        let step =
            if back { call.from.take(&frame, &mut out) } else { call.to.take(&frame, &mut out) };
        let peers = &mut self.peers[at];
        let step = match step {
            Ok(Step::Called(caller)) => {
                assert_eq!(caller.called, Called::Name(peer.clone()));
                let verdict = peers.called(&peer);
                call.to.decide(verdict, Cookie::new("x"), &mut out).map(|()| Step::More)
            }
            Ok(Step::Alive) => call.from.go_on(peers.is_dead(&peer), &mut out).map(|()| Step::More),
            step => step,
        };
        Call::push(&mut call.pipes[usize::from(!back)], &out);
        match step {
            Ok(Step::Done(_)) => {
                let up = peers.up(&peer, back);
                call.up[at] = Some(up);
                if up.give_up_call {
                    self.give_up(at);
                }
                if let Some(old) = up.replaces {
                    self.end(at, old);
                }
            }
            Ok(_) => {}
            Err(_) if back => {
                peers.call_failed(&peer);
                self.close(caller);
            }
            // Who is called has said no; that it closes comes behind what it has said.
            Err(Refused::OurCall | Refused::Unwanted | Refused::Connected) => {}
            Err(why) => panic!("{why}"),
        }
        true
    }

    /// A node stops its own call.
    fn give_up(&mut self, who: usize) {
        let peer = self.peers[1 - who].us.clone();
        self.peers[who].call_failed(&peer);
        self.close(who);
    }

    /// The stream of a call is closed, and both notice.
    fn close(&mut self, caller: usize) {
        let names = [0, 1].map(|who| self.peers[who].us.clone());
        let Some(call) = &mut self.calls[caller] else { return };
        call.pipes = [None, None];
        for at in [0, 1] {
            match call.up[at].take() {
                Some(up) => drop(self.peers[at].down(&names[1 - at], up.connection)),
                None if at == caller => self.peers[at].call_failed(&names[1 - at]),
                None => {}
            }
        }
    }

    /// A node ends an old connection.
    fn end(&mut self, at: usize, connection: u64) {
        let is_it = |call: &Option<Call>| {
            let up = call.as_ref().and_then(|call| call.up[at]);
            up.is_some_and(|up| up.connection == connection)
        };
        if let Some(caller) = self.calls.iter().position(is_it) {
            self.close(caller);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    // Every order in which frames of both calls can arrive is among these, sooner or later.
    #[test]
    fn two_nodes_that_call_each_other_end_with_one_connection_and_with_the_same(
        schedule in prop::collection::vec(any::<[bool; 3]>(), 0..60),
        first in 0..2usize,
    ) {
        let mut world = World::new();
        world.call(first);
        for [calls, who, back] in schedule {
            if calls {
                world.call(usize::from(who));
            } else {
                world.step(usize::from(who), back);
            }
        }
        // What is under way arrives.
        while [(0, false), (0, true), (1, false), (1, true)]
            .into_iter()
            .any(|(caller, back)| world.step(caller, back))
        {}
        let up: Vec<_> = world.calls.iter().flatten().filter(|call| call.up != [None, None]).collect();
        prop_assert_eq!(up.len(), 1, "connections");
        prop_assert!(up[0].up.iter().all(Option::is_some), "one of them does not know");
        for peers in &world.peers {
            prop_assert_eq!(peers.connected().count(), 1);
            prop_assert!(peers.calling.is_empty());
        }
    }
}

#[test]
fn a_node_is_called_once_at_a_time_and_never_by_itself() {
    let mut peers = Peers::new(node("a@h"));
    assert!(!peers.call(&node("a@h")));
    assert_eq!(peers.called(&node("a@h")), Verdict::NotAllowed);
    assert!(peers.call(&node("b@h")) && !peers.call(&node("b@h")));
    peers.call_failed(&node("b@h"));
    assert!(peers.call(&node("b@h")));
}

#[test]
fn the_end_of_a_connection_that_was_replaced_is_not_the_end_of_its_node() {
    let mut peers = Peers::new(node("a@h"));
    let old = peers.up(&node("b@h"), true);
    assert_eq!(peers.called(&node("b@h")), Verdict::Alive);
    let new = peers.up(&node("b@h"), false);
    assert_eq!((old.replaces, new.replaces), (None, Some(old.connection)));
    assert!(!peers.down(&node("b@h"), old.connection));
    assert!(peers.down(&node("b@h"), new.connection));
    assert!(peers.is_dead(&node("b@h")));
}
