//! The attribute macros: `#[purlin::test]` and `#[purlin::main]`.

use std::process::Command;

use purlin::{ExitReason, Node, Process, spawn};

// P1: a test without arguments
#[purlin::test]
async fn a_test_may_have_no_argument() {
    let node = Node::current().expect("it runs in a process");
    assert_eq!(node.workers(), 2);
    assert_eq!(spawn(async |_: Process<()>| {}).ended().await, ExitReason::Normal);
}

// P1: a test with its process handle
#[purlin::test(workers = 1, name = "a-test")]
async fn a_test_may_take_its_process_handle(mut me: Process<u8>) {
    me.pid().send(1);
    assert_eq!(me.receive().await, 1);
    let node = Node::current().expect("it runs in a process");
    assert_eq!((node.workers(), node.name()), (1, "a-test"));
}

// P2: a test that uses `?`
#[purlin::test]
async fn a_test_may_return_a_result(_me: Process<()>) -> Result<(), std::num::ParseIntError> {
    let n: i32 = "7".parse()?;
    assert_eq!(n, 7);
    Ok(())
}

// P2: a panic fails the test with its message
#[purlin::test]
#[should_panic(expected = "on purpose")]
async fn a_test_that_panics_fails() {
    tokio::task::yield_now().await;
    panic!("on purpose");
}

#[purlin::main(workers = 1, name = "x")]
async fn program() -> Result<(String, usize), String> {
    let node = Node::current().ok_or("not in a process")?;
    Ok((node.name().to_string(), node.workers()))
}

#[purlin::main]
async fn program_with_a_handle(mut me: Process<u32>) -> u32 {
    let pid = me.pid();
    spawn(async move |_: Process<()>| pid.send(40));
    me.receive().await + 2
}

// P1, E1: `main` returns the result of its function, after its node has stopped
#[test]
fn main_runs_a_node_for_one_process_and_returns_its_result() {
    assert_eq!(program(), Ok(("x".to_string(), 1)));
    assert_eq!(program_with_a_handle(), 42);
    assert!(Node::current().is_none());
}

/// Environment variable that selects how `ends_early` ends.
const END: &str = "PURLIN_TEST_MAIN_ENDS";

#[purlin::main(workers = 1)]
async fn ends_early(me: Process<()>) -> u8 {
    let node = Node::current().expect("it runs in a process");
    match std::env::var(END).expect("it is set").as_str() {
        "normal" => purlin::exit(ExitReason::Normal),
        "shutdown" => purlin::exit(ExitReason::Shutdown),
        "shutdown with" => purlin::exit(ExitReason::shutdown_with("upgrade")),
        "stop" => drop(node.stop().await),
        "error" => purlin::exit(ExitReason::error("no disk")),
        "panic" => panic!("on purpose"),
        "link" => {
            let gives_up = async |_: Process<()>| purlin::exit(ExitReason::Shutdown);
            me.spawn_link(gives_up);
            std::future::pending::<()>().await;
        }
        "kill" => {
            me.pid().exit(ExitReason::Kill);
            std::future::pending::<()>().await;
        }
        other => panic!("{other}"),
    }
    unreachable!("the process has ended")
}

const STATUS: &str = "macros::main_that_ends_early_has_a_status_for_its_exit_reason";

// P2, E1
#[test]
fn main_that_ends_early_has_a_status_for_its_exit_reason() {
    if std::env::var_os(END).is_some() {
        ends_early();
        return;
    }
    for (end, status, line) in [
        ("normal", 0, None),
        ("shutdown", 0, None),
        ("shutdown with", 0, None),
        ("stop", 0, None),
        ("error", 101, Some("no disk")),
        ("panic", 101, Some("on purpose")),
        ("link", 101, Some("shutdown")),
        ("kill", 101, Some("killed")),
    ] {
        let program = std::env::current_exe().expect("a test knows its own program");
        let mut command = Command::new(program);
        command.args([STATUS, "--exact", "--nocapture"]).env(END, end);
        let output = command.output().expect("it runs again");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{end}: {text}");
        let last =
            text.lines().find_map(|text| text.strip_prefix("purlin: the main process ended: "));
        match (last, line) {
            (Some(last), Some(line)) => assert!(last.contains(line), "{end}: {text}"),
            (last, line) => assert_eq!(last, line, "{end}: {text}"),
        }
    }
}

/// A name that a user's function is likely to have.
fn process() -> u32 {
    7
}

#[purlin::test]
async fn macros_do_not_shadow_user_functions() {
    assert_eq!(process(), 7);
}

/// Message type with signal conversions, and a type parameter.
#[derive(Debug, PartialEq, purlin::Message)]
enum Mail<T> {
    Work(T),
    #[from]
    Reason(ExitReason),
    #[from]
    Many {
        of: Vec<T>,
    },
}

// a mailbox declares how a signal becomes a message
#[test]
fn a_variant_marked_from_is_created_from_its_field() {
    assert_eq!(Mail::<u8>::from(ExitReason::Normal), Mail::Reason(ExitReason::Normal));
    assert_eq!(Mail::from(vec![1, 2]), Mail::Many { of: vec![1, 2] });
    assert_ne!(Mail::Work(1), vec![1].into());
}
