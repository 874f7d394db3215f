//! What the processes of one program share with the one that runs it: who they are, and the log.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use purlin::{Down, Exit, MonitorRef, Monitored, Pid, ProcessId};
use tokio::sync::Notify;

use super::process::Msg;
use super::reasons::reason;
use crate::language::{MOST_PROCESSES, Name, Program, Script, Slot, Who};
use crate::outcome::{End, Item, Outcome, Seen, Trace, Watched};

/// What a process saw, as it saw it.
#[derive(Debug)]
pub(super) enum Raw {
    Seen(Seen),
    Down(Down),
    Exit(Exit),
    Whereis(ProcessId),
}

#[derive(Default)]
struct Records {
    pids: Vec<Option<Pid<Msg>>>,
    logs: Vec<Vec<Raw>>,
    /// What those that wait at the end have in their mailboxes.
    left: HashMap<Who, Vec<Raw>>,
    slots: HashMap<MonitorRef, Slot>,
    idle: [bool; MOST_PROCESSES],
    /// Whoever is nudged shows its mailbox and does no more.
    finishing: bool,
}

/// One program that runs.
pub(super) struct World {
    pub(super) scripts: Vec<Script>,
    pub(super) seed: u32,
    number: u64,
    nudges: [Notify; MOST_PROCESSES],
    records: Mutex<Records>,
}

impl World {
    pub(super) fn new(program: &Program, number: u64, seed: u32) -> Self {
        let count = program.scripts.len();
        let records = Records {
            pids: vec![None; count],
            logs: (0..count).map(|_| Vec::new()).collect(),
            ..Records::default()
        };
        Self {
            scripts: program.scripts.clone(),
            seed,
            number,
            nudges: Default::default(),
            records: Mutex::new(records),
        }
    }

    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bases are there; now they begin.
    pub(super) fn begin(&self, bases: Vec<Pid<Msg>>) {
        let mut records = self.records();
        for (who, base) in bases.into_iter().enumerate() {
            records.pids[who] = Some(base);
        }
        let all_there = records.pids.iter().zip(&self.nudges).filter(|(pid, _)| pid.is_some());
        all_there.for_each(|(_, nudge)| nudge.notify_one());
    }

    /// A name of the program's, as the node knows it.
    pub(super) fn name(&self, name: Name) -> String {
        format!("program-{}-{name}", self.number)
    }

    pub(super) fn pid(&self, who: Who) -> Pid<Msg> {
        match &self.records().pids[usize::from(who)] {
            Some(pid) => pid.clone(),
            None => unreachable!("a valid program names nobody before the spawn"),
        }
    }

    /// Those that have been spawned.
    pub(super) fn pids(&self) -> Vec<Pid<Msg>> {
        self.records().pids.iter().flatten().cloned().collect()
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

    /// Has those that wait show their mailboxes.
    pub(super) fn finish(&self) {
        self.records().finishing = true;
        self.nudges.iter().for_each(Notify::notify_one);
    }

    /// Of those that wait a while and have not ended, has the first go on; says whether there is one.
    pub(super) fn wake_first_idle(&self) -> bool {
        let mut records = self.records();
        for who in 0..records.pids.len() {
            let lives = records.pids[who].as_ref().is_some_and(Pid::is_alive);
            if std::mem::take(&mut records.idle[who]) && lives {
                self.nudges[who].notify_one();
                return true;
            }
        }
        false
    }

    pub(super) fn outcome(&self) -> Outcome {
        let records = &*self.records();
        let trace = |who: usize| Trace {
            log: records.logs[who].iter().map(|raw| records.seen(raw)).collect(),
            end: match &records.pids[who] {
                None => End::Unborn,
                Some(_) if records.left.contains_key(&(who as Who)) => {
                    let left = &records.left[&(who as Who)];
                    End::Waits(left.iter().map(|raw| records.item(raw)).collect())
                }
                Some(pid) => match pid.exit_reason() {
                    Some(why) => End::Ended(reason(&why)),
                    None => End::Waits(Vec::new()),
                },
            },
        };
        Outcome((0..records.pids.len()).map(trace).collect())
    }
}

impl Records {
    fn seen(&self, raw: &Raw) -> Seen {
        match raw {
            Raw::Seen(seen) => *seen,
            Raw::Whereis(id) => Seen::Whereis(Some(self.who(*id))),
            Raw::Down(_) | Raw::Exit(_) => Seen::Got(self.item(raw)),
        }
    }

    fn item(&self, raw: &Raw) -> Item {
        match raw {
            Raw::Seen(Seen::Got(item)) => *item,
            Raw::Down(down) => {
                let watched = match &down.process {
                    Monitored::Process(id) => Watched::Process(self.who(*id)),
                    Monitored::Name(name) => {
                        Watched::Name(name.chars().next_back().map_or(NOBODY, |c| c as u8 - b'0'))
                    }
                    _ => Watched::Process(NOBODY),
                };
                let slot = self.slots.get(&down.monitor).copied().unwrap_or(NOBODY);
                Item::Down(slot, watched, reason(&down.reason))
            }
            Raw::Exit(exit) => {
                Item::Exit(exit.from.map_or(NOBODY, |from| self.who(from)), reason(&exit.reason))
            }
            Raw::Seen(_) | Raw::Whereis(_) => unreachable!("mailboxes hold messages only"),
        }
    }

    fn who(&self, id: ProcessId) -> Who {
        let is_it = |pid: &Option<Pid<Msg>>| pid.as_ref().is_some_and(|pid| pid.id() == id);
        self.pids.iter().position(is_it).map_or(NOBODY, |who| who as Who)
    }
}

/// Stands for whoever is none of the program's; the model knows no such outcome.
const NOBODY: u8 = u8::MAX;
