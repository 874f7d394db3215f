//! The attribute macros: `#[purlin::test]` and `#[purlin::main]`.

use purlin::{ExitReason, Node, Process, spawn};

// P1: with nothing
#[purlin::test]
async fn a_test_may_take_nothing() {
    let node = Node::current().expect("it runs in a process");
    assert_eq!(node.workers(), 2);
    assert_eq!(spawn(async |_: Process<()>| {}).ended().await, ExitReason::Normal);
}

// P1: with its own handle
#[purlin::test(workers = 1, name = "a-test")]
async fn a_test_may_take_its_own_handle(mut me: Process<u8>) {
    me.pid().send(1);
    assert_eq!(me.receive().await, 1);
    let node = Node::current().expect("it runs in a process");
    assert_eq!((node.workers(), node.name()), (1, "a-test"));
}

// P2: with `?`
#[purlin::test]
async fn a_test_may_return_a_result(_me: Process<()>) -> Result<(), std::num::ParseIntError> {
    let n: i32 = "7".parse()?;
    assert_eq!(n, 7);
    Ok(())
}

// P2: its panic fails the test, in words
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

// P1, E1: what `main` returns is what its function returned, and its node is gone by then
#[test]
fn main_runs_a_node_for_one_process_and_returns_its_result() {
    assert_eq!(program(), Ok(("x".to_string(), 1)));
    assert_eq!(program_with_a_handle(), 42);
    assert!(Node::current().is_none());
}

/// A name that users are likely to give a function of theirs.
fn process() -> u32 {
    7
}

#[purlin::test]
async fn a_test_may_call_a_function_of_its_users_by_any_name() {
    assert_eq!(process(), 7);
}

/// What a process may be told: by its user, by the end of another, and by both at once.
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

// a mailbox says how a signal comes among its messages
#[test]
fn a_variant_that_is_marked_is_made_from_its_field() {
    assert_eq!(Mail::<u8>::from(ExitReason::Normal), Mail::Reason(ExitReason::Normal));
    assert_eq!(Mail::from(vec![1, 2]), Mail::Many { of: vec![1, 2] });
    assert_ne!(Mail::Work(1), vec![1].into());
}
