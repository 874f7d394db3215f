//! Workloads on the worker loop of `purlin-sched`, as the lab has them.

use std::future::Future;

use purlin_simulator::{Costs, Machine, Topology, now, work};

use crate::node::{Me, Node, RuntimeWork, consume_budget, yields};

/// Nanoseconds of an instruction. Fitted to the lab's figures for one worker.
const INSTRUCTION: f64 = 0.024;
/// Instructions of the runtime, from `docs/internals/scheduler.md` (Cost) and `mechanisms.md`: a hop
/// of a ring has 328, a message of `throughput` 114, a process of `fork-join` 709.
pub(crate) const RUNTIME: RuntimeWork = RuntimeWork {
    turn: 221.0 * INSTRUCTION,
    spawn: 375.0 * INSTRUCTION,
    send: 53.0 * INSTRUCTION,
    receive: 60.0 * INSTRUCTION,
};

/// Cores that are not for workers.
const SPARE: usize = 8;

/// Simulated machine with workers of a node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Workers {
    pub(crate) count: usize,
    pub(crate) sockets: usize,
    pub(crate) costs: Costs,
}

impl Workers {
    /// Two cores as measured, in one socket.
    pub(crate) fn few(count: usize) -> Self {
        Self { count, sockets: 1, costs: Costs::TWO_CORES }
    }

    /// Up to 64 cores in two sockets.
    pub(crate) fn many(count: usize) -> Self {
        Self { count, sockets: 2, costs: Costs::TWO_SOCKETS }
    }

    /// Runs a workload and returns its nanoseconds.
    fn run(self, f: impl FnOnce(&Node) + Send + 'static) -> f64 {
        // Cores for the thread that waits, for sysmon, and for threads that take over a core.
        let cores = (self.count + SPARE).max(if self.sockets == 1 { 0 } else { 80 });
        let topology =
            Topology { sockets: self.sockets, cores_per_socket: cores.div_ceil(self.sockets) };
        let run = move || {
            let node = Node::start(self.count, RUNTIME);
            let begun = now();
            f(&node);
            node.wait();
            let time = now() - begun;
            node.stop();
            time
        };
        Machine::new(topology, self.costs, 1).run(run).value
    }

    /// Runs a workload whose first process is `root`, and returns its nanoseconds.
    fn run_root<F>(self, root: impl FnOnce(Node, Me) -> F + Send + 'static) -> f64
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.run(move |node| {
            node.expect(1);
            let home = node.clone();
            node.spawn(move |me| async move {
                root(home.clone(), me).await;
                home.done();
            });
        })
    }

    /// Two processes send one message to and fro. Returns the nanoseconds of a round trip.
    pub(crate) fn ping_pong(self, trips: u64) -> f64 {
        let time = self.run_root(move |node, me| async move {
            let (at, to) = (node.clone(), me.address());
            let partner = node.spawn(move |me| async move {
                for _ in 0..trips {
                    at.send(&to, at.receive(&me).await);
                }
            });
            for trip in 0..trips {
                node.send(&partner, trip);
                node.receive(&me).await;
            }
        });
        time / trips as f64
    }

    /// A message goes around a ring of processes. Returns the nanoseconds of a hop.
    pub(crate) fn ring(self, processes: u64, rounds: u64) -> f64 {
        let time = self.run_root(move |node, me| async move {
            let mut next = me.address();
            for _ in 1..processes {
                let (at, to) = (node.clone(), next);
                next = node.spawn(move |me| async move {
                    for _ in 0..rounds {
                        at.send(&to, at.receive(&me).await);
                    }
                });
            }
            for round in 0..rounds {
                node.send(&next, round);
                node.receive(&me).await;
            }
        });
        time / (rounds * processes) as f64
    }

    /// `senders` processes send `each` messages to one. Returns the nanoseconds of a message.
    pub(crate) fn fan_in(self, senders: u64, each: u64) -> f64 {
        let time = self.run_root(move |node, me| async move {
            for _ in 0..senders {
                let (at, to) = (node.clone(), me.address());
                node.spawn(move |_| async move {
                    for message in 0..each {
                        at.send(&to, message);
                        consume_budget().await;
                    }
                });
            }
            for _ in 0..senders * each {
                node.receive(&me).await;
            }
        });
        time / (senders * each) as f64
    }

    /// A process spawns `processes` that answer it. Returns the nanoseconds of one.
    pub(crate) fn fork_join(self, processes: u64, rounds: u64) -> f64 {
        let time = self.run_root(move |node, me| async move {
            for _ in 0..rounds {
                for number in 0..processes {
                    let (at, to) = (node.clone(), me.address());
                    node.spawn(move |_| async move { at.send(&to, number) });
                    consume_budget().await;
                }
                for _ in 0..processes {
                    node.receive(&me).await;
                }
            }
        });
        time / (processes * rounds) as f64
    }

    /// `processes` processes compute in `rounds` turns of that many nanoseconds. Returns the time
    /// divided by the perfect one.
    pub(crate) fn computing(self, processes: usize, rounds: usize, nanoseconds: f64) -> f64 {
        let time = self.run(move |node| {
            node.expect(processes);
            for _ in 0..processes {
                let home = node.clone();
                node.spawn(move |_| async move {
                    for _ in 0..rounds {
                        work(nanoseconds);
                        yields().await;
                    }
                    home.done();
                });
            }
        });
        let perfect = (processes * rounds) as f64 * nanoseconds / self.count as f64;
        time / perfect
    }
}
