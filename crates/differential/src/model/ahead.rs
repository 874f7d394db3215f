//! Partial-order reduction: moves for which a single order is enough.
//!
//! Two independent moves lead to the same state in both orders, so one order is enough. This module
//! decides whether a move is independent of everything that can still happen, in any order; then
//! the search follows that move alone. The decision looks ahead at the remaining scripts, whether
//! or not they will be executed, so it errs only towards searching more.

use super::loss::may_be_lost;
use super::runtime::Runtime;
use super::state::{Phase, Signal, State, Tie};
use super::step::{found, next};
use crate::language::{After, How, MOST_PROCESSES, NAMES, Op, Pattern, Program, Who};
use crate::outcome::Item;

/// A set of processes, one bit each.
type Set = u32;

// WHY three times, and the names: these are the ends of a wire in `crossing`.
const _: () = assert!(3 * MOST_PROCESSES + NAMES as usize <= Set::BITS as usize);

fn only(who: Who) -> Set {
    1 << who
}

/// Possible effects of the rest of a script.
#[derive(Clone, Copy, Default)]
struct Rest {
    /// Processes that may be sent an exit signal or a link.
    hits: Set,
    /// Processes for which it matters that they have not ended.
    minds: Set,
    /// Processes whose mailbox may get something.
    sends: Set,
    /// Processes that may send something to this process's mailbox in response.
    asks: Set,
    /// It may examine the mailbox without waiting, or send to itself.
    looks: bool,
    /// It may send by name or to an alias.
    overtakes: bool,
}

/// What can still happen in a program.
pub(super) struct Ahead {
    /// Effects of the rest of every script, from every position.
    rests: Vec<Vec<Rest>>,
    /// Processes that may get priority messages.
    prior: Set,
}

impl Ahead {
    pub(super) fn new(program: &Program) -> Self {
        let scripts = program.scripts.iter().enumerate();
        let rests = scripts.map(|(who, script)| rests(who as Who, script)).collect();
        Self { rests, prior: prior(program) }
    }

    fn rest(&self, state: &State, who: Who) -> Rest {
        self.rests[usize::from(who)][usize::from(state.get(who).at)]
    }

    /// Returns whether a receive takes the same message whatever arrives before it. M6: a priority
    /// message that arrives is placed before ordinary ones.
    fn finds(&self, state: &State, who: Who, pattern: Pattern) -> bool {
        let ahead = state.get(who).ahead.into();
        let is_prior = self.prior & only(who) != 0;
        found(state, who, pattern).is_some_and(|at| !is_prior || at < ahead)
    }

    fn others<'a>(&'a self, state: &'a State, who: Who) -> impl Iterator<Item = (Who, Rest)> + 'a {
        state
            .all()
            .filter(move |other| *other != who && !state.has_ended(*other))
            .map(|other| (other, self.rest(state, other)))
    }

    /// Returns whether an exit signal of another process may still arrive before the next step.
    fn can_be_hit(&self, state: &State, who: Who) -> bool {
        !state.get(who).links.is_empty()
            || self.others(state, who).any(|(_, rest)| rest.hits & only(who) != 0)
            || on_the_way(state, who).any(|(_, signal)| {
                matches!(
                    signal,
                    Signal::Exit(_) | Signal::AliasExit(..) | Signal::Link | Signal::LinkExit(_)
                )
            })
    }

    /// Returns whether any process may observe the time at which this process ends.
    fn end_is_seen(&self, state: &State, who: Who) -> bool {
        state.name_of(who).is_some()
            || self.others(state, who).any(|(_, rest)| rest.minds & only(who) != 0)
            || on_the_way(state, who).any(|(_, signal)| {
                matches!(signal, Signal::Link | Signal::Unlink(_) | Signal::Monitor(..))
            })
    }

    /// Returns whether anything other than the signals in flight from `from` may enter this
    /// mailbox.
    fn others_send(&self, state: &State, from: Who, to: Who) -> bool {
        let process = state.get(to);
        let own = self.rest(state, to);
        own.looks
            || own.asks & !only(from) != 0
            || process.links.iter().any(|(peer, _)| *peer != from)
            || process.monitors.iter().any(|(_, target)| *target != from)
            || self.others(state, to).any(|(other, rest)| {
                // A signal to a remote name or alias may arrive before one sent to the pid.
                let overtakes = rest.overtakes && state.crossing.is_spread();
                (other != from || overtakes) && rest.sends & only(to) != 0
            })
            || on_the_way(state, to).any(|(other, signal)| {
                let silent = matches!(
                    signal,
                    Signal::Monitor(..)
                        | Signal::Demonitor(_)
                        | Signal::Unlink(_)
                        | Signal::UnlinkAck(_)
                );
                other != from && !silent
            })
    }

    /// Returns whether the next step is the same with and without a connection loss before it.
    fn is_calm(&self, program: &Program, state: &State, who: Who) -> bool {
        let inward = || match next(program, state, who) {
            Some(Op::Receive(pattern, _)) => self.finds(state, who, *pattern),
            Some(Op::Send(to, _)) => !state.crossing.is_between(who, *to),
            Some(Op::Spawn(..) | Op::Trap(_)) => true,
            _ => false,
        };
        !state.crossing.is_spread() || !may_be_lost(program, state) || inward()
    }

    /// Returns whether the next step of a ready process is independent of everything that may
    /// happen before it.
    pub(super) fn step_is_safe(&self, program: &Program, state: &State, who: Who) -> bool {
        if self.can_be_hit(state, who) || !self.is_calm(program, state, who) {
            return false;
        }
        if matches!(state.get(who).phase, Phase::Called(_)) {
            return true;
        }
        match next(program, state, who) {
            None | Some(Op::ExitSelf(_) | Op::Crash) => !self.end_is_seen(state, who),
            Some(Op::Receive(pattern, _)) => self.finds(state, who, *pattern),
            Some(
                Op::Send(to, _) | Op::Exit(to, _) | Op::SendAlias(to, ..) | Op::ExitAlias(to, ..),
            ) => *to != who,
            Some(Op::Demonitor(slot, _)) => {
                !state.get(who).monitors.iter().any(|(own, _)| own == slot)
            }
            // On purlin it matters whether the end of the called process is known.
            Some(Op::Call(to, _)) => state.runtime(who) == Runtime::Beam || state.has_ended(*to),
            // Names are shared by all processes, and an alias by its senders.
            Some(
                Op::Unalias
                | Op::SendName(..)
                | Op::MonitorName(..)
                | Op::Register(..)
                | Op::Unregister(_)
                | Op::Whereis(_),
            ) => false,
            _ => true,
        }
    }

    /// Returns whether the oldest signal on this wire has the same effect whatever happens before
    /// it arrives.
    pub(super) fn arrival_is_safe(
        &self,
        program: &Program,
        state: &State,
        from: Who,
        to: Who,
    ) -> bool {
        let between = state.crossing.is_between(from, to);
        if state.crossing.name_of_end(to).is_some() || between && may_be_lost(program, state) {
            return false;
        }
        if state.has_ended(to) {
            return true;
        }
        let process = state.get(to);
        match state.wire(from, to).next() {
            Some(Signal::Answer(_)) => true,
            Some(Signal::Down(slot, ..)) if process.phase == Phase::Calling(*slot) => true,
            // A removed monitor stays removed.
            Some(Signal::Down(slot, ..)) => !process.monitors.iter().any(|(own, _)| own == slot),
            Some(Signal::UnlinkAck(number)) => {
                !process.links.contains(&(from, Tie::TakenBack(*number)))
            }
            Some(Signal::Item(Item::Message(..) | Item::Request(..))) => {
                !self.others_send(state, from, to)
            }
            _ => false,
        }
    }
}

/// Returns the signals in flight to a process, including those to a remote name, which may belong
/// to it.
fn on_the_way(state: &State, to: Who) -> impl Iterator<Item = (Who, &Signal)> {
    state.wires.iter().flat_map(move |wire| {
        let is_name = state.crossing.name_of_end(wire.to).is_some();
        let from = if is_name { state.crossing.by_name(wire.from) } else { wire.from };
        let all = wire.signals.iter().filter(move |_| is_name || wire.to == to);
        all.map(move |(_, signal)| (from, signal))
    })
}

/// Returns the processes that may get priority messages.
fn prior(program: &Program) -> Set {
    let scripts = (0..).zip(&program.scripts);
    let ops = scripts.flat_map(|(who, script)| script.iter().map(move |op| (who, op)));
    let prior = ops.map(|(who, op)| match *op {
        Op::SendAlias(to, _, true) | Op::ExitAlias(to, _, true) => only(to),
        Op::LinkPriority(_) | Op::MonitorPriority(..) => only(who),
        _ => 0,
    });
    prior.fold(0, |all, one| all | one)
}

fn rests(who: Who, script: &[Op]) -> Vec<Rest> {
    let mut rests = vec![Rest::default()];
    for op in script.iter().rev() {
        let mut rest = rests[rests.len() - 1];
        match *op {
            Op::Spawn(child, How::Link | How::Monitor(_)) => rest.asks |= only(child),
            Op::Send(to, _) | Op::SendAlias(to, ..) if to == who => rest.looks = true,
            Op::Send(to, _) => rest.sends |= only(to),
            Op::SendAlias(to, ..) => {
                rest.sends |= only(to);
                rest.overtakes = true;
            }
            Op::SendName(..) => {
                rest.sends = Set::MAX;
                rest.looks = true;
                rest.overtakes = true;
            }
            Op::Receive(_, After::Zero) | Op::MonitorName(..) => rest.looks = true,
            Op::Link(to) | Op::LinkPriority(to) => {
                rest.hits |= only(to);
                rest.minds |= only(to);
                rest.sends |= only(to);
                rest.asks |= only(to);
            }
            Op::Monitor(to, _) | Op::MonitorPriority(to, _) => {
                rest.minds |= only(to);
                rest.asks |= only(to);
            }
            Op::Exit(to, _) if to == who => rest.looks = true,
            Op::Exit(to, _) => {
                rest.hits |= only(to);
                rest.sends |= only(to);
            }
            Op::ExitAlias(to, ..) => {
                rest.hits |= only(to);
                rest.sends |= only(to);
                rest.overtakes = true;
            }
            Op::Register(_, of) => rest.minds |= only(of),
            Op::Call(to, _) => {
                rest.minds |= only(to);
                rest.sends |= only(to);
            }
            _ => {}
        }
        rests.push(rest);
    }
    rests.reverse();
    rests
}
