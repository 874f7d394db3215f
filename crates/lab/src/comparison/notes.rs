//! Warnings and notes of a comparison: differences between the runs, and limits of their figures.

use super::compared::Compared;
use crate::profile::FEWEST;
use crate::results::{Figures, ResultEntry, Rounds, Verdict, is_of_control, judge};

/// Variance inflation from which a figure is reported to have drifted.
const DRIFTED: f64 = 1.5;

/// Returns reasons to doubt the comparison, and notes on other differences.
pub(super) fn differences(
    old: &Figures,
    new: &Figures,
    rounds: Rounds,
) -> (Vec<String>, Vec<String>) {
    let mut warnings = Vec::new();
    if let (Some(before), Some(now)) = (&old.host, &new.host) {
        let machine = before.changes(now);
        if !machine.is_empty() {
            warnings.push(format!(
                "the machines differ ({machine}); what moved may be theirs, so run both on one"
            ));
        }
    } else {
        warnings.push("of a run it is not known on which machine it was made".into());
    }
    if old.profile != new.profile {
        warnings.push(format!(
            "the profiles differ ({} → {}); run both with the same",
            old.profile, new.profile
        ));
    }
    match rounds {
        Rounds::Unrelated => {
            warnings.extend(doubts("the old run", old));
            warnings.extend(doubts("the new run", new));
        }
        Rounds::Shared => warnings.extend(doubts("the run", new)),
    }
    let mut notes = Vec::new();
    for before in &old.contenders {
        let now = new.contenders.iter().find(|now| now.id == before.id);
        if let Some(now) = now.filter(|now| now.version != before.version) {
            notes.push(format!(
                "{} is another version: {} → {}",
                before.label, before.version, now.version
            ));
        }
    }
    (warnings, notes)
}

/// Returns reasons to doubt a single run.
fn doubts(name: &str, run: &Figures) -> Vec<String> {
    let mut doubts = Vec::new();
    if run.interrupted {
        doubts.push(format!(
            "{name} was stopped before its end, so only what it had by then is compared; go on with \
             it: purlin lab run --resume"
        ));
    }
    if let Some(host) = &run.host {
        // WHY: load on half of the cores already affects a workload that uses all cores.
        if host.load_before > host.cores as f64 / 2.0 {
            doubts.push(format!(
                "{name} began on a busy machine (load {:.1}, cores {}); run it again at rest",
                host.load_before, host.cores
            ));
        }
    }
    doubts
}

/// Returns a note on contenders whose figures changed although their version did not; the machine
/// may have changed.
pub(super) fn unchanged_but_moved(
    old: &Figures,
    new: &Figures,
    figures: &[Compared<'_>],
) -> Option<String> {
    let same = new.contenders.iter().filter(|now| {
        old.contenders.iter().any(|before| before.id == now.id && before.version == now.version)
    });
    let moved = same.filter(|now| {
        figures.iter().any(|one| {
            one.new.contender == now.id && one.moved.verdict != Verdict::Indistinguishable
        })
    });
    let moved: Vec<_> = moved.map(|now| now.label.as_str()).collect();
    (!moved.is_empty()).then(|| {
        format!(
            "moved at the same version: {}; if the program did not change, the machine did",
            moved.join(", ")
        )
    })
}

/// Returns a note on the contenders that run the same function in both runs, judged together.
pub(super) fn control(old: &Figures, new: &Figures) -> Option<String> {
    let of_control = new.results.iter().filter(|result| is_of_control(result));
    let pairs: Vec<(&ResultEntry, &ResultEntry)> = of_control
        .filter_map(|now| {
            let same =
                |before: &&ResultEntry| is_of_control(before) && before.contender == now.contender;
            Some((old.results.iter().find(same)?, now))
        })
        .collect();
    let moved = judge(&pairs, Rounds::Unrelated);
    let judged: Vec<_> = moved.iter().filter_map(|one| Some((one.ratio?, one.verdict))).collect();
    let differing = judged.iter().filter(|(_, verdict)| *verdict != Verdict::Indistinguishable);
    let least = judged.iter().map(|(ratio, _)| ratio.value).fold(f64::INFINITY, f64::min);
    let most = judged.iter().map(|(ratio, _)| ratio.value).fold(0.0, f64::max);
    let names: Vec<_> = pairs.iter().map(|(_, now)| now.contender.as_str()).collect();
    (!judged.is_empty()).then(|| {
        format!(
            "control: tail-call is the same function in {}; {} of {} called different between the \
             runs, by {least:.2} to {most:.2} times",
            names.join(", "),
            differing.count(),
            judged.len()
        )
    })
}

/// Returns notes on the figures shown.
pub(super) fn reservations(primary: &[Compared<'_>], rest: &[Compared<'_>]) -> Vec<String> {
    let shown = || primary.iter().chain(rest);
    let mut notes = Vec::new();
    let few = shown().filter(|one| one.moved.rounds < FEWEST).count();
    if few > 0 {
        notes.push(format!(
            "{} fewer than {FEWEST} rounds to compare, and so no ratio and no verdict",
            figures(few)
        ));
    }
    let count = shown().filter(|one| one.moved.inflation >= DRIFTED).count();
    if count > 0 {
        notes.push(format!(
            "{} drifted within a run; a machine that does so drifts between runs too",
            figures(count)
        ));
    }
    if shown().any(|one| one.moved.rounds >= FEWEST && one.moved.ratio.is_none()) {
        notes.push(
            "no ratio (—) where a figure is not significantly different from zero; --fail-above ignores it"
                .into(),
        );
    }
    notes
}

fn figures(count: usize) -> String {
    if count == 1 { "1 figure has".into() } else { format!("{count} figures have") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Host;

    fn host() -> Host {
        Host {
            os: "Linux".into(),
            kernel: "6.1".into(),
            cpu: "one".into(),
            cores: 2,
            memory_bytes: 8 << 30,
            load_before: 0.0,
            is_virtual: Some(true),
            fitness: None,
        }
    }

    fn run(host: Host, profile: &str) -> Figures {
        let contenders = Vec::new();
        let (started, profile, results) = (String::new(), profile.into(), Vec::new());
        let host = Some(host);
        Figures { started, interrupted: false, profile, host, contenders, results }
    }

    fn warnings(old: &Figures, new: &Figures) -> Vec<String> {
        differences(old, new, Rounds::Unrelated).0
    }

    #[test]
    fn different_machine_or_profile_is_warned_of_but_low_load_is_not() {
        let loaded = Host { load_before: 0.9, ..host() };
        assert!(warnings(&run(host(), "quick"), &run(loaded, "quick")).is_empty());
        let other = Host { cpu: "two".into(), cores: 4, is_virtual: None, ..host() };
        let warnings = warnings(&run(host(), "quick"), &run(other, "full"));
        let [machine, profile] = warnings.as_slice() else { panic!("{warnings:?}") };
        assert!(
            machine.contains("(cpu one → two, cores 2 → 4, virtual yes → unknown)"),
            "{machine}"
        );
        assert!(profile.contains("(quick → full)"), "{profile}");
    }

    #[test]
    fn busy_machine_is_warned_of_with_the_name_of_the_run() {
        let busy = Host { load_before: 1.26, ..host() };
        assert_eq!(
            warnings(&run(busy, "quick"), &run(host(), "quick")),
            ["the old run began on a busy machine (load 1.3, cores 2); run it again at rest"]
        );
    }

    #[test]
    fn comparison_within_one_run_warns_of_that_run_once() {
        let busy = Host { load_before: 1.26, ..host() };
        let run = Figures { interrupted: true, ..run(busy, "quick") };
        let (warnings, _) = differences(&run, &run, Rounds::Shared);
        let [stopped, loaded] = warnings.as_slice() else { panic!("{warnings:?}") };
        assert!(stopped.starts_with("the run was stopped before its end"), "{stopped}");
        assert!(loaded.starts_with("the run began on a busy machine"), "{loaded}");
    }
}
