//! Two purlin nodes that call each other with many and large answers and requests: each owes the other far more than the
//! limit of answers, and every call is answered.

use std::time::Duration;

use crate::processes::builder;
use crate::support::{Epmd, in_time};
use purlin::{Node, Process};
use purlin_dist::cluster::{Cluster, GenCall};
use purlin_dist::link::Settings;
use purlin_term::Term;
use tokio::task::JoinSet;

/// CLOCK: a call ends when it is answered; the test's own guard against hanging is shorter.
const UNLIMITED: Duration = Duration::from_secs(24 * 3600);

/// A node whose process `bytes` answers a call for a number with a binary of that length, as `attack:bytes/2` does, which
/// ignores its second argument. The tick time ends no connection here, so that a stop is not hidden by a new one.
async fn node(epmd: &Epmd, name: &str) -> Cluster {
    let node = Node::builder().workers(2).build().expect("a node");
    let settings = Settings {
        tick_time: UNLIMITED,
        high_watermark: 64 << 10,
        answer_limit: 256 << 10,
        ..Settings::default()
    };
    let cluster = builder(epmd, name).settings(settings).start(&node).await.expect("it joins");
    let answers = cluster.clone();
    let server = node.spawn(async move |mut me: Process<Term>| {
        while let Ok(call) = GenCall::try_from(me.receive().await) {
            let answer = binary(&call.request);
            answers.reply(call, answer);
        }
    });
    node.register("bytes", &server).expect("the name is free");
    let exported = cluster
        .export("attack", "bytes", 2, |arguments| std::future::ready(Ok(binary(&arguments[0]))));
    exported.expect("a short name");
    cluster
}

fn binary(length: &Term) -> Term {
    let length: usize = purlin_term::from_term(length).expect("a length");
    Term::from(vec![7; length].as_slice())
}

/// Starts calls of one node to the other.
fn calls(all: &mut JoinSet<()>, from: &Cluster, to: &Cluster, count: usize, length: usize) {
    for _ in 0..count {
        let (from, to) = (from.clone(), to.name().clone());
        all.spawn(async move {
            let answer =
                from.call::<Term>("bytes", &to, Term::from(length as u32), UNLIMITED).await;
            assert_eq!(answer.expect("an answer").as_binary().map(<[u8]>::len), Some(length));
        });
    }
}

/// Starts calls of a function, with an argument of that length.
fn functions(all: &mut JoinSet<()>, from: &Cluster, to: &Cluster, count: usize, length: usize) {
    for _ in 0..count {
        let (from, to) = (from.clone(), to.name().clone());
        all.spawn(async move {
            let number = Term::from(length as u32);
            let arguments = vec![number.clone(), binary(&number)];
            let answer = from.rpc(&to, "attack", "bytes", arguments, UNLIMITED).await;
            assert_eq!(answer.expect("an answer").as_binary().map(<[u8]>::len), Some(length));
        });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_that_owe_each_other_many_answers_read_on() {
    let epmd = Epmd::start();
    let (a, b) = (node(&epmd, "a").await, node(&epmd, "b").await);
    let mut all = JoinSet::new();
    for (from, to) in [(&a, &b), (&b, &a)] {
        calls(&mut all, from, to, 3000, 10_000);
        calls(&mut all, from, to, 100, 300_000);
        functions(&mut all, from, to, 3000, 100);
        functions(&mut all, from, to, 100, 300_000);
    }
    while let Some(ended) = in_time("the next answer", all.join_next()).await {
        ended.expect("an answer");
    }
    for cluster in [&a, &b] {
        let traffic = cluster.traffic();
        assert_eq!(traffic.len(), 1, "the connection stays");
        assert_eq!(traffic[0].1.dropped, 0);
    }
}
