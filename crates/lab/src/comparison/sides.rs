//! Two contenders of one run, as if they were two runs. Pure.

use crate::stored::Figures;

/// The figures of two contenders, under one name.
#[derive(Debug, Clone)]
pub struct Sides {
    /// Whose they are: the one that is taken for the old, the one that is taken for the new.
    pub(super) names: [String; 2],
    pub(super) figures: [Figures; 2],
}

/// Takes two contenders of a run apart.
///
/// # Errors
///
/// The first of the names that no figure has.
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
        // WHY: a change of version is what is compared here, and no news.
        Figures { contenders: Vec::new(), results, ..run.clone() }
    };
    Ok(Sides { figures: names.map(side), names: names.map(str::to_owned) })
}
