//! Rules for the whole tree, as tests.
//!
//! A rule is a module: a function from a [`tree::Tree`] to findings, and tests of that function on
//! small trees that violate the rule. The tests in this file apply the rules to the
//! real tree. Nothing here writes outside of cargo's directory for temporary files.

mod clauses;
mod clocks;
mod commands;
mod cycles;
mod finding;
mod fixture;
mod imports;
mod leftovers;
mod links;
mod manifests;
mod quoted;
mod size;
mod tree;
mod workspace;

use std::path::Path;

use finding::demand_none;
use tree::Tree;
use workspace::Workspace;

fn the_tree() -> Tree {
    Tree::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
}

fn the_workspace() -> Workspace {
    Workspace::read(&the_tree().root).expect("cargo can describe this workspace")
}

#[test]
fn no_file_is_too_long_or_too_big() {
    demand_none(&size::check(&the_tree()));
}

#[test]
fn no_import_cycle_of_a_crate_has_more_than_four_files() {
    demand_none(&cycles::check(&the_tree()));
}

#[test]
fn every_crate_inherits_the_lints_and_the_rust_version_of_the_workspace() {
    demand_none(&manifests::check(&the_tree(), &the_workspace()));
}

#[test]
fn tests_that_depend_on_a_clock_give_their_reason() {
    demand_none(&clocks::check(&the_tree()));
}

#[test]
fn comments_and_documents_have_no_reminder_notes() {
    demand_none(&leftovers::check(&the_tree()));
}

#[test]
fn every_clause_that_holds_is_cited_by_a_test() {
    let tree = the_tree();
    println!("SEMANTICS.md: {}", clauses::summary(&tree));
    demand_none(&clauses::check(&tree));
}

#[test]
fn every_relative_link_has_a_target() {
    demand_none(&links::check(&the_tree()));
}

#[test]
fn code_of_the_documents_is_that_of_its_test() {
    demand_none(&quoted::check(&the_tree()));
}

#[test]
fn every_command_in_the_documents_exists() {
    demand_none(&commands::check(&the_tree(), &the_workspace()));
}
