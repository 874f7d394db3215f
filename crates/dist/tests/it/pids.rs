//! Pids of processes in messages of Rust types.

use std::time::Duration;

use crate::processes::join;
use crate::support::{Epmd, HANG, in_time};
use purlin::{Pid, Process};
use purlin_dist::cluster::{CallError, Cluster, pid};
use purlin_term::{Term, ValueError, to_term};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

/// `{forward, Pid}`
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Message {
    Forward(#[serde(with = "pid")] Pid<u32>),
}

fn named(from: &Cluster, name: &str, on: &Cluster) -> Pid<Message> {
    from.named(name, on.name()).expect("there is room")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pid_is_the_same_process_on_every_node() {
    let epmd = Epmd::start();
    let (home, away) = (join(&epmd, "home").await, join(&epmd, "away").await);
    home.receives::<Message>();
    away.receives::<Message>();
    away.receives::<u32>();
    home.receives::<u32>();
    let (sender, received) = oneshot::channel();
    let target = home.node().spawn(async move |mut me: Process<u32>| {
        let both = [me.receive().await, me.receive().await];
        sender.send(both).expect("the test waits");
    });
    // On the other node, the pid is that of a remote process.
    let back = named(&away, "back", &home);
    let relay = away.node().spawn(async move |mut me: Process<Message>| {
        let Message::Forward(target) = me.receive().await;
        target.send(1);
        back.send(Message::Forward(target));
        me.receive().await;
    });
    away.node().register("relay", &relay).expect("the name is free");
    // At home, it is the process itself.
    let due = target.clone();
    let returned = home.node().spawn(async move |mut me: Process<Message>| {
        let Message::Forward(target) = me.receive().await;
        assert_eq!(target.id(), due.id());
        target.send(2);
    });
    home.node().register("back", &returned).expect("the name is free");
    named(&home, "relay", &away).send(Message::Forward(target));
    let mut both = in_time("the messages", received).await.expect("it does not panic");
    both.sort_unstable();
    assert_eq!(both, [1, 2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pid_is_converted_in_calls_and_nowhere_else() {
    let epmd = Epmd::start();
    let (home, away) = (join(&epmd, "home").await, join(&epmd, "away").await);
    crate::processes::echoes(&away);
    let target = home.node().spawn(async |mut me: Process<u32>| {
        me.receive().await;
    });
    let request = Message::Forward(target.clone());
    let answer = home.call("echo", away.name(), request, HANG).await;
    let Message::Forward(answer) = answer.expect("it answers");
    assert_eq!(answer.id(), target.id());
    let term = home.call::<Term>("echo", away.name(), Message::Forward(answer), HANG).await;
    let due = Term::tuple([Term::atom("forward"), home.term_of(target.id()).into()]);
    assert_eq!(term, Ok(due));
    // No node has such a pid.
    let name = home.named::<u32>("nobody", away.name()).expect("there is room");
    let soon = Duration::ZERO;
    let refused = home.call::<Term>("echo", away.name(), Message::Forward(name), soon).await;
    assert!(matches!(refused, Err(CallError::Request(_))), "{refused:?}");
    let elsewhere = to_term(&Message::Forward(target));
    let due = "a pid can be converted in messages of a cluster only".to_owned();
    assert_eq!(elsewhere, Err(ValueError::Mismatch(due)));
}
