//! `chameneos`: creatures that meet in pairs at a mall.

use std::time::Instant;

use may::go;
use may::sync::mpsc::{Receiver, Sender, channel};
use may::sync::spsc;
use purlin_contender::{Colour, Sample};

use crate::channels::{call, receive};

/// Request of a creature, answered with the colour of another one, or with nothing when the mall
/// has closed.
struct Meet(Colour, spsc::Sender<Option<Colour>>);

pub(crate) fn chameneos(creatures: u64, n: u64) -> Sample {
    let start = Instant::now();
    let (mall, mailbox) = channel();
    let serving = go!(move || serve(mailbox, n));
    let creatures: Vec<_> = (0..creatures)
        .map(|number| {
            let mall = mall.clone();
            go!(move || creature(Colour::of(number), mall))
        })
        .collect();
    drop(mall);
    let mut met = 0;
    for creature in creatures {
        met += creature.join().unwrap_or(0);
    }
    let elapsed = start.elapsed();

    Sample::new(elapsed, n, 2 * serving.join().unwrap_or(0), met)
}

/// Returns the number of meetings of a creature.
fn creature(mut colour: Colour, mall: Sender<Meet>) -> u64 {
    let mut meetings = 0;
    while let Some(Some(other)) = call(&mall, |reply| Meet(colour, reply)) {
        colour = colour.complement(other);
        meetings += 1;
    }
    meetings
}

/// Pairs the creatures until there were `n` meetings, then closes to all of them. Returns the
/// number of meetings.
fn serve(mailbox: Receiver<Meet>, n: u64) -> u64 {
    let (mut meetings, mut waiting) = (0, None);
    // A reply can only be lost if its receiver was dropped, that is, if its coroutine has failed.
    while let Some(Meet(colour, reply)) = receive(&mailbox) {
        if meetings == n {
            let _ = reply.send(None);
        } else if let Some(Meet(other, first)) = waiting.take() {
            let _ = first.send(Some(colour));
            let _ = reply.send(Some(other));
            meetings += 1;
        } else {
            waiting = Some(Meet(colour, reply));
        }
    }
    meetings
}
