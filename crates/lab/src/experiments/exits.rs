//! Process exits and their notifications: `monitor-churn`, `link-churn`, `exit-cascade`, `restart`.

use super::checks::{extra, one_each, reps};
use super::experiment::{Axis, Better, Experiment, Figure, Point, SamplingMode};
use super::points::{TIME_PER_OPERATION, params, repeated, timed};

/// Processes that a sample of `exit-cascade` ends, whatever the length of its chains.
const ENDED: u64 = 100_000;

/// Restarts per supervisor in `restart`.
const RESTARTS: u64 = 100;

pub(super) static MONITOR_CHURN: Experiment = Experiment {
    id: "monitor-churn",
    title: "Monitors that fire",
    what: "One process spawns another under a monitor, which ends at once, and receives its down message; n times.",
    notes: &[
        "On the BEAM spawn_monitor/1, on purlin Process::spawn_monitor: the monitor is there before the process can end.",
        "tokio has no monitors: there, on ractor and on kameo it is the join handle that spawning gives, awaited. It has one owner, and returns the result or the panic.",
    ],
    metric: "time per round",
    ..TIME_PER_OPERATION
};

pub(super) static LINK_CHURN: Experiment = Experiment {
    id: "link-churn",
    title: "Links that break",
    what: "One process, which traps exits, spawns another with a link, which ends at once, and receives its exit message; n times.",
    notes: &[
        "On the BEAM spawn_link/1, on purlin Process::spawn_link: the link is there before the process can end.",
        "tokio has no links.",
    ],
    ..MONITOR_CHURN
};

pub(super) static EXIT_CASCADE: Experiment = Experiment {
    id: "exit-cascade",
    title: "A chain that breaks",
    what: "A hundred thousand processes are linked in a chain; the first is ended, and each takes the next with it.",
    notes: &[
        "The chain stands before the clock starts, which ends when a down message arrives for the last, with the reason of the first. Then none of them may be alive.",
        "The primary metric is that of one chain of a hundred thousand. Beside it stand shorter chains, as many as end a hundred thousand in all: a time that grows faster than the chain shows.",
        "tokio has no links.",
    ],
    metric: "time per process",
    x: Some(Axis { param: "n", label: "processes in the chain", scale: "log" }),
    figure: Figure::PerOperation(Some(ENDED)),
    mode: SamplingMode::Few,
    points: |_| {
        let chain =
            |n| Point { x: Some(n), params: params([("n", n), ("reps", ENDED / n)]), scaled: None };
        [1000, 10_000, ENDED].map(chain).to_vec()
    },
    ..TIME_PER_OPERATION
};

pub(super) static RESTART: Experiment = Experiment {
    id: "restart",
    title: "Restarts",
    what: "A supervisor restarts its only child, a server, each time that it ends with an error.",
    notes: &[
        "The child receives a message to end; its successor reports when it has been initialised, and then receives the same message. The clock starts when the first child is there.",
        "A supervisor restarts its child a hundred times and is replaced by a fresh one outside of the clock: OTP's goes through all restarts of its period at each.",
        "Reports of crashes are switched off: writing them takes longer than the restart.",
        "tokio has no supervisors. On ractor an actor that spawns the child again when it is notified of its failure, on kameo its own supervision, where the reference to the child stays the same. The Supervisor of actix begins an actor again that has stopped without an error, which is something else.",
    ],
    metric: "restarts",
    unit: "restarts/s",
    better: Better::Higher,
    figure: Figure::Rate(None),
    points: |_| timed(params([("n", RESTARTS)]), repeated(1, 1.0)),
    check: |params, reply| {
        one_each(params, reply)?;
        extra(reply, "alive", reps(params))
    },
    ..TIME_PER_OPERATION
};

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::contender::Reply;
    use crate::experiments::checks::asked;
    use crate::profile::Profile;

    #[test]
    fn chains_of_every_length_end_the_same_number_of_processes() {
        let points = (EXIT_CASCADE.points)(Profile::Quick);
        assert!(points.len() > 1);
        for Point { params, .. } in points {
            assert_eq!(asked(&params, "n") * reps(&params), ENDED);
        }
    }

    #[test]
    fn surviving_process_and_missing_child_make_a_sample_invalid() {
        let ask = params([("n", 5), ("reps", 2)]);
        let reply = |received: u64, alive: u64| {
            let raw = json!({
                "elapsed_ns": 1, "ops": 10, "sent": 10, "received": received, "alive": alive,
            });
            Reply::read(raw.as_object().unwrap().clone()).unwrap()
        };
        assert_eq!((EXIT_CASCADE.check)(&ask, &reply(10, 2)), Ok(()));
        assert!((EXIT_CASCADE.check)(&ask, &reply(9, 2)).is_err());
        assert_eq!((RESTART.check)(&ask, &reply(10, 2)), Ok(()));
        assert!((RESTART.check)(&ask, &reply(10, 1)).is_err());
    }
}
