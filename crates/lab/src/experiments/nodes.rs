//! Two distribution nodes on one machine: `dist-send`, `dist-round-trip`, `dist-call`.

use super::checks::{asked, conserved, extra, in_order_if_told};
use super::experiment::{Axis, Better, Experiment, Figure, Invalid, Params, SamplingMode};
use super::points::{TIME_PER_OPERATION, counted, params, sweep, timed};
use crate::contender::Reply;

pub(super) static DIST_SEND: Experiment = Experiment {
    id: "dist-send",
    title: "Messages to another node",
    what: "A process sends n messages {message, Number} to a process of another node on the same machine, timed until the receiver has reported that all are there.",
    notes: &[
        "A pair of nodes, each a program of its own, with the connection that Erlang's distribution has: TCP over the loopback interface, no TLS. The contender is the node that sends; the one that receives is named by the variant. The natural variant is a pair of its own kind, against which its ratio is given, and the other stands beside it.",
        "A message is the same in all pairs, a tuple of an atom and a number from 1 to n, to a pid; the receiver counts it if it is the next one, so a sample counts only if all came, once and in order. Both nodes and their connection are there before the clock starts, and go on from sample to sample. epmd is purlin's for all pairs; no request reaches it while the clock runs.",
        "Nothing is answered, so how much is under way is up to the two: the BEAM suspends a sender from 1 MB on, and so does purlin.",
    ],
    metric: "messages per second",
    unit: "messages/s",
    better: Better::Higher,
    figure: Figure::Rate(None),
    variants: true,
    mode: SamplingMode::Paired,
    check: |params, reply| all_taken(params, reply, 1),
    ..TIME_PER_OPERATION
};

pub(super) static DIST_ROUND_TRIP: Experiment = Experiment {
    id: "dist-round-trip",
    title: "A round trip to another node",
    what: "Two processes on two nodes on one machine in lock-step: a message there and the same one back, n times.",
    notes: &[
        "The pairs, the message and the checks are those of dist-send; the answer is counted, too, if it carries the number that was sent.",
        "Beside it stands the latency of one trip in 256 by itself. Most of a trip is what each runtime does between a socket that can be read and a process that runs, and the kernel's wake-ups, so far as a runtime does not save them by asking for a while before it sleeps.",
    ],
    metric: "time per round trip",
    unit: "µs",
    better: Better::Lower,
    figure: Figure::Micros,
    points: |_| timed(Params::new(), counted(100, 100_000_000, 1.0)),
    check: |params, reply| all_taken(params, reply, 2),
    ..DIST_SEND
};

pub(super) static DIST_CALL: Experiment = Experiment {
    id: "dist-call",
    title: "Calls of a server on another node",
    what: "1 or 64 processes call a server on another node on the same machine, each one call after the other, n calls in all.",
    notes: &[
        "The pairs are those of dist-send; a pair is named after the node that calls. A call is gen_server:call({lab, Node}, {echo, Number}) on the BEAM and Cluster::call on purlin; the server is a gen_server, or a purlin server of its own types that is registered with Cluster::serves. Each runtime monitors the server during the call, with a timeout of five seconds.",
        "A call counts if the reply carries its number, and the server counts its calls. The callers are started and the nodes connected before the clock starts; it stops when the last caller has its last reply.",
        "The primary metric is the rate with 64 callers. Beside it stands the latency, of every call: with one caller it is that of an idle connection.",
    ],
    metric: "calls per second",
    unit: "calls/s",
    x: Some(Axis { param: "callers", label: "callers", scale: "log" }),
    figure: Figure::Rate(Some(64)),
    points: |_| {
        sweep(vec![1, 64], |callers, share| {
            (params([("callers", callers)]), counted(100, 100_000_000, share))
        })
    },
    check: |params, reply| all_taken(params, reply, 2),
    ..DIST_SEND
};

/// Checks that all messages were sent and arrived in order, by the counts of both nodes.
fn all_taken(params: &Params, reply: &Reply, messages: u64) -> Result<(), Invalid> {
    let n = asked(params, "n");
    conserved(reply, n, messages * n)?;
    extra(reply, "taken", n)?;
    in_order_if_told(reply)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::experiments::points::params;

    #[test]
    fn sample_is_invalid_if_the_nodes_disagree_on_the_count() {
        let ask = params([("n", 50)]);
        let reply = |received: u64, taken: u64| {
            let raw = json!({
                "elapsed_ns": 1, "ops": 50, "sent": 100, "received": received, "taken": taken,
            });
            Reply::read(raw.as_object().unwrap().clone()).unwrap()
        };
        assert_eq!(all_taken(&ask, &reply(100, 50), 2), Ok(()));
        for (received, taken, due) in [(99, 50, "received is 99"), (100, 49, "taken is 49")] {
            let Invalid(why) = all_taken(&ask, &reply(received, taken), 2).unwrap_err();
            assert!(why.starts_with(due), "{why}");
        }
    }
}
