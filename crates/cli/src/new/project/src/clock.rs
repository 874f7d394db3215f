//! Clock: a worker that adds one to the counter every second.

use std::error::Error;
use std::time::Duration;

use purlin::server::ServerRef;
use purlin::{Process, receive};

use crate::counter::{Counter, CounterClient as _};

const PERIOD: Duration = Duration::from_secs(1);

pub(crate) async fn clock(mut me: Process<()>) -> Result<(), Box<dyn Error + Send + Sync>> {
    let counter = ServerRef::<Counter>::whereis("counter")?;
    loop {
        receive!(me, { after PERIOD => {} });
        let total = counter.add(1).await?;
        tracing::info!(total, "counted");
    }
}
