//! State shared by the processes of one program and its driver: pids, log and control flags.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use purlin::{Alias, MonitorRef, Monitored, Pid, ProcessId};
use tokio::sync::Notify;

use super::abroad::{self, Abroad, Peer};
use super::alias::AliasOf;
use super::message::{Msg, Raw};
use super::reasons::reason;
use crate::language::{MOST_PROCESSES, Name, Program, Script, Side, Slot, Who};
use crate::outcome::{End, Item, Outcome, Seen, Trace, Watched};

/// What the processes of a running program have recorded.
#[derive(Default)]
struct Records {
    pids: Vec<Option<Pid<Msg>>>,
    /// Aliases of the base processes on this node.
    aliases: HashMap<Who, Alias<Msg>>,
    /// Number of base processes on this node, once all have been spawned.
    bases: Option<usize>,
    logs: Vec<Vec<Raw>>,
    /// Mailboxes of the processes that wait at the end.
    left: HashMap<Who, Vec<Raw>>,
    slots: HashMap<MonitorRef, Slot>,
    idle: [bool; MOST_PROCESSES],
    /// A nudged process shows its mailbox and stops.
    finishing: bool,
}

impl Records {
    /// Whether all base processes on this node have been spawned and have their aliases.
    fn has_all_aliases(&self) -> bool {
        self.bases == Some(self.aliases.len())
    }
}

/// One running program.
pub(crate) struct World {
    pub(super) scripts: Vec<Script>,
    pub(super) seed: u32,
    pub(super) has_aliases: bool,
    number: u64,
    nudges: [Notify; MOST_PROCESSES],
    records: Mutex<Records>,
    /// The other node, in a spread program.
    abroad: Option<Abroad>,
}

impl World {
    pub(super) fn new(program: &Program, number: u64, seed: u32, abroad: Option<Abroad>) -> Self {
        let count = program.scripts.len();
        let records = Records {
            pids: vec![None; count],
            logs: (0..count).map(|_| Vec::new()).collect(),
            ..Records::default()
        };
        Self {
            scripts: program.scripts.clone(),
            seed,
            has_aliases: program.has_aliases(),
            number,
            nudges: Default::default(),
            records: Mutex::new(records),
            abroad,
        }
    }

    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers the pids of the base processes and starts their scripts; if the program uses aliases, when all have
    /// theirs.
    pub(super) fn begin(&self, bases: Vec<(Who, Pid<Msg>)>) {
        let mut records = self.records();
        records.bases = Some(bases.len());
        for (who, base) in bases {
            records.pids[usize::from(who)] = Some(base);
        }
        // WHY without waiting for their first turns: a process of the other node may have ended one before.
        if !self.has_aliases || records.has_all_aliases() {
            self.start_scripts(&records);
        }
    }

    /// Registers the alias of a base process.
    pub(super) fn has_alias(&self, who: Who, alias: Alias<Msg>) {
        let mut records = self.records();
        records.aliases.insert(who, alias);
        if records.has_all_aliases() {
            self.start_scripts(&records);
        }
    }

    fn start_scripts(&self, records: &Records) {
        let bases = records.pids.iter().zip(&self.nudges).filter(|(pid, _)| pid.is_some());
        bases.for_each(|(_, nudge)| nudge.notify_one());
    }

    /// Returns the aliases of the base processes on this node.
    pub(super) fn aliases_here(&self) -> Vec<(Who, Alias<Msg>)> {
        self.records().aliases.iter().map(|(who, alias)| (*who, alias.clone())).collect()
    }

    /// Returns the alias of a base process on either node.
    pub(super) fn alias(&self, of: Who) -> AliasOf {
        match self.records().aliases.get(&of) {
            Some(alias) => AliasOf::Here(alias.clone()),
            None => self.abroad().alias(of),
        }
    }

    /// Returns the registered name of a program's name.
    pub(super) fn name(&self, name: Name) -> String {
        match self.abroad {
            Some(_) => abroad::name(name),
            None => format!("program-{}-{name}", self.number),
        }
    }

    /// Returns whether the name belongs to the other node.
    pub(super) fn is_far(&self, name: Name) -> bool {
        self.abroad.is_some() && Side::of_name(name) == Side::Beam
    }

    pub(super) fn abroad(&self) -> &Abroad {
        match &self.abroad {
            Some(abroad) => abroad,
            None => unreachable!("a program that is not spread goes nowhere"),
        }
    }

    /// Returns the address of a process on either node, as used by the process `of`.
    pub(super) fn peer(&self, of: Who, who: Who) -> Peer {
        let there = self.abroad.as_ref().and_then(|abroad| abroad.peer(of, who));
        there.unwrap_or_else(|| Peer::Here(self.pid(who)))
    }

    pub(super) fn pid(&self, who: Who) -> Pid<Msg> {
        match &self.records().pids[usize::from(who)] {
            Some(pid) => pid.clone(),
            None => unreachable!("a valid program names no process before the spawn"),
        }
    }

    /// Returns the pids of all spawned processes.
    pub(super) fn pids(&self) -> Vec<Pid<Msg>> {
        self.spawned_here().into_iter().map(|(_, pid)| pid).collect()
    }

    /// Returns the spawned processes on this node with their numbers.
    pub(super) fn spawned_here(&self) -> Vec<(Who, Pid<Msg>)> {
        let records = self.records();
        let all = (0..).zip(&records.pids);
        all.filter_map(|(who, pid)| Some((who, pid.clone()?))).collect()
    }

    pub(super) fn spawned(&self, child: Who, pid: Pid<Msg>) {
        self.records().pids[usize::from(child)] = Some(pid);
    }

    pub(super) fn monitors(&self, monitor: MonitorRef, slot: Slot) {
        self.records().slots.insert(monitor, slot);
    }

    pub(super) fn see(&self, who: Who, seen: Raw) {
        self.records().logs[usize::from(who)].push(seen);
    }

    pub(super) fn leave(&self, who: Who, mailbox: Vec<Raw>) {
        self.records().left.insert(who, mailbox);
    }

    pub(super) fn set_idle(&self, who: Who, idle: bool) {
        self.records().idle[usize::from(who)] = idle;
    }

    pub(super) async fn nudged(&self, who: Who) {
        self.nudges[usize::from(who)].notified().await;
    }

    pub(super) fn is_finishing(&self) -> bool {
        self.records().finishing
    }

    /// Asks the waiting processes to show their mailboxes.
    pub(crate) fn finish(&self) {
        self.records().finishing = true;
        self.nudges.iter().for_each(Notify::notify_one);
    }

    /// Returns the first live process in a receive with an idle timeout.
    pub(crate) fn first_idle(&self) -> Option<Who> {
        let records = self.records();
        let lives = |who: usize| records.pids[who].as_ref().is_some_and(Pid::is_alive);
        let first = (0..records.pids.len()).find(|who| records.idle[*who] && lives(*who));
        first.map(|who| who as Who)
    }

    /// Times out the idle receive of a process.
    pub(crate) fn wake(&self, who: Who) {
        self.records().idle[usize::from(who)] = false;
        self.nudges[usize::from(who)].notify_one();
    }

    pub(crate) fn outcome(&self) -> Outcome {
        let records = &*self.records();
        let trace = |who: usize| Trace {
            log: records.logs[who].iter().map(|raw| self.seen(records, raw)).collect(),
            end: match &records.pids[who] {
                None => End::Unborn,
                Some(_) if records.left.contains_key(&(who as Who)) => {
                    let left = &records.left[&(who as Who)];
                    End::Waits(left.iter().map(|raw| self.item(records, raw)).collect())
                }
                Some(pid) => match pid.exit_reason() {
                    Some(why) => End::Ended(reason(&why)),
                    None => End::Waits(Vec::new()),
                },
            },
        };
        Outcome((0..records.pids.len()).map(trace).collect())
    }

    fn seen(&self, records: &Records, raw: &Raw) -> Seen {
        match raw {
            Raw::Seen(seen) => *seen,
            Raw::Whereis(id) => Seen::Whereis(Some(self.who(records, *id))),
            Raw::Down(_) | Raw::Exit(_) => Seen::Got(self.item(records, raw)),
        }
    }

    fn item(&self, records: &Records, raw: &Raw) -> Item {
        match raw {
            Raw::Seen(Seen::Got(item)) => *item,
            Raw::Down(down) => {
                let far_name = |id| self.abroad.as_ref().and_then(|abroad| abroad.name_of(id));
                let watched = match &down.process {
                    Monitored::Process(id) => match far_name(*id) {
                        Some(name) => Watched::Name(name),
                        None => Watched::Process(self.who(records, *id)),
                    },
                    Monitored::Name(name) => Watched::Name(
                        name.chars().next_back().map_or(NO_PROCESS, |c| c as u8 - b'0'),
                    ),
                    _ => Watched::Process(NO_PROCESS),
                };
                let slot = records.slots.get(&down.monitor).copied().unwrap_or(NO_PROCESS);
                Item::Down(slot, watched, reason(&down.reason))
            }
            Raw::Exit(exit) => {
                let from = exit.from.map_or(NO_PROCESS, |from| self.who(records, from));
                Item::Exit(from, reason(&exit.reason))
            }
            Raw::Seen(_) | Raw::Whereis(_) => unreachable!("mailboxes hold messages only"),
        }
    }

    fn who(&self, records: &Records, id: ProcessId) -> Who {
        let is_it = |pid: &Option<Pid<Msg>>| pid.as_ref().is_some_and(|pid| pid.id() == id);
        let here = records.pids.iter().position(is_it).map(|who| who as Who);
        let there = || self.abroad.as_ref()?.who(id);
        here.or_else(there).unwrap_or(NO_PROCESS)
    }
}

/// Number of any process that is not part of the program; no outcome of the model has it.
const NO_PROCESS: u8 = u8::MAX;
