//! Converts a document to text, byte for byte as the suite prints it. Pure.

use std::collections::{HashMap, HashSet};

use super::lines::{EXPERIMENT, Line, lines};
use super::records::{SCENARIO, quoted};
use super::title::{Title, options_of};
use crate::error::Problem;
use crate::results::Figures;

/// The variant of the suite's own receiver; used for a graph in which no contender has spawn
/// options.
const USUAL: &str = "off_heap";

/// Returns the text of the figures of `signals` in a document.
///
/// Of each figure, the one computed as the suite does is used if there is one. A variant of the
/// BEAM's message queue is written under its own spawn options. A contender without such an option
/// is written under every option of its graph, with its variant in the label. A line whose sender
/// counts differ from those of the first line in its scenario is written under a repeated title.
///
/// # Errors
///
/// Returns one line if there are no such figures, or if the name of a graph cannot be a title of
/// the suite.
///
/// COST: every label and number is held in memory twice.
pub fn write(figures: &Figures) -> Result<String, Problem> {
    let lines = lines(figures);
    if lines.is_empty() {
        let hint = "run it with -e signals, or choose another format";
        return Err(Problem::new(format!(
            "no figures of the experiment {EXPERIMENT}, which OTP's text is of; {hint}"
        )));
    }
    let mut text = String::from("#BENCHMARK STARTED$\n");
    let usual = options_of(USUAL).unwrap_or_default();
    for block in blocks(&lines, &usual) {
        block.push_to(&mut text)?;
    }
    text.push_str("\n#BENCHMARK ENDED$\n");
    Ok(text)
}

/// A scenario as it is printed: lines with equal sender counts.
struct Block<'a> {
    title: Title<'a>,
    senders: Vec<u64>,
    lines: Vec<&'a Line<'a>>,
}

impl Block<'_> {
    fn push_to(&self, text: &mut String) -> Result<(), Problem> {
        let title = self.title.text();
        if Title::parse(&title).is_none_or(|(read, _)| read != self.title) {
            let hint = "choose another format";
            return Err(Problem::new(format!(
                "the graph {} cannot be a title of OTP's text; {hint}",
                quoted(&title)
            )));
        }
        text.push_str(&format!("{SCENARIO}{title}$\n"));
        text.extend(self.senders.iter().map(|senders| format!("; {senders}")));
        text.push_str("$\n");
        let mut labels = HashSet::new();
        for line in &self.lines {
            let mut label = line.label.clone();
            while labels.contains(&label) {
                label.push('\'');
            }
            text.push_str(&label);
            text.extend(line.points.iter().map(|(_, value)| format!("; {value:.6}")));
            text.push_str("$\n");
            labels.insert(label);
        }
        Ok(())
    }
}

/// Groups the lines by title, in order of first occurrence.
fn blocks<'a>(lines: &'a [Line<'a>], usual: &'a str) -> Vec<Block<'a>> {
    let homes = homes(lines);
    let mut blocks: Vec<Block<'a>> = Vec::new();
    let mut places = HashMap::new();
    for line in lines {
        let own = line.options.as_deref();
        let all = homes.get(line.graph).map_or(&[][..], Vec::as_slice);
        let under = match (&own, all) {
            (Some(own), _) => std::slice::from_ref(own),
            (None, []) => std::slice::from_ref(&usual),
            (None, all) => all,
        };
        for &options in under {
            let title = Title { graph: line.graph, options };
            let senders: Vec<u64> = line.points.iter().map(|(senders, _)| *senders).collect();
            let index = *places.entry((title, line.run, senders.clone())).or_insert_with(|| {
                blocks.push(Block { title, senders, lines: Vec::new() });
                blocks.len() - 1
            });
            blocks[index].lines.push(line);
        }
    }
    blocks
}

/// Returns the options of each graph, in order of first occurrence.
fn homes<'a>(lines: &'a [Line<'a>]) -> HashMap<&'a str, Vec<&'a str>> {
    let mut homes: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut seen = HashSet::new();
    for line in lines {
        if let Some(options) = line.options.as_deref().filter(|one| seen.insert((line.graph, *one)))
        {
            homes.entry(line.graph).or_default().push(options);
        }
    }
    homes
}
