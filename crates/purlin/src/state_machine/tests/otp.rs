//! Comparison of the state machine with OTP's own `gen_statem`: the same programs, on the same clock.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use super::program::{
    Act, CLASSES, CONTENTS, Change, Kind, Program, Reaction, STATES, Step, Target, Timer,
};
use super::puppet::play;
use crate::escript;

/// Number of programs; they are the same in every run.
const PROGRAMS: usize = 500;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/state_machine/tests/otp.escript");

/// Lines of programs that are not compared: two timers fire at the same moment, or OTP 25
/// or 27 delivers the message of a timer as an info, because its timeout waited as a timeout of zero
/// when it was set.
const EXCLUDED: [&str; 2] = ["tie", "lost"];

fn content() -> impl Strategy<Value = u8> {
    0..CONTENTS
}

fn change() -> impl Strategy<Value = Change> {
    let timer = || {
        prop_oneof![
            3 => Just(Timer::State),
            2 => Just(Timer::Event),
            2 => Just(Timer::A),
            1 => Just(Timer::B),
        ]
    };
    prop_oneof![
        6 => (timer(), 0..4_u8, content()).prop_map(|(t, time, c)| Change::Start(t, time, c)),
        1 => (timer(), content()).prop_map(|(timer, content)| Change::Update(timer, content)),
        1 => timer().prop_map(Change::Cancel),
    ]
}

fn reaction() -> impl Strategy<Value = Reaction> {
    let target = prop_oneof![
        40 => Just(Target::Keep),
        10 => Just(Target::Repeat),
        48 => (0..STATES).prop_map(Target::Next),
        1 => Just(Target::Stop),
        1 => Just(Target::Fail),
    ];
    let kind = prop_oneof![2 => Just(Kind::Internal), 1 => Just(Kind::Cast), 1 => Just(Kind::Info)];
    let next_events = prop_oneof![
        4 => Just(Vec::new()),
        1 => vec((kind, content()), 1..3),
    ];
    let changes = prop_oneof![1 => Just(Vec::new()), 1 => vec(change(), 1..4)];
    (target, prop::bool::weighted(0.3), any::<bool>(), next_events, changes).prop_map(
        |(target, postpones, replies, next_events, changes)| Reaction {
            target,
            postpones,
            replies,
            next_events,
            changes,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let act = || {
        prop_oneof![
            2 => content().prop_map(Act::Call),
            3 => content().prop_map(Act::Cast),
            1 => content().prop_map(Act::Info),
            2 => (0..3_u8).prop_map(Act::Wait),
        ]
    };
    prop_oneof![3 => act().prop_map(Step::Do), 1 => vec(act(), 1..6).prop_map(Step::Held)]
}

fn program() -> impl Strategy<Value = Program> {
    let rows = usize::from(STATES * CLASSES * CONTENTS);
    let entries = vec(vec(change(), 0..3), usize::from(STATES));
    let first = prop::option::of(content());
    (any::<bool>(), first, vec(reaction(), rows), entries, vec(step(), 1..12)).prop_map(
        |(enters, first, reactions, entries, steps)| Program {
            enters,
            first,
            reactions,
            entries,
            steps,
        },
    )
}

// G6: postponed, queued and internal events, entries of states, timeouts; the order of all of them
#[test]
fn state_machine_matches_otp() {
    let mut runner = TestRunner::deterministic();
    let mut draw = || program().new_tree(&mut runner).expect("nothing is rejected").current();
    let programs: Vec<Program> = (0..PROGRAMS).map(|_| draw()).collect();
    let Some(otp) = escript::play(SCRIPT, &programs) else { return };
    let compared = programs.iter().zip(&otp).filter(|(_, otp)| !EXCLUDED.contains(&otp.as_str()));
    let compared: Vec<_> = compared.collect();
    let differ = compared.iter().filter(|(program, otp)| play(program) != **otp);
    if let Some((program, otp)) = differ.min_by_key(|(_, otp)| otp.len()) {
        panic!("{program}\n   otp: {otp}\npurlin: {}", play(program));
    }
    assert!(compared.len() > PROGRAMS / 2, "{} of {PROGRAMS} are compared", compared.len());
}
