//! A BEAM echoes messages: thousands of atoms, messages with more atoms than a header holds, long atoms, and messages
//! of all sizes. The echoes equal the messages, in the order of each sender.

use std::collections::HashMap;

use crate::support::ours_and_beam;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use purlin_dist::control::Control;
use purlin_dist::frame::Signal;
use purlin_term::{Atom, Term};

fn atom() -> impl Strategy<Value = Term> {
    let number = prop_oneof![10 => 0..50u32, 5 => 0..6000u32, 1 => 10_000..10_100u32];
    number.prop_map(|number| {
        let text = match number {
            0 => String::new(),
            // The longest atom, with more bytes than a one-byte length can hold.
            10_000.. => format!("{number}{}", "é".repeat(250)),
            _ => format!("atom_{number}"),
        };
        Term::Atom(Atom::new(&text).expect("at most 255 characters"))
    })
}

fn term() -> impl Strategy<Value = Term> {
    let leaf = prop_oneof![
        4 => atom(),
        1 => any::<i64>().prop_map(Term::from),
        1 => vec(any::<u8>(), 0..100).prop_map(|bytes| Term::from(bytes.as_slice())),
    ];
    let terms = leaf.prop_recursive(3, 300, 20, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..20).prop_map(Term::Tuple),
            vec(inner, 0..20).prop_map(Term::List),
        ]
    });
    prop_oneof![
        20 => terms,
        1 => vec(atom(), 200..1000).prop_map(Term::List),
        1 => (atom(), 60_000..200_000usize)
            .prop_map(|(atom, size)| Term::tuple([atom, Term::from(vec![7; size].as_slice())])),
        1 => vec(atom(), 7_000..9_000).prop_map(Term::List),
    ]
}

#[tokio::test]
async fn a_beam_echoes_terms_with_all_their_atoms_in_order() {
    const COUNT: usize = 120;
    let (_epmd, ours, mut beam) = ours_and_beam().await;
    let mut connected = ours.call(&beam.name).await;
    beam.eval("Echo = fun Echo() -> receive {P, T} -> P ! T, Echo() end end").await;
    beam.eval("[register(N, spawn(Echo)) || N <- [echo_0, echo_1, echo_2]]").await;

    let mut runner = TestRunner::deterministic();
    let strategy = vec((0..3u32, term()), COUNT);
    let sends = strategy.new_tree(&mut runner).expect("a value").current();
    let mut due: HashMap<u32, Vec<Term>> = HashMap::new();
    for (from, term) in &sends {
        due.entry(*from).or_default().push(term.clone());
    }
    let link = connected.link.clone();
    let pids: Vec<_> = (0..3).map(|id| ours.pid(id)).collect();
    let sender = tokio::spawn(async move {
        for (from, term) in sends {
            let pid = pids[from as usize].clone();
            let message = Term::tuple([Term::Pid(Box::new(pid.clone())), term]);
            let to = Atom::new(&format!("echo_{from}")).expect("short");
            let control = Control::RegSend { from: pid, to, token: None };
            link.send(Signal { control, payload: Some(message) }).await.expect("it goes on");
        }
    });
    let mut came: HashMap<u32, Vec<Term>> = HashMap::new();
    for _ in 0..COUNT {
        let Signal { control, payload } = connected.next().await;
        let Control::SendSender { to, .. } = control else { panic!("{control:?}") };
        came.entry(to.id).or_default().push(payload.expect("a message"));
    }
    sender.await.expect("all was sent");
    for (from, terms) in due {
        let came = came.remove(&from).unwrap_or_default();
        assert_eq!(came.len(), terms.len());
        for (number, (came, due)) in came.iter().zip(&terms).enumerate() {
            assert!(came == due, "message {number} of {from}: {came:?} instead of {due:?}");
        }
    }
}
