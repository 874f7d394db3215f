//! The half of a spread program that runs on purlin.

use std::sync::Arc;

use purlin::{ExitReason, Node, Pid, ProcessId};
use purlin_dist::cluster::Cluster;
use purlin_term::{Reference, Term};

use super::abroad::Abroad;
use super::message::Msg;
use super::process;
use super::world::World;
use super::{Glance, glance};
use crate::language::{Program, Side, Who};

/// The processes of one program that are on purlin, with their log.
pub(crate) struct Half {
    /// Its outcome has the processes of the other node as never spawned.
    pub(crate) world: Arc<World>,
    bases: Vec<(Who, Pid<Msg>)>,
}

impl Half {
    /// Sets how the cluster decodes messages from the other node.
    pub(crate) fn read(cluster: &Cluster) {
        cluster.receives_by(|term| {
            let parts = match term.as_tuple() {
                Some([tag, from, what]) if tag.is_atom("message") => {
                    from.as_integer().zip(what.as_integer())
                }
                _ => None,
            };
            let (from, what) = parts.ok_or_else(|| format!("{term} is no message of a program"))?;
            Ok(Msg::Message(from as u8, what as u8))
        });
    }

    /// Spawns the base processes, which wait for [`Half::begin`].
    pub(crate) fn start(node: &Node, program: &Program, seed: u32, abroad: Abroad) -> Self {
        let world = Arc::new(World::new(program, 0, seed, Some(abroad)));
        let here = (0..program.bases).filter(|who| program.side(*who) == Side::Purlin);
        let bases = here.map(|who| (who, node.spawn(process::base(Arc::clone(&world), who))));
        Self { bases: bases.collect(), world }
    }

    /// Starts the scripts of the base processes.
    pub(crate) fn begin(&mut self) {
        self.world.begin(std::mem::take(&mut self.bases));
    }

    /// Returns the base processes on this node.
    pub(crate) fn bases(&self) -> Vec<(Who, ProcessId)> {
        self.bases.iter().map(|(who, pid)| (*who, pid.id())).collect()
    }

    /// Returns the aliases of the base processes on this node, which have them once they wait.
    pub(crate) fn aliases(&self, cluster: &Cluster) -> Vec<(Who, Reference)> {
        let all = self.world.aliases_here().into_iter();
        all.map(|(who, alias)| (who, cluster.term_of_alias(&alias))).collect()
    }

    /// Returns all spawned processes on this node.
    pub(crate) fn all(&self) -> Vec<(Who, ProcessId)> {
        self.world.spawned_here().iter().map(|(who, pid)| (*who, pid.id())).collect()
    }

    /// Observes all spawned processes on this node; returns `None` unless each is asleep or has ended.
    pub(crate) fn glances(&self) -> Option<Vec<Glance>> {
        self.world.pids().iter().map(glance).collect()
    }

    /// Adds a process of the other node; returns `None` if `pid` is not a pid or no proxy can be
    /// created.
    pub(crate) fn knows(&self, who: Who, pid: &Term) -> Option<()> {
        self.world.abroad().knows(who, pid.as_pid()?)
    }

    /// Kills the remaining processes.
    pub(crate) fn kill(&self) {
        for (_, pid) in self.world.spawned_here() {
            pid.exit(ExitReason::Kill);
        }
    }
}
