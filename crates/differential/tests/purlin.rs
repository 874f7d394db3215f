//! Programs on purlin, judged by the model; `make differential` also runs them on the BEAM.

use purlin_differential::compare::{Legal, Verdict};
use purlin_differential::generate::generate;
use purlin_differential::language::Program;
use purlin_differential::model::Runtime;
use purlin_differential::native::{Native, simulate, simulate_tree};
use purlin_differential::outcome::Outcome;
use purlin_differential::tree;

// M2, M6, R1, L2, L5, L9, D1, D4, N1, C1: for any scheduling, only allowed outcomes are observed
#[test]
fn random_programs_have_allowed_outcomes() {
    let mut native = Native::start(2).expect("a node starts");
    let program = |seed| (generate(seed, true), seed as u32);
    let programs: Vec<_> = (0..150).map(program).collect();
    let seen = native.run(&programs);
    assert_eq!(seen.len(), programs.len());
    let mut judged = 0;
    for (seed, ((program, _), seen)) in programs.iter().zip(seen).enumerate() {
        judged += u32::from(is_judged(seed as u64, program, &seen));
    }
    assert!(judged > 100, "{judged} of 150 programs have few enough states to be judged");
}

/// Asserts that the clauses allow the outcome; returns `false` if the model has too many states to
/// decide.
fn is_judged(seed: u64, program: &Program, seen: &Outcome) -> bool {
    let verdict = Legal::of(program, Runtime::Purlin).judge(seen);
    assert_ne!(verdict, Verdict::Refused, "program {seed}:\n{program}{seen}");
    verdict != Verdict::Unknown
}

// M2, M6, R1, L2, L5, L9, D1, D4, N1, C1: the same on a simulated node, whose decisions are repeated
// by the seed
#[test]
fn a_seed_repeats_an_allowed_outcome() {
    let mut judged = 0;
    for seed in 150..250 {
        let program = generate(seed, true);
        let seen = simulate(&program, seed as u32);
        assert_eq!(seen, simulate(&program, seed as u32), "program {seed}:\n{program}");
        judged += u32::from(is_judged(seed, &program, &seen));
    }
    assert!(judged > 50, "{judged} of 100 programs have few enough states to be judged");
}

// G2: the order of starts and stops, and the restart limit of a supervisor
#[test]
fn random_trees_follow_the_rules_of_otp() {
    for seed in 0..150 {
        let tree = tree::generate::generate(seed);
        let (seen, must) = (simulate_tree(&tree, seed as u32), tree::model::events(&tree));
        assert_eq!(seen, must, "tree {seed}:\n{tree}{}\n{}", tree::text(&seen), tree::text(&must));
    }
}
