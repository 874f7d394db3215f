//! `chameneos`: creatures that meet in pairs at a mall.

use std::time::Instant;

use purlin_contender::{Colour, Sample};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::request::call;

/// Request of a creature, answered with the colour of another one, or with nothing when the mall has closed.
struct Meet(Colour, oneshot::Sender<Option<Colour>>);

pub(crate) async fn chameneos(creatures: u64, n: u64) -> Sample {
    let start = Instant::now();
    let (mall, mailbox) = unbounded_channel();
    let serving = tokio::spawn(serve(mailbox, n));
    let creatures: Vec<_> = (0..creatures)
        .map(|number| tokio::spawn(creature(Colour::of(number), mall.clone())))
        .collect();
    drop(mall);
    let mut met = 0;
    for creature in creatures {
        met += creature.await.unwrap_or(0);
    }
    let elapsed = start.elapsed();

    Sample::new(elapsed, n, 2 * serving.await.unwrap_or(0), met)
}

/// Returns the number of meetings of a creature.
async fn creature(mut colour: Colour, mall: UnboundedSender<Meet>) -> u64 {
    let mut meetings = 0;
    while let Some(Some(other)) = call(&mall, |reply| Meet(colour, reply)).await {
        colour = colour.complement(other);
        meetings += 1;
    }
    meetings
}

/// Pairs the creatures until there were `n` meetings, then closes to all of them. Returns the number of meetings.
async fn serve(mut mailbox: UnboundedReceiver<Meet>, n: u64) -> u64 {
    let (mut meetings, mut waiting) = (0, None);
    // A reply can only be lost if its receiver was dropped, that is, if its task has failed.
    while let Some(Meet(colour, reply)) = mailbox.recv().await {
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
