//! Experiments and contenders that a run selects.

use super::options::RunOptions;
use crate::contender::{Choice, CommandLine, Contender, LOAD, Surroundings, choose, remedy};
use crate::error::Problem;
use crate::experiments::{Experiment, select};
use crate::store;

/// The selected experiments and contenders, and the commands that start them.
pub(super) struct RunSelection {
    pub(super) experiments: Vec<&'static Experiment>,
    pub(super) choice: Choice,
    commands: Vec<CommandLine>,
    pub(super) surroundings: Surroundings,
}

impl RunSelection {
    /// Resolves the request, and compiles contenders that need compiling.
    pub(super) fn find(options: &RunOptions, surroundings: &Surroundings) -> Result<Self, Problem> {
        let mut experiments = select(&options.experiments)?;
        let mut choice = choose(&options.contenders, surroundings)?;
        let met = |one: &Experiment| one.manner.meets();
        if let Some(missing) = remedy(LOAD, surroundings)
            && experiments.iter().any(|one| met(one))
        {
            let what = format!(
                "the experiments with a server (ack-…) need their client, and those with two nodes (dist-…) its epmd: {missing}"
            );
            if !options.experiments.is_empty() {
                return Err(Problem::new(what));
            }
            experiments.retain(|one| !met(one));
            choice.left_out.push(format!("{what}; they are left out"));
        }
        if let Some(json) = &options.json {
            store::probe(json)?;
        }
        let commands = choice.contenders.iter().map(|one| one.command(surroundings));
        let commands = commands.collect::<Result<_, _>>()?;
        Ok(Self { experiments, choice, commands, surroundings: surroundings.clone() })
    }

    pub(super) fn contenders(self) -> impl Iterator<Item = (Contender, CommandLine)> {
        self.choice.contenders.into_iter().zip(self.commands)
    }
}
