//! A sample of two nodes: the far one is told to take messages, the near one to send, the far one to stop.
//!
//! A pair has two programs of its own, beside the one that takes the contender's other samples: a
//! runtime that is a node is not quite the one that it was. They meet at an epmd that no sample
//! asks, under a cookie that nobody else knows. Used by one thread.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use serde_json::{Map, Value, json};

use super::answer::Reply;
use super::client::{Client, Failure};
use super::find::{BUILT_IN, CommandLine, Surroundings};
use super::fleet::Means;
use super::stopwatch::Stopwatch;
use crate::sampling::Request;

/// The pairs of which a contender is the near node, by the far one's kind.
#[derive(Default)]
pub(super) struct Pairs(HashMap<String, Pair>);

/// Two programs that run.
struct Pair {
    near: Client,
    far: Client,
    /// Where the epmd is that they were started with.
    epmd: String,
    /// The round that they were started for.
    round: Option<(String, usize)>,
    cookie: String,
}

/// The far node's kind, of a variant such as `to-beam`.
fn far_kind(variant: &str) -> Option<&str> {
    variant.strip_prefix("to-")
}

/// Whether the far node of this variant can run here: one of the near one's own kind, or a built-in one.
pub(super) fn can_meet(own: &str, variant: &str, surroundings: &Surroundings) -> bool {
    let built_in = |kind| BUILT_IN.iter().any(|(id, _)| *id == kind);
    let there = |kind| built_in(kind) && surroundings.missing(kind).is_none();
    far_kind(variant).is_some_and(|kind| kind == own || there(kind))
}

impl Pairs {
    /// One answer of a pair, which is ended after a failure. With a round it has programs of its own
    /// for that one.
    pub(super) fn run(
        &mut self,
        own: &str,
        near: &CommandLine,
        means: &mut Means,
        round: Option<(String, usize)>,
        request: &Request<'_>,
    ) -> Result<Reply, Failure> {
        let epmd = means.load.epmd()?;
        let variant = request.params.get("variant").and_then(Value::as_str);
        let kind = variant.and_then(far_kind).unwrap_or(own);
        let fits = |pair: &Pair| pair.epmd == epmd && (round.is_none() || pair.round == round);
        let mut pair = match self.0.remove(kind).filter(fits) {
            Some(pair) => pair,
            None => {
                let mut pair = Pair::start(own, near, kind, means, epmd)?;
                if round.is_some() {
                    // WHY unheard: a program's first answer is slower than all others.
                    pair.run(request)?;
                }
                pair.round = round;
                pair
            }
        };
        let reply = pair.run(request)?;
        self.0.insert(kind.to_owned(), pair);
        Ok(reply)
    }
}

impl Pair {
    /// Starts both; one of the near one's own kind has its options, too.
    fn start(
        own: &str,
        near: &CommandLine,
        kind: &str,
        means: &Means,
        epmd: String,
    ) -> Result<Self, Failure> {
        let far =
            if kind == own { Ok(near.clone()) } else { means.surroundings.command(kind, &[]) };
        let far = far.map_err(|problem| Failure::Broken(format!("its far node: {problem}")))?;
        let port = epmd.rsplit_once(':').map_or(epmd.as_str(), |(_, port)| port);
        let start = |mut command: CommandLine| {
            command.variables.push(("ERL_EPMD_PORT".into(), port.into()));
            Ok(means.start(&command)?.0)
        };
        // WHY random: who knows it may do on these nodes whatever this user may.
        let random = || RandomState::new().hash_one(port);
        let cookie = format!("{:016x}{:016x}", random(), random());
        Ok(Self { near: start(near.clone())?, far: start(far)?, epmd, round: None, cookie })
    }

    /// Takes one sample, and adds to the near node's answer how many messages the far one has `taken`.
    ///
    /// # Errors
    ///
    /// Why there is none. Nobody knows in what state that leaves the two.
    fn run(&mut self, request: &Request<'_>) -> Result<Reply, Failure> {
        let stopwatch = Stopwatch::start();
        let far = |failure: Failure| match failure {
            Failure::Interrupted => Failure::Interrupted,
            other => Failure::Broken(format!("its far node {other}")),
        };
        let serve = json!({"cookie": self.cookie});
        let serve = json!({"op": "serve", "experiment": request.experiment, "params": serve});
        let there = self.far.ask(&serve).map_err(far)?;
        let mut params: Map<String, Value> = request.params.clone();
        params.remove("variant");
        let address = there.get("address").cloned();
        let address = address.ok_or_else(|| far(self.far.nonsense("does not say its name")))?;
        params.insert("node".into(), address);
        params.insert("cookie".into(), self.cookie.as_str().into());
        let mut reply = self.near.run(&Request { params: &params, ..*request })?;
        let stopped = self.far.ask(&json!({"op": "stop"})).map_err(far)?;
        let Some(taken) = stopped.get("received").and_then(Value::as_u64) else {
            return Err(far(self.far.nonsense("does not say how much it has received")));
        };
        reply.raw.insert("taken".into(), taken.into());
        Ok(stopwatch.stop(reply))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn a_far_node_is_of_the_near_ones_kind_or_a_contender_that_can_run_here() {
        let nowhere = || "/nowhere".into();
        let mut here =
            Surroundings { contenders: nowhere(), path: OsString::new(), cache: nowhere() };
        for (own, variant, meets) in [
            ("mine", "to-mine", true),
            ("purlin", "to-purlin", true),
            ("purlin", "to-beam", false),
            ("purlin", "to-mine", false),
            ("purlin", "beam", false),
        ] {
            assert_eq!(can_meet(own, variant, &here), meets, "{own} {variant}");
        }
        let own = std::env::current_exe().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let program = format!("contender-tokio{}", std::env::consts::EXE_SUFFIX);
        std::fs::copy(own, folder.path().join(program)).unwrap();
        here.contenders = folder.path().into();
        assert!(can_meet("purlin", "to-tokio", &here));
    }
}
