//! Comparison of the supervisor rules with OTP's own supervisor: the same scenarios, step by step,
//! on the same clock.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use super::scenario::{Event, Kind, Number, Reason, Scenario, play};
use crate::escript;
use crate::supervisor::strategy::Strategy as Reach;
use crate::supervisor::{AutoShutdown, Restart};

/// Number of scenarios a test compares; the scenarios are the same in every run.
const SCENARIOS: usize = 500;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/supervisor/tests/otp.escript");

/// Asserts that purlin's rules match OTP's; shows the shortest scenario in which they differ.
fn compare(scenarios: &[Scenario]) {
    let Some(otp) = escript::play(SCRIPT, scenarios) else { return };
    let differ = scenarios.iter().zip(&otp).filter(|(scenario, otp)| play(scenario) != **otp);
    if let Some((scenario, otp)) = differ.min_by_key(|(scenario, _)| scenario.events.len()) {
        panic!("{scenario}\n   otp: {otp}\npurlin: {}", play(scenario));
    }
}

fn restart() -> impl Strategy<Value = Restart> + Clone {
    prop_oneof![Just(Restart::Permanent), Just(Restart::Transient), Just(Restart::Temporary)]
}

/// Generates the settings of a child that OTP accepts under this automatic shutdown.
fn kind(policy: AutoShutdown) -> impl Strategy<Value = Kind> + Clone {
    (restart(), any::<bool>()).prop_map(move |(restart, significant)| {
        let may = policy != AutoShutdown::Never && restart != Restart::Permanent;
        Kind { restart, significant: significant && may }
    })
}

fn event(policy: AutoShutdown) -> impl Strategy<Value = Event> {
    let number = || 1..=6 as Number;
    let reason = prop_oneof![
        2 => Just(Reason::Oops),
        1 => Just(Reason::Killed),
        1 => Just(Reason::Normal),
        1 => Just(Reason::Shutdown),
    ];
    prop_oneof![
        4 => (0_u64..5).prop_map(Event::Wait),
        8 => (number(), reason).prop_map(|(number, reason)| Event::Crash(number, reason)),
        2 => number().prop_map(Event::Late),
        2 => (number(), 1_u32..4).prop_map(|(number, times)| Event::Fail(number, times)),
        1 => number().prop_map(Event::Ignore),
        4 => Just(Event::Again),
        2 => (number(), kind(policy)).prop_map(|(number, kind)| Event::Start(number, kind)),
        1 => number().prop_map(Event::Terminate),
        1 => number().prop_map(Event::Restart),
        1 => number().prop_map(Event::Delete),
    ]
}

/// WHY: if a restart returns `ignore`, the `simple_one_for_one` supervisor of OTP 25 keeps the
/// child with the process `undefined`, and crashes on it when the supervisor ends.
fn is_sound(strategy: Reach, event: &Event) -> bool {
    strategy != Reach::SimpleOneForOne || !matches!(event, Event::Ignore(_))
}

/// WHY: OTP 27 and later refuse this combination.
fn is_accepted(scenario: &Scenario) -> bool {
    scenario.strategy != Reach::SimpleOneForOne || scenario.auto_shutdown == AutoShutdown::Never
}

pub(super) fn scenario() -> impl Strategy<Value = Scenario> {
    let strategy = prop_oneof![
        Just(Reach::OneForOne),
        Just(Reach::OneForAll),
        Just(Reach::RestForOne),
        Just(Reach::SimpleOneForOne),
    ];
    let policy = prop_oneof![
        Just(AutoShutdown::Never),
        Just(AutoShutdown::AnySignificant),
        Just(AutoShutdown::AllSignificant),
    ];
    (strategy, 0_usize..8, 1_u64..6, policy).prop_flat_map(
        |(strategy, intensity, period, auto_shutdown)| {
            let kinds = prop::collection::vec(kind(auto_shutdown), 1..6);
            let events = prop::collection::vec(event(auto_shutdown), 0..40);
            let fails = prop::option::weighted(0.05, 1..=6 as Number);
            (kinds, fails, events).prop_map(move |(children, fails, events)| Scenario {
                strategy,
                intensity,
                period,
                auto_shutdown,
                children,
                fails,
                events: events.into_iter().filter(|event| is_sound(strategy, event)).collect(),
            })
        },
    )
}

// G2: strategies, restart types, significant children, dynamic children, failed restarts
#[test]
fn supervisor_matches_otp_step_by_step() {
    let mut runner = TestRunner::deterministic();
    let mut draw = || scenario().new_tree(&mut runner).expect("nothing is rejected").current();
    let scenarios = std::iter::repeat_with(&mut draw).filter(is_accepted);
    compare(&scenarios.take(SCENARIOS).collect::<Vec<_>>());
}

// G2: too many restarts within a sliding window
#[test]
fn supervisor_gives_up_at_the_same_crash_as_otp() {
    let mut runner = TestRunner::deterministic();
    let crashes = (0_usize..6, 1_u64..10, prop::collection::vec((0_u64..12, 0_u32..3), 1..60));
    let mut draw = || {
        let tree = crashes.new_tree(&mut runner).expect("nothing is rejected");
        let (intensity, period, crashes) = tree.current();
        let crash = |(wait, fails): (u64, u32)| {
            let again = (0..fails).map(|_| Event::Again);
            [Event::Wait(wait), Event::Fail(1, fails), Event::Crash(1, Reason::Oops)]
                .into_iter()
                .chain(again)
        };
        Scenario {
            strategy: Reach::OneForOne,
            intensity,
            period,
            auto_shutdown: AutoShutdown::Never,
            children: vec![Kind { restart: Restart::Permanent, significant: false }],
            fails: None,
            events: crashes.into_iter().flat_map(crash).collect(),
        }
    };
    compare(&(0..SCENARIOS).map(|_| draw()).collect::<Vec<_>>());
}
