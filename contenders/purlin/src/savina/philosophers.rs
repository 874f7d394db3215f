//! `philosophers`: philosophers who ask an arbiter for their forks.

use std::time::Instant;

use purlin::{Pid, Process, Reply, receive, spawn};
use purlin_contender::Sample;

/// Messages of the arbiter.
enum ToArbiter {
    /// Answered with whether both forks were free, and are now taken.
    Hungry(usize, Reply<bool>),
    Done(usize),
}

/// Messages of the root: meals of a philosopher; meals granted and requests denied.
pub(crate) enum Report {
    Eaten(u64),
    Served { granted: u64, denied: u64 },
}

pub(crate) async fn philosophers(mut me: Process<Report>, count: u64, n: u64) -> Sample {
    let start = Instant::now();
    let root = me.pid();
    let arbiter = spawn(move |me| arbiter(me, count as usize, count * n, root));
    for seat in 0..count as usize {
        let (arbiter, root) = (arbiter.clone(), me.pid());
        spawn(move |_: Process<()>| philosopher(seat, n, arbiter, root));
    }
    let mut eaten = 0;
    for _ in 0..count {
        eaten += receive!(me, { Report::Eaten(meals) => meals });
    }
    let elapsed = start.elapsed();

    let (granted, denied) =
        receive!(me, { Report::Served { granted, denied } => (granted, denied) });
    Sample::new(elapsed, count * n, granted, eaten).with("denied", denied)
}

async fn philosopher(seat: usize, n: u64, arbiter: Pid<ToArbiter>, root: Pid<Report>) {
    let mut meals = 0;
    while meals < n {
        match arbiter.call(|reply| ToArbiter::Hungry(seat, reply)).await {
            Ok(true) => {
                meals += 1;
                arbiter.send(ToArbiter::Done(seat));
            }
            Ok(false) => {}
            Err(_) => break,
        }
    }
    root.send(Report::Eaten(meals));
}

/// Grants meals until the last of them has ended.
async fn arbiter(mut me: Process<ToArbiter>, count: usize, meals: u64, root: Pid<Report>) {
    let mut taken = vec![false; count];
    let (mut granted, mut denied, mut left) = (0, 0, meals);
    while left > 0 {
        match me.receive().await {
            ToArbiter::Hungry(seat, reply) => {
                let free = !taken[seat] && !taken[(seat + 1) % count];
                if free {
                    taken[seat] = true;
                    taken[(seat + 1) % count] = true;
                    granted += 1;
                } else {
                    denied += 1;
                }
                reply.send(free);
            }
            ToArbiter::Done(seat) => {
                taken[seat] = false;
                taken[(seat + 1) % count] = false;
                left -= 1;
            }
        }
    }
    root.send(Report::Served { granted, denied });
}
