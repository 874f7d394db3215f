//! Log events of our node are sent to the `logger` of a BEAM that requests them.

use crate::support::{Beam, COOKIE, Epmd, until};
use purlin::Node;
use purlin_dist::cluster::{Cluster, Logs};
use purlin_term::Term;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::prelude::*;

/// Returns the next line that contains `what`.
async fn line_with(beam: &mut Beam, what: &str) -> String {
    loop {
        let line = beam.line().await;
        if line.contains(what) {
            return line;
        }
    }
}

#[tokio::test]
async fn log_events_are_sent_to_a_beam_that_requests_them_until_it_is_gone() {
    let logs = Logs::new();
    // WHY no hogs: the panic below may be reported as one if its backtrace takes long, at any time.
    let no_hogs = filter_fn(|event| event.target() != "purlin::stalled");
    tracing_subscriber::registry().with(logs.clone().with_filter(no_hogs)).init();
    let epmd = Epmd::start();
    let mut beam = Beam::start(&epmd, "beam").await;
    let node = Node::builder().workers(1).build().expect("a node");
    let name = "ours@127.0.0.1".parse().expect("a name");
    let builder = Cluster::builder(name).cookie(COOKIE).epmd(([127, 0, 0, 1], epmd.port).into());
    let cluster = builder.logs(&logs).start(&node).await.expect("it joins");
    tracing::error!("no request was made");

    // One line per event, with the fields that are checked below.
    let template = "#{template => [level, \" \", node, \" \", msg, \"\\n\"], single_line => true}";
    let format = format!(
        "logger:add_handler(lines, logger_std_h, #{{formatter => {{logger_formatter, {template}}}, \
         filters => [{{remote, {{fun logger_filters:remote_gl/2, stop}}}}, \
         {{otp, {{fun logger_filters:domain/2, {{stop, sub, [otp]}}}}}}]}}), \
         logger:set_primary_config(level, all), Ask = fun(L) -> \
         rpc:call('ours@127.0.0.1', purlin, log_to, [group_leader(), L]) end"
    );
    beam.eval(&format).await;
    assert_eq!(beam.eval("Ask(warning)").await, "ok");
    tracing::info!("too little");
    tracing::warn!(disks = 7, full = true, name = "bertha", "a disk is full");
    let line = line_with(&mut beam, "disk").await;
    assert!(line.starts_with("warning "), "{line}");
    for field in [
        "disks: 7",
        "full: true",
        "<<\"bertha\">>",
        "<<\"a disk is full\">>",
        "target: <<\"it::logs\">>",
    ] {
        assert!(line.contains(field), "{field}: {line}");
    }
    assert!(line.contains("node: 'ours@127.0.0.1'"), "{line}");

    // A crash report of our node, and another level.
    node.spawn(async |_: purlin::Process<()>| panic!("on purpose"));
    let line = line_with(&mut beam, "on purpose").await;
    assert!(line.starts_with("error "), "{line}");
    assert_eq!(beam.eval("Ask(info)").await, "ok");
    tracing::info!("just enough");
    assert!(line_with(&mut beam, "just enough").await.starts_with("info "));
    let one_watches = || {
        let all = node.processes();
        all.iter().filter(|one| one.function.contains("gone")).count() == 1
    };
    until("it is watched for what it has asked last", one_watches).await;
    let bad = beam.eval("Ask(nonsense)").await;
    assert!(bad.contains("badarg"), "{bad}");
    let bad = beam.eval("rpc:call('ours@127.0.0.1', purlin, log_to, [me, info])").await;
    assert!(bad.contains("badarg"), "{bad}");
    assert_eq!(logs.dropped(), 0);

    // A function that fails is named.
    cluster.export("shop", "fails", 0, async |_| Err(Term::atom("badarg"))).expect("short names");
    beam.send("spawn('ours@127.0.0.1', shop, fails, [])").await;
    line_with(&mut beam, "shop:fails/0 failed: badarg").await;

    // After the node is gone, no events are sent and no connection to it is made.
    assert!(format!("{logs:?}").contains("subscribers: 1"), "{logs:?}");
    beam.kill().await;
    until("there is no subscriber", || format!("{logs:?}").contains("subscribers: 0")).await;
}
