//! Programs on purlin, judged by the model; the BEAM takes part in `make differential`.

use purlin_differential::compare::{Legal, Verdict};
use purlin_differential::generate::generate;
use purlin_differential::model::Runtime;
use purlin_differential::native::{Native, simulate, simulate_tree};
use purlin_differential::tree;

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

// M2, R1, L2, L5, D1, D4, N1, C1: the same on a simulated node, whose every choice the seed repeats
#[test]
fn a_seed_repeats_what_is_seen_and_that_is_allowed() {
    for seed in 300..500 {
        let program = generate(seed);
        let seen = simulate(&program, seed as u32);
        assert_eq!(seen, simulate(&program, seed as u32), "program {seed}:\n{program}");
        let verdict = Legal::of(&program, Runtime::Purlin).judge(&seen);
        assert_ne!(verdict, Verdict::Refused, "program {seed}:\n{program}{seen}");
    }
}

// G2: what is started and stopped, in which order, and when a supervisor gives up
#[test]
fn some_hundred_trees_do_what_the_rules_of_otp_say() {
    for seed in 0..300 {
        let tree = tree::generate::generate(seed);
        let (seen, must) = (simulate_tree(&tree, seed as u32), tree::model::events(&tree));
        assert_eq!(seen, must, "tree {seed}:\n{tree}{}\n{}", tree::text(&seen), tree::text(&must));
    }
}
