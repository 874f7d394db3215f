//! `purlin lab compare`: reports which figures changed between two stored runs.

use std::path::{Path, PathBuf};

use crate::comparison::{Comparison, compare as judge, compare_within, markdown, sides, text};
use crate::error::Problem;
use crate::stored::{Figures, read_figures, results_file};

/// Options of `purlin lab compare`.
#[derive(Debug, Clone)]
pub struct CompareOptions {
    /// The results file or folder of the run before.
    pub old: PathBuf,
    /// The other side of the comparison.
    pub with: With,
    /// The percentage by which no primary metric may get worse.
    pub fail_above: Option<f64>,
    /// Compares every figure, not only the primary metrics.
    pub all: bool,
    /// Prints Markdown instead of text.
    pub markdown: bool,
}

/// The other side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum With {
    /// The run after: its results file or folder.
    Run(PathBuf),
    /// The same run: its second named contender against the first, round by round.
    Within([String; 2]),
}

/// The output of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The text to print.
    pub text: String,
    /// One line naming the primary metrics that regressed beyond the threshold, if there are any.
    pub failure: Option<Problem>,
}

/// Compares two runs, or two contenders of one.
///
/// # Errors
///
/// Returns one line if a path cannot be read or holds no results, or if the two sides have no
/// comparable figure in common.
pub fn compare(options: &CompareOptions) -> Result<Told, Problem> {
    let old = read(&options.old)?;
    let name = options.old.display().to_string();
    match &options.with {
        With::Run(path) => {
            let (new, other) = (read(path)?, path.display().to_string());
            let compared = judge((&name, &old), (&other, &new), options.all).ok_or_else(|| {
                Problem::new(format!(
                    "{name} and {other} have no figure in common; compare runs of the same \
                     experiments, contenders and profile"
                ))
            })?;
            Ok(tell(&compared, options))
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
            let compared = compare_within(&name, &sides, options.all).ok_or_else(|| {
                let [old, new] = names;
                Problem::new(format!(
                    "{old} and {new} have no figure in common in {name}; compare contenders that \
                     run the same experiments"
                ))
            })?;
            Ok(tell(&compared, options))
        }
    }
}

/// Renders a comparison and applies the regression threshold.
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
