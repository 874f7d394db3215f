//! Differential tests with two other crates, in both directions.
//!
//! Terms that a crate is known not to support are excluded.

use proptest::prelude::*;
use purlin_term::Term;

use crate::terms::{config, has, terms};

/// Returns whether eetf supports the term: it keeps only the lowest byte of a negative integer in a
/// list that otherwise contains bytes.
fn eetf_holds(term: &Term) -> bool {
    let negative = |term: &Term| term.as_integer().is_some_and(|value| value < 0);
    let in_list = |term: &Term| term.as_list().is_some_and(|list| list.iter().any(negative));
    !has(term, &in_list)
}

/// Returns whether erltf supports the term: it treats some different map keys as equal, and does
/// not read every port.
fn erltf_holds(term: &Term) -> bool {
    let plain = |key: &Term| matches!(key, Term::Integer(_) | Term::Atom(_) | Term::Binary(_));
    let odd = |term: &Term| {
        term.as_map().is_some_and(|map| !map.pairs().iter().all(|(key, _)| plain(key)))
    };
    !has(term, &|term| odd(term) || matches!(term, Term::Port(_)))
}

fn through_eetf(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let theirs = eetf::Term::decode(bytes).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    theirs.encode(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

fn through_erltf(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let theirs = erltf::decode(bytes).map_err(|error| error.to_string())?;
    erltf::encode(&theirs).map_err(|error| error.to_string())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn eetf_reads_and_writes_the_same_term(term in terms().prop_filter("holds", eetf_holds)) {
        let bytes = through_eetf(&term.encode().unwrap());
        prop_assert_eq!(bytes.map(|bytes| Term::decode(&bytes)), Ok(Ok(term)));
    }

    #[test]
    fn erltf_reads_and_writes_the_same_term(term in terms().prop_filter("holds", erltf_holds)) {
        let bytes = through_erltf(&term.encode().unwrap());
        prop_assert_eq!(bytes.map(|bytes| Term::decode(&bytes)), Ok(Ok(term)));
    }
}
