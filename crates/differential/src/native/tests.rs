use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use purlin::{ExitReason, Node, Process};
use purlin_testkit::Simulation;
use tokio::runtime::Builder;

use super::message::Msg;
use super::process::base;
use super::world::World;
use super::{Glance, glance};
use crate::language::{After, Op, Pattern, Program, Reason};
use crate::outcome::{End, Seen, Trace};

// In a spread program a process of the other node may send the exit signal.
#[test]
fn scripts_start_although_a_base_process_has_ended_before_its_first_turn() {
    let script = vec![Op::Receive(Pattern::Any, After::Zero)];
    let program = Program { bases: 2, scripts: vec![script, Vec::new()], abroad: None };
    let mut simulation = Simulation::new(1);
    let world = Arc::new(World::new(&program, 0, 1, None));
    let spawn = |who| (who, simulation.node().spawn(base(Arc::clone(&world), who)));
    let bases: Vec<_> = (0..program.bases).map(spawn).collect();
    bases[1].1.exit(ExitReason::Kill);
    world.begin(bases);
    simulation.advance(Duration::ZERO);
    let ran = Trace { log: vec![Seen::Nothing], end: End::Ended(Reason::Normal) };
    let killed = Trace { log: Vec::new(), end: End::Ended(Reason::Killed) };
    assert_eq!(world.outcome().0, [ran, killed]);
}

// The signals of its end may not have been sent yet.
#[test]
fn a_process_whose_end_is_under_way_is_not_over() {
    let node = Node::builder().name("ending").workers(1).build().expect("a node starts");
    let (begins, begun) = channel();
    let (ends, ending) = channel();
    let (goes_on, held) = channel::<()>();
    let pid = node.spawn(move |me: Process<Msg>| async move {
        me.on_unread(move |_| {
            ends.send(()).expect("the test waits");
            held.recv().expect("the test lets the end go on");
        });
        begins.send(()).expect("the test waits");
        std::future::pending::<()>().await;
    });
    begun.recv().expect("the process begins");
    pid.send(Msg::Message(0, 0));
    pid.exit(ExitReason::Kill);
    ending.recv().expect("the process ends");
    // It has left the table, so a survey of the node does not show it.
    assert!(node.process_info(pid.id()).is_none());
    assert!(glance(&pid).is_none());
    goes_on.send(()).expect("the process is ending");
    let runtime = Builder::new_current_thread().build().expect("a runtime starts");
    assert_eq!(runtime.block_on(pid.ended()), ExitReason::Killed);
    assert!(glance(&pid) == Some(Glance::Over));
}
