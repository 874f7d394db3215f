//! Monitors of nodes: two purlin nodes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::processes::join;
use crate::support::{Epmd, in_time, until};
use purlin::{Message, Process};
use purlin_dist::NodeName;
use purlin_dist::cluster::{Cluster, NodeChange, NodeDown, NodeEvent, NodeMonitor};
use tokio::sync::mpsc;

#[derive(Debug, Message)]
enum Mail {
    #[from]
    Down(NodeDown),
    #[from]
    Event(NodeEvent),
}

/// Runs a process on the node, and waits for its end.
async fn run<F>(
    cluster: &Cluster,
    process: impl FnOnce(Process<Mail>, Cluster) -> F + Send + 'static,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let (sender, mut over) = mpsc::channel(1);
    let inside = cluster.clone();
    cluster.node().spawn(async move |me| {
        process(me, inside).await;
        sender.send(()).await.expect("the test waits");
    });
    in_time("the process", over.recv()).await.expect("it does not panic");
}

async fn two() -> (Epmd, Cluster, Cluster) {
    let epmd = Epmd::start();
    let (here, there) = (join(&epmd, "here").await, join(&epmd, "there").await);
    (epmd, here, there)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_monitor_connects_and_sends_one_message_when_the_node_is_gone() {
    let (_epmd, here, there) = two().await;
    let name = there.name().clone();
    run(&here, async move |mut me, here| {
        let own = here.monitor_node(&me, &here.name().clone());
        let (first, second) = (here.monitor_node(&me, &name), here.monitor_node(&me, &name));
        assert_ne!(first, second);
        until("the node connects", || here.nodes() == [name.clone()]).await;
        drop(there);
        let mut monitors = Vec::new();
        for _ in 0..2 {
            let Mail::Down(NodeDown { monitor, node }) = me.receive().await else { panic!() };
            assert_eq!(node, name);
            monitors.push(monitor);
        }
        assert_eq!(monitors, [first.clone(), second]);
        assert!(!here.demonitor_node(&first), "it has fired");
        // The node cannot be connected now.
        let third = here.monitor_node(&me, &name);
        let Mail::Down(down) = me.receive().await else { panic!() };
        assert_eq!((down.monitor, down.node), (third, name));
        assert!(here.demonitor_node(&own), "the own node is never gone");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_removed_node_monitor_sends_nothing() {
    let (_epmd, here, there) = two().await;
    let name = there.name().clone();
    run(&here, async move |mut me, here| {
        let removed = here.monitor_node(&me, &name);
        assert!(here.demonitor_node(&removed));
        assert!(!here.demonitor_node(&removed));
        let all = here.monitor_nodes(&me);
        here.connect(&name).await.expect("it is there");
        let one = here.monitor_node(&me, &name);
        // It may have connected before, on behalf of the removed monitor.
        let mut up = here.nodes().len();
        while up == 0 {
            let Mail::Event(event) = me.receive().await else { panic!() };
            assert!(matches!(event.change, NodeChange::Up { visible: false }));
            up += 1;
        }
        drop(there);
        let (mut down, mut event) = (None, None);
        while down.is_none() || event.is_none() {
            match me.receive().await {
                Mail::Down(message) => down = Some(message.monitor),
                Mail::Event(NodeEvent { change: NodeChange::Up { .. }, .. }) => {}
                Mail::Event(message) => event = Some(message),
            }
        }
        assert_eq!(down, Some(one));
        let change = NodeChange::Down { visible: false };
        assert_eq!(event, Some(NodeEvent { monitor: all.clone(), node: name, change }));
        assert!(here.demonitor_node(&all));
        assert!(!here.demonitor_node(&all));
    })
    .await;
}

/// Removes a callback when it is dropped.
struct Removes(Cluster, NodeMonitor);

impl Drop for Removes {
    fn drop(&mut self) {
        assert!(self.0.demonitor_node(&self.1));
    }
}

// P5: no lock is held while user code runs
#[tokio::test]
async fn a_removed_callback_may_remove_another_one_when_it_is_dropped() {
    let epmd = Epmd::start();
    let here = join(&epmd, "here").await;
    let inner = here.when_changed(|_, _| {});
    let removes = Removes(here.clone(), inner.clone());
    let outer = here.when_changed(move |_, _| {
        let _captured = &removes;
    });
    let same = here.clone();
    let removed = tokio::task::spawn_blocking(move || same.demonitor_node(&outer));
    assert!(in_time("it is removed", removed).await.expect("no panic"));
    assert!(!here.demonitor_node(&inner));
}

#[tokio::test]
async fn a_removed_callback_is_not_called() {
    let (_epmd, here, there) = two().await;
    here.connect(there.name()).await.expect("it is there");
    let calls = Arc::new(AtomicUsize::new(0));
    let counting = |calls: &Arc<AtomicUsize>| {
        let calls = Arc::clone(calls);
        move || {
            calls.fetch_add(1, Ordering::Relaxed);
        }
    };
    let [first, second] = [1, 2].map(|_| counting(&calls));
    let removed = here.when_down(there.name(), move |_| first());
    assert!(here.demonitor_node(&removed));
    let changed = here.when_changed(move |_, _| second());
    assert!(here.demonitor_node(&changed));
    let (sender, mut gone) = mpsc::unbounded_channel();
    here.when_down(there.name(), move |_| sender.send(()).expect("the test waits"));
    assert!(here.disconnect(there.name()));
    in_time("the loss", gone.recv()).await;
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    let nobody: NodeName = "nobody@127.0.0.1".parse().expect("a name");
    let fired = counting(&calls);
    let monitor = here.when_down(&nobody, move |_| fired());
    assert_eq!(calls.load(Ordering::Relaxed), 1, "it is not connected");
    assert!(!here.demonitor_node(&monitor));
}
