//! Two other crates read what we write, and we read what they write of it.
//!
//! Each is asked only for what it claims to hold: see what is left out.

use proptest::prelude::*;
use purlin_term::Term;

use crate::terms::{config, has, terms};

/// eetf writes the last byte of a negative integer that is alone with bytes in a list.
fn eetf_holds(term: &Term) -> bool {
    let negative = |term: &Term| term.as_integer().is_some_and(|value| value < 0);
    let in_list = |term: &Term| term.as_list().is_some_and(|list| list.iter().any(negative));
    !has(term, &in_list)
}

/// erltf takes some keys of maps for equal that are not, and does not read every port.
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
