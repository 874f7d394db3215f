//! `chameneos`: creatures that meet in pairs at a mall.

use std::time::Instant;

use purlin::{Pid, Process, Reply, receive, spawn};
use purlin_contender::{Colour, Sample};

/// Request of a creature, answered with the colour of another one, or with nothing when the mall has closed.
struct Meet(Colour, Reply<Option<Colour>>);

/// Messages of the root: meetings counted by a creature, and by the mall.
pub(crate) enum Report {
    Creature(u64),
    Mall(u64),
}

pub(crate) async fn chameneos(mut me: Process<Report>, creatures: u64, n: u64) -> Sample {
    let start = Instant::now();
    let root = me.pid();
    let mall = spawn(move |me| mall(me, creatures, n, root));
    for number in 0..creatures {
        let (mall, root) = (mall.clone(), me.pid());
        spawn(move |_: Process<()>| creature(Colour::of(number), mall, root));
    }
    let mut met = 0;
    for _ in 0..creatures {
        met += receive!(me, { Report::Creature(meetings) => meetings });
    }
    let elapsed = start.elapsed();

    let meetings = receive!(me, { Report::Mall(meetings) => meetings });
    Sample::new(elapsed, n, 2 * meetings, met)
}

async fn creature(mut colour: Colour, mall: Pid<Meet>, root: Pid<Report>) {
    let mut meetings = 0;
    while let Ok(Some(other)) = mall.call(|reply| Meet(colour, reply)).await {
        colour = colour.complement(other);
        meetings += 1;
    }
    root.send(Report::Creature(meetings));
}

/// Pairs the creatures until there were `n` meetings, then closes to all of them.
async fn mall(mut me: Process<Meet>, creatures: u64, n: u64, root: Pid<Report>) {
    let (mut meetings, mut waiting, mut inside) = (0, None, creatures);
    while inside > 0 {
        let Meet(colour, reply) = me.receive().await;
        if meetings == n {
            reply.send(None);
            inside -= 1;
        } else if let Some(Meet(other, first)) = waiting.take() {
            first.send(Some(colour));
            reply.send(Some(other));
            meetings += 1;
        } else {
            waiting = Some(Meet(colour, reply));
        }
    }
    root.send(Report::Mall(meetings));
}
