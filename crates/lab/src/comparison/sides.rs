//! Splits one run into two contenders that are compared like two runs. Pure.

use crate::results::{Control, Figures, control};

/// The figures of two contenders, under a common name.
#[derive(Debug, Clone)]
pub struct Sides {
    /// The contenders: the first takes the place of the old run, the second that of the new.
    pub(super) names: [String; 2],
    pub(super) figures: [Figures; 2],
    /// The control of the run.
    pub(super) control: Option<Control>,
}

/// Splits off two contenders of a run.
///
/// # Errors
///
/// Returns the first name that no figure has.
pub fn sides<'n>(run: &Figures, names: [&'n str; 2]) -> Result<Sides, &'n str> {
    let has = |name: &str| run.results.iter().any(|result| result.contender == name);
    if let Some(missing) = names.into_iter().find(|name| !has(name)) {
        return Err(missing);
    }
    let name = names.join(" → ");
    let side = |contender: &str| {
        let own = run.results.iter().filter(|result| result.contender == contender).cloned();
        let mut results: Vec<_> = own.collect();
        results.iter_mut().for_each(|result| result.contender.clone_from(&name));
        // WHY: a version change between the contenders is the subject of the comparison, not a
        // note.
        Figures { contenders: Vec::new(), results, ..run.clone() }
    };
    let control = control(&run.results);
    Ok(Sides { figures: names.map(side), names: names.map(str::to_owned), control })
}
