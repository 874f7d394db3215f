//! Browser tests: open the page in Chromium and operate each view.
//!
//! Each test runs a node. The test's scenario, one of those in `page`, requests events on that node while it operates
//! the page. The screenshots taken by scenarios are those of the guide.

use std::io::Write;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use purlin::supervisor::{ChildSpec, SupervisorRef, SupervisorSpec};
use purlin::{Down, ExitReason, Node, Pid, Process, Reply};
use purlin_ack::server::Server;
use purlin_ack::wire::{Head, Id, SizeOrder};
use purlin_browser::{Browser, nothing};
use purlin_dist::cluster::Cluster;
use purlin_dist::epmd;
use purlin_term::Term;
use serde_json::{Value, json};

use crate::support::Seen;

static BROWSER: Browser = Browser::new(
    env!("CARGO_TARGET_TMPDIR"),
    "observer",
    &[
        ("scenarios.mjs", include_str!("page/scenarios.mjs")),
        ("access.mjs", include_str!("page/access.mjs")),
    ],
);

/// Text that executes or becomes elements if it is interpreted as markup.
const HOSTILE: &str = r#"</script><img src=x onerror="window.hostile=1">{{constructor}}"#;

/// Sampling period: short, and long enough that the page is not redrawn continuously.
const PERIOD: Duration = Duration::from_millis(200);

/// Starts an observed node with this number of workers. With one worker, a hog always delays other processes.
fn start(workers: usize) -> Seen {
    Seen::build(workers, |observer| observer.period(PERIOD))
}

/// Runs a scenario that operates the page; `act` performs the events it requests.
fn operate(seen: &Seen, scenario: &str, about: &Value, act: impl FnMut(&str)) {
    BROWSER.operate(scenario, seen.observer.url().expect("the page is there"), about, act);
}

async fn idle(mut me: Process<u32>) {
    loop {
        me.receive().await;
    }
}

/// Sends at a rate that rises and falls periodically.
async fn bustle(to: Pid<u32>) {
    // WHY real time: there has to be something to draw in each snapshot; no assertion depends on the amount.
    let mut ticks = tokio::time::interval(Duration::from_millis(10));
    for step in 0_u32.. {
        ticks.tick().await;
        let height = (step % 800).min(800 - step % 800);
        (0..height / 4).for_each(|message| to.send(message));
    }
}

fn named(node: &Node, name: &str) -> Pid<u32> {
    let pid = node.spawn(idle);
    node.register(name, &pid).expect("the name is free");
    pid
}

/// Spawns a process that receives only as many messages as the returned function requests.
fn slow(node: &Node, name: &str) -> (Pid<u32>, impl Fn(usize)) {
    let (tx, mut rx) = tokio::sync::mpsc::unbounded_channel::<usize>();
    let pid = node.spawn(async move |mut me: Process<u32>| {
        while let Some(messages) = rx.recv().await {
            for _ in 0..messages {
                me.receive().await;
            }
        }
    });
    node.register(name, &pid).expect("the name is free");
    (pid, move |messages| tx.send(messages).expect("it lives"))
}

// The overview, and a hog is named
#[test]
fn the_overview_charts_the_load_and_lists_a_hog() {
    let seen = start(1);
    let (start, wait) = tokio::sync::oneshot::channel::<Receiver<()>>();
    let (end, ended) = channel();
    let hog = seen.node.spawn(async move |_: Process<u32>| {
        if let Ok(ended) = wait.await {
            let _ = ended.recv();
        }
        std::future::pending::<()>().await;
    });
    seen.node.register("greedy", &hog).expect("the name is free");
    let mut begin = Some((start, ended));
    // A process that blocks its worker is a hog only if others wait for it.
    let idle = seen.node.spawn(idle);
    seen.node.spawn(move |_: Process<u32>| bustle(idle));
    operate(&seen, "overview", &json!({"greedy": hog.id().to_string()}), |wish| match wish {
        "hog" => {
            let (start, ended) = begin.take().expect("it is asked once");
            start.send(ended).expect("it waits");
        }
        "rest" => end.send(()).expect("it waits"),
        _ => nothing(wish),
    });
}

#[test]
fn a_long_history_of_many_workers_is_drawn() {
    operate(&start(2), "crowd", &Value::Null, nothing);
}

// A spawned process appears
#[test]
fn a_spawned_process_appears_and_disappears_when_it_ends() {
    let seen = start(2);
    let mut newcomer = None;
    operate(&seen, "appears", &Value::Null, |wish| match wish {
        "spawn" => newcomer = Some(named(&seen.node, "newcomer")),
        "end" => newcomer.take().expect("it was spawned").exit(ExitReason::Kill),
        _ => nothing(wish),
    });
}

// A table that sorts and filters while live
#[test]
fn a_table_of_twenty_thousand_rows_is_sorted_filtered_and_scrolled() {
    let seen = start(2);
    let all: Vec<_> = (0..20_000).map(|_| seen.node.spawn(idle)).collect();
    let full = seen.node.spawn(async |_: Process<u32>| std::future::pending::<()>().await);
    (0..9).for_each(|message| full.send(message));
    operate(&seen, "many", &json!({"fullest": full.id().to_string()}), nothing);
    drop(all);
}

#[test]
fn a_paused_table_sends_no_requests_and_stays_unchanged() {
    let seen = start(2);
    operate(&seen, "paused", &Value::Null, |wish| match wish {
        "spawn" => drop(named(&seen.node, "newcomer")),
        _ => nothing(wish),
    });
}

/// Spawns a process that is linked to another; returns both pids.
fn pair(seen: &Seen) -> Value {
    let partner = named(&seen.node, "partner");
    let (id, (tx, rx)) = (partner.id().to_string(), channel());
    let linked = seen.node.spawn(async move |mut me: Process<u32>| {
        me.link(&partner);
        let _ = tx.send(());
        me.receive().await;
    });
    rx.recv().expect("it runs");
    json!({"partner": id, "linked": linked.id().to_string()})
}

#[test]
fn a_process_shows_its_links_and_no_exit_button_without_the_right() {
    let seen = start(2);
    operate(&seen, "process", &pair(&seen), nothing);
}

#[test]
fn a_slow_request_is_not_repeated_while_it_is_pending() {
    let seen = start(2);
    operate(&seen, "slow", &pair(&seen), nothing);
}

// Ending a process with the right to do so
#[test]
fn with_the_right_a_button_ends_a_process() {
    let seen = Seen::build(2, |observer| observer.period(PERIOD).allow_exit(true));
    operate(&seen, "exits", &pair(&seen), nothing);
}

/// Starts a supervisor with two children, one of them registered as `till`.
fn shop(node: &Node) -> SupervisorRef {
    let on = node.clone();
    let tree = SupervisorSpec::one_for_one().name("shop").child(ChildSpec::worker("till", till));
    let tree = tree.child(ChildSpec::worker("idle", idle));
    let started = node.block_on(async move |_: Process<()>| tree.start(&on).await);
    started.expect("it starts")
}

// A crash shows in the tree
#[test]
fn a_crash_marks_the_restarted_child_and_links_to_its_report() {
    let seen = start(2);
    let _shop = shop(&seen.node);
    operate(&seen, "tree", &Value::Null, |wish| match wish {
        "crash" => seen.node.whereis::<u32>("till").expect("it lives").send(0),
        _ => nothing(wish),
    });
}

#[test]
fn members_beyond_the_limit_are_counted_and_linked() {
    let seen = start(2);
    let _shop = shop(&seen.node);
    operate(&seen, "wide", &Value::Null, nothing);
}

/// Fails at its first message.
async fn till(mut me: Process<u32>) -> Result<(), std::io::Error> {
    me.register("till").map_err(std::io::Error::other)?;
    me.receive().await;
    Err(std::io::Error::other("the drawer is empty"))
}

// The cluster
#[test]
fn the_cluster_view_shows_nodes_traffic_and_round_trips_or_missing_answers() {
    let seen = start(2);
    let other = Node::builder().workers(1).build().expect("it starts");
    let epmd = other.block_on(async |_: Process<()>| epmd::Server::start(("127.0.0.1", 0)).await);
    let epmd = epmd.expect("it starts");
    let join = |name: &str, node: &Node| {
        let (on, name) = (node.clone(), name.parse().expect("a name"));
        let address = epmd.address();
        let joined = node.block_on(async move |_: Process<()>| {
            Cluster::builder(name).cookie("c").epmd(address).start(&on).await
        });
        joined.expect("it starts")
    };
    let (ours, theirs) = (join("ours@127.0.0.1", &seen.node), join("theirs@127.0.0.1", &other));
    seen.observer.show_cluster(&ours);
    let (calling, to) = (ours.clone(), theirs.name().clone());
    let up = seen.node.block_on(async move |_: Process<()>| {
        let up = calling.connect(&to).await.map_err(|error| error.to_string());
        // A message to an unregistered name crosses the connection all the same.
        if let Some(nobody) = calling.named::<u32>("nobody", &to) {
            nobody.send(1);
        }
        up
    });
    up.expect("they connect");
    let (back, home) = (theirs.clone(), ours.name().clone());
    other.block_on(async move |_: Process<()>| {
        if let Some(nobody) = back.named::<u32>("nobody", &home) {
            nobody.send(1);
        }
    });
    operate(&seen, "cluster", &Value::Null, |wish| match wish {
        "silence" => {
            // This process is registered in place of the node's and never answers.
            let mute = other.spawn(async |_: Process<Term>| std::future::pending::<()>().await);
            other.register("net_kernel", &mute).expect("the name is free");
        }
        _ => nothing(wish),
    });
    other.stop_blocking();
}

// The ack server
#[test]
fn an_ack_server_shows_connections_rates_and_ack_latency() {
    let seen = start(2);
    let on = seen.node.clone();
    let start =
        async move |_: Process<()>| Server::builder(([127, 0, 0, 1], 0).into()).start(&on).await;
    let server = seen.node.block_on(start).expect("it starts");
    seen.observer.show_server("orders", &server);
    let (mut sent, mut batches) = (0, 0);
    let mut client = std::net::TcpStream::connect(server.local_addr()).expect("it listens");
    operate(&seen, "servers", &Value::Null, |wish| match wish {
        "send" => {
            // One message more in each batch.
            (0..=batches).for_each(|_| {
                let message = Head { id: Id::from(sent), size: 5 }.to_bytes(SizeOrder::Little);
                client.write_all(&message).expect("it reads");
                client.write_all(b"hello").expect("it reads");
                sent += 1;
            });
            batches += 1;
        }
        _ => nothing(wish),
    });
}

// A growing mailbox raises a warning
#[test]
fn a_growing_mailbox_raises_a_warning_that_ends_when_it_is_drained() {
    let seen = start(2);
    let (slow, take) = slow(&seen.node, "slow");
    let about = json!({"slow": slow.id().to_string()});
    // Fills the mailbox until it is killed.
    let filler = |to: Pid<u32>| {
        seen.node.spawn(async move |_: Process<u32>| {
            // WHY real time: the process sends until the test ends it; any number of messages suffices.
            let mut ticks = tokio::time::interval(Duration::from_millis(100));
            loop {
                ticks.tick().await;
                (0..20).for_each(|message| to.send(message));
            }
        })
    };
    let mut filling = None;
    operate(&seen, "warns", &about, |wish| match wish {
        "fill" => filling = Some(filler(slow.clone())),
        "empty" => {
            filling.take().expect("it fills").exit(ExitReason::Kill);
            take(1_000_000);
        }
        _ => nothing(wish),
    });
}

/// Calls the given process once it is known, and never reads its mailbox, so calls to it wait there.
async fn stubborn(_: Process<Reply<()>>, other: tokio::sync::oneshot::Receiver<Pid<Reply<()>>>) {
    if let Ok(other) = other.await {
        // WHY: longer than the test lasts; the test's end aborts the call.
        let _ = other.call_timeout(|reply| reply, Duration::from_secs(600)).await;
    }
}

// A deadlock of two mutual calls is named
#[test]
fn two_processes_that_call_each_other_are_named_as_a_deadlock() {
    let seen = start(2);
    let both = ["bidder", "auctioneer"].map(|name| {
        let (tx, rx) = tokio::sync::oneshot::channel();
        let pid = seen.node.spawn(move |me| stubborn(me, rx));
        seen.node.register(name, &pid).expect("the name is free");
        (pid, Some(tx))
    });
    let ids = both.each_ref().map(|(pid, _)| pid.id().to_string());
    let [(bidder, mut to_bidder), (auctioneer, mut to_auctioneer)] = both;
    operate(&seen, "deadlock", &json!({"both": ids}), |wish| match wish {
        "call" => {
            let sent = to_bidder.take().expect("it is asked once").send(auctioneer.clone());
            sent.expect("it waits");
            let sent = to_auctioneer.take().expect("it is asked once").send(bidder.clone());
            sent.expect("it waits");
        }
        _ => nothing(wish),
    });
}

/// Messages of the traced conversation.
enum Talk {
    Begin(Pid<u32>),
    Price,
    Gone,
}

impl From<Down> for Talk {
    fn from(_: Down) -> Self {
        Self::Gone
    }
}

/// Runs a scenario on a node on which, at its request, a clerk exchanges messages with a till, which then ends.
fn talk(scenario: &str) {
    let seen = start(2);
    let clerk = seen.node.spawn(async |mut me: Process<Talk>| {
        while let Talk::Begin(till) = me.receive().await {
            me.monitor(&till);
            till.send(1);
            while let Talk::Price = me.receive().await {}
        }
    });
    seen.node.register("clerk", &clerk).expect("the name is free");
    let answers = clerk.clone();
    let till = seen.node.spawn(async move |mut me: Process<u32>| {
        me.receive().await;
        answers.send(Talk::Price);
    });
    seen.node.register("till", &till).expect("the name is free");
    let about = json!({"clerk": clerk.id().to_string(), "till": till.id().to_string()});
    operate(&seen, scenario, &about, |wish| match wish {
        "talk" => clerk.send(Talk::Begin(till.clone())),
        _ => nothing(wish),
    });
}

// A trace is drawn as a diagram
#[test]
fn a_trace_is_drawn_as_a_diagram_and_exported_for_chrome() {
    talk("trace");
}

// A page per process, with its last events if it is traced
#[test]
fn the_page_of_a_traced_process_shows_its_last_events() {
    talk("did");
}

#[test]
fn a_long_trace_draws_only_its_last_events() {
    operate(&start(2), "longtrace", &Value::Null, nothing);
}

#[test]
fn a_trace_of_many_processes_draws_those_with_the_newest_events() {
    operate(&start(2), "manylanes", &Value::Null, nothing);
}

// Hostile process names are shown as text
#[test]
fn hostile_names_are_shown_as_text_in_every_view() {
    let seen = start(1);
    let (hostile, _keep) = slow(&seen.node, HOSTILE);
    let on = seen.node.clone();
    let started = seen.node.block_on(async move |_: Process<()>| {
        let tree = SupervisorSpec::one_for_one().name(&format!("tree {HOSTILE}"));
        let tree = tree.child(ChildSpec::worker(HOSTILE, idle)).start(&on).await;
        (tree, Server::builder(([127, 0, 0, 1], 0).into()).start(&on).await)
    });
    let (_tree, server) = (started.0.expect("it starts"), started.1.expect("it starts"));
    seen.observer.show_server(HOSTILE, &server);
    let (end, ended) = channel();
    seen.node.spawn(async move |me: Process<u32>| {
        me.register(&format!("hog {HOSTILE}")).expect("the name is free");
        let _ = ended.recv();
    });
    let filled = hostile.clone();
    seen.node.spawn(async move |_: Process<u32>| {
        // WHY real time: the process sends until the node stops; any number of messages suffices.
        let mut ticks = tokio::time::interval(Duration::from_millis(20));
        loop {
            ticks.tick().await;
            (0..100).for_each(|message| filled.send(message));
        }
    });
    operate(&seen, "hostile", &json!({"hostile": hostile.id().to_string()}), nothing);
    end.send(()).expect("it waits");
}

// No data without the token
#[test]
fn without_a_token_the_page_shows_no_data_and_asks_for_it() {
    operate(&start(2), "login", &Value::Null, nothing);
}

#[test]
fn the_token_is_removed_from_the_address() {
    operate(&start(2), "link", &Value::Null, nothing);
}

#[test]
fn a_hidden_page_sends_no_requests() {
    operate(&start(2), "hidden", &Value::Null, nothing);
}

#[test]
fn a_screen_reader_finds_landmarks_and_names_of_all_controls() {
    operate(&start(2), "a11y", &Value::Null, nothing);
}

#[test]
fn the_keyboard_alone_opens_the_views() {
    operate(&start(2), "keys", &Value::Null, nothing);
}

#[test]
fn dark_and_light_differ_by_preference_and_by_switch() {
    operate(&start(2), "themes", &Value::Null, nothing);
}

#[test]
fn on_a_narrow_screen_only_tables_scroll_sideways() {
    operate(&start(2), "phone", &Value::Null, nothing);
}

#[test]
fn the_page_says_when_the_node_has_ended() {
    let seen = start(2);
    operate(&seen, "ended", &Value::Null, |wish| match wish {
        "stop" => drop(seen.node.stop_blocking()),
        _ => nothing(wish),
    });
}
