//! `purlin lab compare`: which figures moved between two stored runs.

use std::path::{Path, PathBuf};

use crate::comparison::{compare as judge, markdown, text};
use crate::error::Problem;
use crate::stored::{Figures, read_figures, results_file};

/// What `purlin lab compare` was asked.
#[derive(Debug, Clone, Default)]
pub struct CompareOptions {
    /// The results, or the folder, of the run before.
    pub old: PathBuf,
    /// Those of the run after.
    pub new: PathBuf,
    /// The percentage by which no principal figure may get worse.
    pub fail_above: Option<f64>,
    /// Every figure, not only the principal ones.
    pub all: bool,
    /// Markdown instead of text.
    pub markdown: bool,
}

/// A comparison that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// What is printed.
    pub text: String,
    /// The principal figures that got worse beyond the bound; one line, if there are any.
    pub failure: Option<String>,
}

/// Compares two runs.
///
/// # Errors
///
/// One line: a path that cannot be read or holds no results, or two runs that
/// have no figure in common.
pub fn compare(options: &CompareOptions) -> Result<Told, Problem> {
    let (old, new) = (read(&options.old)?, read(&options.new)?);
    let names = [&options.old, &options.new].map(|path| path.display().to_string());
    let compared = judge((&names[0], &old), (&names[1], &new), options.all).ok_or_else(|| {
        Problem::new(format!(
            "{} and {} have no figure in common; compare runs of the same experiments, contenders \
             and profile",
            names[0], names[1]
        ))
    })?;
    let shown = if options.markdown { markdown(&compared) } else { text(&compared) };
    let failure = options.fail_above.and_then(|percent| {
        let worse = compared.beyond(percent);
        let worse: Vec<_> =
            worse.map(|one| format!("{} {}", one.new.experiment, one.new.contender)).collect();
        let told = || format!("worse by more than {percent} %: {}", worse.join(", "));
        (!worse.is_empty()).then(told)
    });
    Ok(Told { text: shown, failure })
}

fn read(path: &Path) -> Result<Figures, Problem> {
    read_figures(&results_file(path))
}
