//! Random terms compared with a real BEAM: bytes, printed forms, hashes and order.
//!
//! `PURLIN_TERMS` sets the number of terms per test, 1000 by default, and `PURLIN_SEED` their seed.

use std::io::{Read, Write};
use std::num::NonZeroU32;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::terms::{ORDERED, has, terms, terms_of_otp_27, terms_of_otp_29};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use purlin_term::{Atom, Term};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/beam.escript");
const BATCH: usize = 500;

struct Beam {
    machine: Child,
    /// Taken at the end; closing it stops the BEAM.
    input: Option<ChildStdin>,
    output: ChildStdout,
}

impl Beam {
    fn start() -> Self {
        let mut machine = Command::new("escript")
            .arg(SCRIPT)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("escript, of Erlang/OTP, can be started");
        let input = machine.stdin.take();
        let output = machine.stdout.take().unwrap();
        Self { machine, input, output }
    }

    /// Returns the OTP release.
    fn release(&mut self) -> u32 {
        String::from_utf8(self.ask(b'v', &[])).unwrap().parse().unwrap()
    }

    fn ask(&mut self, kind: u8, terms: &[Term]) -> Vec<u8> {
        let mut request = vec![kind];
        for term in terms {
            packet(&mut request, &term.encode().unwrap());
        }
        let mut packets = Vec::new();
        packet(&mut packets, &request);
        self.input.as_mut().unwrap().write_all(&packets).unwrap();
        let mut size = [0; 4];
        self.output.read_exact(&mut size).expect("the BEAM takes all of the terms");
        let mut answer = vec![0; u32::from_be_bytes(size) as usize];
        self.output.read_exact(&mut answer).unwrap();
        answer
    }
}

impl Drop for Beam {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.machine.wait();
    }
}

fn packet(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend((bytes.len() as u32).to_be_bytes());
    to.extend(bytes);
}

fn packets(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut packets = Vec::new();
    while let Some((size, rest)) = bytes.split_first_chunk() {
        let (packet, rest) = rest.split_at(u32::from_be_bytes(*size) as usize);
        packets.push(packet);
        bytes = rest;
    }
    packets
}

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().expect("a number"))
}

/// Calls the test with batches of some hundred terms until it has seen the requested number.
fn with_terms(mut test: impl FnMut(&mut Beam, &[Term])) {
    let (count, seed) = (setting("PURLIN_TERMS", 1_000), setting("PURLIN_SEED", 1));
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut beam = Beam::start();
    let strategy = match beam.release() {
        29.. => terms_of_otp_29().boxed(),
        27.. => terms_of_otp_27().boxed(),
        _ => terms().boxed(),
    };
    for _ in 0..count.div_ceil(BATCH as u64) {
        let batch: Vec<_> =
            (0..BATCH).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect();
        test(&mut beam, &batch);
    }
}

/// Returns whether a node of this release writes the term differently: a map in an internal order, in
/// which atoms as keys are ordered since OTP 26 by when the node created them; and any port in the form
/// that older nodes use only for large numbers.
fn is_written_otherwise(term: &Term, release: u32) -> bool {
    match term {
        Term::Map(map) => map.len() > if release < 26 { ORDERED } else { 1 },
        Term::Port(_) => release >= 26,
        _ => false,
    }
}

/// Returns whether a node prints the term differently. It prints its own number for another node.
/// Before OTP 26 it prints the names of exports as single UTF-8 bytes, escapes few characters,
/// quotes `@` and does not quote reserved words; the modules of funs are never quoted.
fn is_printed_otherwise(term: &Term) -> bool {
    let odd = |name: &Atom| {
        let is_word = name.as_str().bytes().all(|byte| byte.is_ascii_lowercase());
        !name.as_str().bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_ ".contains(&byte))
            || is_word && name.to_string().starts_with('\'')
    };
    match term {
        Term::Pid(_) | Term::Port(_) | Term::Reference(_) => true,
        Term::Fun(fun) => odd(&fun.module) || fun.module.to_string().starts_with('\''),
        Term::Export(export) => odd(&export.module) || odd(&export.function),
        _ => false,
    }
}

/// Returns whether the BEAM hashes the term differently: OTP 29 hashes the values of a native record in
/// the order in which the node created the atoms that name them.
fn is_hashed_otherwise(term: &Term) -> bool {
    matches!(term, Term::NativeRecord(record) if record.fields.len() > 1)
}

/// Returns whether a node's printed form of the term is ambiguous.
fn has_no_text(term: &Term) -> bool {
    // The text of a native record does not state whether it is exported.
    matches!(term, Term::Fun(_))
        || matches!(term, Term::NativeRecord(record) if record.exported)
        || is_printed_otherwise(term)
}

#[test]
fn the_beam_writes_prints_and_hashes_terms_identically() {
    with_terms(|beam, terms| {
        let (release, answer) = (beam.release(), beam.ask(b't', terms));
        let answers = packets(&answer);
        assert_eq!(answers.len(), terms.len() * 7);
        for (term, answers) in terms.iter().zip(answers.chunks(7)) {
            let &[bytes, old, compressed, printed, written, broken, hashes] = answers else {
                unreachable!()
            };
            for bytes in [bytes, old, compressed] {
                assert_eq!(Term::decode(bytes).as_ref(), Ok(term));
            }
            let ours = [term.phash2(), term.phash2_in(NonZeroU32::MAX)];
            if !has(term, &is_hashed_otherwise) {
                assert_eq!(ours.map(u32::to_be_bytes).concat(), hashes, "{term}");
            }
            if !has(term, &has_no_text) {
                for text in [printed, written, broken] {
                    let text = String::from_utf8_lossy(text);
                    assert_eq!(text.parse().as_ref(), Ok(term), "{text}");
                }
            }
            if has(term, &|part| is_written_otherwise(part, release)) {
                continue;
            }
            assert_eq!(bytes, term.encode().unwrap(), "{term}");
            if has(term, &is_printed_otherwise) {
                continue;
            }
            assert_eq!(String::from_utf8_lossy(printed), term.to_string());
            assert_eq!(String::from_utf8_lossy(written), term.written().to_string());
        }
    });
}

#[test]
fn the_beam_orders_terms_identically() {
    with_terms(|beam, terms| {
        // Neighbours rarely have much in common; a term and its variation have.
        let pairs = terms.windows(2).flat_map(|two| {
            let likened = likened(&two[0], &two[1]);
            [two[0].clone(), two[1].clone(), two[0].clone(), likened]
        });
        let pairs: Vec<_> = pairs.collect();
        let answers = beam.ask(b'c', &pairs);
        for (pair, answer) in pairs.chunks(2).zip(answers.chunks(2)) {
            let [a, b] = pair else { unreachable!() };
            let order = match a.compare(b) {
                std::cmp::Ordering::Less => b'<',
                std::cmp::Ordering::Equal => b'=',
                std::cmp::Ordering::Greater => b'>',
            };
            assert_eq!(char::from(order), char::from(answer[0]), "{a} and {b}");
            assert_eq!(b.compare(a), a.compare(b).reverse(), "{a} and {b}");
            assert_eq!(a == b, answer[1] == b'=', "{a} and {b}");
            assert_eq!(a == b, a.compare_exactly(b).is_eq(), "{a} and {b}");
        }
    });
}

/// Returns the first term with the second as its last part, or with integers replaced by floats.
fn likened(term: &Term, other: &Term) -> Term {
    match term {
        Term::Integer(value) => Term::try_from(*value as f64).unwrap(),
        Term::Float(value) => Term::from(value.get() as i128),
        Term::Tuple(elements) => Term::Tuple(likened_last(elements, other)),
        Term::List(elements) => Term::List(likened_last(elements, other)),
        Term::ImproperList(list) => {
            Term::list_with_tail(list.elements().to_vec(), likened(list.tail(), other))
        }
        Term::Map(map) => {
            let mut pairs = map.pairs().to_vec();
            match pairs.len() % 3 {
                0 => pairs.iter_mut().for_each(|(key, _)| *key = likened(key, other)),
                _ => pairs.iter_mut().for_each(|(_, value)| *value = likened(value, other)),
            }
            Term::map(pairs)
        }
        Term::NativeRecord(record) => {
            let mut record = record.clone();
            match record.fields.last_mut() {
                Some((_, value)) => *value = likened(value, other),
                None => record.exported = !record.exported,
            }
            Term::NativeRecord(record)
        }
        _ => other.clone(),
    }
}

fn likened_last(elements: &[Term], other: &Term) -> Vec<Term> {
    let mut elements = elements.to_vec();
    match elements.last_mut() {
        Some(last) => *last = likened(last, other),
        None => elements.push(other.clone()),
    }
    elements
}
