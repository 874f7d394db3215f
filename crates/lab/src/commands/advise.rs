//! `purlin lab advise`: estimates what a design costs on each measured runtime.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::advice::{self, Design, markdown, text};
use crate::error::Problem;
use crate::store::{PARENT, RESULTS};
use crate::stored::{read_figures, results_file};

/// Output format of the estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Text for a terminal.
    Text,
    /// Markdown for a document.
    Markdown,
    /// JSON for a program.
    Json,
}

/// Options of `purlin lab advise`.
#[derive(Debug, Clone)]
pub struct AdviseOptions {
    /// The design whose cost is estimated.
    pub design: Design,
    /// The results file or folder of the run to read; the newest run if absent.
    pub path: Option<PathBuf>,
    /// The output format.
    pub shape: Shape,
}

/// Returns the rendered estimate.
///
/// # Errors
///
/// Returns one line if no run exists, it cannot be read, or it lacks the required experiments.
pub fn advise(options: &AdviseOptions) -> Result<String, Problem> {
    let file = match &options.path {
        Some(path) => results_file(path),
        None => newest(Path::new(PARENT))?,
    };
    let name = file.display().to_string();
    let advice = advice::advise(options.design, &name, &read_figures(&file)?);
    if advice.costs.is_empty() {
        let why = advice.left_out.first().map_or("it has no figures", |line| line);
        return Err(Problem::new(format!(
            "{name} does not tell what a message costs ({why}); make a run with \
             `purlin lab run -e exchange,message-size,throughput,spawn-chain`"
        )));
    }
    Ok(match options.shape {
        Shape::Text => text(&advice),
        Shape::Markdown => markdown(&advice),
        Shape::Json => format!("{:#}\n", serde_json::json!(advice)),
    })
}

/// Returns the most recently modified results file in this folder of runs.
fn newest(parent: &Path) -> Result<PathBuf, Problem> {
    let runs = fs::read_dir(parent).into_iter().flatten().flatten();
    let results = runs.map(|run| run.path().join(RESULTS)).filter_map(|file| {
        let written: SystemTime = fs::metadata(&file).and_then(|about| about.modified()).ok()?;
        Some((written, file))
    });
    results.max().map(|(_, file)| file).ok_or_else(|| {
        Problem::new(format!(
            "there is no run in {}; make one with `purlin lab run`, or name its results",
            parent.display()
        ))
    })
}
