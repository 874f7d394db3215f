//! The stand-ins of a cluster: one for each process elsewhere and type of message, as long as somebody needs it.
//!
//! Nobody is told when the last address of a stand-in is dropped. So when there are twice as many as were
//! needed the last time, all are looked at, and those that only the table of processes, this list and the
//! stand-in itself refer to are to end. A process that is linked to one, or monitors it, refers to it.
//!
//! Used under the lock of the cluster's state, where references are given out; so one that nobody refers to
//! is needed by nobody, and all that was sent to it has arrived before it is told to end.
//!
//! COST: a new stand-in costs one look at another, on average.

use std::any::TypeId;
use std::collections::{HashMap, HashSet};

use purlin::ProcessId;
use purlin::foreign::LocalProcess;

use crate::control::Named;
use crate::name::NodeName;

/// Who refers to a stand-in that nobody needs: the table of processes, this list, itself.
const OWN: u32 = 3;
/// So few are not worth looking at.
const FEW: usize = 1024;

/// The stand-ins of a cluster.
pub(super) struct StandIns {
    /// By the process: for each type of message at most one that is not to end.
    all: HashMap<(NodeName, Named), Vec<Listed>>,
    count: usize,
    sweep_at: usize,
}

struct Listed {
    stand_in: LocalProcess,
    /// It was told to end, and may have something to say before.
    is_to_end: bool,
}

impl StandIns {
    pub(super) fn new() -> Self {
        Self { all: HashMap::new(), count: 0, sweep_at: FEW }
    }

    /// The one for a process, with messages of that type.
    pub(super) fn find(&self, of: &(NodeName, Named), message: TypeId) -> Option<LocalProcess> {
        let all = self.all.get(of)?;
        let found = all.iter().find(|known| {
            let stand_in = &known.stand_in;
            !known.is_to_end && stand_in.message_type() == message && !stand_in.has_ended()
        });
        found.map(|known| known.stand_in.clone())
    }

    /// All that stand for a process and have not ended.
    pub(super) fn of(&self, process: &(NodeName, Named)) -> Vec<LocalProcess> {
        let all = self.all.get(process).into_iter().flatten().map(|known| &known.stand_in);
        all.filter(|stand_in| !stand_in.has_ended()).cloned().collect()
    }

    /// For which processes some of them stand. COST: a look at all of them.
    pub(super) fn stand_for(&self, some: &HashSet<ProcessId>) -> Vec<(ProcessId, NodeName, Named)> {
        let all = self
            .all
            .iter()
            .flat_map(|(process, all)| all.iter().map(move |known| (known.stand_in.id(), process)));
        let found = all.filter(|(id, _)| some.contains(id));
        found.map(|(id, (node, process))| (id, node.clone(), process.clone())).collect()
    }

    /// Adds one; says which are to end.
    #[must_use]
    pub(super) fn add(
        &mut self,
        of: (NodeName, Named),
        stand_in: LocalProcess,
    ) -> Vec<LocalProcess> {
        self.all.entry(of).or_default().push(Listed { stand_in, is_to_end: false });
        self.count += 1;
        let mut unused = Vec::new();
        if self.count < self.sweep_at {
            return unused;
        }
        self.all.retain(|_, all| {
            all.retain(|known| !known.stand_in.has_ended());
            for known in &mut *all {
                if !known.is_to_end && known.stand_in.references() <= OWN {
                    known.is_to_end = true;
                    unused.push(known.stand_in.clone());
                }
            }
            !all.is_empty()
        });
        self.count = self.all.values().map(Vec::len).sum();
        let stay = self.count - unused.len();
        self.sweep_at = self.count + FEW.max(stay);
        unused
    }

    /// Takes all out.
    pub(super) fn take(&mut self) -> Vec<LocalProcess> {
        self.count = 0;
        self.all.drain().flat_map(|(_, all)| all).map(|known| known.stand_in).collect()
    }
}
