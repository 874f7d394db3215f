//! Properties that hold in every scenario.

use std::collections::HashMap;

use proptest::prelude::*;

use super::otp::scenario;
use super::scenario::{Event, Kind, Scenario, play};
use crate::supervisor::strategy::Strategy as Reach;
use crate::supervisor::{AutoShutdown, Restart};

proptest! {
    // G2: every child that was started ends or is stopped before its supervisor has ended
    #[test]
    fn every_started_child_has_ended_before_its_supervisor(scenario in scenario()) {
        let trace = play(&scenario);
        let mut running: HashMap<&str, i32> = HashMap::new();
        for seen in trace.split(' ') {
            match seen.split_once(':') {
                Some(("start", number)) => *running.entry(number).or_default() += 1,
                Some(("crash" | "stop", number)) => *running.entry(number).or_default() -= 1,
                _ => {}
            }
        }
        prop_assert!(running.values().all(|count| *count == 0), "{scenario}: {trace}");
    }

    // G2: temporary
    #[test]
    fn temporary_child_is_started_again_only_on_request(scenario in scenario()) {
        let asks = |event: &Event| matches!(event, Event::Start(..) | Event::Restart(..));
        let temporary = |kind: &Kind| kind.restart == Restart::Temporary;
        let events = scenario.events.iter().copied().filter(|event| !asks(event)).collect();
        let scenario = Scenario { events, ..scenario };
        let trace = play(&scenario);
        for (number, _) in (1..).zip(&scenario.children).filter(|(_, kind)| temporary(kind)) {
            let start = format!("start:{number}");
            let starts = trace.split(' ').filter(|seen| *seen == start).count();
            prop_assert!(starts <= 1, "{number} in {scenario}: {trace}");
        }
    }
}

// G2: children of a dynamic supervisor
#[test]
fn child_without_id_is_removed_when_its_start_returns_ignore() {
    let permanent = Kind { restart: Restart::Permanent, significant: false };
    let scenario = Scenario {
        strategy: Reach::SimpleOneForOne,
        intensity: 5,
        period: 5,
        auto_shutdown: AutoShutdown::Never,
        children: vec![permanent],
        fails: None,
        events: vec![
            Event::Ignore(1),
            Event::Start(1, permanent),
            Event::Start(2, permanent),
            Event::Ignore(2),
            Event::Crash(2, super::scenario::Reason::Oops),
        ],
    };
    let expected = "ignore:1 ok:undefined start:2 ok crash:2 ignore:2 specs:1 active:0 all:0";
    assert_eq!(play(&scenario), expected);
}
