//! Calls across nodes, near or far end: `dist-call`.
//!
//! The far process is a server registered as `lab`, which other nodes call as a `gen_server`. The
//! near process spawns the callers and holds the clock.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use purlin::server::{self, Init, Mail, Next, Server};
use purlin::{Node, Pid, Process, Reply, receive};
use purlin_contender::{Delays, Running, Sample};
use purlin_dist::NodeName;
use purlin_dist::cluster::{Cluster, Served};
use purlin_term::{Term, to_term};
use serde::{Deserialize, Serialize};

use crate::nodes::LAB;

/// Timeout of a call: the default of `gen_server:call/2`.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);

/// Requests as they cross the wire: `{echo, Number}` and `count`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Request {
    Echo(u64),
    Count,
}

/// Server that replies with the number it is called with, and counts the calls.
#[derive(Debug)]
struct Echo {
    served: Arc<AtomicU64>,
}

#[derive(Debug)]
enum Call {
    Echo(u64, Reply<u64>),
    Count(Reply<u64>),
}

impl Server for Echo {
    type Args = Arc<AtomicU64>;
    type Call = Call;
    type Cast = Infallible;
    type Info = Infallible;
    type Continue = Infallible;

    async fn init(
        served: Arc<AtomicU64>,
        _: &mut Process<Mail<Self>>,
    ) -> server::Result<Init<Self>> {
        Ok(Init::Ready(Echo { served }))
    }

    async fn handle_call(
        &mut self,
        call: Call,
        _: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        // ORDER: relaxed: the server alone writes, and the count is read after it has ended.
        match call {
            Call::Echo(number, reply) => {
                self.served.fetch_add(1, Ordering::Relaxed);
                reply.send(number);
            }
            Call::Count(reply) => reply.send(self.served.load(Ordering::Relaxed)),
        }
        Ok(Next::Wait)
    }
}

/// Lets other nodes call the servers of this node.
pub(crate) fn serve(cluster: &Cluster) {
    cluster.serves(Served::<Echo>::new().calls(|request, caller| match request {
        Request::Echo(number) => Call::Echo(number, caller.reply()),
        Request::Count => Call::Count(caller.reply()),
    }));
}

/// Starts the far end.
pub(crate) fn take(node: &Node, cluster: &Cluster) -> Result<Running, String> {
    let served = Arc::new(AtomicU64::new(0));
    let (own, counted) = (node.clone(), Arc::clone(&served));
    let started = node
        .block_on(async move |_: Process<()>| own.start::<Echo>(counted).name(LAB).await)
        .map_err(|error| error.to_string())?;
    let node = node.clone();
    Ok(Running::new(cluster.name(), move || {
        let stopped = node.block_on(async move |_: Process<()>| started.stop().await);
        stopped.map_err(|error| error.to_string())?;
        // ORDER: relaxed: the server has ended.
        Ok(served.load(Ordering::Relaxed))
    }))
}

/// Messages of the near process.
pub(crate) enum Progress {
    /// A caller waits for the start.
    Ready(Pid<Go>),
    /// A caller has made its calls: the number of correct replies, and their latencies.
    Done(u64, Delays),
}

/// Message to a caller: start.
pub(crate) struct Go;

/// Runs the near end: `callers` processes make n calls in all, each one after the other.
pub(crate) async fn near(
    mut me: Process<Progress>,
    cluster: Cluster,
    node: NodeName,
    callers: u64,
    n: u64,
) -> Sample {
    for caller in 0..callers {
        let share = n / callers + u64::from(caller < n % callers);
        let (near, cluster, node) = (me.pid(), cluster.clone(), node.clone());
        me.spawn_link(async move |mut me: Process<Go>| {
            near.send(Progress::Ready(me.pid()));
            let Go = me.receive().await;
            let (replies, delays) = calls(&cluster, &node, share).await;
            near.send(Progress::Done(replies, delays));
        });
    }
    let mut waiting = Vec::new();
    for _ in 0..callers {
        waiting.push(receive!(me, { Progress::Ready(caller) => caller }));
    }

    let start = Instant::now();
    for caller in waiting {
        caller.send(Go);
    }
    let (mut replies, mut delays) = (0, Delays::default());
    for _ in 0..callers {
        let (correct, times) = receive!(me, { Progress::Done(replies, times) => (replies, times) });
        replies += correct;
        delays.add(times);
    }
    let elapsed = start.elapsed();

    let count = call(&cluster, &node, &Request::Count).await;
    let served = count.and_then(|count| u64::try_from(count.as_integer()?).ok()).unwrap_or(0);
    Sample::new(elapsed, n, 2 * n, served + replies).with_delays(delays)
}

/// Makes the calls of one caller. Returns the number of correct replies, and the latency of each
/// call.
async fn calls(cluster: &Cluster, node: &NodeName, share: u64) -> (u64, Delays) {
    let (mut replies, mut delays) = (0, Delays::from_now());
    for number in 1..=share {
        // WHY round 0: a call takes long enough for each of them to be timed.
        delays.start(0);
        let reply = call(cluster, node, &Request::Echo(number)).await;
        delays.back(0);
        replies += u64::from(reply == Some(Term::from(number)));
    }
    (replies, delays)
}

async fn call(cluster: &Cluster, node: &NodeName, request: &Request) -> Option<Term> {
    let request = to_term(request).ok()?;
    cluster.call(LAB, node, request, CALL_TIMEOUT).await.ok()
}
