//! Judges whether the clauses allow an observed outcome.

use rustc_hash::FxHashMap;

use crate::language::Program;
use crate::model::{Reached, Runtime, TooMany, allows, outcomes};
use crate::outcome::Outcome;

/// Limit of states visited to list all outcomes of a program.
const MOST_FOR_ALL: usize = 1_000;
/// Limit of states visited to check one observed outcome.
const MOST_FOR_ONE: usize = 20_000;

/// Allowed outcomes of a program.
pub struct Legal<'a> {
    program: &'a Program,
    runtime: Runtime,
    /// All allowed outcomes, or `None` if there are too many states to list them.
    all: Option<FxHashMap<Outcome, Reached>>,
}

/// Verdict on an outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The clauses allow it. Contains the number of steps executed per script.
    Allowed(Reached),
    /// The clauses do not allow it.
    Refused,
    /// Undecided: the model has too many states.
    Unknown,
}

impl<'a> Legal<'a> {
    /// Computes the allowed outcomes of a program on a runtime.
    pub fn of(program: &'a Program, runtime: Runtime) -> Self {
        Self { program, runtime, all: outcomes(program, runtime, MOST_FOR_ALL) }
    }

    /// Returns the number of allowed outcomes, or `None` if there are too many states to list them.
    pub fn count(&self) -> Option<usize> {
        self.all.as_ref().map(FxHashMap::len)
    }

    /// Returns up to three allowed outcomes as text.
    pub fn examples(&self) -> String {
        let Some(all) = &self.all else { return "more than can be listed".to_string() };
        let some: Vec<String> = all.keys().take(3).map(ToString::to_string).collect();
        let more = if all.len() > some.len() {
            format!("and {} more", all.len() - some.len())
        } else {
            String::new()
        };
        some.join("or\n") + &more
    }

    /// Judges an outcome.
    pub fn judge(&self, seen: &Outcome) -> Verdict {
        let way = match &self.all {
            Some(all) => Ok(all.get(seen).cloned()),
            None => allows(self.program, self.runtime, seen, MOST_FOR_ONE),
        };
        match way {
            Ok(Some(reached)) => Verdict::Allowed(reached),
            Ok(None) => Verdict::Refused,
            Err(TooMany) => Verdict::Unknown,
        }
    }
}
