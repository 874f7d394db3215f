//! The clauses as a machine, and a search through everything that they allow.
//!
//! A program is at every moment in a state: where each process is, what its mailbox and its links
//! hold, and what is under way between each two. It goes on by one move at a time: a process takes
//! a step of its script, or the oldest signal between two processes arrives and is dealt with.
//! Any move that can be made may be the next one. So what one process sends to another arrives in
//! order (M2), nothing is promised between different senders (M3), and no signal is lost: a
//! program has come to rest only when no step is left and nothing is under way.
//!
//! [`outcomes`] makes every choice in turn. Programs for which that takes too long are judged by
//! [`allows`], which follows only the choices that agree with an outcome that was seen.

mod ahead;
mod crossing;
mod end;
mod signal;
mod state;
mod step;

use rustc_hash::{FxHashMap, FxHashSet};

use self::ahead::Ahead;
use self::state::{Phase, State};
use self::step::{give_up, is_ready, waits_a_while};
use crate::language::{Op, Program, Side, Who};
use crate::outcome::{End, Outcome};

/// How many steps of each script were taken on the way to an outcome.
pub type Reached = Vec<usize>;

/// Whose outcomes are asked for: the two differ where SEMANTICS says so beside the clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Runtime {
    /// The BEAM.
    Beam,
    /// purlin.
    Purlin,
    /// One node of each, with the processes of the program spread over them.
    Both,
}

impl Runtime {
    /// Does the program do anything that may end differently on the two?
    #[must_use]
    pub fn differ_on(program: &Program) -> bool {
        (0..).zip(&program.scripts).any(|(who, script)| {
            script.iter().any(|op| match op {
                Op::Call(..) => true,
                Op::Exit(to, _) => *to == who,
                _ => false,
            })
        })
    }
}

/// Every outcome that the clauses allow, or `None` where more than so many states would have to be
/// looked at.
#[must_use]
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

/// How many steps were taken on the way to this outcome if the clauses allow it; `None` if they do
/// not. An error where more than so many states would have to be looked at.
///
/// # Errors
///
/// [`TooMany`], if neither was found by then.
pub fn allows(
    program: &Program,
    runtime: Runtime,
    seen: &Outcome,
    most_states: usize,
) -> Result<Option<Reached>, TooMany> {
    let mut way = None;
    let all =
        search(program, runtime, most_states, &mut |state| agrees(state, seen), &mut |state| {
            let same = state.outcome() == *seen;
            if same {
                way = Some(reached(state));
            }
            !same
        });
    if way.is_some() || all { Ok(way) } else { Err(TooMany) }
}

/// The search was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany;

/// Visits the states that can be reached through states that are `wanted`, and hands those at rest
/// to `rest`, which says whether to go on. Says whether it saw all there was to see.
fn search(
    program: &Program,
    runtime: Runtime,
    most_states: usize,
    wanted: &mut dyn FnMut(&State) -> bool,
    rest: &mut dyn FnMut(&State) -> bool,
) -> bool {
    let ahead = Ahead::new(program);
    let mut visited = FxHashSet::default();
    let mut waiting = vec![State::new(program, runtime)];
    while let Some(state) = waiting.pop() {
        if !wanted(&state) || visited.contains(&state) {
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
        visited.insert(state);
    }
    true
}

/// What can happen next.
#[derive(Clone, Copy)]
enum Move {
    Step(Who),
    Arrival(Who, Who),
    GiveUp(Who),
    Lose(Side),
}

/// Every move there is, or one that does for all; none if the program has come to rest.
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
        let (from, to, said) = (wire.from, wire.to, wire.signals[0].0);
        if state.crossing.is_due(said, from, to) {
            let is_lost = state.crossing.is_lost(said, to);
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
            Some((said, _)) if state.crossing.is_lost(said, to) => vec![state],
            Some((_, signal)) => match state.crossing.name_of_end(to) {
                Some(name) => crossing::look_up(state, from, name, signal),
                None => {
                    let from = state.crossing.sender(from);
                    signal::handle(state, from, to, signal)
                }
            },
            None => vec![state],
        },
        Move::Lose(side) => crossing::lose(state, side),
        Move::GiveUp(who) => vec![give_up(state, who)],
    }
}

/// Can this state still come to what was seen?
fn agrees(state: &State, seen: &Outcome) -> bool {
    state.processes.iter().zip(&seen.0).all(|(process, trace)| {
        trace.log.starts_with(&process.log)
            && match process.phase {
                Phase::Ended(reason) => {
                    trace.end == End::Ended(reason) && trace.log.len() == process.log.len()
                }
                _ => true,
            }
    })
}

fn reached(state: &State) -> Reached {
    state.processes.iter().map(|process| process.at.into()).collect()
}
