//! Rule: crates depend downwards only, and nothing below a crate knows that it exists.

use crate::finding::Finding;
use crate::workspace::{Crate, Workspace};

/// Where each crate stands. A crate may depend on those that stand lower, never beside it.
const FLOORS: [(&str, u8); 12] = [
    ("purlin-raw", 0),
    ("purlin-timing", 0),
    ("purlin-tls", 0),
    ("purlin-sched", 1),
    ("purlin-term", 1),
    ("purlin-macros", 1),
    ("purlin", 2),
    ("purlin-ack", 3),
    ("purlin-dist", 3),
    ("purlin-lab", 4),
    ("purlin-observer", 4),
    ("purlin-cli", 5),
];

/// Crates that stand beside the house, and all of the workspace that each may depend on.
const BESIDE: [(&str, &[&str]); 12] = [
    ("purlin-checks", &[]),
    ("purlin-browser", &[]),
    ("purlin-testkit", &["purlin-raw", "purlin-sched", "purlin-term", "purlin-macros", "purlin"]),
    ("purlin-differential", &["purlin", "purlin-testkit", "purlin-dist", "purlin-term"]),
    ("purlin-contender", &[]),
    (
        "contender-purlin",
        &["purlin", "purlin-ack", "purlin-dist", "purlin-term", "purlin-contender"],
    ),
    ("contender-load", &["purlin-ack", "purlin-dist", "purlin-contender"]),
    ("contender-threads", &["purlin-contender"]),
    ("contender-tokio", &["purlin-contender"]),
    ("contender-ractor", &["purlin-contender"]),
    ("contender-kameo", &["purlin-contender"]),
    ("contender-actix", &["purlin-contender"]),
];

/// What anybody's tests may use.
const FOR_TESTS: [&str; 2] = ["purlin-testkit", "purlin-browser"];

/// The lab measures purlin as it measures everybody: from outside. A stop-watch is nothing it measures.
const LAB: &str = "purlin-lab";
const LAB_MAY_NEED: [&str; 2] = ["purlin-contender", "purlin-timing"];

pub(crate) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for one in &workspace.crates {
        if floor(&one.name).is_none() && beside(&one.name).is_none() {
            findings.push(Finding::new(
                &one.manifest,
                0,
                format!("the crate {} has no place in the house", one.name),
                "give it one in FLOORS or BESIDE of crates/checks/tests/house/arrows.rs, and in \
                 ARCHITECTURE.md",
            ));
            continue;
        }
        for need in &one.needs {
            if need.only_tests && FOR_TESTS.contains(&need.name.as_str()) {
                continue;
            }
            if let Err(why) = allowed(one, &need.name) {
                findings.push(Finding::new(
                    &one.manifest,
                    need.line,
                    format!("{} depends on {}, but {why}", one.name, need.name),
                    "turn the arrow round, or move what both need into a crate beneath them",
                ));
            }
        }
    }
    findings
}

fn floor(name: &str) -> Option<u8> {
    FLOORS.iter().find(|(crate_name, _)| *crate_name == name).map(|(_, floor)| *floor)
}

fn beside(name: &str) -> Option<&'static [&'static str]> {
    BESIDE.iter().find(|(crate_name, _)| *crate_name == name).map(|(_, needs)| *needs)
}

fn allowed(one: &Crate, need: &str) -> Result<(), String> {
    if one.name == LAB {
        return if LAB_MAY_NEED.contains(&need) {
            Ok(())
        } else {
            Err("the lab links nothing of purlin's".to_string())
        };
    }
    if let Some(may_need) = beside(&one.name) {
        return if may_need.contains(&need) {
            Ok(())
        } else {
            Err(format!("may depend on no other crate of the house than {may_need:?}"))
        };
    }
    match (floor(&one.name), floor(need)) {
        (Some(own), Some(other)) if other < own => Ok(()),
        (Some(own), Some(other)) => Err(format!(
            "stands on floor {own} and may only use what is lower than that, not floor {other}"
        )),
        _ => Err(format!("{need} stands beside the house, not beneath it")),
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::finding::{demand, demand_none};
    use crate::fixture::Fixture;

    fn path(name: &str) -> String {
        format!("{name} = {{ path = \"../{name}\" }}\n")
    }

    #[test]
    fn an_arrow_that_points_up_is_found_with_its_line() {
        let fixture =
            Fixture::new("arrows-up").library("purlin-raw", &path("purlin")).library("purlin", "");
        demand(
            &check(&fixture.workspace(&["purlin-raw", "purlin"])),
            &["purlin-raw/Cargo.toml:7: purlin-raw depends on purlin"],
        );
    }

    #[test]
    fn an_arrow_along_one_floor_is_found() {
        let fixture = Fixture::new("arrows-along")
            .library("purlin-ack", &path("purlin-dist"))
            .library("purlin-dist", "");
        demand(
            &check(&fixture.workspace(&["purlin-ack", "purlin-dist"])),
            &["purlin-ack depends on purlin-dist"],
        );
    }

    #[test]
    fn the_lab_may_not_link_what_it_measures() {
        let fixture = Fixture::new("arrows-lab")
            .library("purlin-lab", &(path("purlin") + &path("purlin-contender")))
            .library("purlin", "")
            .library("purlin-contender", "");
        demand(
            &check(&fixture.workspace(&["purlin-lab", "purlin", "purlin-contender"])),
            &["purlin-lab depends on purlin, but the lab links nothing"],
        );
    }

    #[test]
    fn a_contender_for_another_runtime_may_not_use_purlin() {
        let fixture = Fixture::new("arrows-contender")
            .library("contender-tokio", &path("purlin"))
            .library("purlin", "");
        demand(
            &check(&fixture.workspace(&["contender-tokio", "purlin"])),
            &["contender-tokio depends on purlin"],
        );
    }

    #[test]
    fn a_crate_nobody_placed_is_found() {
        let fixture = Fixture::new("arrows-unknown").library("purlin-attic", "");
        demand(
            &check(&fixture.workspace(&["purlin-attic"])),
            &["the crate purlin-attic has no place in the house; give it one in FLOORS"],
        );
    }

    #[test]
    fn arrows_that_point_down_are_left_alone_and_tests_may_use_the_testkit() {
        let tests_only = format!("\n[dev-dependencies]\n{}", path("purlin-testkit"));
        let fixture = Fixture::new("arrows-down")
            .library("purlin-raw", &tests_only)
            .library("purlin", &path("purlin-raw"))
            .library("purlin-testkit", "");
        demand_none(&check(&fixture.workspace(&["purlin-raw", "purlin", "purlin-testkit"])));
    }
}
