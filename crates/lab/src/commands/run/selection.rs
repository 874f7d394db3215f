//! Experiments and contenders that a run selects.

use crate::contender::{self, CommandLine, Contender, LOAD, Surroundings};
use crate::error::Problem;
use crate::experiments::{self, Experiment};
use crate::options::RunOptions;
use crate::store;

/// The selected experiments and contenders.
pub(super) struct RunSelection {
    pub(super) experiments: Vec<&'static Experiment>,
    /// The contenders, each with the command line that starts it.
    pub(super) contenders: Vec<(Contender, CommandLine)>,
    /// One line for each contender or group of experiments left out by default.
    pub(super) left_out: Vec<String>,
    pub(super) surroundings: Surroundings,
}

impl RunSelection {
    /// Resolves the request, and compiles contenders that need compiling.
    pub(super) fn find(options: &RunOptions, surroundings: &Surroundings) -> Result<Self, Problem> {
        let mut experiments = experiments::select(&options.experiments)?;
        let mut selected = contender::select(&options.contenders, surroundings)?;
        let needs_load = |one: &Experiment| one.mode.needs_load_client();
        if let Some(missing) = surroundings.missing(LOAD)
            && experiments.iter().any(|one| needs_load(one))
        {
            let what = format!(
                "the experiments with a server (ack-…) need their client, and those with two nodes (dist-…) its epmd: {missing}"
            );
            if !options.experiments.is_empty() {
                return Err(Problem::new(what));
            }
            experiments.retain(|one| !needs_load(one));
            selected.left_out.push(format!("{what}; they are left out"));
        }
        if let Some(json) = &options.json {
            store::probe(json)?;
        }
        let with_command = |one: Contender| one.command(surroundings).map(|command| (one, command));
        let contenders =
            selected.contenders.into_iter().map(with_command).collect::<Result<_, _>>()?;
        let (left_out, surroundings) = (selected.left_out, surroundings.clone());
        Ok(Self { experiments, contenders, left_out, surroundings })
    }
}
