//! Effect of one step of a script.

use super::end::end;
use super::runtime::Runtime;
use super::state::{LinkEnd, Phase, Signal, State, Tie};
use crate::language::{After, How, Name, Op, Pattern, Program, Reason, Slot, Who};
use crate::outcome::{Item, Seen, Watched};

/// First of the slots used for the monitors of calls; the position of the call is added.
const CALLS: Slot = 128;

/// Returns the next operation of a running process, or `None` at the end of its script.
pub(super) fn next<'a>(program: &'a Program, state: &State, who: Who) -> Option<&'a Op> {
    program.scripts[usize::from(who)].get(usize::from(state.get(who).at))
}

/// Returns whether the process can take a step now. A process in a receive with an idle timeout cannot.
pub(super) fn is_ready(program: &Program, state: &State, who: Who) -> bool {
    match state.get(who).phase {
        Phase::Running => match next(program, state, who) {
            Some(Op::Park) => false,
            Some(Op::Receive(pattern, after)) => {
                found(state, who, *pattern).is_some()
                    || *after == After::Zero && !has_sent_itself(state, who)
            }
            _ => true,
        },
        Phase::Called(_) => true,
        Phase::Unborn | Phase::Calling(_) | Phase::Ended(_) => false,
    }
}

/// Returns whether a message from the process to itself is in flight. It counts as arrived when it is sent, so a
/// receive finds it; but signals before it may not have been handled yet.
fn has_sent_itself(state: &State, who: Who) -> bool {
    state.wire(who, who).any(|signal| matches!(signal, Signal::Item(_) | Signal::Aliased(..)))
}

/// Returns whether the process is in a receive with an idle timeout (`After::Idle`).
pub(super) fn waits_a_while(program: &Program, state: &State, who: Who) -> bool {
    state.get(who).phase == Phase::Running
        && matches!(next(program, state, who), Some(Op::Receive(_, After::Idle)))
}

/// The receive of a process with an idle timeout times out.
pub(super) fn give_up(mut state: State, who: Who) -> State {
    state.change(who).at += 1;
    state.see(who, Seen::Nothing);
    state.crossing.rests();
    state
}

/// R1: returns the position of the first matching message.
pub(super) fn found(state: &State, who: Who, pattern: Pattern) -> Option<usize> {
    state.get(who).mailbox.iter().position(|item| match (pattern, item) {
        (Pattern::Any, _)
        | (Pattern::Request, Item::Request(..))
        | (Pattern::Down, Item::Down(..))
        | (Pattern::Exit, Item::Exit(..)) => true,
        (Pattern::Tag(tag), Item::Message(_, own)) => tag == *own,
        (Pattern::DownOf(slot), Item::Down(own, ..)) => slot == *own,
        _ => false,
    })
}

/// Returns the possible states after the next step of a ready process.
pub(super) fn step(program: &Program, mut state: State, who: Who) -> Vec<State> {
    if let Phase::Called(seen) = state.get(who).phase {
        state.change(who).phase = Phase::Running;
        state.see(who, seen);
        return vec![state];
    }
    let Some(op) = next(program, &state, who) else { return end(state, who, Reason::Normal) };
    let at = state.get(who).at;
    state.change(who).at += 1;
    match *op {
        Op::Spawn(child, how) => spawn(&mut state, who, child, how),
        Op::Send(to, tag) => state.put(who, to, Signal::Item(Item::Message(who, tag))),
        Op::SendName(name, tag) if state.crossing.is_far(who, name) => {
            let to = state.crossing.end_of_name(name);
            state.see(who, Seen::SentByName(true));
            state.put(who, to, Signal::Item(Item::Message(who, tag)));
        }
        Op::SendName(name, tag) => {
            let owner = owner(&state, name);
            state.see(who, Seen::SentByName(owner.is_some()));
            if let Some(to) = owner {
                state.put(who, to, Signal::Item(Item::Message(who, tag)));
            }
        }
        Op::Receive(pattern, _) => receive(&mut state, who, pattern),
        Op::Link(to) if to != who => link(&mut state, who, to, false),
        Op::LinkPriority(to) if to != who => link(&mut state, who, to, true),
        Op::Unlink(to) if to != who => unlink(&mut state, who, to),
        // L1: linking to oneself has no effect.
        Op::Link(_) | Op::LinkPriority(_) | Op::Unlink(_) => {}
        Op::Monitor(to, slot) => monitor(&mut state, who, to, slot, Watched::Process(to)),
        Op::MonitorPriority(to, slot) => {
            monitor(&mut state, who, to, slot, Watched::Process(to));
            if to != who {
                state.change(who).prior_monitors.push(slot);
                state.change(who).prior_monitors.sort_unstable();
            }
        }
        Op::SendAlias(to, tag, priority) => {
            let item = Item::Message(who, tag);
            state.put(state.crossing.by_alias(who, to), to, Signal::Aliased(item, priority));
        }
        Op::ExitAlias(to, reason, priority) => {
            state.put(state.crossing.by_alias(who, to), to, Signal::AliasExit(reason, priority));
        }
        Op::Unalias => state.change(who).alias = false,
        Op::MonitorName(name, slot) if state.crossing.is_far(who, name) => {
            let to = state.crossing.end_of_name(name);
            monitor(&mut state, who, to, slot, Watched::Name(name));
        }
        Op::MonitorName(name, slot) => match owner(&state, name) {
            Some(to) => monitor(&mut state, who, to, slot, Watched::Name(name)),
            None => {
                // D2: the down signal depends on no other process, but does not overtake earlier signals.
                let watched = Watched::Name(name);
                state.change(who).monitors.push((slot, who));
                state.put(who, who, Signal::Down(slot, watched, Reason::NoProcess));
            }
        },
        Op::Demonitor(slot, flush) => {
            let not_told = unsure(&state, who, slot).then(|| {
                let mut state = state.clone();
                demonitor(&mut state, who, slot, flush);
                if let Some(last) = state.change(who).log.last_mut() {
                    *last = Seen::Demonitored(false);
                }
                state
            });
            demonitor(&mut state, who, slot, flush);
            return not_told.into_iter().chain([state]).collect();
        }
        Op::ExitSelf(reason) => return end(state, who, reason),
        Op::Crash => return end(state, who, Reason::Crash),
        Op::Exit(to, reason) if to == who => return exit_itself(state, who, reason),
        Op::Exit(to, reason) => state.put(who, to, Signal::Exit(reason)),
        Op::Trap(on) => state.change(who).trap = on,
        Op::Register(name, of) => {
            // N1: a name has one owner, a process has one name, and the owner is alive.
            let free = owner(&state, name).is_none()
                && state.name_of(of).is_none()
                && !state.has_ended(of);
            if free {
                state.names[usize::from(name)] = Some(of);
            }
            state.see(who, Seen::Registered(free));
        }
        Op::Unregister(name) => {
            let there = state.names[usize::from(name)].take().is_some();
            state.see(who, Seen::Unregistered(there));
        }
        Op::Whereis(name) => {
            let owner = owner(&state, name);
            state.see(who, Seen::Whereis(owner));
        }
        // C3: a call to oneself is refused.
        Op::Call(to, _) if to == who => state.see(who, Seen::Refused),
        Op::Call(to, tag) => {
            let slot = CALLS + at;
            // C1, L7: on purlin a caller of a process that has ended already need not examine its own inbox, where
            // signals of that process may be queued.
            let known = (state.runtime(who) == Runtime::Purlin && state.has_ended(to)).then(|| {
                let mut state = state.clone();
                state.see(who, Seen::Failed(Reason::NoProcess));
                state
            });
            monitor(&mut state, who, to, slot, Watched::Process(to));
            state.put(who, to, Signal::Item(Item::Request(who, tag)));
            state.change(who).phase = Phase::Calling(slot);
            return known.into_iter().chain([state]).collect();
        }
        Op::Reply(tag) => {
            if !state.get(who).owed.is_empty() {
                let to = state.change(who).owed.remove(0);
                state.put(who, to, Signal::Answer(tag));
            }
        }
        Op::Park => {}
        Op::Cut(_) => {
            let in_vain = state.crossing.cut().map(|crossing| State { crossing, ..state.clone() });
            return in_vain.into_iter().chain([state]).collect();
        }
    }
    vec![state]
}

fn owner(state: &State, name: Name) -> Option<Who> {
    state.names[usize::from(name)]
}

/// L4, L7: on the BEAM an exit signal to oneself ends the process immediately, unless it traps exits; then the signal
/// is asynchronous, as it always is on purlin.
fn exit_itself(mut state: State, who: Who, reason: Reason) -> Vec<State> {
    if state.runtime(who) == Runtime::Beam && !state.get(who).trap {
        return end(state, who, if reason == Reason::Kill { Reason::Killed } else { reason });
    }
    state.put(who, who, Signal::Exit(reason));
    vec![state]
}

fn spawn(state: &mut State, who: Who, child: Who, how: How) {
    state.change(child).phase = Phase::Running;
    match how {
        How::Plain => {}
        // L8: both ends of the link exist from the start.
        How::Link => {
            state.change(child).links.push((who, Tie::Up));
            state.change(who).links.push((child, Tie::Up));
            state.change(who).links.sort_unstable();
        }
        How::Monitor(slot) => {
            state.change(child).watchers.push((who, slot, Watched::Process(child)));
            state.change(who).monitors.push((slot, child));
        }
    }
}

fn receive(state: &mut State, who: Who, pattern: Pattern) {
    let Some(at) = found(state, who, pattern) else {
        state.see(who, Seen::Nothing);
        return;
    };
    let process = state.change(who);
    let item = process.remove(at);
    process.log.push(Seen::Got(item));
    if let Item::Request(from, _) = item {
        process.owed.push(from);
    }
}

fn link(state: &mut State, who: Who, to: Who, priority: bool) {
    state.change(who).prioritize_link(to, priority);
    let links = &mut state.change(who).links;
    match links.iter_mut().find(|(peer, _)| *peer == to) {
        // L1: there is at most one link.
        Some((_, Tie::Up | Tie::Lost)) => return,
        Some((_, taken_back)) => *taken_back = Tie::Up,
        None => links.push((to, Tie::Up)),
    }
    links.sort_unstable();
    state.put(who, to, Signal::Link);
}

fn unlink(state: &mut State, who: Who, to: Who) {
    let process = state.change(who);
    let number = process.unlinks;
    let is_it = |(peer, tie): &&mut LinkEnd| *peer == to && !matches!(tie, Tie::TakenBack(_));
    let Some(link) = process.links.iter_mut().find(is_it) else { return };
    link.1 = Tie::TakenBack(number);
    process.unlinks += 1;
    process.prioritize_link(to, false);
    state.put(who, to, Signal::Unlink(number));
}

fn monitor(state: &mut State, who: Who, to: Who, slot: Slot, watched: Watched) {
    // D1: a monitor of oneself has no effect.
    if to != who {
        state.change(who).monitors.push((slot, to));
        state.put(who, to, Signal::Monitor(slot, watched));
    }
}

/// Returns whether `demonitor` may return `false`: on the BEAM, while there is no connection, it does so for a remote
/// process even if the monitor has not fired, and the monitor does not fire afterwards.
fn unsure(state: &State, who: Who, slot: Slot) -> bool {
    let far = |(own, to): &(Slot, Who)| *own == slot && state.crossing.is_between(who, *to);
    state.runtime(who) == Runtime::Beam
        && state.crossing.was_cut()
        && state.get(who).monitors.iter().any(far)
}

fn demonitor(state: &mut State, who: Who, slot: Slot, flush: bool) {
    let process = state.change(who);
    let at = process.monitors.iter().position(|(own, _)| *own == slot);
    process.log.push(Seen::Demonitored(at.is_some()));
    let is_it = |item: &Item| matches!(item, Item::Down(own, ..) if *own == slot);
    if let Some(at) = process.mailbox.iter().position(is_it).filter(|_| flush) {
        process.remove(at);
    }
    process.prior_monitors.retain(|own| *own != slot);
    if let Some(at) = at {
        let (_, to) = process.monitors.remove(at);
        // WHY not to a remote name: it cannot be observed whether the signal was sent, as the monitor no longer fires.
        if state.crossing.name_of_end(to).is_none() {
            state.put(who, to, Signal::Demonitor(slot));
        }
    }
}
