//! Measurements with the real clock: properties that hold on any machine.
//!
//! WHY real time: it is what is tested. The tests assert only lower bounds of durations, and
//! numbers of calls that follow from them.

use std::time::{Duration, Instant};

use purlin_timing::{Calls, Failed, Limit, Summary, Times, time_it, try_time_it};

/// Computes until this time has passed on the clock.
fn compute(time: Duration) {
    // WHY real time: it is what the function under test measures; only lower bounds are asserted.
    let began = Instant::now();
    while began.elapsed() < time {
        std::hint::spin_loop();
    }
}

#[test]
fn a_function_is_called_for_the_time_given() {
    // WHY real time: it is what the function under test measures; only lower bounds are asserted.
    let began = Instant::now();
    let summary: Summary =
        time_it(Duration::from_millis(20), || compute(Duration::from_micros(500)));
    assert!(began.elapsed() >= Duration::from_millis(20));
    assert!((1..=40).contains(&summary.calls()), "{summary}");
    assert!(summary.shortest() >= Duration::from_micros(500), "{summary}");
    assert!(summary.mean_ns().unwrap() >= 500_000.0);
}

#[test]
fn each_call_is_measured_separately_and_in_order() {
    let mut turn = 0;
    let calls: Calls<u64> = time_it(6, || {
        turn += 1;
        compute(Duration::from_micros(if turn % 2 == 0 { 2000 } else { 10 }));
        turn
    });
    assert_eq!(calls.values, [1, 2, 3, 4, 5, 6]);
    for even in calls.times.as_slice().iter().skip(1).step_by(2) {
        assert!(*even >= Duration::from_micros(2000));
    }
}

#[test]
fn the_first_limit_reached_ends_the_measurement() {
    let by_count: Times = time_it((Duration::from_secs(600), 5), || ());
    assert_eq!(by_count.as_slice().len(), 5);
    let millisecond = Duration::from_millis(1);
    let by_time: Summary = time_it((millisecond, u64::MAX), || compute(millisecond));
    assert_eq!(by_time.calls(), 1);
    assert_eq!(Limit::default().time(), Some(Duration::from_secs(1)));
}

#[test]
fn a_failure_ends_the_measurement_and_keeps_the_earlier_calls() {
    let mut calls = 0;
    let Failed { error, collected } = try_time_it::<Calls<i32>, _, _>(Limit::default(), || {
        calls += 1;
        if calls == 4 { Err("the fourth") } else { Ok(calls) }
    })
    .unwrap_err();
    assert_eq!((error, calls), ("the fourth", 4));
    assert_eq!(collected.values, [1, 2, 3]);
    assert_eq!(collected.times.as_slice().len(), 3);
}
