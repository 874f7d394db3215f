//! Effect of a signal on its receiver.

use super::end::end;
use super::runtime::Runtime;
use super::state::{LinkEnd, Phase, Signal, State, Tie};
use crate::language::{Reason, Tag, Who};
use crate::outcome::{Item, Seen};

/// Returns the possible states after `to` has handled `signal`.
pub(super) fn handle(mut state: State, from: Who, to: Who, signal: Signal) -> Vec<State> {
    if state.has_ended(to) {
        return answer_for_the_dead(state, from, to, signal);
    }
    match signal {
        Signal::Item(item) => state.change(to).receive(item, false),
        // L9: a signal to a removed alias is dropped.
        Signal::Aliased(..) | Signal::AliasExit(..) if !state.get(to).alias => {}
        Signal::Aliased(item, priority) => state.change(to).receive(item, priority),
        Signal::AliasExit(Reason::Kill, _) => return end(state, to, Reason::Killed),
        Signal::AliasExit(reason, priority) => return exit(state, from, to, reason, priority),
        Signal::Answer(tag) => answer(&mut state, from, to, tag),
        // The pair is linked already, or an unlink of this side is in flight, which will remove the
        // link at the other end; so the signal has no effect here.
        Signal::Link if state.get(to).links.iter().any(|(peer, _)| *peer == from) => {}
        Signal::Link => {
            state.change(to).links.push((from, Tie::Up));
            state.change(to).links.sort_unstable();
        }
        Signal::Unlink(number) => {
            let process = state.change(to);
            if let Some(at) = process.links.iter().position(|link| *link == (from, Tie::Up)) {
                process.links.remove(at);
                process.prioritize_link(from, false);
            }
            state.put(to, from, Signal::UnlinkAck(number));
        }
        Signal::UnlinkAck(number) => {
            state.change(to).links.retain(|link| *link != (from, Tie::TakenBack(number)));
        }
        Signal::LinkExit(reason) => {
            // L5: an exit signal of a removed link is ignored.
            let is_it = |(peer, tie): &LinkEnd| *peer == from && !matches!(tie, Tie::TakenBack(_));
            let Some(at) = state.get(to).links.iter().position(is_it) else {
                return vec![state];
            };
            let process = state.change(to);
            process.links.remove(at);
            let priority = process.prior_links.contains(&from);
            process.prioritize_link(from, false);
            return exit(state, from, to, reason, priority);
        }
        // L4: only a signal sent by `exit` kills, and its reason is seen as `killed`.
        Signal::Exit(Reason::Kill) => return end(state, to, Reason::Killed),
        Signal::Exit(reason) => return exit(state, from, to, reason, false),
        Signal::Monitor(slot, watched) => {
            let watchers = &mut state.change(to).watchers;
            watchers.push((from, slot, watched));
            watchers.sort_unstable();
        }
        Signal::Demonitor(slot) => {
            state.change(to).watchers.retain(|(who, own, _)| (*who, *own) != (from, slot));
        }
        Signal::Down(slot, watched, reason) => {
            // D1, D3: a monitor fires once, and not at all after it was removed.
            let process = state.change(to);
            let Some(at) = process.monitors.iter().position(|(own, _)| *own == slot) else {
                return vec![state];
            };
            process.monitors.remove(at);
            let priority = process.prior_monitors.contains(&slot);
            process.prior_monitors.retain(|own| *own != slot);
            if process.phase == Phase::Calling(slot) {
                process.phase = Phase::Called(Seen::Failed(reason));
            } else {
                process.receive(Item::Down(slot, watched, reason), priority);
            }
        }
    }
    vec![state]
}

/// L3: an exit signal becomes a message if the receiver traps, is ignored if it is `normal`, and
/// ends others.
///
/// L4: `normal` sent to oneself also ends the process. On the BEAM it was handled when it was sent,
/// so a later one was sent by a process that trapped exits at that time; it is ignored.
fn exit(mut state: State, from: Who, to: Who, reason: Reason, priority: bool) -> Vec<State> {
    if state.get(to).trap {
        state.change(to).receive(Item::Exit(from, reason), priority);
    } else if reason != Reason::Normal || (from == to && state.runtime(to) == Runtime::Purlin) {
        return end(state, to, reason);
    }
    vec![state]
}

fn answer(state: &mut State, from: Who, to: Who, tag: Tag) {
    let process = state.change(to);
    let Phase::Calling(slot) = process.phase else { return };
    process.phase = Phase::Called(Seen::Answer(tag));
    process.monitors.retain(|(own, _)| *own != slot);
    state.put(to, from, Signal::Demonitor(slot));
}

/// L6, D2: a link or a monitor that comes too late is answered with `noproc`.
fn answer_for_the_dead(mut state: State, from: Who, to: Who, signal: Signal) -> Vec<State> {
    match signal {
        Signal::Link => state.put_late(to, from, Signal::LinkExit(Reason::NoProcess)),
        Signal::Monitor(slot, watched) => {
            let mut states =
                state.clone().put_late(to, from, Signal::Down(slot, watched, Reason::NoProcess));
            // C1: on purlin a call that was sent to a process before it had ended may return its
            // exit reason, even if the signal that ended the process was sent before the call.
            if let (Runtime::Purlin, Phase::Ended(reason)) =
                (state.runtime(from), state.get(to).phase)
                && state.get(from).phase == Phase::Calling(slot)
            {
                state.put(to, from, Signal::Down(slot, watched, reason));
                states.push(state);
            }
            states
        }
        _ => vec![state],
    }
}
