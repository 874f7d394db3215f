//! Seeds of a test run, and the report of a failing seed. The tests run this program again as a
//! child process.

use std::env;
use std::process::{Command, Output};

use purlin_testkit::for_each_seed;

/// Environment variable that marks the child process.
const INNER: &str = "PURLIN_TESTKIT_INNER";

#[test]
fn inner() {
    if env::var_os(INNER).is_some() {
        for_each_seed(10, |seed| {
            println!("seed {seed} runs");
            assert!(seed < 6, "too large");
        });
    }
}

fn run(seed: Option<&str>) -> (bool, String) {
    let mut command = Command::new(env::current_exe().expect("this program has a path"));
    command.args(["--exact", "inner", "--nocapture"]).env(INNER, "yes").env_remove("PURLIN_SEED");
    if let Some(seed) = seed {
        command.env("PURLIN_SEED", seed);
    }
    let Output { status, stdout, stderr } = command.output().expect("this program runs");
    let said = [stdout, stderr].map(|bytes| String::from_utf8(bytes).expect("it is text"));
    (status.success(), said.concat())
}

#[test]
fn seeds_run_from_zero_and_the_failing_one_is_printed() {
    let (succeeded, said) = run(None);
    assert!(!succeeded);
    for seed in 0..=6 {
        assert!(said.contains(&format!("seed {seed} runs")), "{said}");
    }
    assert!(!said.contains("seed 7 runs"), "{said}");
    assert!(said.contains("failed with seed 6; PURLIN_SEED=6 repeats it\n"), "{said}");
}

#[test]
fn the_environment_selects_a_single_seed() {
    let (succeeded, said) = run(Some("3"));
    assert!(succeeded && said.contains("seed 3 runs") && !said.contains("seed 0 runs"), "{said}");
    let (succeeded, said) = run(Some("18446744073709551615"));
    assert!(!succeeded && said.contains("PURLIN_SEED=18446744073709551615 repeats"), "{said}");
}

#[test]
fn an_invalid_seed_is_reported_in_one_line() {
    let (succeeded, said) = run(Some("-1"));
    let line = "PURLIN_SEED is \"-1\", but a seed is a number from 0 to 18446744073709551615\n";
    assert!(!succeeded && said.contains(line), "{said}");
}
