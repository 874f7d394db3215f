//! Cache lines: holders, rights, and the queue of requests.
//!
//! A line is held by one core exclusively, shared by several cores, or in memory only. A load needs a
//! copy; a store or a read-modify-write needs the line exclusively. An access without the right it
//! needs sends a *request*. The request takes some time to reach the core that gives the line up,
//! which keeps using the line until then; the line then takes some time to arrive. So a core that
//! accesses a contended line again and again gets several accesses done before it loses the line.
//!
//! Requests for one line form a queue. A request that has been waiting at the holder is served as
//! soon as the holder has performed the access for which it got the line, so a contended line is
//! handed over once per transfer. Copies of a shared line are read concurrently.
//!
//! A load of a line that its holder has written moves the line instead of sharing it, as AMD's and
//! other protocols do for data that several cores modify in turn. Not modelled: capacity and
//! associativity of caches, prefetching, bandwidth of the interconnect, snoop filters, groups of
//! cores within a socket, and the preference of some machines for near cores.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::costs::{Costs, Time, Topology, time};

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;
/// Maximum number of cores: holders are a bit set.
pub(crate) const MAX_CORES: usize = 128;

/// Kind of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Load.
    Load,
    /// Atomic store: takes effect when the line has arrived.
    Store,
    /// Store of plain data: waits in the store buffer, and the core continues.
    Buffered,
    /// Read-modify-write.
    Rmw,
}

/// Number of transfers since the simulation began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Transfers {
    /// From a core of the same socket.
    pub near: u64,
    /// From a core of another socket.
    pub far: u64,
    /// From memory.
    pub memory: u64,
}

/// What an access has to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing: the core has the right.
    Hit,
    /// The line, which arrives at that time. [`Lines::commit`] follows at that time.
    Arrives(Time),
    /// Nothing; the store has left the store buffer at that time.
    Buffered(Time),
}

/// Request in the queue of a line.
#[derive(Debug, Clone, Copy)]
struct Request {
    core: usize,
    arrives: Time,
    /// When the line leaves the core again for the next request.
    leaves: Option<Time>,
}

/// State of one line.
#[derive(Debug, Default)]
struct Line {
    /// Cores that hold a copy.
    holders: u128,
    /// Whether the only holder may write.
    exclusive: bool,
    /// Whether the exclusive holder has written.
    written: bool,
    /// When a store that was buffered gets the line.
    here: Time,
    /// When the holders give the line up.
    leaves: Option<Time>,
    requests: VecDeque<Request>,
}

/// All lines that were accessed.
#[derive(Debug)]
pub(crate) struct Lines {
    lines: FxHashMap<usize, Line>,
    topology: Topology,
    costs: Costs,
    pub(crate) transfers: Transfers,
}

fn bit(core: usize) -> u128 {
    1 << core
}

impl Line {
    fn take(&mut self, core: usize) {
        self.holders = bit(core);
        self.exclusive = true;
        self.written = true;
    }
}

impl Lines {
    pub(crate) fn new(topology: Topology, costs: Costs) -> Self {
        assert!(topology.cores() <= MAX_CORES, "at most {MAX_CORES} cores can be simulated");
        Self { lines: FxHashMap::default(), topology, costs, transfers: Transfers::default() }
    }

    /// Begins an access of `core` to the line of an address at the time `now`.
    pub(crate) fn request(
        &mut self,
        core: usize,
        address: usize,
        kind: Access,
        now: Time,
    ) -> Outcome {
        let line = self.lines.entry(address / LINE).or_default();
        let keeps = line.leaves.is_none_or(|leaves| now < leaves);
        if line.holders & bit(core) != 0 && keeps && (kind == Access::Load || line.exclusive) {
            line.written |= kind != Access::Load;
            return Outcome::Hit;
        }
        let from = line.requests.back().map_or(line.holders & !bit(core), |last| bit(last.core));
        let (travels, moves) = if from == 0 && line.holders == 0 {
            self.transfers.memory += 1;
            (0, time(self.costs.memory))
        } else if is_far(self.topology, core, from, kind) {
            self.transfers.far += 1;
            (time(self.costs.far_request), time(self.costs.far_transfer))
        } else {
            self.transfers.near += 1;
            (time(self.costs.request), time(self.costs.transfer))
        };
        if kind == Access::Load && line.requests.is_empty() && !line.exclusive && from != 0 {
            return Outcome::Arrives(now + travels + moves);
        }
        let used = time(self.costs.rmw);
        let given_up = match line.requests.back_mut() {
            None => *line.leaves.insert((now + travels).max(line.here + used)),
            Some(last) => *last.leaves.insert((now + travels).max(last.arrives + used)),
        };
        let arrives = given_up + moves;
        if kind == Access::Buffered && line.requests.is_empty() {
            line.take(core);
            line.leaves = None;
            line.here = arrives;
            return Outcome::Buffered(arrives);
        }
        line.requests.push_back(Request { core, arrives, leaves: None });
        Outcome::Arrives(arrives)
    }

    /// Completes an access whose line has arrived.
    pub(crate) fn commit(&mut self, core: usize, address: usize, kind: Access) {
        let line = self.lines.entry(address / LINE).or_default();
        let served = line.requests.front().is_some_and(|request| request.core == core);
        if !served {
            // A read of a shared line. If another core has taken it since, this copy is gone.
            if !line.exclusive && line.leaves.is_none() {
                line.holders |= bit(core);
            }
            return;
        }
        line.leaves = line.requests.pop_front().and_then(|request| request.leaves);
        match kind {
            Access::Load if line.holders != 0 && !(line.exclusive && line.written) => {
                line.holders |= bit(core);
                line.exclusive = false;
            }
            Access::Load => {
                line.take(core);
                line.written = false;
            }
            Access::Store | Access::Buffered | Access::Rmw => line.take(core),
        }
    }
}

/// Returns whether a line comes from another socket. A load takes the nearest copy; a write waits
/// until the farthest one is given up.
fn is_far(topology: Topology, core: usize, from: u128, kind: Access) -> bool {
    let per_socket = topology.cores_per_socket;
    let near = ((1u128 << per_socket) - 1) << (topology.socket(core) * per_socket);
    match kind {
        Access::Load => from & near == 0,
        Access::Store | Access::Buffered | Access::Rmw => from & !near != 0,
    }
}

#[cfg(test)]
mod tests;
