//! Runs the example `cost` with few processes for one second.
//!
//! `cargo test -p purlin-observer` builds it; before `--test it` alone, run `cargo build -p
//! purlin-observer --examples`.

use std::process::{Command, Output};

fn cost(arguments: &[&str]) -> Output {
    // This test is target/PROFILE/deps/it-HASH; the example is in target/PROFILE/examples.
    let test = std::env::current_exe().expect("a test knows its own program");
    let profile = test.ancestors().nth(2).expect("a test is two folders below");
    let program = profile.join("examples").join(format!("cost{}", std::env::consts::EXE_SUFFIX));
    let output = Command::new(&program).args(arguments).output();
    output.unwrap_or_else(|error| panic!("{}: {error}", program.display()))
}

#[test]
fn cost_prints_each_round_and_the_medians() {
    let output = cost(&["100", "1", "2"]);
    let (stdout, errors) = (String::from_utf8_lossy(&output.stdout), output.stderr);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&errors));
    let begins: Vec<_> = stdout.lines().filter_map(|line| line.split_once(':')).collect();
    assert_eq!(begins.len(), 3, "{stdout}");
    assert_eq!([begins[0].0, begins[1].0], ["round 1", "medians"]);
    assert!(begins[2].0.ends_with(" pages"), "{stdout}");
}

#[test]
fn cost_rejects_an_invalid_argument_in_one_line() {
    for arguments in [&["0"][..], &["many"], &["1", "1", "1", "1"]] {
        let output = cost(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), errors.lines().count()), (Some(2), 1), "{errors}");
    }
}
