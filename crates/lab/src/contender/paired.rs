//! A sample of two nodes: the far node starts to accept messages, the near node sends, the far node stops.
//!
//! A pair has two processes in addition to the one that takes the contender's other samples, because joining a cluster
//! changes a runtime's state. They register with an epmd that no sample measures, under a random cookie. Used by one
//! thread.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use serde_json::{Map, Value, json};

use super::answer::{Failure, Reply};
use super::client::Client;
use super::find::{BUILT_IN, CommandLine, Surroundings};
use super::served::Resources;
use super::stopwatch::Stopwatch;
use crate::sampling::Request;

/// The pairs in which a contender is the near node, by the far node's id.
#[derive(Default)]
pub(super) struct Pairs(HashMap<String, Pair>);

/// Two running programs.
struct Pair {
    near: Client,
    far: Client,
    /// Address of the epmd the programs were started with.
    epmd: String,
    /// The experiment and round the programs were started for.
    round: Option<(String, usize)>,
    cookie: String,
}

/// Returns the far node's contender of a variant such as `to-beam`: for `beam@29` itself if the
/// variant names its runtime.
fn far_kind<'a>(own: &'a str, variant: &'a str) -> Option<&'a str> {
    let kind = variant.strip_prefix("to-")?;
    let same = own.split_once('@').is_some_and(|(runtime, _)| runtime == kind);
    Some(if same { own } else { kind })
}

/// Returns whether the far node of this variant can run here: the near node's contender, or a built-in one.
pub(super) fn can_pair(own: &str, variant: &str, surroundings: &Surroundings) -> bool {
    let built_in = |kind| BUILT_IN.iter().any(|(id, _)| *id == kind);
    let there = |kind| built_in(kind) && surroundings.missing(kind).is_none();
    far_kind(own, variant).is_some_and(|kind| kind == own || there(kind))
}

impl Pairs {
    /// Takes one sample from a pair, which is ended after a failure. If `round` is given, the pair is started for that
    /// round.
    pub(super) fn run(
        &mut self,
        own: &str,
        near: &CommandLine,
        resources: &mut Resources,
        round: Option<(String, usize)>,
        request: &Request<'_>,
    ) -> Result<Reply, Failure> {
        let epmd = resources.epmd()?;
        let variant = request.params.get("variant").and_then(Value::as_str);
        let kind = variant.and_then(|variant| far_kind(own, variant)).unwrap_or(own);
        let fits = |pair: &Pair| pair.epmd == epmd && (round.is_none() || pair.round == round);
        let mut pair = match self.0.remove(kind).filter(fits) {
            Some(pair) => pair,
            None => {
                let mut pair = Pair::start(own, near, kind, resources, epmd)?;
                if round.is_some() {
                    // WHY discarded: a program's first answer is slower than all later ones.
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
    /// Starts both programs; a far node of the near node's contender gets the same options.
    fn start(
        own: &str,
        near: &CommandLine,
        kind: &str,
        resources: &Resources,
        epmd: String,
    ) -> Result<Self, Failure> {
        let far =
            if kind == own { Ok(near.clone()) } else { resources.surroundings.command(kind, &[]) };
        let far = far.map_err(|problem| Failure::Broken(format!("its far node: {problem}")))?;
        let port = epmd.rsplit_once(':').map_or(epmd.as_str(), |(_, port)| port);
        let start = |mut command: CommandLine| {
            command.variables.push(("ERL_EPMD_PORT".into(), port.into()));
            Ok(resources.start(&command)?.0)
        };
        // WHY random: a process that knows the cookie can execute code on these nodes with the user's privileges.
        let random = || RandomState::new().hash_one(port);
        let cookie = format!("{:016x}{:016x}", random(), random());
        Ok(Self { near: start(near.clone())?, far: start(far)?, epmd, round: None, cookie })
    }

    /// Takes one sample, and adds to the near node's answer the far node's count of messages as `taken`.
    ///
    /// Returns why there is no sample. The state of both programs is unknown then.
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
    fn far_node_is_the_near_nodes_contender_or_a_built_in_one_that_can_run_here() {
        let nowhere = || "/nowhere".into();
        let mut here = Surroundings {
            contenders: nowhere(),
            path: OsString::new(),
            cache: nowhere(),
            java_home: None,
        };
        for (own, variant, meets) in [
            ("mine", "to-mine", true),
            ("purlin", "to-purlin", true),
            ("purlin", "to-beam", false),
            ("purlin", "to-mine", false),
            ("purlin", "beam", false),
            ("beam@29", "to-beam", true),
            ("beam@29", "to-beam@27", false),
        ] {
            assert_eq!(can_pair(own, variant, &here), meets, "{own} {variant}");
        }
        let own = std::env::current_exe().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let program = format!("contender-tokio{}", std::env::consts::EXE_SUFFIX);
        std::fs::copy(own, folder.path().join(program)).unwrap();
        here.contenders = folder.path().into();
        assert!(can_pair("purlin", "to-tokio", &here));
    }
}
