//! Tests of load balancing with ticks that do a given amount of work.

use super::*;

const IDLE: TickStats =
    TickStats { work: 0, working: 0, computing: false, could_spread: false, global_queue: false };

/// Simulates `count` ticks with more to do than one worker can, where each placement does the
/// given work. Returns the number of ticks for which work was spread.
fn ticks(it: &mut Balancer, count: usize, together: u64, spread: u64) -> usize {
    let mut placement = if it.spread { Placement::Spread } else { Placement::Together };
    let mut spread_out = 0;
    for _ in 0..count {
        let out = placement == Placement::Spread;
        spread_out += usize::from(out);
        let work = if out { spread } else { together };
        placement =
            it.tick(TickStats { work, working: 1 + usize::from(out), could_spread: !out, ..IDLE });
    }
    spread_out
}

const TRIAL: usize = WARM_UP as usize + WINDOW;
const FIRST: usize = FIRST_PAUSE as usize;
const PAUSE: usize = *PAUSES.start() as usize;

#[test]
fn work_is_spread_if_a_trial_gets_a_quarter_more_done() {
    let mut it = Balancer::new();
    assert_eq!(ticks(&mut it, FIRST, 100, 126), 0);
    assert_eq!(ticks(&mut it, PAUSE, 100, 126), PAUSE);
    let mut it = Balancer::new();
    assert_eq!(ticks(&mut it, 2 * FIRST, 100, 125), TRIAL, "a trial, and no more");
}

#[test]
fn a_change_of_the_load_changes_the_placement() {
    let mut it = Balancer::new();
    ticks(&mut it, 10 * PAUSE, 100, 200);
    assert!(it.spread);
    ticks(&mut it, 30 * PAUSE, 100, 60);
    assert!(!it.spread);
    ticks(&mut it, 30 * PAUSE, 100, 200);
    assert!(it.spread);
}

#[test]
fn work_spread_by_other_causes_is_tried_on_one_worker() {
    let mut it = Balancer::new();
    let stats = TickStats { work: 100, working: 2, ..IDLE };
    let placements: Vec<_> = (0..FIRST + 2).map(|_| it.tick(stats)).collect();
    assert_eq!(placements[WINDOW - 1], Placement::Spread);
    assert_eq!(placements[FIRST], Placement::Gather);
}

#[test]
fn work_that_other_causes_spread_without_gain_is_gathered_once() {
    for (work, placement) in [(125, Placement::Gather), (126, Placement::Spread)] {
        let mut it = Balancer::new();
        let mut tick = |work, working| {
            it.tick(TickStats { work, working, could_spread: working == 1, ..IDLE })
        };
        for _ in 0..2 * WINDOW {
            assert_eq!(tick(100, 1), Placement::Together);
        }
        let placements: Vec<_> = (0..WINDOW).map(|_| tick(work, 2)).collect();
        assert_eq!(placements[..WINDOW - 1], [Placement::Together; WINDOW - 1]);
        assert_eq!(placements[WINDOW - 1], placement);
        let placements: Vec<_> = (0..WINDOW).map(|_| tick(work, 2)).collect();
        assert_eq!(placements[WINDOW - 1], Placement::Spread, "it is spread again at once");
    }
}

#[test]
fn a_trial_that_gets_less_than_half_done_is_given_up() {
    for (spread, duration) in [(49, EARLY_CHECK as usize), (50, TRIAL)] {
        let mut it = Balancer::new();
        assert_eq!(ticks(&mut it, 2 * FIRST, 100, spread), duration);
    }
}

#[test]
fn failing_trials_become_rare() {
    let mut it = Balancer::new();
    let first = ticks(&mut it, 100 * PAUSE, 100, 60);
    let later = ticks(&mut it, 100 * PAUSE, 100, 60);
    assert!((4..10).contains(&(first / TRIAL)) && later <= 5 * TRIAL, "{first}, {later}");
}

#[test]
fn a_trial_that_runs_out_of_work_is_repeated() {
    let mut it = Balancer::new();
    ticks(&mut it, FIRST, 100, 200);
    assert!(it.spread && it.trial.is_some());
    assert_eq!(it.tick(IDLE), Placement::Gather);
    assert_eq!(ticks(&mut it, TRIAL, 100, 200), 0, "it is tried again as soon as it can be");
    assert_eq!(ticks(&mut it, TRIAL, 100, 200), TRIAL);
}

#[test]
fn spread_work_is_gathered_when_the_placement_changes_back() {
    let mut it = Balancer::new();
    ticks(&mut it, FIRST, 100, 60);
    let stats = TickStats { work: 60, working: 2, ..IDLE };
    let placements: Vec<_> = (0..TRIAL + 3).map(|_| it.tick(stats)).collect();
    assert_eq!(placements[..TRIAL - 1], [Placement::Spread; TRIAL - 1]);
    assert_eq!(
        placements[TRIAL - 1..],
        [Placement::Gather, Placement::Gather, Placement::Together, Placement::Together]
    );
}

#[test]
fn work_is_gathered_until_the_global_queue_is_empty_but_not_for_ever() {
    for (filled, gathered) in [(0, 2), (4, 4), (100, 6)] {
        let mut it = Balancer::new();
        it.gather = GATHER + GATHER_ON;
        let gathers = |tick| {
            let stats = TickStats { global_queue: tick < filled, ..IDLE };
            it.tick(stats) == Placement::Gather
        };
        assert_eq!((0..20).map(gathers).filter(|gathers| *gathers).count(), gathered);
    }
}

#[test]
fn an_overload_is_tolerated_after_a_failed_trial_until_the_load_ends() {
    let mut it = Balancer::new();
    ticks(&mut it, FIRST, 100, 60);
    assert!(!it.tolerates_overload(), "a trial is under way");
    ticks(&mut it, TRIAL, 100, 60);
    assert!(it.tolerates_overload());
    it.tick(IDLE);
    assert!(!it.tolerates_overload());
}

#[test]
fn an_overload_is_tolerated_while_spread_work_is_tried_on_one_worker() {
    let mut it = Balancer::new();
    ticks(&mut it, FIRST + TRIAL, 100, 200);
    assert!(it.spread && !it.tolerates_overload());
    ticks(&mut it, PAUSE, 100, 200);
    assert!(it.trial.is_some() && !it.spread && it.tolerates_overload());
}

#[test]
fn work_that_is_spread_again_after_a_trial_is_compared_with_its_result() {
    let mut it = Balancer::new();
    let mut tick =
        |work, working| it.tick(TickStats { work, working, could_spread: working == 1, ..IDLE });
    // Spread by another cause, until one worker is tried and gets as much done.
    while tick(100, 2) != Placement::Gather {}
    let placements: Vec<_> = (0..TRIAL).map(|_| tick(100, 1)).collect();
    assert!(!placements.contains(&Placement::Spread));
    let placements: Vec<_> = (0..WINDOW).map(|_| tick(100, 2)).collect();
    assert_eq!(placements[WINDOW - 1], Placement::Gather);
}

#[test]
fn an_overload_is_not_tolerated_after_a_trial_that_has_succeeded() {
    let mut it = Balancer::new();
    ticks(&mut it, FIRST + TRIAL, 100, 60);
    assert!(it.tolerates_overload());
    ticks(&mut it, 10 * PAUSE, 100, 200);
    assert!(it.spread && !it.tolerates_overload());
}

#[test]
fn an_overload_is_tolerated_after_work_was_spread_without_gain() {
    for (work, tolerated) in [(125, true), (126, false)] {
        let mut it = Balancer::new();
        let mut tick =
            |work, working| it.tick(TickStats { work, working, could_spread: true, ..IDLE });
        (0..WINDOW).for_each(|_| _ = tick(100, 1));
        (0..WINDOW).for_each(|_| _ = tick(work, 2));
        assert_eq!(it.tolerates_overload(), tolerated);
    }
}

// Workers that wait for each other may all sleep when sysmon takes its sample
#[test]
fn a_trial_continues_although_no_worker_is_busy_at_the_moment() {
    for (work, continues) in [(2, true), (1, false)] {
        let mut it = Balancer::new();
        ticks(&mut it, FIRST, 100, 200);
        assert!(it.spread && it.trial == Some(400));
        it.tick(TickStats { work, ..IDLE });
        assert_eq!(it.trial.is_some(), continues, "{work} units");
    }
}

#[test]
fn processes_that_turn_out_to_compute_in_a_trial_stay_spread_unless_less_gets_done() {
    for (work, stays) in [(100, true), (99, false)] {
        let mut it = Balancer::new();
        ticks(&mut it, FIRST, 100, 60);
        assert!(it.spread && it.trial == Some(400));
        let mut tick = |computing| it.tick(TickStats { work, computing, ..IDLE });
        let placements: Vec<_> = (0..TRIAL).map(|n| tick(n == 2)).collect();
        let next = if stays { Placement::Together } else { Placement::Gather };
        assert_eq!(placements[TRIAL - 2..], [Placement::Spread, next]);
        assert_eq!((it.tolerates_overload(), it.pause == FIRST_PAUSE), (!stays, stays));
    }
}

#[test]
fn the_result_of_a_trial_is_reported_once() {
    for (spread, result) in [
        (49, Some(TrialResult::Loss)),
        (99, Some(TrialResult::Loss)),
        (100, None),
        (125, None),
        (126, Some(TrialResult::Gain)),
    ] {
        let mut it = Balancer::new();
        ticks(&mut it, FIRST + TRIAL + 1, 100, spread);
        assert_eq!([it.take_result(), it.take_result()], [result, None], "{spread}");
    }
}
