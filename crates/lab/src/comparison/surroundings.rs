//! In what two runs differ besides their figures.

use super::{Compared, Verdict};
use crate::stored::Figures;

/// What makes the comparison doubtful, and what a reader should merely know.
pub(super) fn differences(old: &Figures, new: &Figures) -> (Vec<String>, Vec<String>) {
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
    for (name, host) in [("old", &old.host), ("new", &new.host)] {
        let Some(host) = host else { continue };
        // WHY: half of the cores busy already moves what wants them all.
        if host.load_before > host.cores as f64 / 2.0 {
            warnings.push(format!(
                "the {name} run began on a busy machine (load {:.1}, cores {}); run it again at rest",
                host.load_before, host.cores
            ));
        }
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

/// The contenders that moved though they are what they were: then it may be the machine that moved.
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
        let (started, profile) = (String::new(), profile.into());
        Figures { started, seed: 1, profile, host: Some(host), contenders, results: Vec::new() }
    }

    #[test]
    fn another_machine_and_another_profile_are_warnings_and_a_little_load_is_none() {
        let loaded = Host { load_before: 0.9, ..host() };
        assert!(differences(&run(host(), "quick"), &run(loaded, "quick")).0.is_empty());
        let other = Host { cpu: "two".into(), cores: 4, is_virtual: None, ..host() };
        let (warnings, _) = differences(&run(host(), "quick"), &run(other, "full"));
        let [machine, profile] = warnings.as_slice() else { panic!("{warnings:?}") };
        assert!(
            machine.contains("(cpu one → two, cores 2 → 4, virtual yes → unknown)"),
            "{machine}"
        );
        assert!(profile.contains("(quick → full)"), "{profile}");
    }

    #[test]
    fn a_machine_that_was_busy_is_warned_of_by_run() {
        let busy = Host { load_before: 1.26, ..host() };
        let (warnings, _) = differences(&run(busy, "quick"), &run(host(), "quick"));
        assert_eq!(
            warnings,
            ["the old run began on a busy machine (load 1.3, cores 2); run it again at rest"]
        );
    }
}
