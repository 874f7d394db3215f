//! Programs on purlin, judged by the model; the BEAM takes part in `make differential`.

use purlin_differential::compare::{Legal, Verdict};
use purlin_differential::generate::generate;
use purlin_differential::model::Runtime;
use purlin_differential::native::Native;

// M2, R1, L2, L5, D1, D4, N1, C1: whatever the order of turns, nothing is seen that the clauses forbid
#[test]
fn some_hundred_programs_come_to_what_the_clauses_allow() {
    let mut native = Native::start(2).expect("a node starts");
    let programs: Vec<_> = (0..300).map(|seed| (generate(seed), seed as u32)).collect();
    for (seed, ((program, _), seen)) in programs.iter().zip(native.run(&programs)).enumerate() {
        let verdict = Legal::of(program, Runtime::Purlin).judge(&seen);
        assert_ne!(verdict, Verdict::Refused, "program {seed}:\n{program}{seen}");
    }
}
