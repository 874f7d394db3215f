//! Coroutine ends observed through join handles: `monitor-churn`.

use std::time::Instant;

use purlin_contender::Sample;

use crate::processes::spawn_on_one;

pub(crate) fn monitor_churn(n: u64) -> Sample {
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for _ in 0..n {
        let coroutine = spawn_on_one(|| {});
        sent += 1;
        received += u64::from(coroutine.join().is_ok());
    }
    Sample::new(start.elapsed(), n, sent, received)
}
