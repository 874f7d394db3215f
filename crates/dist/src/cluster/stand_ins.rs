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
use std::collections::HashMap;

use purlin::foreign::LocalProcess;

use crate::control::Named;
use crate::name::NodeName;

/// Who refers to a stand-in that nobody needs: the table of processes, this list, itself.
const OWN: u32 = 3;
/// So few are not worth looking at.
const FEW: usize = 1024;

/// The stand-ins of a cluster.
pub(super) struct StandIns {
    all: HashMap<(NodeName, Named, TypeId), LocalProcess>,
    sweep_at: usize,
}

impl StandIns {
    pub(super) fn new() -> Self {
        Self { all: HashMap::new(), sweep_at: FEW }
    }

    /// The one for a process, with messages of that type.
    pub(super) fn find(&self, of: &(NodeName, Named, TypeId)) -> Option<LocalProcess> {
        self.all.get(of).filter(|known| !known.has_ended()).cloned()
    }

    /// Adds one; says which are to end.
    #[must_use]
    pub(super) fn add(
        &mut self,
        of: (NodeName, Named, TypeId),
        stand_in: LocalProcess,
    ) -> Vec<LocalProcess> {
        self.all.insert(of, stand_in);
        let mut unused = Vec::new();
        if self.all.len() >= self.sweep_at {
            let is_unused = |known: &LocalProcess| known.references() <= OWN;
            unused.extend(self.all.extract_if(|_, known| is_unused(known)).map(|(_, known)| known));
            self.sweep_at = FEW.max(2 * self.all.len());
        }
        unused
    }

    /// Takes all out.
    pub(super) fn take(&mut self) -> Vec<LocalProcess> {
        self.all.drain().map(|(_, stand_in)| stand_in).collect()
    }
}
