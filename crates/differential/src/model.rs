//! State machine of the clauses, and a search through all outcomes that they allow.
//!
//! A state of a program is the position of each process, the contents of its mailbox and its links,
//! and the signals in flight between each pair of processes. Each transition is one move: a process
//! executes a step of its script, or the oldest signal between two processes arrives and is
//! handled. Any enabled move may be the next one. So the signals of one process to another arrive
//! in order (M2), there is no order between different senders (M3), and no signal is lost: a
//! program is at rest only when no step can be taken and no signal is in flight.
//!
//! [`outcomes`] explores every choice. Programs with too many states are judged by [`allows`],
//! which explores only the choices that agree with an observed outcome.

mod agreement;
mod ahead;
mod crossing;
mod end;
mod loss;
mod runtime;
mod signal;
mod state;
mod step;

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use rustc_hash::{FxHashMap, FxHashSet};

pub use self::runtime::Runtime;

use self::agreement::Agreement;
use self::ahead::Ahead;
use self::state::State;
use self::step::{give_up, is_ready, waits_a_while};
use crate::language::{Program, Side, Who};
use crate::outcome::Outcome;

/// Number of steps executed of each script on the path to an outcome.
pub type Reached = Vec<usize>;

/// Returns every outcome that the clauses allow, or `None` if the search would visit more than
/// `most_states` states.
pub fn outcomes(
    program: &Program,
    runtime: Runtime,
    most_states: usize,
) -> Option<FxHashMap<Outcome, Reached>> {
    let mut found = FxHashMap::default();
    let all = search(program, runtime, most_states, &mut |_| true, &mut |state| {
        found.entry(state.outcome()).or_insert_with(|| reached(state));
        true
    });
    all.then_some(found)
}

/// Returns the number of steps on a path to this outcome if the clauses allow it, or `None` if they
/// do not.
///
/// # Errors
///
/// Returns [`TooMany`] if the search is undecided after `most_states` states.
pub fn allows(
    program: &Program,
    runtime: Runtime,
    seen: &Outcome,
    most_states: usize,
) -> Result<Option<Reached>, TooMany> {
    let agreement = Agreement::new(program, seen);
    let mut way = None;
    let mut wanted = |state: &State| agreement.holds(state);
    let all = search(program, runtime, most_states, &mut wanted, &mut |state| {
        let same = state.outcome() == *seen;
        if same {
            way = Some(reached(state));
        }
        !same
    });
    if way.is_some() || all { Ok(way) } else { Err(TooMany) }
}

/// The search exceeded its limit of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany;

/// Visits the states reachable through states that are `wanted`, and passes those at rest to
/// `rest`, which returns whether to continue. Returns whether the search was complete.
fn search(
    program: &Program,
    runtime: Runtime,
    most_states: usize,
    wanted: &mut dyn FnMut(&State) -> bool,
    rest: &mut dyn FnMut(&State) -> bool,
) -> bool {
    let ahead = Ahead::new(program);
    // WHY hashes: comparing a state with one that was stored long ago misses the cache. Among the 50 000 states of a search
    // two have the same hash once in 10^10 searches; then a path is missed.
    let mut visited: FxHashSet<u64> = FxHashSet::default();
    let mut waiting = vec![State::new(program, runtime)];
    while let Some(state) = waiting.pop() {
        if !wanted(&state) {
            continue;
        }
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(&state);
        if visited.contains(&hash) {
            continue;
        }
        if visited.len() == most_states {
            return false;
        }
        let next = moves(program, &ahead, &state);
        if next.is_empty() && !rest(&state) {
            return false;
        }
        for one in next {
            waiting.extend(made(program, &state, one));
        }
        visited.insert(hash);
    }
    true
}

/// A transition of the model.
#[derive(Clone, Copy)]
enum Move {
    Step(Who),
    Arrival(Who, Who),
    GiveUp(Who),
    Lose(Side),
}

/// Returns all enabled moves, or one that represents them all; an empty list means that the program
/// is at rest.
fn moves(program: &Program, ahead: &Ahead, state: &State) -> Vec<Move> {
    let mut moves = Vec::new();
    for who in state.all() {
        if is_ready(program, state, who) {
            if ahead.step_is_safe(program, state, who) {
                return vec![Move::Step(who)];
            }
            moves.push(Move::Step(who));
        }
    }
    for wire in &state.wires {
        let (from, to, carrier) = (wire.from, wire.to, wire.signals[0].0);
        if state.crossing.is_due(carrier, from, to) {
            let is_lost = state.crossing.is_lost(carrier, to);
            if is_lost || ahead.arrival_is_safe(program, state, from, to) {
                return vec![Move::Arrival(from, to)];
            }
            moves.push(Move::Arrival(from, to));
        }
    }
    moves.extend(state.crossing.losers().map(Move::Lose));
    if moves.is_empty() {
        let late = state.all().find(|who| waits_a_while(program, state, *who));
        moves.extend(late.map(Move::GiveUp));
    }
    moves
}

fn made(program: &Program, state: &State, one: Move) -> Vec<State> {
    let mut state = state.clone();
    match one {
        Move::Step(who) => step::step(program, state, who),
        Move::Arrival(from, to) => match state.take(from, to) {
            Some((carrier, _)) if state.crossing.is_lost(carrier, to) => vec![state],
            Some((_, signal)) => match state.crossing.name_of_end(to) {
                Some(name) => loss::look_up(state, from, name, signal),
                None => {
                    let from = state.crossing.sender(from);
                    signal::handle(state, from, to, signal)
                }
            },
            None => vec![state],
        },
        Move::Lose(side) => loss::lose(state, side),
        Move::GiveUp(who) => vec![give_up(state, who)],
    }
}

fn reached(state: &State) -> Reached {
    state.processes.iter().map(|process| process.at.into()).collect()
}
