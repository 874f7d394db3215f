//! A process that periodically computes without awaiting.

use std::hint::black_box;
use std::time::{Duration, Instant};

use purlin::Process;
use tokio::time::sleep;

use super::Fallible;

const RESTS: Duration = Duration::from_secs(13);
/// Long enough to appear in a snapshot taken once per second.
const COMPUTES: Duration = Duration::from_secs(2);

pub(super) async fn hog(me: Process<()>) -> Fallible {
    me.register("hog")?;
    loop {
        sleep(RESTS).await;
        let began = Instant::now();
        let mut steps = 0_u64;
        while began.elapsed() < COMPUTES {
            steps = black_box(steps.wrapping_add(1));
        }
    }
}
