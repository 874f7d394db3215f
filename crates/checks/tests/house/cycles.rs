//! Rule: no import cycle of a crate has more than four source files.
//!
//! A cycle is a set of files each of which imports every other one, directly or through files of the set.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::Finding;
use crate::imports::{Imports, imports};
use crate::tree::Tree;

const MOST_FILES: usize = 4;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.files.iter().filter(|file| !file.is_third_party());
    let crates = manifests.filter_map(|file| file.path.strip_suffix("Cargo.toml"));
    crates.flat_map(|root| check_crate(tree, &format!("{root}src"))).collect()
}

fn check_crate(tree: &Tree, src: &str) -> Vec<Finding> {
    let files: Vec<_> = tree
        .with_ending("rs")
        .filter_map(|file| {
            let path = file.path.strip_prefix(src)?.strip_prefix('/')?;
            Some((path, file.text.as_str()))
        })
        .collect();
    let imports = match imports(&files) {
        Ok(imports) => imports,
        Err(error) => return vec![Finding::new(src, 0, error, "make it valid Rust")],
    };
    let large = cycles(&imports).into_iter().filter(|cycle| cycle.len() > MOST_FILES);
    large.map(|cycle| finding(src, &cycle, &imports)).collect()
}

fn finding(src: &str, cycle: &BTreeSet<&str>, imports: &Imports<'_>) -> Finding {
    let inside =
        imports.iter().filter(|((from, to), _)| [from, to].iter().all(|end| cycle.contains(**end)));
    // The import of the fewest names is probably the easiest to remove.
    let lightest = inside.min_by_key(|(_, names)| names.len());
    let example = lightest.map(|((from, to), names)| {
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        format!(": {from} imports {} from {to}", names.join(", "))
    });
    let files: Vec<_> = cycle.iter().copied().collect();
    Finding::new(
        src,
        0,
        format!(
            "import cycle of {} files, more than {MOST_FILES}: {}",
            files.len(),
            files.join(", ")
        ),
        format!("move what is imported below both files{}", example.unwrap_or_default()),
    )
}

/// Returns the cycles, the largest first.
fn cycles<'a>(imports: &Imports<'a>) -> Vec<BTreeSet<&'a str>> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in imports.keys() {
        next.entry(from).or_default().push(to);
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        next.keys().map(|file| (*file, reached_from(file, &next))).collect();
    let cycle_of = |file: &&str| -> BTreeSet<&str> {
        let back = |other: &&&str| reached.get(**other).is_some_and(|set| set.contains(*file));
        reached[*file].iter().filter(back).copied().collect()
    };
    let all: BTreeSet<_> = next.keys().map(cycle_of).filter(|cycle| !cycle.is_empty()).collect();
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by_key(|cycle| std::cmp::Reverse(cycle.len()));
    all
}

/// Returns the files that a file imports, directly or through others.
fn reached_from<'a>(file: &str, next: &BTreeMap<&'a str, Vec<&'a str>>) -> BTreeSet<&'a str> {
    let of = |file: &str| next.get(file).into_iter().flatten().copied();
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<&str> = of(file).collect();
    while let Some(one) = waiting.pop() {
        if reached.insert(one) {
            waiting.extend(of(one));
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::{check, cycles};
    use crate::finding::{demand, demand_none};
    use crate::fixture::Fixture;
    use crate::imports::imports;

    /// Returns the imports as `from>to:names` and the sizes of the cycles.
    fn read(files: &[(&str, &str)]) -> (Vec<String>, Vec<usize>) {
        let imports = imports(files).expect("the files are valid Rust");
        let sizes = cycles(&imports).iter().map(|cycle| cycle.len()).collect();
        let text = |names: &std::collections::BTreeSet<String>| {
            names.iter().map(String::as_str).collect::<Vec<_>>().join(",")
        };
        let all = imports.iter().map(|((from, to), names)| format!("{from}>{to}:{}", text(names)));
        (all.collect(), sizes)
    }

    #[test]
    fn a_cycle_of_five_files_is_found_and_one_of_four_is_not() {
        let ring = |fixture: Fixture, name: &str, files: usize| {
            (0..files).fold(fixture.library(name), |fixture, number| {
                let next = (number + 1) % files;
                let text = format!("use crate::m{next}::Item{next};\npub struct Item{number};\n");
                fixture.file(&format!("{name}/src/m{number}.rs"), &text)
            })
        };
        let tree = ring(ring(Fixture::new("cycles-rings"), "four", 4), "five", 5).tree();
        demand(
            &check(&tree),
            &[
                "five/src: import cycle of 5 files, more than 4: m0.rs, m1.rs, m2.rs, m3.rs, m4.rs; \
               move what is imported below both files: m0.rs imports Item1 from m1.rs",
            ],
        );
    }

    #[test]
    fn a_reexport_is_followed_to_the_definition_and_is_no_import_itself() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; pub use a::One;"),
            (
                "a/mod.rs",
                "mod one; pub use one::One; pub use one::Two as Renamed; pub use one::all::*;",
            ),
            ("a/one.rs", "pub mod all { pub struct Three; } pub struct One; pub enum Two { A }"),
            ("b.rs", "use crate::One;"),
            ("c.rs", "use crate::a::{Renamed::A, Three};"),
        ];
        let (imports, cycles) = read(&files);
        assert_eq!(imports, ["b.rs>a/one.rs:One", "c.rs>a/one.rs:A,Three"]);
        assert_eq!(cycles, [0; 0]);
    }

    #[test]
    fn paths_in_code_macros_and_attributes_are_imports() {
        let files = [
            ("a.rs", "fn f() -> crate::b::B { select! { x = super::c::C::new() => {} } }"),
            ("b.rs", "#[arg(value_parser = crate::c::parse)] pub struct B;"),
            ("c.rs", "pub struct C; pub(in crate::b) fn f() { std::mem::drop(1); a::b() }"),
        ];
        let (imports, _) = read(&files);
        assert_eq!(imports, ["a.rs>b.rs:B", "a.rs>c.rs:new", "b.rs>c.rs:parse"]);
    }

    #[test]
    fn a_parent_that_uses_its_child_and_is_used_by_it_is_a_cycle() {
        let files = [
            ("a/mod.rs", "mod b; pub type Result = u8; pub fn f() { b::g(); }"),
            ("a/b.rs", "use super::Result; pub fn g() -> Result { 0 }"),
        ];
        let (imports, cycles) = read(&files);
        assert_eq!(imports, ["a/b.rs>a/mod.rs:Result", "a/mod.rs>a/b.rs:g"]);
        assert_eq!(cycles, [2]);
    }

    #[test]
    fn tests_and_inline_modules_import_nothing_for_their_file() {
        let files = [
            (
                "a.rs",
                "#[cfg(test)] mod tests { use crate::b::B; } mod inner { use super::X; } pub struct X;",
            ),
            ("b.rs", "#[cfg(test)] use crate::a::X; #[cfg(test)] mod helpers; pub struct B;"),
            ("b/helpers.rs", "use crate::a::X;"),
            ("b/tests.rs", "use crate::a::X;"),
        ];
        assert_eq!(read(&files).0, [""; 0]);
    }

    #[test]
    fn a_file_that_is_not_rust_is_reported() {
        let tree = Fixture::new("cycles-broken").library("a").file("a/src/b.rs", "fn (").tree();
        demand(&check(&tree), &["a/src: b.rs: "]);
        demand_none(&check(&Fixture::new("cycles-none").library("a").tree()));
    }
}
