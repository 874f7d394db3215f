//! Programs whose processes are spread over a purlin node and a BEAM node. The programs decide when the connection
//! between the two is cut; the next signal to the other node connects again.
//!
//! Each node finds the other through a separate epmd, which gives a port of a `wire` that can be cut. One program runs
//! at a time. It is finished when both nodes are at rest; the observations on both are one outcome, judged by the same
//! [model](crate::model) as the others.

mod machine;
mod report;
mod rest;
mod wire;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use purlin::Node;
use purlin_dist::NodeName;
use purlin_dist::cluster::Cluster;
use purlin_dist::epmd::{Alive, Epmd, Kind, Registration, Server};
use purlin_term::{Reference, Term};
use tokio::runtime::{Builder, Runtime};

use self::machine::{Aliases, Known, Machine};
use self::report::{Difference, Report};
use self::rest::Prober;
use self::wire::Wire;
use crate::campaign::{MOST_DIFFERENCES, Until};
use crate::generate::{FIRST_WITH_PRIORITY, generate_spread};
use crate::language::{By, Program, Side, Who};
use crate::model::{Runtime as Rules, TooMany, allows};
use crate::native::{Abroad, Half};
use crate::outcome::Outcome;
use crate::shrink::shrink_refused;

const COOKIE: &str = "differential";
const OURS: &str = "purlin";
/// Names of the BEAM's node, for every other pair of nodes: if both nodes connect at the same time, the call of the one
/// with the greater name wins.
const THEIRS: [&str; 2] = ["beam", "the_beam"];
/// Limit of states that the model visits for an observed outcome.
const MOST_STATES: usize = 20_000;
/// Number of rounds after which a program counts as never at rest.
///
/// WHY this large: a round takes microseconds while a process is running, and a preempted worker counts as running. A
/// program comes to rest long before this number on a machine of any speed.
const MOST_ROUNDS: usize = 10_000_000;
/// Number of tries per program while it is shrunk.
const TRIES: u32 = 30;

/// Returns the program with this number as text; `priority` is as for [`generate_spread`].
pub fn show(seed: u64, priority: bool) -> String {
    generate_spread(seed, priority).to_string()
}

/// Runs programs from number `first` on, over `pairs` pairs of nodes at the same time. Each node of purlin has the given
/// number of workers, and everything that the nodes of a pair send each other arrives after `latency`.
///
/// # Errors
///
/// Returns an error if a node cannot be started, or if a BEAM has ended or returned an invalid outcome.
pub fn run(
    pairs: usize,
    workers: usize,
    latency: Duration,
    first: u64,
    until: Until,
) -> io::Result<Report> {
    let (began, next) = (Instant::now(), AtomicU64::new(first));
    let run = &|pair| Spread::start(pair, workers, latency)?.run(first, &next, until, began);
    let reports: Vec<io::Result<Report>> = thread::scope(|scope| {
        let pairs: Vec<_> = (0..pairs).map(|pair| scope.spawn(move || run(pair))).collect();
        pairs
            .into_iter()
            .map(|pair| pair.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    });
    let mut all = Report::default();
    for report in reports {
        all.add(report?);
    }
    all.took = began.elapsed();
    Ok(all)
}

/// Two connected nodes.
pub struct Spread {
    machine: Machine,
    /// Whether the BEAM supports priority messages.
    priority: bool,
    prober: Prober,
    cluster: Cluster,
    node: Node,
    other: NodeName,
    wire: Wire,
    _found: (Server, Server, Registration, Registration),
    // Dropped last, as the other fields need it.
    _runtime: Runtime,
}

fn full(alive: &str) -> String {
    format!("{alive}@127.0.0.1")
}

impl Spread {
    /// Starts both nodes of the pair with this number, purlin's with the given number of workers. Everything that they send
    /// each other arrives after `latency`.
    ///
    /// # Errors
    ///
    /// Returns an error if one of them cannot be started.
    pub fn start(pair: usize, workers: usize, latency: Duration) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let node = Node::builder().name("differential").workers(workers).build();
        let node = node.map_err(io::Error::other)?;
        let wire = Wire::new(latency);
        let theirs = THEIRS[pair % THEIRS.len()];
        let other: NodeName = full(theirs).parse().map_err(io::Error::other)?;
        let entered = runtime.enter();
        let (cluster, mut machine, found) = runtime.block_on(connect(&node, theirs, &wire))?;
        drop(entered);
        Half::read(&cluster);
        let prober = Prober::start(&cluster, &other).ok_or_else(no_room)?;
        if !prober.rests(None, MOST_ROUNDS) {
            return Err(io::Error::other("the nodes do not connect"));
        }
        let priority = machine.release()? >= FIRST_WITH_PRIORITY;
        let (_found, _runtime) = (found, runtime);
        Ok(Self { machine, priority, prober, cluster, node, other, wire, _found, _runtime })
    }

    /// Runs programs until the end of the campaign; takes their numbers from `next`.
    fn run(
        &mut self,
        first: u64,
        next: &AtomicU64,
        until: Until,
        began: Instant,
    ) -> io::Result<Report> {
        let mut report = Report::default();
        while report.differences.len() < MOST_DIFFERENCES {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if until.next(first, seed, 1, began).is_none() {
                break;
            }
            self.judge(seed, &generate_spread(seed, self.priority), &mut report)?;
        }
        Ok(report)
    }

    fn judge(&mut self, seed: u64, program: &Program, report: &mut Report) -> io::Result<()> {
        let seen = self.see(program, seed as u32)?;
        match allows(program, Rules::Both, &seen, MOST_STATES) {
            Ok(Some(reached)) => report.count(program, &reached, &seen),
            Ok(None) => {
                let mut run = |program: &Program| self.refused(program, seed as u32);
                let (program, seen) =
                    shrink_refused(program, &mut run)?.unwrap_or_else(|| (program.clone(), seen));
                let (program, seen) = (program.to_string(), seen.to_string());
                report.differences.push(Difference { seed, program, seen });
            }
            Err(TooMany) => report.exclude(),
        }
        Ok(())
    }

    /// Runs a program several times and returns the first refused outcome, if any.
    fn refused(&mut self, program: &Program, chance: u32) -> io::Result<Option<Outcome>> {
        for more in 0..TRIES {
            let seen = self.see(program, chance.wrapping_add(more))?;
            if allows(program, Rules::Both, &seen, MOST_STATES) == Ok(None) {
                return Ok(Some(seen));
            }
        }
        Ok(None)
    }

    /// Runs a program once; `chance` decides where its processes yield.
    ///
    /// # Errors
    ///
    /// Returns an error if the BEAM has ended or returned an invalid outcome.
    pub fn see(&mut self, program: &Program, chance: u32) -> io::Result<Outcome> {
        let (wire, cluster) = (self.wire.clone(), self.cluster.clone());
        let other = self.other.clone();
        let cut = move |by| match by {
            By::Wire => wire.cut(),
            By::Node => drop(cluster.disconnect(&other)),
        };
        let abroad = Abroad::new(&self.cluster, &self.other, program, chance, Arc::new(cut));
        let abroad = abroad.ok_or_else(no_room)?;
        let (theirs, aliases) = self.machine.begin(program, chance, &full(OURS))?;
        let abroad = abroad.with_aliases(references(aliases));
        let mut half = Half::start(&self.node, program, chance, abroad);
        for (who, pid) in &theirs {
            half.knows(*who, pid).ok_or_else(no_room)?;
        }
        if program.has_aliases() {
            // The base processes have had a turn, and so have their aliases.
            self.rest(program, &half)?;
        }
        let ours = self.terms_of(half.bases());
        let aliases = half.aliases(&self.cluster).into_iter();
        let aliases = aliases.map(|(who, alias)| (who, Term::from(alias))).collect();
        self.machine.go(&ours, &aliases)?;
        half.begin();
        loop {
            let theirs = self.rest(program, &half)?;
            match (half.world.first_idle(), theirs) {
                (Some(ours), Some(theirs)) if theirs < ours => self.machine.wake(theirs)?,
                (Some(ours), _) => half.world.wake(ours),
                (None, Some(theirs)) => self.machine.wake(theirs)?,
                (None, None) => break,
            }
        }
        half.world.finish();
        self.rest(program, &half)?;
        let ours = self.terms_of(half.all());
        let (pids, theirs) = self.machine.finish(program, &ours)?;
        for (who, pid) in &pids {
            half.knows(*who, pid).ok_or_else(no_room)?;
        }
        let ours = half.world.outcome();
        half.kill();
        // The names are free for the next program, and the nodes are connected.
        self.rest(program, &half)?;
        let both = (0..).zip(ours.0.into_iter().zip(theirs.0));
        let trace = |(who, (ours, theirs))| match program.side(who) {
            Side::Purlin => ours,
            Side::Beam => theirs,
        };
        Ok(Outcome(both.map(trace).collect()))
    }

    fn terms_of(&self, ours: Vec<(u8, purlin::ProcessId)>) -> Known {
        let pid = |(who, id)| (who, self.cluster.term_of(id).into());
        ours.into_iter().map(pid).collect()
    }

    /// Waits until the program is at rest; returns the first BEAM process in a receive with an idle timeout.
    fn rest(&mut self, program: &Program, half: &Half) -> io::Result<Option<Who>> {
        loop {
            let cuts = self.wire.cuts();
            if !self.prober.rests(Some(half), MOST_ROUNDS) {
                return Err(io::Error::other(format!(
                    "a program does not come to rest:\n{program}"
                )));
            }
            // This answer comes after the cut requests of the BEAM's processes, so their cuts are done.
            let idle = self.machine.idle()?;
            if self.wire.cuts() == cuts {
                return Ok(idle);
            }
        }
    }
}

/// Returns the aliases that are references; a BEAM without priority messages has none.
fn references(aliases: Aliases) -> Vec<(Who, Reference)> {
    let reference = |(who, alias): (Who, Term)| Some((who, alias.as_reference()?.clone()));
    aliases.into_iter().filter_map(reference).collect()
}

fn no_room() -> io::Error {
    io::Error::other("there is no room for a process of the other node")
}

/// Starts the BEAM and joins its node.
async fn connect(
    node: &Node,
    alive: &'static str,
    wire: &Wire,
) -> io::Result<(Cluster, Machine, (Server, Server, Registration, Registration))> {
    let [ours, theirs] = [start_epmd().await?, start_epmd().await?];
    let name: NodeName = full(OURS).parse().map_err(io::Error::other)?;
    let joins = Cluster::builder(name).cookie(COOKIE).epmd(ours.address()).start(node);
    let cluster = joins.await.map_err(io::Error::other)?;
    let port = theirs.address().port();
    let wired = wire.clone();
    let starts = move || Machine::start(&full(alive), COOKIE, port, wired);
    let machine = tokio::task::spawn_blocking(starts).await.map_err(io::Error::other)??;
    // Each node finds the other behind the wire.
    let their_view = introduce(&ours, &theirs, OURS, wire).await?;
    let our_view = introduce(&theirs, &ours, alive, wire).await?;
    Ok((cluster, machine, (ours, theirs, their_view, our_view)))
}

async fn start_epmd() -> io::Result<Server> {
    Server::start((Ipv4Addr::LOCALHOST, 0)).await
}

/// Registers a node of one epmd with the other epmd, at a port of the wire.
async fn introduce(
    known_by: &Server,
    to: &Server,
    alive: &str,
    wire: &Wire,
) -> io::Result<Registration> {
    let epmd = Epmd::at(known_by.address());
    let found = loop {
        // A node that was just started may not be registered yet.
        match epmd.find(alive).await.map_err(io::Error::other)? {
            Some(found) => break found,
            None => tokio::task::yield_now().await,
        }
    };
    let port = wire.to(SocketAddr::from((Ipv4Addr::LOCALHOST, found.port))).await?;
    let alive = Alive { alive: alive.to_owned(), port, kind: Kind::Hidden };
    Registration::new(Epmd::at(to.address()), alive).await.map_err(io::Error::other)
}
