//! Supervisor reports. A separate test binary, because the subscriber is global.

#[path = "it/common/mod.rs"]
mod common;

use common::{HANG, node, said, stop};
use purlin::supervisor::{ChildProcess, ChildSpec, Restart, Shutdown, SupervisorSpec};
use purlin::{Exit, ExitReason, Process};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

struct ExitMessage;

impl From<Exit> for ExitMessage {
    fn from(_: Exit) -> Self {
        ExitMessage
    }
}

/// Traps exits and ends with `normal`.
async fn tidy(mut me: Process<ExitMessage>) {
    me.trap_exit(true);
    me.receive().await;
}

/// Traps exits and ends with a reason other than the one in the exit signal.
async fn unruly(mut me: Process<ExitMessage>, up: UnboundedSender<()>) -> ExitReason {
    me.trap_exit(true);
    let _ = up.send(());
    me.receive().await;
    ExitReason::error("not now")
}

// G2: progress, child_terminated, start_error, shutdown_error and shutdown, with the fields of
// OTP's reports; a child that ends with `normal` when it is stopped is not reported
#[test]
fn every_report_names_the_supervisor_the_reason_and_the_child() {
    let log = common::log();
    let node = node(2);

    node.block_on(async |me: Process<ExitMessage>| {
        me.trap_exit(true);
        let (started, mut up) = unbounded_channel();
        let child =
            ChildSpec::worker("unruly", move |me| unruly(me, started)).restart(Restart::Transient);
        let spec = SupervisorSpec::one_for_one().name("alpha").child(child);
        let supervisor = spec.start_link(&me).await.expect("it starts");
        up.recv().await.expect("it says that it traps");
        supervisor.stop(ExitReason::Shutdown).await;

        let crash = async |_: Process<()>| ExitReason::error("oops");
        let child = ChildSpec::worker("crash", crash).shutdown(Shutdown::BrutalKill);
        let spec = SupervisorSpec::one_for_one().intensity(0).name("beta").child(child);
        if let Ok(supervisor) = spec.start_link(&me).await {
            supervisor.pid().ended().await;
        }

        let child = ChildSpec::worker("tidy", tidy);
        let spec = SupervisorSpec::one_for_one().name("delta").child(child);
        let supervisor = spec.start_link(&me).await.expect("it starts");
        supervisor.stop(ExitReason::Shutdown).await;

        let child =
            ChildSpec::worker("weak", crash).intensity(0, std::time::Duration::from_secs(1));
        let spec = SupervisorSpec::one_for_one().intensity(0).name("epsilon").child(child);
        let supervisor = spec.start_link(&me).await.expect("it starts");
        // Not `count_children`: a child is inactive from its end on, before its exit is handled.
        let children = async || supervisor.which_children().await.expect("it lives");
        while children().await[0].process != ChildProcess::Absent {}
        supervisor.stop(ExitReason::Shutdown).await;

        let taken = SupervisorSpec::one_for_one().name("taken");
        let _holder = taken.clone().start_link(&me).await.expect("the name is free");
        let spec = SupervisorSpec::one_for_one().name("gamma");
        let spec = spec.child(ChildSpec::supervisor("twin", taken));
        spec.start_link(&me).await.expect_err("a child cannot have the name");
    });
    let child = "id=unruly restart=transient significant=false shutdown=5000 child_type=worker";
    said(&log, &["INFO", "progress", "supervisor=alpha", "pid=<0.", child]);
    let error = "supervisor=alpha error_context=shutdown_error reason=not now pid=<0.";
    said(&log, &["ERROR", error, child]);
    let child = "id=crash restart=permanent significant=false shutdown=brutal_kill";
    let terminated = "supervisor=beta error_context=child_terminated reason=oops pid=<0.";
    said(&log, &["ERROR", "supervisor report", terminated, child]);
    let gives_up = "error_context=shutdown reason=reached_max_restart_intensity pid=<0.";
    said(&log, &["ERROR", "supervisor=beta", gives_up, child]);
    let mut clean = Vec::new();
    let given_up = loop {
        let line = log.recv_timeout(HANG).expect("epsilon gives up its child");
        if line.contains("error_context=given_up") {
            break line;
        }
        clean.push(line);
    };
    clean.retain(|line| line.contains("supervisor=delta"));
    assert!(!clean.is_empty() && clean.iter().all(|line| line.contains("INFO")), "{clean:?}");
    assert!(given_up.contains("supervisor=epsilon"), "{given_up}");
    assert!(given_up.contains("reason=reached_max_restart_intensity"), "{given_up}");
    let start_error = "supervisor=gamma error_context=start_error reason=";
    said(&log, &["ERROR", start_error, "\"taken\"", "id=twin", "child_type=supervisor"]);
    stop(&node);
}
