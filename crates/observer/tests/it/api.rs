//! Tests of the page's API against a running node.

use std::io::{BufRead, BufReader, Write};
use std::time::{Duration, Instant};

use purlin::supervisor::{ChildSpec, SupervisorSpec};
use purlin::{Node, Pid, Process, Reply};
use purlin_ack::server::Server;
use purlin_ack::wire::{Head, Id, SizeOrder};
use purlin_dist::cluster::{Cluster, GenCall};
use purlin_dist::epmd;
use purlin_term::Term;
use serde_json::{Value, json};

use crate::support::{HANG, PERIOD, Seen, bearer};

async fn idle(mut me: Process<u32>) {
    loop {
        me.receive().await;
    }
}

fn named(node: &Node, name: &str) -> Pid<u32> {
    let pid = node.spawn(idle);
    node.register(name, &pid).expect("the name is free");
    pid
}

/// Percent-encodes a pid.
fn in_address(pid: &str) -> String {
    pid.replace('<', "%3C").replace('>', "%3E")
}

#[test]
fn a_spawned_process_is_in_the_table_and_an_ended_one_is_not() {
    let seen = Seen::start();
    let pid = named(&seen.node, "till");
    let found = seen.until("/api/processes?text=till", |found| found["total"] == 1);
    let row = &found["rows"][0];
    assert_eq!(row["pid"], pid.id().to_string());
    assert_eq!(row["name"], "till");
    assert_eq!(row["state"], "receiving");
    assert_eq!(row["type"], "u32");
    assert!(row["function"].as_str().is_some_and(|name| name.contains("idle")), "{row}");
    assert_eq!(
        (&row["mailbox"], &row["parent"], &row["waits_for"]),
        (&json!(0), &Value::Null, &Value::Null)
    );
    pid.exit(purlin::ExitReason::Kill);
    seen.until("/api/processes?text=till", |found| found["total"] == 0);
}

#[test]
fn the_table_is_sorted_filtered_and_paged() {
    let seen = Seen::start();
    let stuck: Vec<Pid<u32>> = (0..30)
        .map(|number| {
            let (begun, began) = std::sync::mpsc::channel();
            let pid = seen.node.spawn(move |_: Process<u32>| async move {
                let _ = begun.send(());
                std::future::pending::<()>().await;
            });
            began.recv().expect("it runs");
            (0..number).for_each(|message| pid.send(message));
            pid
        })
        .collect();
    let all = "/api/processes?mailbox=10&state=waiting";
    seen.until(all, |found| found["total"] == 20);
    let page = seen.json(&format!("{all}&sort=mailbox&order=desc&offset=5&limit=3"));
    let pids: Vec<_> =
        page["rows"].as_array().expect("rows").iter().map(|row| row["pid"].clone()).collect();
    let expected: Vec<_> = [24, 23, 22].map(|at: usize| json!(stuck[at].id().to_string())).into();
    assert_eq!(pids, expected, "{page}");
    assert_eq!(seen.json(&format!("{all}&offset=1000"))["rows"], json!([]));
    let parent = stuck[0].id().to_string();
    let none = seen.json(&format!("/api/processes?parent={}", in_address(&parent)));
    assert_eq!(none["total"], 0);
}

#[test]
fn the_overview_has_the_figures_of_the_node() {
    let seen = Seen::start();
    named(&seen.node, "till");
    let news = seen.until("/api/overview", |news| news["snapshot"]["processes"] == 1);
    assert_eq!(news["node"], "zanzibar");
    assert_eq!(news["snapshot"]["workers"].as_array().map(Vec::len), Some(2));
    assert_eq!(news["sampler"]["left_out"], 0);
    assert_eq!(news["connections"], Value::Null);
    assert!(
        news["sampler"]["share"].as_f64().is_some_and(|share| (0.0..=1.0).contains(&share)),
        "{news}"
    );
}

#[test]
fn a_process_that_blocks_its_thread_is_listed_as_a_hog() {
    // One worker, so that the hog always delays other processes.
    let seen = Seen::build(1, |observer| observer);
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let hog = seen.node.spawn(move |me: Process<u32>| async move {
        me.register("greedy").expect("the name is free");
        let _ = ended.recv();
    });
    // It is a hog only while it delays another process.
    let news = seen.until("/api/overview", |news| {
        seen.node.spawn(async |_: Process<()>| {});
        news["hogs"][0]["name"] == "greedy"
    });
    assert_eq!(news["hogs"][0]["pid"], hog.id().to_string());
    end.send(()).expect("it waits");
}

#[test]
fn a_stream_begins_with_the_history_and_continues_with_each_snapshot() {
    let seen = Seen::start();
    let mut stream = seen.connect();
    let request =
        format!("GET /api/live HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\n\r\n", bearer());
    stream.write_all(request.as_bytes()).expect("it reads");
    let lines = BufReader::new(stream).lines().map(|line| line.expect("it goes on"));
    let mut events = lines.filter_map(|line| line.strip_prefix("event: ").map(str::to_owned));
    assert_eq!(events.next().as_deref(), Some("history"));
    assert_eq!(events.next().as_deref(), Some("overview"));
    assert!(events.any(|event| event == "warnings"));
}

#[test]
fn a_process_reports_its_links_and_a_busy_process_reports_nothing() {
    let seen = Seen::start();
    let other = named(&seen.node, "other");
    let (id, linked) = (other.id(), std::sync::mpsc::channel());
    let pid = seen.node.spawn(move |mut me: Process<u32>| async move {
        me.link(&other);
        let _ = linked.0.send(());
        me.receive().await;
    });
    linked.1.recv().expect("it runs");
    let path = format!("/api/process?pid={}", in_address(&pid.id().to_string()));
    // WHY again: details are missing if the process does not get a worker within 300 ms.
    let found = seen.until(&path, |found| !found["details"].is_null());
    assert_eq!(found["details"]["links"], json!([{"id": id.to_string(), "label": "other"}]));
    assert_eq!(found["details"]["more"], 0);
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let (begun, began) = std::sync::mpsc::channel();
    let busy = seen.node.spawn(move |_: Process<u32>| async move {
        let _ = begun.send(());
        let _ = ended.recv();
    });
    began.recv().expect("it runs");
    let of_busy = format!("/api/process?pid={}", in_address(&busy.id().to_string()));
    for _ in 0..4 {
        assert_eq!(seen.json(&of_busy)["details"], Value::Null);
    }
    let signals = seen.json(&of_busy)["mailbox"].as_u64();
    assert!(signals <= Some(1), "repeated requests send no further signals: {signals:?}");
    end.send(()).expect("it waits");
    pid.exit(purlin::ExitReason::Kill);
    seen_gone(&seen, &path);
}

fn seen_gone(seen: &Seen, path: &str) {
    while seen.get(path).status == 200 {}
    assert_eq!(seen.get(path).status, 404);
}

#[test]
fn supervisors_are_parents_of_their_children_in_the_tree() {
    let seen = Seen::start();
    let tree = SupervisorSpec::one_for_one()
        .name("shop")
        .child(ChildSpec::worker("till", async |mut me: Process<u32>| {
            me.register("till-1").expect("the name is free");
            me.receive().await;
        }))
        .child(ChildSpec::supervisor("stores", SupervisorSpec::one_for_one().name("stores")));
    let node = seen.node.clone();
    let _shop =
        seen.node.block_on(async move |_: Process<()>| tree.start(&node).await.expect("it starts"));
    let found = seen.until("/api/tree", |found| {
        found["roots"][0]["children"].as_array().is_some_and(|all| all.len() == 2)
    });
    let root = &found["roots"][0];
    assert_eq!((&root["name"], &root["kind"]), (&json!("shop"), &json!("supervisor")));
    let kinds: Vec<_> = root["children"]
        .as_array()
        .expect("children")
        .iter()
        .map(|child| (child["name"].clone(), child["kind"].clone()))
        .collect();
    assert_eq!(
        kinds,
        [(json!("till-1"), json!("process")), (json!("stores"), json!("supervisor"))]
    );
}

#[test]
fn a_shown_server_reports_its_counters() {
    let seen = Seen::start();
    let on = seen.node.clone();
    let server = seen.node.block_on(async move |_: Process<()>| {
        Server::builder(([127, 0, 0, 1], 0).into()).start(&on).await.expect("it starts")
    });
    assert_eq!(seen.json("/api/servers")["servers"], json!([]));
    seen.observer.show_server("orders", &server);
    let found = seen.json("/api/servers");
    let shown = &found["servers"][0];
    assert_eq!(
        (&shown["name"], &shown["address"]),
        (&json!("orders"), &json!(server.local_addr().to_string()))
    );
    assert_eq!(shown["counts"]["connections"], 0);
    assert_eq!(seen.json("/api/overview")["connections"], 0);
}

#[test]
fn a_shown_server_reports_its_recent_ack_latency() {
    let seen = Seen::start();
    let on = seen.node.clone();
    let server = seen.node.block_on(async move |_: Process<()>| {
        Server::builder(([127, 0, 0, 1], 0).into()).start(&on).await.expect("it starts")
    });
    seen.observer.show_server("orders", &server);
    let part_of = |found: &Value| found["servers"][0]["latency"].clone();
    assert_eq!(part_of(&seen.json("/api/servers")), Value::Null, "there was no earlier reading");
    let none = part_of(&seen.json("/api/servers"));
    assert_eq!(
        (&none["acks"], &none["p50_ns"], &none["max_ns"]),
        (&json!(0), &Value::Null, &Value::Null)
    );

    // WHY real time: the server measures it; the enclosing interval is longer at any speed.
    let (mut client, began) =
        (std::net::TcpStream::connect(server.local_addr()).expect("it listens"), Instant::now());
    client
        .write_all(&Head { id: Id::from(0), size: 0 }.to_bytes(SizeOrder::Little))
        .expect("it reads");
    let found = part_of(&seen.until("/api/servers", |found| part_of(found)["acks"] == 1));
    let took = ["p50_ns", "p90_ns", "p99_ns", "max_ns"].map(|name| found[name].as_u64());
    let most = server.latency().max().map(|most| most.as_nanos() as u64);
    assert!(took.iter().all(|took| *took == most), "there was one: {found}");
    assert!(most < Some(began.elapsed().as_nanos() as u64), "{found}");
    #[cfg(feature = "metrics")]
    assert!(seen.get("/metrics").body.contains(r#"purlin_ack_server_name="orders",le="+Inf"} 1"#));
    seen.until("/api/servers", |found| part_of(found)["acks"] == 0);
    assert_eq!(server.latency().count(), 1, "it is not of the last seconds, but it was");
}

/// Returns the clusters of the observed node and of `other`, connected to each other.
fn pair(seen: &Seen, other: &Node) -> (Cluster, Cluster) {
    let epmd = other.block_on(async |_: Process<()>| {
        epmd::Server::start(("127.0.0.1", 0)).await.expect("it starts")
    });
    let cluster = |name: &str, node: &Node| {
        let epmd = epmd.address();
        let (node, name) = (node.clone(), name.parse().expect("a name"));
        node.clone().block_on(async move |_: Process<()>| {
            Cluster::builder(name).cookie("c").epmd(epmd).start(&node).await.expect("it starts")
        })
    };
    let (ours, theirs) =
        (cluster("ours@127.0.0.1", &seen.node), cluster("theirs@127.0.0.1", other));
    let (calling, to) = (ours.clone(), theirs.name().clone());
    seen.node
        .block_on(async move |_: Process<()>| calling.connect(&to).await.expect("they connect"));
    (ours, theirs)
}

#[test]
fn a_shown_cluster_reports_nodes_and_traffic_and_is_held_weakly() {
    let seen = Seen::start();
    assert_eq!(seen.json("/api/cluster"), json!({"cluster": null}));
    let other = Node::builder().workers(1).build().expect("it starts");
    let (ours, theirs) = pair(&seen, &other);
    seen.observer.show_cluster(&ours);
    let found = seen.until("/api/cluster", |found| {
        found["cluster"]["nodes"].as_array().is_some_and(|all| all.len() == 1)
    });
    assert_eq!(found["cluster"]["name"], "ours@127.0.0.1");
    let node = &found["cluster"]["nodes"][0];
    assert_eq!(node["name"], "theirs@127.0.0.1");
    let ping = Term::tuple([Term::atom("is_auth"), Term::atom("ours@127.0.0.1")]);
    let (calling, to) = (ours.clone(), theirs.name().clone());
    let pong = seen.node.block_on(async move |_: Process<()>| {
        calling.call::<Term>("net_kernel", &to, ping, HANG).await
    });
    assert_eq!(pong.expect("it answers"), Term::atom("yes"));
    seen.until("/api/cluster", |found| {
        let node = &found["cluster"]["nodes"][0];
        ["bytes_in", "bytes_out"].iter().all(|bytes| node[*bytes].as_u64() > Some(20))
            && node["waiting_bytes"] == 0
            && node["dropped"] == 0
    });
    drop(ours);
    seen.until("/api/cluster", |found| found["cluster"].is_null());
    other.stop_blocking();
}

#[test]
fn one_probe_is_pending_at_a_time_and_the_round_trip_time_has_an_age() {
    let seen = Seen::start();
    let other = Node::builder().workers(1).build().expect("it starts");
    let (ours, theirs) = pair(&seen, &other);
    // This process answers in place of the node, when the test makes it.
    let (asked, questions) = std::sync::mpsc::channel();
    let kernel = other.spawn(async move |mut me: Process<Term>| {
        while let Ok(call) = GenCall::try_from(me.receive().await) {
            // WHY real time: the node measures it; the enclosed interval is shorter at any speed.
            let _ = asked.send((call, Instant::now()));
        }
    });
    other.register("net_kernel", &kernel).expect("the name is free");
    seen.observer.show_cluster(&ours);
    let part_of = |found: &Value| found["cluster"]["nodes"][0].clone();

    // Longer than the interval to the next probe, which must wait for the answer to the first.
    let long = (10 * PERIOD).as_nanos() as u64;
    let found =
        seen.until("/api/cluster", |found| part_of(found)["unanswered_ns"].as_u64() > Some(long));
    assert_eq!(
        (&part_of(&found)["round_trip_ns"], &part_of(&found)["round_trip_age_ns"]),
        (&Value::Null, &Value::Null)
    );
    let (question, came) = questions.recv().expect("it is asked");
    assert_eq!(question.request.to_string(), "{is_auth,'ours@127.0.0.1'}");
    assert!(questions.try_recv().is_err(), "it has not answered the first");
    // WHY real time: the node measures it; the enclosed interval is shorter at any speed.
    let answered = Instant::now();
    let least = (answered - came).as_nanos() as u64;
    theirs.reply(question, Term::atom("yes"));
    let found = seen.until("/api/cluster", |found| part_of(found)["round_trip_ns"].is_u64());
    let (took, age) = (&part_of(&found)["round_trip_ns"], &part_of(&found)["round_trip_age_ns"]);
    assert!(took.as_u64() > Some(least), "{found}");
    let most = answered.elapsed().as_nanos() as u64;
    assert!(age.as_u64().is_some_and(|age| age < most), "{found}");

    // A pending probe without an answer does not keep the cluster alive either.
    seen.until("/api/cluster", |found| part_of(found)["unanswered_ns"].is_u64());
    drop(ours);
    seen.until("/api/cluster", |found| found["cluster"].is_null());
    other.stop_blocking();
}

// A growing mailbox raises a warning with advice
#[test]
fn a_growing_mailbox_raises_a_warning() {
    let seen = Seen::start();
    let slow = seen.node.spawn(async |_: Process<u32>| std::future::pending::<()>().await);
    seen.node.register("slow", &slow).expect("the name is free");
    let found = seen.until("/api/warnings", |found| {
        slow.send(1);
        found["warnings"].as_array().is_some_and(|all| !all.is_empty())
    });
    let warning = &found["warnings"][0];
    assert_eq!(
        (&warning["kind"], &warning["pids"]),
        (&json!("growing-mailbox"), &json!([slow.id().to_string()]))
    );
    assert!(warning["text"].as_str().is_some_and(|text| text.contains("slow")), "{warning}");
}

#[test]
fn a_caller_is_shown_with_the_process_it_waits_for() {
    let seen = Seen::start();
    let asked = seen.node.spawn(async |_: Process<Reply<()>>| std::future::pending::<()>().await);
    let id = asked.id().to_string();
    let asks = seen.node.spawn(async move |_: Process<u32>| {
        // WHY: longer than the test lasts; the test's end aborts the call.
        let _ = asked.call_timeout(|reply| reply, Duration::from_secs(600)).await;
    });
    let path = format!("/api/processes?text={}", in_address(&asks.id().to_string()));
    seen.until(&path, |found| found["rows"][0]["waits_for"] == *id);
    let path = format!("/api/process?pid={}", in_address(&asks.id().to_string()));
    assert_eq!(seen.json(&path)["waits_for"], *id);
}

#[test]
fn a_trace_reports_events_and_requires_live_processes() {
    let seen = Seen::start();
    assert_eq!(seen.json("/api/trace"), json!({"trace": null}));
    assert_eq!(seen.get("/api/trace/chrome").status, 404);
    let till = named(&seen.node, "till");
    let body = |pids: &[String]| json!({"processes": pids}).to_string();
    for (pids, status) in [
        (vec![], 400),
        (vec!["x".to_string()], 400),
        (vec![till.id().to_string(); 21], 400),
        (vec!["<0.4000.0>".to_string()], 404),
    ] {
        assert_eq!(seen.post("/api/trace/start", &body(&pids)).status, status, "{pids:?}");
    }
    assert_eq!(seen.post("/api/trace/start", &body(&[till.id().to_string()])).status, 200);
    till.send(1);
    let found = seen.until("/api/trace", |found| found["trace"]["events"] != json!([]));
    let event = &found["trace"]["events"][0];
    assert_eq!((&event["kind"], &event["label"]), (&json!("receive"), &json!("u32")));
    assert_eq!(found["trace"]["names"][till.id().to_string()], "till");
    assert_eq!(seen.post("/api/trace/stop", "").status, 200);
    assert_eq!(seen.json("/api/trace")["trace"]["running"], false);
}

// The last events of a traced process
#[test]
fn the_last_events_of_one_process_can_be_queried() {
    let seen = Seen::start();
    let [till, safe] = ["till", "safe"].map(|name| named(&seen.node, name));
    let pids = json!({"processes": [till.id().to_string(), safe.id().to_string()]});
    let asked = format!("/api/trace?pid={}", in_address(&till.id().to_string()));
    assert_eq!(seen.json(&asked), json!({"trace": null}));
    assert_eq!(seen.post("/api/trace/start", &pids.to_string()).status, 200);
    for number in 0..3 {
        till.send(number);
        safe.send(number);
    }
    let whole = seen.until("/api/trace", |found| {
        found["trace"]["events"].as_array().is_some_and(|all| all.len() == 6)
    });
    let all = whole["trace"]["events"].as_array().expect("a list");
    let mine: Vec<_> = all.iter().filter(|event| event["pid"] == till.id().to_string()).collect();
    assert_eq!(seen.json(&asked)["trace"]["events"], json!(mine));
    assert_eq!(seen.json(&format!("{asked}&last=2"))["trace"]["events"], json!(mine[1..]));
    let last = &seen.json("/api/trace?last=1")["trace"];
    assert_eq!((&last["seen"], &last["events"][0]), (&json!(6), &all[5]));
    for nonsense in ["last=0", "last=5001", "last=-1", "last=all", "pid=me", "pid=", "first=1"] {
        assert_eq!(seen.get(&format!("/api/trace?{nonsense}")).status, 400, "{nonsense}");
    }
    let nobody = &seen.json("/api/trace?pid=%3C0.4000.0%3E")["trace"];
    assert_eq!((&nobody["events"], &nobody["seen"]), (&json!([]), &json!(6)));
}

#[test]
fn a_refused_trace_leaves_the_running_one_unchanged() {
    let seen = Seen::start();
    let till = named(&seen.node, "till");
    let start = |pids: &[String]| {
        seen.post("/api/trace/start", &json!({"processes": pids}).to_string()).status
    };
    assert_eq!(start(&[till.id().to_string()]), 200);
    assert_eq!(start(&[till.id().to_string(), "<0.4000.0>".to_string()]), 404);
    till.send(1);
    let found = seen.until("/api/trace", |found| found["trace"]["events"] != json!([]));
    assert_eq!(found["trace"]["running"], true);
}
