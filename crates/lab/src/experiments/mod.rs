//! The experiments: requests to contenders, and the conditions of a valid answer.
//!
//! Each file holds one group of [`Experiment`]s. All code here is data and pure functions: it starts no program, reads
//! no clock and draws no random numbers. Only `hog`, `signals`, `spread` and `ack-sync-or-async` depend on the machine, by its
//! number of cores.
//!
//! Sampling takes the points from an experiment, the results take its figure, and [`Experiment::check`] alone decides
//! which samples are invalid.

pub(crate) mod acks;
mod asking;
mod calls;
mod checks;
mod exchange;
mod exits;
mod experiment;
mod flow;
mod hog;
mod nodes;
mod points;
mod savina;
mod savina_check;
pub(crate) mod signals;
mod spawning;
pub(crate) mod spread;
mod trees;
mod waiting;

use crate::error::Problem;

pub use experiment::{
    Axis, Better, Experiment, Figure, Invalid, Params, Point, Quantity, SamplingMode, Scaled,
};

/// All experiments, in execution order.
pub static ALL: [&Experiment; 47] = [
    &calls::CALL_VS_SEND,
    &calls::TAIL_CALL,
    &spawning::SPAWN_CHAIN,
    &exchange::EXCHANGE,
    &exchange::MESSAGE_SIZE,
    &exchange::BANDWIDTH,
    &exchange::MESSAGE_MOVED,
    &spawning::SERIAL_SPAWN,
    &flow::PING_PONG,
    &flow::THROUGHPUT,
    &flow::FAN_IN,
    &flow::FAN_OUT,
    &flow::THREAD_RING,
    &asking::CALL,
    &asking::CALL_DEEP,
    &asking::REPLY_DEEP,
    &asking::SELECTIVE,
    &trees::FORK_JOIN,
    &trees::SKYNET,
    &waiting::TIMERS,
    &waiting::TIMER_EXPIRY,
    &waiting::IDLE_MEMORY,
    &hog::HOG,
    &exits::MONITOR_CHURN,
    &exits::LINK_CHURN,
    &exits::EXIT_CASCADE,
    &exits::RESTART,
    &signals::SIGNALS,
    &savina::BANKING,
    &savina::BOUNDED_BUFFER,
    &savina::CHAMENEOS,
    &savina::DICTIONARY,
    &savina::LOGISTIC_MAP,
    &savina::PHILOSOPHERS,
    &savina::SIEVE,
    &savina::BIG,
    &spread::SPREAD,
    &acks::REQUEST_REPLY,
    &acks::THROTTLE,
    &acks::HEAD_REST,
    &acks::SYNC_ACK,
    &acks::ASYNC_ACK,
    &acks::BEST,
    &acks::SYNC_OR_ASYNC,
    &nodes::DIST_SEND,
    &nodes::DIST_ROUND_TRIP,
    &nodes::DIST_CALL,
];

/// Returns the experiments of these names in the order of [`ALL`]; all of them if no name is given.
///
/// # Errors
///
/// Returns one line with the first unknown name and the known names.
pub fn select(names: &[String]) -> Result<Vec<&'static Experiment>, Problem> {
    let names: Vec<_> = names.iter().map(|name| name.trim()).collect();
    for &name in &names {
        if !ALL.iter().any(|known| known.id == name) {
            let known: Vec<_> = ALL.iter().map(|known| known.id).collect();
            return Err(Problem::new(format!(
                "there is no experiment {name:?}; there are {} (see `purlin lab list`)",
                known.join(", ")
            )));
        }
    }
    let wanted = |known: &&&Experiment| names.is_empty() || names.contains(&known.id);
    Ok(ALL.iter().filter(wanted).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    #[test]
    fn unknown_name_is_refused_with_the_known_names() {
        let refused = select(&["ping-pong".into(), "pong".into()]).unwrap_err();
        assert!(refused.to_string().contains("\"pong\""));
        assert!(refused.to_string().contains("thread-ring"));
    }

    #[test]
    fn selected_experiments_run_once_in_the_order_of_the_list() {
        let names = ["skynet", "ping-pong", "skynet"].map(String::from);
        let ids: Vec<_> = select(&names).unwrap().iter().map(|one| one.id).collect();
        assert_eq!(ids, ["ping-pong", "skynet"]);
    }

    #[test]
    fn every_experiment_has_texts_and_points() {
        for one in ALL {
            assert!([one.id, one.title, one.what, one.metric].iter().all(|text| !text.is_empty()));
            assert!(!(one.points)(Profile::Quick).is_empty(), "{}", one.id);
        }
    }

    #[test]
    fn x_of_the_primary_metric_is_sampled_in_both_profiles() {
        for profile in [Profile::Quick, Profile::Full] {
            for experiment in ALL {
                let (Figure::PerOperation(Some(x))
                | Figure::Rate(Some(x))
                | Figure::Elements(x)
                | Figure::OverPerfect(x)) = experiment.figure
                else {
                    continue;
                };
                let points = (experiment.points)(profile);
                let found = points.iter().filter(|point| point.x == Some(x)).count();
                assert_eq!(found, 1, "{} {profile:?}", experiment.id);
            }
        }
    }

    #[test]
    fn points_of_a_sweep_take_the_time_of_one_sample_together() {
        // The server's 5 ms timers would dominate shorter samples.
        let divided = |one: &&&Experiment| one.x.is_some() && one.mode != SamplingMode::Served;
        for experiment in ALL.iter().filter(divided) {
            let points = (experiment.points)(Profile::Quick);
            let share: f64 =
                points.iter().filter_map(|point| point.scaled).map(|scaled| scaled.share).sum();
            assert!(share < 1.001, "{}", experiment.id);
        }
    }
}
