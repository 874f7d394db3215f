//! Links without nodes: two ends of an in-memory stream.
#![allow(dead_code, reason = "each test uses some of it")]

use bytes::Buf;
use purlin_dist::control::Control;
use purlin_dist::frame::{Frames, Outgoing, Payload, Signal, Size};
use purlin_dist::handshake::Established;
use purlin_dist::link::{Link, Settings};
use purlin_dist::{Flags, NodeName};
use purlin_term::{Atom, Pid, Term};
use tokio::io::{DuplexStream, duplex};
use tokio::sync::mpsc;

pub(crate) fn established(name: &str, flags: Flags) -> Established {
    let peer: NodeName = name.parse().expect("a name");
    Established { peer, creation: 1, flags }
}

/// Returns a link to `b@h`, its received signals, and the other end of its stream.
pub(crate) fn link(settings: Settings) -> (Link, mpsc::Receiver<Signal>, DuplexStream) {
    let (here, there) = duplex(64 << 10);
    let (receive, signals) = mpsc::channel(4);
    (Link::start(here, established("b@h", Flags::OFFERED), settings, receive), signals, there)
}

/// Returns two connected links of `a@h` and `b@h`, and the signals that the second one receives.
pub(crate) fn pair(settings: Settings) -> (Link, Link, mpsc::Receiver<Signal>) {
    let (a, _, there) = link(settings);
    let (receive, signals) = mpsc::channel(4);
    (a, Link::start(there, established("a@h", Flags::OFFERED), settings, receive), signals)
}

pub(crate) fn pid(node: &str, id: u32) -> Pid {
    Pid { node: Atom::new(node).expect("short"), id, serial: 0, creation: 1 }
}

/// Returns a message of a process of `a@h` to one of `b@h`.
pub(crate) fn message(from: u32, payload: Term) -> Signal {
    let (from, to) = (pid("a@h", from), pid("b@h", 1));
    Signal { control: Control::SendSender { from, to, token: None }, payload: Some(payload) }
}

/// Returns the frame of a small signal as the first one of a connection.
pub(crate) fn frame(signal: Signal, flags: Flags) -> Vec<u8> {
    let mut outgoing = Outgoing::new(flags);
    let payload = signal.payload.map(Payload::Term);
    let put = outgoing.put(&signal.control, payload.as_ref());
    assert_eq!(put, Ok(Size::Small));
    let mut frames = Frames::default();
    outgoing.swap(&mut frames);
    frames.copy_to_bytes(frames.remaining()).into()
}
