//! Runs the examples as a user would, and compares their output with their header comments.
//!
//! `cargo test -p purlin` builds the examples; with `--test it` alone, build them first with
//! `cargo build -p purlin --examples`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Output};

const EXAMPLES: [&str; 6] = ["hello", "adder", "accumulator", "tracing", "timeout", "triangle"];

fn run(example: &str, arguments: &[&str]) -> Output {
    // This test binary is target/PROFILE/deps/it-HASH; the examples are in target/PROFILE/examples.
    let test = std::env::current_exe().expect("a test knows its own program");
    let profile = test.ancestors().nth(2).expect("a test is two folders below");
    let file = format!("{example}{}", std::env::consts::EXE_SUFFIX);
    let program = profile.join("examples").join(file);
    let output = Command::new(&program).args(arguments).output();
    output.unwrap_or_else(|error| {
        let program = program.display();
        panic!("{program}: {error}; `cargo build -p purlin --examples` builds it")
    })
}

/// Returns an example's output; asserts status 0 and empty standard error.
fn printed(example: &str, arguments: &[&str]) -> String {
    let output = run(example, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{example}: {}: {errors}", output.status);
    assert_eq!(errors, "", "{example} complains");
    String::from_utf8(output.stdout).expect("an example prints UTF-8")
}

/// Returns the module documentation of an example.
fn header(example: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let source = root.join("examples").join(format!("{example}.rs"));
    let source = std::fs::read_to_string(source).expect("the example's source is there");
    let doc = source.lines().map_while(|line| line.strip_prefix("//!"));
    doc.fold(String::new(), |text, line| text + line.trim_start_matches(' ') + "\n")
}

/// Returns the last text block of an example's header: the expected output.
fn promised(example: &str) -> String {
    let header = header(example);
    let (_, block) = header.rsplit_once("```text\n").expect("the header shows the output");
    let (output, _) = block.split_once("```").expect("the block ends");
    output.into()
}

/// Returns the text with every pid (`<0.1.0>`) replaced by `<pid>`, and the pids in order.
fn masked(text: &str) -> (String, Vec<&str>) {
    let mut pieces = text.split("<0.");
    let mut masked = String::from(pieces.next().unwrap_or_default());
    let mut pids = Vec::new();
    for piece in pieces {
        let (pid, rest) = piece.split_once('>').expect("a pid is closed");
        let numbers: Vec<_> = pid.split('.').map(str::parse::<u32>).collect();
        assert!(matches!(numbers[..], [Ok(_), Ok(_)]), "<0.{pid}> is no pid");
        pids.push(pid);
        masked = masked + "<pid>" + rest;
    }
    (masked, pids)
}

/// Returns the rounds won by A, the rounds won by C, and the total, from the output of `triangle`.
fn rounds(output: &str) -> [u32; 3] {
    let lines: Vec<_> = output.lines().collect();
    let [a, c] = lines[..] else { panic!("not two lines: {output}") };
    let count = |line: &str, way: &str| {
        let rest = line.strip_prefix(way)?.strip_prefix(" came first in ")?;
        let (won, all) = rest.strip_suffix(" rounds")?.split_once(" of ")?;
        Some((won.parse().ok()?, all.parse().ok()?))
    };
    match (count(a, "A→B"), count(c, "A→C→B")) {
        (Some((a, all)), Some((c, same))) if all == same => [a, c, all],
        _ => panic!("not the counts of both ways: {output}"),
    }
}

#[test]
fn every_header_contains_the_command_that_runs_its_example() {
    for example in EXAMPLES {
        let command = format!("`cargo run --example {example}`");
        assert!(header(example).contains(&command), "{example}");
    }
}

#[test]
fn deterministic_examples_print_the_output_in_their_header() {
    for example in ["adder", "accumulator", "timeout"] {
        assert_eq!(printed(example, &[]), promised(example), "{example}");
    }
}

#[test]
fn the_adder_adds_its_arguments() {
    assert_eq!(printed("adder", &["40", "2"]), "40 + 2 = 42\n");
    assert_eq!(printed("adder", &["-7", "7"]), "-7 + 7 = 0\n");
    let largest = i64::MAX.to_string();
    let sum = format!("{largest} + {largest} = 18446744073709551614\n");
    assert_eq!(printed("adder", &[&largest, &largest]), sum);
}

#[test]
fn hello_lists_the_pid_of_each_greeter_once() {
    let output = printed("hello", &[]);
    assert_eq!(masked(&output).0, masked(&promised("hello")).0);
    for (arguments, number) in [(&[][..], 5), (&["1"], 1), (&["300"], 300)] {
        let output = printed("hello", arguments);
        let (_, pids) = masked(&output);
        let (greeters, listed) = pids.split_at(number);
        let greeters: BTreeSet<_> = greeters.iter().collect();
        assert_eq!(greeters.len(), number, "each greeter is another: {output}");
        assert_eq!(listed.len(), number, "each is listed once: {output}");
        assert_eq!(greeters, listed.iter().collect(), "who spoke is listed: {output}");
    }
}

#[test]
fn the_trace_shows_the_start_and_every_receive_of_one_process() {
    let output = printed("tracing", &[]);
    let (text, pids) = masked(&output);
    assert_eq!(text, masked(&promised("tracing")).0);
    assert!(pids.iter().all(|pid| *pid == pids[0]), "one process, one pid: {output}");
}

// M3: there is no order between different senders, so either count may have any value
#[test]
fn every_round_of_the_triangle_is_won_by_one_of_the_two_paths() {
    for (arguments, number) in [(&[][..], 10_000), (&["1"], 1), (&["777"], 777)] {
        let [a, c, all] = rounds(&printed("triangle", arguments));
        assert_eq!((a + c, all), (number, number));
    }
    let [a, c, all] = rounds(&promised("triangle"));
    assert_eq!((a + c, all), (10_000, 10_000), "the header's own figures add up");
}

#[test]
fn invalid_arguments_give_one_line_of_error_and_status_2() {
    let refused: [(&str, &[&str]); 10] = [
        ("hello", &["five"]),
        ("hello", &["0"]),
        ("hello", &["10001"]),
        ("hello", &["3", "4"]),
        ("adder", &["two", "3"]),
        ("adder", &["2", "3.5"]),
        ("adder", &["2"]),
        ("adder", &["2", "9223372036854775808"]),
        ("triangle", &["often\nor not"]),
        ("triangle", &["-1"]),
    ];
    for (example, arguments) in refused {
        let output = run(example, arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{example} {arguments:?}: {errors}");
        assert_eq!(output.stdout, b"", "{example} {arguments:?}");
        assert_eq!(errors.lines().count(), 1, "{example} {arguments:?}: {errors}");
        let given = format!("{example}: {arguments:?} ");
        assert!(errors.starts_with(&given), "the line says what was given: {errors}");
        assert!(errors.contains("give "), "and what to do: {errors}");
    }
}
