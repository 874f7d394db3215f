//! What can still come: which moves need no other order than the first.
//!
//! Two moves that neither disturb nor feed each other lead to the same state in both orders, so one
//! order is enough. Here it is told of a single move that nothing which can still happen, in any
//! order, makes a difference to it; then the search follows that move alone. The look ahead is by
//! the scripts that are left, whether they will be carried out or not, so it errs only towards
//! searching more.

use super::Runtime;
use super::crossing::may_be_lost;
use super::state::{Phase, Signal, State, Tie};
use super::step::{found, next};
use crate::language::{After, How, Op, Program, Who};
use crate::outcome::Item;

/// A set of processes, a bit for each.
type Set = u8;

fn only(who: Who) -> Set {
    1 << who
}

/// What the rest of a script may do to whom.
#[derive(Clone, Copy, Default)]
struct Rest {
    /// To whom an exit signal or a link may go.
    hits: Set,
    /// For whom it makes a difference that they have not ended.
    minds: Set,
    /// To whose mailbox something may go.
    sends: Set,
    /// From whom something may come to its own mailbox in consequence.
    asks: Set,
    /// It may look into the mailbox without waiting, or put something there itself.
    looks: bool,
    /// It may send by name.
    names: bool,
}

/// What is left of every script from every place on.
pub(super) struct Ahead(Vec<Vec<Rest>>);

impl Ahead {
    pub(super) fn new(program: &Program) -> Self {
        let scripts = program.scripts.iter().enumerate();
        Self(scripts.map(|(who, script)| rests(who as Who, script)).collect())
    }

    fn rest(&self, state: &State, who: Who) -> Rest {
        self.0[usize::from(who)][usize::from(state.get(who).at)]
    }

    fn others<'a>(&'a self, state: &'a State, who: Who) -> impl Iterator<Item = (Who, Rest)> + 'a {
        state
            .all()
            .filter(move |other| *other != who && !state.has_ended(*other))
            .map(|other| (other, self.rest(state, other)))
    }

    /// Can an exit signal of any reason still come from somebody else before its next step?
    fn can_be_hit(&self, state: &State, who: Who) -> bool {
        !state.get(who).links.is_empty()
            || self.others(state, who).any(|(_, rest)| rest.hits & only(who) != 0)
            || on_the_way(state, who).any(|(_, signal)| {
                matches!(signal, Signal::Exit(_) | Signal::Link | Signal::LinkExit(_))
            })
    }

    /// Can anybody tell whether it ends now or later?
    fn end_is_seen(&self, state: &State, who: Who) -> bool {
        state.name_of(who).is_some()
            || self.others(state, who).any(|(_, rest)| rest.minds & only(who) != 0)
            || on_the_way(state, who).any(|(_, signal)| {
                matches!(signal, Signal::Link | Signal::Unlink(_) | Signal::Monitor(..))
            })
    }

    /// Can anything but what is on the way from `from` come into this mailbox?
    fn others_send(&self, state: &State, from: Who, to: Who) -> bool {
        let process = state.get(to);
        let own = self.rest(state, to);
        own.looks
            || own.asks & !only(from) != 0
            || process.links.iter().any(|(peer, _)| *peer != from)
            || process.monitors.iter().any(|(_, target)| *target != from)
            || self.others(state, to).any(|(other, rest)| {
                // What goes to a name elsewhere may come before what was sent to the pid.
                let overtakes = rest.names && state.crossing.is_spread();
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

    /// Is it the same for the next step whether a connection is lost before it?
    fn is_calm(&self, program: &Program, state: &State, who: Who) -> bool {
        let inward = || match next(program, state, who) {
            Some(Op::Receive(pattern, _)) => found(state, who, *pattern).is_some(),
            Some(Op::Send(to, _)) => !state.crossing.is_between(who, *to),
            Some(Op::Spawn(..) | Op::Trap(_)) => true,
            _ => false,
        };
        !state.crossing.is_spread() || !may_be_lost(program, state) || inward()
    }

    /// Is the next step of a process that is ready the same whatever happens before it?
    pub(super) fn step_is_safe(&self, program: &Program, state: &State, who: Who) -> bool {
        if self.can_be_hit(state, who) || !self.is_calm(program, state, who) {
            return false;
        }
        if matches!(state.get(who).phase, Phase::Called(_)) {
            return true;
        }
        match next(program, state, who) {
            None | Some(Op::ExitSelf(_) | Op::Crash) => !self.end_is_seen(state, who),
            Some(Op::Receive(pattern, _)) => found(state, who, *pattern).is_some(),
            Some(Op::Send(to, _) | Op::Exit(to, _)) => *to != who,
            Some(Op::Demonitor(slot, _)) => {
                !state.get(who).monitors.iter().any(|(own, _)| own == slot)
            }
            // On purlin it makes a difference whether the end of the other is known.
            Some(Op::Call(to, _)) => state.runtime(who) == Runtime::Beam || state.has_ended(*to),
            // Names belong to all.
            Some(
                Op::SendName(..)
                | Op::MonitorName(..)
                | Op::Register(..)
                | Op::Unregister(_)
                | Op::Whereis(_),
            ) => false,
            _ => true,
        }
    }

    /// Does the oldest signal on this wire do the same whatever happens before it arrives?
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
            // What was taken back stays so.
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

/// Also what goes to a name, which may turn out to be that process's.
fn on_the_way(state: &State, to: Who) -> impl Iterator<Item = (Who, &Signal)> {
    state.wires.iter().flat_map(move |wire| {
        let is_name = state.crossing.name_of_end(wire.to).is_some();
        let from = if is_name { state.crossing.by_name(wire.from) } else { wire.from };
        let all = wire.signals.iter().filter(move |_| is_name || wire.to == to);
        all.map(move |(_, signal)| (from, signal))
    })
}

fn rests(who: Who, script: &[Op]) -> Vec<Rest> {
    let mut rests = vec![Rest::default()];
    for op in script.iter().rev() {
        let mut rest = rests[rests.len() - 1];
        match *op {
            Op::Spawn(child, How::Link | How::Monitor(_)) => rest.asks |= only(child),
            Op::Send(to, _) if to == who => rest.looks = true,
            Op::Send(to, _) => rest.sends |= only(to),
            Op::SendName(..) => {
                rest.sends = Set::MAX;
                rest.looks = true;
                rest.names = true;
            }
            Op::Receive(_, After::Zero) | Op::MonitorName(..) => rest.looks = true,
            Op::Link(to) => {
                rest.hits |= only(to);
                rest.minds |= only(to);
                rest.sends |= only(to);
                rest.asks |= only(to);
            }
            Op::Monitor(to, _) => {
                rest.minds |= only(to);
                rest.asks |= only(to);
            }
            Op::Exit(to, _) if to == who => rest.looks = true,
            Op::Exit(to, _) => {
                rest.hits |= only(to);
                rest.sends |= only(to);
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
