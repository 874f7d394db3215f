//! Properties of all terms.

use std::hash::{DefaultHasher, Hash, Hasher};

use proptest::prelude::*;
use purlin_term::{Decoder, Encoder, Reader, Term};

use crate::terms::{config, has, terms_of_otp_29 as terms};

fn hash(term: &Term) -> u64 {
    let mut hasher = DefaultHasher::new();
    term.hash(&mut hasher);
    hasher.finish()
}

/// Returns whether the printed form of a term is complete.
fn is_said(term: &Term) -> bool {
    !has(term, &|term| match term {
        Term::Pid(_) | Term::Port(_) | Term::Reference(_) | Term::Fun(_) => true,
        Term::NativeRecord(record) => record.exported,
        _ => false,
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn encoded_terms_decode_to_the_same_term(term in terms(), most in 1..300_usize) {
        let bytes = term.encode().unwrap();
        prop_assert_eq!(Term::decode(&bytes), Ok(term.clone()));
        prop_assert_eq!(Reader::new(&bytes[1..]).skip(), Ok(&bytes[1..]));

        let mut portions = Vec::new();
        let mut encoder = Encoder::new(&term);
        while !encoder.write_some(&mut portions, most).unwrap() {}
        prop_assert_eq!(&portions, &bytes);
    }

    #[test]
    fn a_term_cut_short_is_refused(term in terms(), cut in any::<prop::sample::Index>()) {
        let bytes = term.encode().unwrap();
        prop_assert!(Term::decode(&bytes[..cut.index(bytes.len())]).is_err());
    }

    #[test]
    fn corrupted_bytes_are_rejected_or_decode_to_a_valid_term(
        term in terms(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = term.encode().unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(changed) = Decoder::new(&bytes).decode() {
            prop_assert_eq!(Term::decode(&changed.encode().unwrap()), Ok(changed));
        }
    }

    #[test]
    fn printed_terms_parse_to_the_same_term(term in terms().prop_filter("no names", is_said)) {
        prop_assert_eq!(term.to_string().parse(), Ok(term.clone()));
        prop_assert_eq!(term.written().to_string().parse(), Ok(term));
    }

    #[test]
    fn any_text_is_a_term_or_an_error(text in "[a-z0-9{}\\[\\]<>#$=,|:/'\"\\\\.% _A-]{0,40}") {
        match text.parse::<Term>() {
            Ok(term) => prop_assert_eq!(term.to_string().parse(), Ok(term)),
            Err(error) => prop_assert!(error.offset <= text.len()),
        }
    }

    #[test]
    fn the_order_is_total(a in terms(), b in terms(), c in terms()) {
        prop_assert!(a.compare(&a).is_eq() && a.compare_exactly(&a).is_eq());
        for compare in [Term::compare, Term::compare_exactly] {
            prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
            let mut three = [&a, &b, &c];
            three.sort_by(|a, b| compare(a, b));
            prop_assert!(compare(three[0], three[2]).is_le());
        }
        prop_assert_eq!(a == b, a.compare_exactly(&b).is_eq());
        prop_assert!(a != b || hash(&a) == hash(&b));
    }
}
