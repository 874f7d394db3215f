//! Judges what was seen: is it among what the clauses allow?

use rustc_hash::FxHashMap;

use crate::language::Program;
use crate::model::{Reached, Runtime, TooMany, allows, outcomes};
use crate::outcome::Outcome;

/// How many states the model looks at for all outcomes of a program.
const MOST_FOR_ALL: usize = 1_000;
/// How many it looks at for one that was seen.
const MOST_FOR_ONE: usize = 20_000;

/// What a program may come to.
pub struct Legal<'a> {
    program: &'a Program,
    runtime: Runtime,
    /// All of it, unless it is too much to list.
    all: Option<FxHashMap<Outcome, Reached>>,
}

/// What is to be said of an outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The clauses allow it; so many steps of each script were taken.
    Allowed(Reached),
    /// They do not.
    Refused,
    /// Nobody can say: the model has too many states.
    Unknown,
}

impl<'a> Legal<'a> {
    /// What the program may come to on that runtime.
    #[must_use]
    pub fn of(program: &'a Program, runtime: Runtime) -> Self {
        Self { program, runtime, all: outcomes(program, runtime, MOST_FOR_ALL) }
    }

    /// How many outcomes are allowed; `None` if they are too many to list.
    #[must_use]
    pub fn count(&self) -> Option<usize> {
        self.all.as_ref().map(FxHashMap::len)
    }

    /// Some of what is allowed, as text.
    #[must_use]
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

    /// Is this allowed?
    #[must_use]
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
