//! `purlin lab compare`: which figures moved between two stored runs.

use std::path::{Path, PathBuf};

use crate::comparison::{Comparison, compare as judge, compare_within, markdown, sides, text};
use crate::error::Problem;
use crate::stored::{Figures, read_figures, results_file};

/// What `purlin lab compare` was asked.
#[derive(Debug, Clone)]
pub struct CompareOptions {
    /// The results, or the folder, of the run before.
    pub old: PathBuf,
    /// What it is compared with.
    pub with: With,
    /// The percentage by which no principal figure may get worse.
    pub fail_above: Option<f64>,
    /// Every figure, not only the principal ones.
    pub all: bool,
    /// Markdown instead of text.
    pub markdown: bool,
}

/// What a run is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum With {
    /// The run after: its results, or its folder.
    Run(PathBuf),
    /// Itself: the second of these of its contenders with the first, round by round.
    Within([String; 2]),
}

/// A comparison that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// What is printed.
    pub text: String,
    /// The principal figures that got worse beyond the bound; one line, if there are any.
    pub failure: Option<Problem>,
}

/// Compares two runs, or two contenders of one.
///
/// # Errors
///
/// One line: a path that cannot be read or holds no results, or nothing in
/// common that could be compared.
pub fn compare(options: &CompareOptions) -> Result<Told, Problem> {
    let old = read(&options.old)?;
    let name = options.old.display().to_string();
    match &options.with {
        With::Run(path) => {
            let (new, other) = (read(path)?, path.display().to_string());
            let compared = judge((&name, &old), (&other, &new), options.all);
            let apart = || {
                Problem::new(format!(
                    "{name} and {other} have no figure in common; compare runs of the same \
                     experiments, contenders and profile"
                ))
            };
            Ok(tell(&compared.ok_or_else(apart)?, options))
        }
        With::Within(names) => {
            let sides = sides(&old, [&names[0], &names[1]]).map_err(|missing| {
                let mut there: Vec<_> = old.results.iter().map(|one| &*one.contender).collect();
                there.sort_unstable();
                there.dedup();
                let there = there.join(", ");
                Problem::new(format!(
                    "{name} has no figures of {missing:?}; it has those of {there}"
                ))
            })?;
            let compared = compare_within(&name, &sides, options.all);
            let apart = || {
                let [old, new] = names;
                Problem::new(format!(
                    "{old} and {new} have no figure in common in {name}; compare contenders that \
                     run the same experiments"
                ))
            };
            Ok(tell(&compared.ok_or_else(apart)?, options))
        }
    }
}

/// What is printed of a comparison, and what fails.
fn tell(compared: &Comparison<'_>, options: &CompareOptions) -> Told {
    let shown = if options.markdown { markdown(compared) } else { text(compared) };
    let failure = options.fail_above.and_then(|percent| {
        let worse = compared.beyond(percent);
        let worse: Vec<_> =
            worse.map(|one| format!("{} {}", one.new.experiment, one.new.contender)).collect();
        let told = || format!("worse by more than {percent} %: {}", worse.join(", "));
        (!worse.is_empty()).then(told).map(Problem::new)
    });
    Told { text: shown, failure }
}

fn read(path: &Path) -> Result<Figures, Problem> {
    read_figures(&results_file(path))
}
