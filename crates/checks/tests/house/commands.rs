//! Rule: commands in documents exist: make targets, scripts, examples, crates.

use crate::finding::Finding;
use crate::tree::{File, Tree};
use crate::workspace::Workspace;

const SHELLS: [&str; 4] = ["sh", "shell", "bash", "console"];
/// Commands that the README must contain.
const PROMISED: [&str; 2] = ["make lab", "make test"];

pub(crate) fn check(tree: &Tree, workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.with_ending("md").filter(|file| !file.is_third_party()) {
        for (line, command) in commands(file) {
            if let Err(wrong) = exists(tree, workspace, &command) {
                findings.push(Finding::new(
                    &file.path,
                    line,
                    format!("`{command}`: {wrong}"),
                    "mend the document or add what it names",
                ));
            }
        }
    }
    if let Some(readme) = tree.file("README.md") {
        for promised in PROMISED {
            if !commands(readme).iter().any(|(_, command)| command.starts_with(promised)) {
                findings.push(Finding::new(
                    "README.md",
                    0,
                    format!("does not show `{promised}`"),
                    "put it into a block of shell commands",
                ));
            }
        }
    }
    findings
}

/// Returns the lines of shell blocks, and inline code that begins with `make `.
fn commands(file: &File) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fence: Option<bool> = None;
    for (number, line) in file.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            fence = match fence {
                Some(_) => None,
                None => Some(SHELLS.contains(&language.trim())),
            };
        } else if fence == Some(true) {
            let typed = line.trim().trim_start_matches("$ ");
            let typed = typed.split(" #").next().unwrap_or_default().trim();
            if !typed.is_empty() && !typed.starts_with('#') {
                found.push((number, typed.to_string()));
            }
        } else if fence.is_none() {
            let code = line.split('`').skip(1).step_by(2);
            found.extend(
                code.filter(|code| code.starts_with("make "))
                    .map(|code| (number, code.to_string())),
            );
        }
    }
    found
}

fn exists(tree: &Tree, workspace: &Workspace, command: &str) -> Result<(), String> {
    let mut words = command.split_whitespace().skip_while(|word| is_assignment(word));
    match words.next() {
        Some("make") => {
            let makefile = tree.file("Makefile").map_or("", |file| file.text.as_str());
            // WHY: words after an assignment may belong to its quoted value.
            let targets = words.take_while(|word| !is_assignment(word));
            for target in targets.filter(|word| !word.starts_with('-')) {
                if !makefile.lines().any(|line| line.starts_with(&format!("{target}:"))) {
                    return Err(format!("the Makefile has no target {target}"));
                }
            }
            Ok(())
        }
        Some("cargo") => {
            let words: Vec<&str> = words.collect();
            let named = |option: &str| {
                let at = words.iter().position(|word| *word == option)?;
                words.get(at + 1).copied()
            };
            if let Some(example) = named("--example")
                && !workspace.targets("example").any(|target| target.name == example)
            {
                return Err(format!("there is no example {example}"));
            }
            if let Some(package) = named("-p")
                && !workspace.crates.iter().any(|one| one.name == package)
            {
                return Err(format!("there is no crate {package}"));
            }
            Ok(())
        }
        Some(script) if script.starts_with("scripts/") || script.starts_with("./scripts/") => {
            match tree.file(script.trim_start_matches("./")) {
                Some(_) => Ok(()),
                None => Err("there is no such script".to_string()),
            }
        }
        _ => Ok(()),
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::finding::{demand, demand_none};
    use crate::fixture::Fixture;

    const BOTH: &str = "```sh\nmake lab\nmake test\n```\n";

    fn fixture(name: &str, readme: &str) -> Fixture {
        Fixture::new(name)
            .library("purlin")
            .file("purlin/examples/hello.rs", "fn main() {}\n")
            .file("scripts/a.sh", "#!/bin/sh\n")
            .file("Makefile", "lab: ## measure\n\ntest:\n")
            .file("README.md", readme)
    }

    #[test]
    fn existing_commands_pass() {
        let more = "`make lab ARGS=\"-e ping-pong\"`\n```sh\n$ FOO=1 make test # quick\n\
                    cargo run --example hello\ncargo test -p purlin\nscripts/a.sh x\nls\n```\n";
        let fixture = fixture("commands-good", &format!("{BOTH}{more}"));
        let workspace = fixture.workspace(&["purlin"]);
        demand_none(&check(&fixture.tree(), &workspace));
    }

    #[test]
    fn a_command_that_does_not_exist_is_found_with_its_line() {
        let more =
            "`make tea`\n```sh\ncargo run --example bye\ncargo test -p attic\nscripts/b.sh\n```\n";
        let fixture = fixture("commands-bad", &format!("{BOTH}{more}"));
        let workspace = fixture.workspace(&["purlin"]);
        demand(
            &check(&fixture.tree(), &workspace),
            &[
                "README.md:5: `make tea`: the Makefile has no target tea",
                "README.md:7: `cargo run --example bye`: there is no example bye",
                "README.md:8: `cargo test -p attic`: there is no crate attic",
                "README.md:9: `scripts/b.sh`: there is no such script",
            ],
        );
    }

    #[test]
    fn a_readme_without_the_two_commands_is_found() {
        let fixture = fixture("commands-missing", "```sh\nmake lab\n```\n");
        let workspace = fixture.workspace(&["purlin"]);
        demand(&check(&fixture.tree(), &workspace), &["README.md: does not show `make test`"]);
    }
}
