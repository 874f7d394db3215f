//! Task exits observed through join handles: `monitor-churn`.

use std::time::Instant;

use purlin_contender::Sample;

pub(crate) async fn monitor_churn(n: u64) -> Sample {
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for _ in 0..n {
        let task = tokio::spawn(async {});
        sent += 1;
        received += u64::from(task.await.is_ok());
    }
    Sample::new(start.elapsed(), n, sent, received)
}
