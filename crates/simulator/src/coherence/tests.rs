//! Tests of the coherence model.

use super::{Access, Lines, MAX_CORES, Outcome, Transfers};
use crate::costs::{Costs, Time, Topology, time};

const COSTS: Costs = Costs {
    rmw: 2.0,
    request: 50.0,
    transfer: 20.0,
    far_request: 100.0,
    far_transfer: 40.0,
    ..Costs::TWO_SOCKETS
};
const RMW: Time = 2_000;
const NEAR: Time = 70_000;
const FAR: Time = 140_000;
const WORD: usize = 0x1000;
const LATER: Time = 1_000_000;

fn lines() -> Lines {
    Lines::new(Topology { sockets: 2, cores_per_socket: 4 }, COSTS)
}

/// Performs an access whose line is not contended, and returns the time until it arrives.
fn access(lines: &mut Lines, core: usize, kind: Access, now: Time) -> Time {
    match lines.request(core, WORD, kind, now) {
        Outcome::Hit => 0,
        Outcome::Buffered(at) => at - now,
        Outcome::Arrives(at) => {
            lines.commit(core, WORD, kind);
            at - now
        }
    }
}

#[test]
fn an_owned_line_is_a_hit() {
    let mut lines = lines();
    assert_eq!(access(&mut lines, 0, Access::Rmw, LATER), time(COSTS.memory));
    for kind in [Access::Rmw, Access::Load, Access::Store, Access::Buffered] {
        assert_eq!(lines.request(0, WORD + 63, kind, 2 * LATER), Outcome::Hit);
    }
    assert_eq!(lines.transfers, Transfers { memory: 1, ..Transfers::default() });
}

#[test]
fn a_line_modified_elsewhere_costs_a_transfer_by_distance() {
    let mut lines = lines();
    access(&mut lines, 0, Access::Rmw, 0);
    assert_eq!(access(&mut lines, 3, Access::Rmw, LATER), NEAR);
    assert_eq!(access(&mut lines, 4, Access::Load, 2 * LATER), FAR);
    assert_eq!(access(&mut lines, 4, Access::Rmw, 3 * LATER), 0, "the load has moved the line");
    assert_eq!(lines.transfers, Transfers { memory: 1, near: 1, far: 1 });
}

#[test]
fn the_holder_keeps_the_line_until_the_request_has_arrived() {
    let mut lines = lines();
    access(&mut lines, 0, Access::Rmw, 0);
    assert_eq!(lines.request(1, WORD, Access::Rmw, LATER), Outcome::Arrives(LATER + NEAR));
    assert_eq!(lines.request(0, WORD, Access::Rmw, LATER + 49_000), Outcome::Hit);
    // It asks for the line again, and gets it after core 1 has used it.
    let again = lines.request(0, WORD, Access::Rmw, LATER + 50_000);
    assert_eq!(again, Outcome::Arrives(LATER + 50_000 + NEAR));
}

#[test]
fn requests_that_wait_are_served_once_per_transfer() {
    let mut lines = lines();
    access(&mut lines, 0, Access::Rmw, 0);
    let ends: Vec<_> = (1..4).map(|core| lines.request(core, WORD, Access::Rmw, LATER)).collect();
    let handover = time(COSTS.transfer) + RMW;
    assert_eq!(ends, [0, 1, 2].map(|turn| Outcome::Arrives(LATER + NEAR + turn * handover)));
    let other = lines.request(1, WORD + 64, Access::Rmw, LATER);
    assert_eq!(other, Outcome::Arrives(LATER + time(COSTS.memory)), "another line is free");
}

#[test]
fn copies_of_a_shared_line_are_read_concurrently_and_a_write_takes_them_back() {
    let mut lines = lines();
    access(&mut lines, 0, Access::Load, 0);
    access(&mut lines, 1, Access::Load, LATER);
    for core in [2, 3] {
        assert_eq!(
            lines.request(core, WORD, Access::Load, 2 * LATER),
            Outcome::Arrives(2 * LATER + NEAR)
        );
    }
    [2, 3].into_iter().for_each(|core| lines.commit(core, WORD, Access::Load));
    for core in 0..4 {
        assert_eq!(lines.request(core, WORD, Access::Load, 3 * LATER), Outcome::Hit);
    }
    assert_eq!(access(&mut lines, 0, Access::Rmw, 4 * LATER), NEAR);
    assert_eq!(access(&mut lines, 1, Access::Load, 5 * LATER), NEAR);
}

#[test]
fn a_buffered_store_does_not_wait_and_later_requests_do() {
    let mut lines = lines();
    access(&mut lines, 0, Access::Rmw, 0);
    assert_eq!(lines.request(4, WORD, Access::Buffered, LATER), Outcome::Buffered(LATER + FAR));
    assert_eq!(lines.request(4, WORD, Access::Load, LATER), Outcome::Hit, "forwarded");
    let Outcome::Arrives(at) = lines.request(5, WORD, Access::Rmw, LATER) else {
        panic!("another core owns the line");
    };
    assert_eq!(at, LATER + FAR + RMW + time(COSTS.transfer));
}

#[test]
#[should_panic(expected = "at most 128 cores")]
fn more_cores_than_the_set_of_holders_has_bits_are_refused() {
    Lines::new(Topology { sockets: 1, cores_per_socket: MAX_CORES + 1 }, COSTS);
}
