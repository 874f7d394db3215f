//! Clusters over TLS, compatible with `-proto_dist inet_tls` and `verify_peer`: which nodes are accepted, and that
//! messages work as without TLS.

use crate::certificates::Files;
use crate::log::Log;
use crate::processes::{beam_until, builder, echoes};
use crate::support::{Beam, Epmd, HANG, Ours, until};
use crate::ticks::{BEAM_WAITS, ticks_keep_it_and_silence_ends_it};
use purlin::Node;
use purlin_dist::Tls;
use purlin_dist::cluster::Cluster;
use purlin_term::Term;
use tokio::sync::oneshot;

async fn join(epmd: &Epmd, name: &str, tls: Option<Tls>) -> Cluster {
    let node = Node::builder().workers(2).build().expect("a node");
    let builder = builder(epmd, name);
    let builder = match tls {
        Some(tls) => builder.tls(tls),
        None => builder,
    };
    builder.start(&node).await.expect("it joins")
}

async fn beam(epmd: &Epmd, options: &str, more: &[&str]) -> Beam {
    let tls = ["-proto_dist", "inet_tls", "-ssl_dist_optfile", options];
    Beam::start_with(epmd.port, "beam", &[&tls[..], more].concat()).await
}

/// Sends small and large messages in both directions.
async fn all_is_well(beam: &mut Beam, cluster: &Cluster) {
    echoes(cluster);
    let echoed = "begin X = binary:copy(<<\"large\">>, 1000000), \
                  X =:= gen_server:call({echo, 'ours@127.0.0.1'}, X, infinity) end";
    assert_eq!(beam.eval(echoed).await, "true");
    assert!(cluster.nodes().contains(&beam.name));
    let large = Term::from("large".repeat(1_000_000).as_bytes());
    let asked = [Term::atom("erlang"), Term::atom("byte_size"), Term::list([large])];
    let size = cluster.rpc(&beam.name, "erlang", "apply", asked.into(), HANG).await;
    assert_eq!(size.expect("it answers"), Term::from(5_000_000));
}

#[tokio::test]
async fn a_beam_connects_to_us_over_tls_with_its_default_options() {
    let (epmd, files) = (Epmd::start(), Files::new());
    let log = Log::new();
    let cluster = join(&epmd, "ours", Some(files.tls("ours-here"))).await;
    let mut beam = beam(&epmd, &files.options("ours-here", ""), &[]).await;
    assert_eq!(beam.eval("net_adm:ping('ours@127.0.0.1')").await, "pong");
    all_is_well(&mut beam, &cluster).await;
    let (tx, down) = oneshot::channel::<()>();
    cluster.when_down(&beam.name, move |_| drop(tx));
    beam.kill().await;
    down.await.expect_err("nothing is sent");
    // The BEAM ends without a TLS alert. Linux closes the connection, or resets it if the BEAM has unread bytes.
    let lines = log.lines();
    let [line] = &lines[..] else { panic!("not one line: {lines:#?}") };
    let causes = ["closed by the other node", "the connection broke: connection reset"];
    assert!(causes.iter().any(|cause| line.contains(&format!("disconnected: {cause}"))), "{line}");
}

#[tokio::test]
async fn we_connect_to_a_beam_and_it_to_us_with_either_version_of_tls() {
    for version in ["tlsv1.2", "tlsv1.3"] {
        let (epmd, files) = (Epmd::start(), Files::new());
        let cluster = join(&epmd, "ours", Some(files.tls("ours-here"))).await;
        let more = format!(", {{versions, ['{version}']}}");
        let mut beam = beam(&epmd, &files.options("ours-here", &more), &[]).await;
        cluster.connect(&beam.name).await.expect("it speaks TLS");
        all_is_well(&mut beam, &cluster).await;
        assert!(cluster.disconnect(&beam.name));
        until("the end of the connection", || cluster.nodes().is_empty()).await;
        beam_until(&mut beam, "nodes(hidden) =:= []").await;
        assert_eq!(beam.eval("net_adm:ping('ours@127.0.0.1')").await, "pong");
    }
}

#[tokio::test]
async fn ticks_alone_keep_a_tls_connection_with_a_beam_and_silence_ends_it() {
    let (epmd, files) = (Epmd::start(), Files::new());
    let mut ours = Ours::start(&epmd, "ours").await.over_tls(files.tls("ours-here"));
    let mut beam = beam(&epmd, &files.options("ours-here", ""), &BEAM_WAITS).await;
    beam.send("net_kernel:connect_node('ours@127.0.0.1')").await;
    let mut connected = ours.called().await;
    assert_eq!(beam.line().await, "true");
    ticks_keep_it_and_silence_ends_it(&mut beam, &mut connected).await;
}

#[tokio::test]
async fn our_nodes_exchange_messages_over_tls() {
    let (epmd, files) = (Epmd::start(), Files::new());
    let [a, b] = ["a", "b"].map(|name| (name, files.tls("ours-here")));
    let a = join(&epmd, a.0, Some(a.1)).await;
    let b = join(&epmd, b.0, Some(b.1)).await;
    echoes(&a);
    echoes(&b);
    let large = Term::from([7; 5_000_000].as_slice());
    let echoed = a.call::<Term>("echo", b.name(), large.clone(), HANG).await;
    assert!(echoed.expect("it answers") == large, "not what was sent");
    let echoed = b.call::<Term>("echo", a.name(), Term::atom("back"), HANG).await;
    assert_eq!(echoed.expect("it answers"), Term::atom("back"));
}

/// Connects to `b`, which must fail. Returns the error and the lines that `b` has logged.
async fn refused(caller: Option<Tls>, called: Option<Tls>) -> (String, Vec<String>) {
    let (epmd, log) = (Epmd::start(), Log::new());
    let a = join(&epmd, "a", caller).await;
    let b = join(&epmd, "b", called).await;
    let why = a.connect(b.name()).await.expect_err("it is not let in");
    assert!(a.nodes().is_empty() && b.nodes().is_empty());
    // The other node may log later.
    until("the line of the other node", || !log.lines().is_empty()).await;
    (why.to_string(), log.lines())
}

#[tokio::test]
async fn a_node_with_a_wrong_certificate_or_none_is_refused_in_one_line() {
    let files = Files::new();
    let ours = || Some(files.tls("ours-here"));
    for (caller, called, why, line) in [
        // Of another CA, on either side.
        (Some(files.tls("theirs-here")), ours(), "fatal alert: UnknownCA", "UnknownIssuer"),
        (ours(), Some(files.tls("theirs-here")), "UnknownIssuer", "fatal alert: UnknownCA"),
        // For another host than that of its name.
        (
            ours(),
            Some(files.tls("ours-elsewhere")),
            "not valid for name",
            "fatal alert: BadCertificate",
        ),
        // Plain TCP.
        (None, ours(), "it speaks TLS, which this node does not", "the caller does not speak TLS"),
        (
            ours(),
            None,
            "perhaps the node does not speak TLS",
            "it speaks TLS, which this node does not",
        ),
    ] {
        let (error, lines) = refused(caller, called).await;
        assert!(error.contains(why) && error.lines().count() == 1, "{error}");
        assert!(matches!(&lines[..], [one] if one.contains(line)), "{line}: {lines:#?}");
    }
}

#[tokio::test]
async fn a_beam_with_a_wrong_certificate_or_plain_tcp_is_refused_in_one_line() {
    let (epmd, files) = (Epmd::start(), Files::new());
    let log = Log::new();
    let cluster = join(&epmd, "ours", Some(files.tls("ours-here"))).await;
    let mut stranger = beam(&epmd, &files.options("theirs-here", ""), &[]).await;
    assert_eq!(stranger.eval("net_adm:ping('ours@127.0.0.1')").await, "pang");
    log.is_one_line_with("UnknownIssuer");
    let mut plain = Beam::start(&epmd, "plain").await;
    assert_eq!(plain.eval("net_adm:ping('ours@127.0.0.1')").await, "pang");
    let lines = log.lines();
    assert!(matches!(&lines[..], [_, line] if line.contains("does not speak TLS")), "{lines:#?}");
    // We do not connect to them either.
    let why = cluster.connect(&stranger.name).await.expect_err("of another authority");
    assert!(why.to_string().contains("UnknownIssuer"), "{why}");
    assert!(cluster.nodes().is_empty());
}
