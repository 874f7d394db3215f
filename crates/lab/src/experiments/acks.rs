//! Acknowledged small messages over TCP: `ack-request-reply` to `ack-best`, `ack-sync-or-async`.

use super::checks::{asked, conserved, extra, in_order};
use super::experiment::{
    Axis, Better, Experiment, Figure, Invalid, Params, Point, SamplingMode, Scaled,
};
use super::points::{TIME_PER_OPERATION, cores, params};
use crate::contender::Reply;
use crate::profile::Profile;

/// Payload size in bytes, as in 2015.
const SIZE: u64 = 5;

/// Maximum messages per connection in a sample: what the fastest server takes in a minute.
const MOST: u64 = 10_000_000_000;

/// Messages per write at which the primary metric compares the two strategies: that of sync-ack in
/// 2015, close to async-ack's.
const PRIMARY_BATCH: u64 = 50;

/// Common definition of these experiments; the points are those of request-reply.
pub(super) static REQUEST_REPLY: Experiment = Experiment {
    id: "ack-request-reply",
    title: "Request and reply over TCP",
    what: "Clients send messages of 17 bytes to a server over TCP and wait for the answer to each.",
    notes: &[
        "After David Beck's experiments of 2015. The contender serves, and one client, the same for all, sends and verifies; both run on this machine. The server is started for each sample and stopped after it; connecting is not timed. A sample counts only if the server has acknowledged as many messages as were sent.",
        "Published then: 22 thousand messages per second on a laptop with two cores, 20 thousand on an old Linux machine, 26 thousand on a cloud instance with FreeBSD.",
    ],
    metric: "messages per second",
    unit: "messages/s",
    better: Better::Higher,
    x: Some(Axis { param: "connections", label: "connections", scale: "log" }),
    figure: Figure::Rate(Some(1)),
    variants: true,
    mode: SamplingMode::Served,
    points: |_| ladder(1, 200),
    check: all_acknowledged,
    ..TIME_PER_OPERATION
};

pub(super) static THROTTLE: Experiment = Experiment {
    id: "ack-throttle",
    title: "Throttle",
    what: "Messages of 17 bytes, one in a write; the server reads each by two reads, hands it to another process by a call, and acknowledges every 5 ms.",
    notes: &[
        "The client of 2015: one message in a write, as many unanswered as the sockets hold.",
        "Published then: 90 to 100 thousand messages per second on a laptop, 30 thousand on an old Linux machine, 150 thousand on a cloud instance.",
    ],
    points: |_| ladder(1, 2000),
    ..REQUEST_REPLY
};

pub(super) static HEAD_REST: Experiment = Experiment {
    id: "ack-head-rest",
    title: "Head and rest",
    what: "Messages of 17 bytes, 50 in a write; the server reads whatever there is, hands each message to another process by a call, and acknowledges every 5 ms.",
    notes: &[
        "The client of 2015: 50 messages in a write, TCP_NODELAY.",
        "Published then: 250 to 274 thousand messages per second on a laptop, 78 thousand on an old Linux machine, 302 thousand on a cloud instance.",
    ],
    points: |_| ladder(50, 5000),
    ..REQUEST_REPLY
};

pub(super) static SYNC_ACK: Experiment = Experiment {
    id: "ack-sync-ack",
    title: "Sync ack",
    what: "Messages of 17 bytes, 50 in a write; the server reads whatever there is and acknowledges each read.",
    notes: &[
        "The client of 2015: 50 messages in a write.",
        "Published then: 2.0 to 2.5 million messages per second on a laptop, 1.38 million on an old Linux machine, 2.6 million on a cloud instance.",
    ],
    points: |_| ladder(50, 50_000),
    ..REQUEST_REPLY
};

pub(super) static ASYNC_ACK: Experiment = Experiment {
    id: "ack-async-ack",
    title: "Async ack",
    what: "Messages of 17 bytes, 150 in a write; the server hands blocks as they were read to another process, which acknowledges every 22nd or after 5 ms of silence.",
    notes: &[
        "The client of 2015: 150 messages in a write. The last ack of a sample comes after the silence, which is timed.",
        "Published then: 2.7 to 3.36 million messages per second on a laptop; on an old Linux machine with 780 thousand and a cloud instance with 2.4 million it was slower than sync-ack.",
    ],
    points: |_| ladder(150, 50_000),
    ..REQUEST_REPLY
};

pub(super) static BEST: Experiment = Experiment {
    id: "ack-best",
    title: "The best way to acknowledge",
    what: "Messages of 17 bytes, 16 384 in a write; the server does what it can.",
    notes: &[
        "There was none of it in 2015. purlin's reads all there is, handles it where it lies and acknowledges it at once.",
        "A write is a quarter of a megabyte: with small ones it is the client's writes that are measured.",
        "batch: the messages are found and counted, and that is all. each: whole blocks are handed to a process, which calls a function for each message, and says when it is through.",
    ],
    points: |_| ladder(16_384, 100_000),
    ..REQUEST_REPLY
};

pub(super) static SYNC_OR_ASYNC: Experiment = Experiment {
    id: "ack-sync-or-async",
    title: "Sync ack or async ack",
    what: "The servers of sync-ack and async-ack, each on a given number of cores, against the number of messages in a write.",
    notes: &[
        "Which of the two wins depends on the processor: in 2015 async-ack won on a laptop and lost on an old Linux machine and on a cloud instance. A picture for each number of cores and of connections; which strategy a line is stands behind the contender's name, and what is set otherwise than by default.",
        "The cores are those of the server: purlin has a node of as many workers, tokio a runtime of as many, the BEAM as many schedulers online, Go that GOMAXPROCS. The client has a thread for each connection beside them. At the end of each sample of async-ack there are 5 ms of silence.",
        "The primary metric is sync-ack's with 50 messages in a write, one connection and two cores, or as many as there are.",
    ],
    x: Some(Axis { param: "batch", label: "messages in a write", scale: "log" }),
    figure: Figure::SyncOrAsync,
    points: either,
    ..REQUEST_REPLY
};

/// Returns points with 1, 2 and 4 connections; the first, of the primary metric, takes the full
/// time of a sample, the others half of it.
fn ladder(batch: u64, start: u64) -> Vec<Point> {
    let rung = |(connections, share)| {
        let params = params([("connections", connections), ("batch", batch), ("size", SIZE)]);
        Point { x: Some(connections), params, scaled: Some(messages(start, share)) }
    };
    [(1, 1.0), (2, 0.5), (4, 0.5)].map(rung).to_vec()
}

fn either(profile: Profile) -> Vec<Point> {
    let connections: &[u64] = if profile == Profile::Quick { &[1] } else { &[1, 4] };
    let mut points = Vec::new();
    for cores in 1..=most_cores() {
        for &connections in connections {
            points.extend([1, 5, PRIMARY_BATCH, 500].map(|batch| Point {
                x: Some(batch),
                params: params([
                    ("cores", cores),
                    ("connections", connections),
                    ("batch", batch),
                    ("size", SIZE),
                ]),
                scaled: Some(messages(5000, 0.5)),
            }));
        }
    }
    points
}

/// Returns 2, or the number of cores if the machine has fewer.
fn most_cores() -> u64 {
    cores().min(2)
}

/// Messages per connection, set by calibration.
fn messages(start: u64, share: f64) -> Scaled {
    Scaled { param: "messages", start, cap: MOST, share, stepped: false }
}

/// Returns whether these parameters give the primary metric of `ack-sync-or-async`.
pub(crate) fn is_primary(params: &Params) -> bool {
    asked(params, "batch") == PRIMARY_BATCH
        && asked(params, "connections") == 1
        && asked(params, "cores") == most_cores()
}

/// Returns the name of the graph a point of `ack-sync-or-async` belongs to.
pub(crate) fn graph(params: &Params) -> String {
    let many = |name: &str, one: &str, more: &str| match asked(params, name) {
        1 => format!("1 {one}"),
        number => format!("{number} {more}"),
    };
    let (cores, connections) =
        (many("cores", "core", "cores"), many("connections", "connection", "connections"));
    format!("{cores}, {connections}")
}

/// Checks that all messages were sent and answered, by the counts of client and server.
fn all_acknowledged(params: &Params, reply: &Reply) -> Result<(), Invalid> {
    let all = asked(params, "connections") * asked(params, "messages");
    conserved(reply, all, all)?;
    extra(reply, "acknowledged", all)?;
    in_order(reply)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_point_is_the_primary_metric_in_each_profile_and_all_points_are_distinct() {
        for profile in [Profile::Quick, Profile::Full] {
            let points = either(profile);
            assert_eq!(points.iter().filter(|point| is_primary(&point.params)).count(), 1);
            let mut places: Vec<_> =
                points.iter().map(|point| (graph(&point.params), point.x)).collect();
            places.sort();
            places.dedup();
            assert_eq!(places.len(), points.len());
        }
    }

    #[test]
    fn graph_is_named_after_cores_and_connections() {
        let named =
            |cores, connections| graph(&params([("cores", cores), ("connections", connections)]));
        assert_eq!(named(1, 4), "1 core, 4 connections");
        assert_eq!(named(2, 1), "2 cores, 1 connection");
    }

    #[test]
    fn sample_is_invalid_if_the_ends_disagree_on_the_count() {
        let ask = params([("connections", 2), ("messages", 50)]);
        let reply = |ops: u64, received: u64, acknowledged: u64| {
            let raw = json!({
                "elapsed_ns": 1, "ops": ops, "sent": 100, "received": received,
                "acknowledged": acknowledged, "p50_ns": 1, "p99_ns": 2, "max_ns": 2,
            });
            Reply::read(raw.as_object().unwrap().clone()).unwrap()
        };
        assert_eq!(all_acknowledged(&ask, &reply(100, 100, 100)), Ok(()));
        for (ops, received, acknowledged, named) in
            [(99, 100, 100, "ops"), (100, 99, 100, "received"), (100, 100, 99, "acknowledged")]
        {
            let Invalid(why) =
                all_acknowledged(&ask, &reply(ops, received, acknowledged)).unwrap_err();
            assert!(why.starts_with(&format!("{named} is 99")), "{why}");
        }
    }
}
