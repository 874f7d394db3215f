//! Node in a cluster, near or far end: `dist-send`, `dist-round-trip` and, with [`node_calls`],
//! `dist-call`.
//!
//! The far process is registered as `lab`; the near process is the process of the run. Both use the
//! messages in the protocol's table, so that the peer can be any contender.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use purlin::{ExitReason, Node, Pid, Process, consume_budget, receive};
use purlin_contender::{Delays, Far, Near, Nodes, Running, Sample, Traffic};
use purlin_dist::cluster::Cluster;
use purlin_dist::{NodeName, epmd};
use purlin_term::Pid as Remote;
use serde::{Deserialize, Serialize};

use crate::{node_calls, root};

/// Registered name of the far process.
pub(crate) const LAB: &str = "lab";

/// Messages of the far process.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum There {
    Begin(Remote),
    Message(u64),
    Count,
}

/// Messages of the near process.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Back {
    Ready(Remote),
    Message(u64),
    Counted(u64),
}

/// This contender's node, which joins a cluster on the first request.
pub(crate) struct Clustered {
    node: Node,
    /// The cluster, and the cookie it was joined with.
    cluster: Option<(String, Cluster)>,
    /// Number of times the node has joined.
    joined: u32,
}

impl Clustered {
    pub(crate) fn new(node: Node) -> Self {
        Self { node, cluster: None, joined: 0 }
    }

    fn cluster(&mut self, cookie: &str) -> Result<Cluster, String> {
        if let Some((_, cluster)) = self.cluster.as_ref().filter(|(known, _)| known == cookie) {
            return Ok(cluster.clone());
        }
        self.cluster = None;
        let port = match std::env::var("ERL_EPMD_PORT") {
            Ok(port) => port.parse().map_err(|_| format!("ERL_EPMD_PORT is {port:?}"))?,
            Err(_) => epmd::PORT,
        };
        // WHY the number: the previous name may still be registered with epmd.
        self.joined += 1;
        let name: NodeName = format!("purlin{}-{}@127.0.0.1", std::process::id(), self.joined)
            .parse()
            .map_err(|error: purlin_dist::BadName| error.to_string())?;
        let epmd = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let joining = Cluster::builder(name).cookie(cookie).epmd(epmd);
        let node = self.node.clone();
        let joined = self.node.block_on(async move |_: Process<()>| joining.start(&node).await);
        let cluster = joined.map_err(|error| error.to_string())?;
        cluster.receives::<There>();
        cluster.receives::<Back>();
        node_calls::serve(&cluster);
        self.cluster = Some((cookie.to_owned(), cluster.clone()));
        Ok(cluster)
    }
}

impl Nodes for Clustered {
    fn take(&mut self, asked: Far) -> Result<Running, String> {
        let cluster = self.cluster(&asked.cookie)?;
        if asked.traffic == Traffic::Calls {
            return node_calls::take(&self.node, &cluster);
        }
        let answers = asked.traffic == Traffic::RoundTrips;
        let (taken, own) = (Arc::new(AtomicU64::new(0)), cluster.clone());
        let counted = Arc::clone(&taken);
        let taker = self.node.spawn(async move |me| take(me, own, answers, &counted).await);
        self.node.register(LAB, &taker).map_err(|error| error.to_string())?;
        let node = self.node.clone();
        Ok(Running::new(cluster.name(), move || {
            taker.exit(ExitReason::Kill);
            node.block_on(async move |_: Process<()>| taker.ended().await);
            // ORDER: relaxed: the counting process has exited.
            Ok(taken.load(Ordering::Relaxed))
        }))
    }

    fn send(&mut self, asked: Near) -> Result<Sample, String> {
        let cluster = self.cluster(&asked.cookie)?;
        let node: NodeName =
            asked.node.parse().map_err(|_| format!("{:?} is no node", asked.node))?;
        let (connecting, there) = (cluster.clone(), node.clone());
        let up = self.node.block_on(async move |_: Process<()>| connecting.connect(&there).await);
        up.map_err(|error| format!("{node}: {error}"))?;
        let n = asked.n;
        match asked.traffic {
            Traffic::OneWay => root(&self.node, move |me| one_way(me, cluster, node, n)),
            Traffic::RoundTrips => root(&self.node, move |me| round_trips(me, cluster, node, n)),
            Traffic::Calls => {
                root(&self.node, move |me| node_calls::near(me, cluster, node, asked.callers, n))
            }
        }
    }
}

/// Counts the messages received in order, and sends each one back if `answers` is set.
async fn take(mut me: Process<There>, cluster: Cluster, answers: bool, taken: &AtomicU64) {
    let Some(near) = receive!(me, { There::Begin(near) => cluster.pid::<Back>(&near) }) else {
        return;
    };
    near.send(Back::Ready(cluster.term_of(me.id())));
    let mut count = 0;
    loop {
        match me.receive().await {
            There::Message(number) => {
                count += u64::from(number == count + 1);
                taken.store(count, Ordering::Relaxed);
                if answers {
                    near.send(Back::Message(number));
                }
            }
            There::Count => near.send(Back::Counted(count)),
            There::Begin(_) => {}
        }
    }
}

/// Returns the far process, after it has reported its pid. The run ends when it reports its count.
async fn begin(me: &mut Process<Back>, cluster: &Cluster, node: &NodeName) -> Pid<There> {
    let far = cluster.named::<There>(LAB, node).expect("there is room for a proxy");
    far.send(There::Begin(cluster.term_of(me.id())));
    let far = receive!(me, { Back::Ready(far) => cluster.pid::<There>(&far) });
    far.expect("there is room for a proxy")
}

async fn one_way(mut me: Process<Back>, cluster: Cluster, node: NodeName, n: u64) -> Sample {
    let far = begin(&mut me, &cluster, &node).await;
    let start = Instant::now();
    for number in 1..=n {
        far.send(There::Message(number));
        consume_budget().await;
    }
    far.send(There::Count);
    let received = receive!(me, { Back::Counted(count) => count });
    Sample::new(start.elapsed(), n, n, received)
}

async fn round_trips(mut me: Process<Back>, cluster: Cluster, node: NodeName, n: u64) -> Sample {
    let far = begin(&mut me, &cluster, &node).await;
    let (mut back, mut delays) = (0, Delays::from_now());
    let start = Instant::now();
    for number in 1..=n {
        delays.start(number);
        far.send(There::Message(number));
        back += receive!(me, { Back::Message(answer) => u64::from(answer == number) });
        delays.back(number);
    }
    let elapsed = start.elapsed();
    far.send(There::Count);
    let received = receive!(me, { Back::Counted(count) => count });
    Sample::new(elapsed, n, 2 * n, received + back).with_delays(delays)
}
