use proptest::prelude::*;
use purlin_term::{BigInt, Decoder, EncodeError, Writer};

use super::*;
use crate::frame::Signal;

pub(crate) fn pid() -> impl Strategy<Value = Pid> {
    (any::<u32>(), any::<u32>(), 1..5u32).prop_map(|(id, serial, creation)| Pid {
        node: Atom::from_static("a@h"),
        id,
        serial,
        creation,
    })
}

fn atom() -> impl Strategy<Value = Atom> {
    "[a-zA-Z_@ é]{0,30}".prop_map(|text| Atom::new(&text).expect("a short text"))
}

fn reference() -> impl Strategy<Value = Reference> {
    (prop::collection::vec(any::<u32>(), 1..=5), 1..5u32).prop_map(|(words, creation)| {
        Reference::new(Atom::from_static("a@h"), creation, &words).expect("one to five words")
    })
}

fn term() -> impl Strategy<Value = Term> {
    prop_oneof![
        any::<i64>().prop_map(Term::Integer),
        atom().prop_map(Term::Atom),
        pid().prop_map(|pid| Term::Pid(Box::new(pid))),
        prop::collection::vec(any::<i64>().prop_map(Term::Integer), 0..4).prop_map(Term::List),
    ]
}

fn token() -> impl Strategy<Value = Option<Term>> {
    prop::option::of(term())
}

fn named() -> impl Strategy<Value = Named> {
    prop_oneof![pid().prop_map(Named::Pid), atom().prop_map(Named::Name)]
}

fn to() -> impl Strategy<Value = To> {
    prop_oneof![pid().prop_map(To::Pid), atom().prop_map(To::Name), reference().prop_map(To::Alias)]
}

/// Any control message.
pub(crate) fn control() -> impl Strategy<Value = Control> {
    let links = (0..4u8, 1..=u64::MAX, pid(), pid()).prop_map(|(kind, id, from, to)| match kind {
        0 => Control::Link { from, to },
        1 => Control::Unlink { from, to },
        2 => Control::UnlinkId { id, from, to },
        _ => Control::UnlinkIdAck { id, from, to },
    });
    let exits = (any::<bool>(), pid(), pid(), token(), prop::option::of(term())).prop_map(
        |(two, from, to, token, reason)| match two {
            true => Control::Exit2 { from, to, token, reason },
            false => Control::Exit { from, to, token, reason },
        },
    );
    let monitors =
        (any::<bool>(), pid(), named(), reference()).prop_map(|(more, from, to, reference)| {
            match more {
                true => Control::Monitor { from, to, reference },
                false => Control::Demonitor { from, to, reference },
            }
        });
    let function = (atom(), atom(), any::<u8>());
    let spawn = (reference(), pid(), pid(), function, prop::collection::vec(term(), 0..3), token())
        .prop_map(|(request, from, group_leader, (module, function, arity), options, token)| {
            let called = (module, function, arity);
            let (module, function, arity) = called;
            Control::Spawn(Box::new(Spawn {
                request,
                from,
                group_leader,
                module,
                function,
                arity,
                options,
                token,
            }))
        });
    let result = prop_oneof![pid().prop_map(Ok), atom().prop_map(Err)];
    let spawned = (reference(), pid(), any::<[bool; 2]>(), result, token()).prop_map(
        |(request, to, [linked, monitored], result, token)| Control::Spawned {
            request,
            to,
            linked,
            monitored,
            result,
            token,
        },
    );
    prop_oneof![
        links,
        (pid(), token()).prop_map(|(to, token)| Control::Send { to, token }),
        (pid(), pid(), token()).prop_map(|(from, to, token)| Control::SendSender {
            from,
            to,
            token
        }),
        (pid(), atom(), token()).prop_map(|(from, to, token)| Control::RegSend { from, to, token }),
        (pid(), reference(), token()).prop_map(|(from, to, token)| Control::AliasSend {
            from,
            to,
            token
        }),
        (any::<[bool; 2]>(), pid(), to(), token()).prop_map(
            |([priority, exit], from, to, token)| Control::Altact {
                priority,
                exit,
                from,
                to,
                token
            }
        ),
        exits,
        monitors,
        (named(), pid(), reference(), prop::option::of(term())).prop_map(
            |(from, to, reference, reason)| Control::Down { from, to, reference, reason }
        ),
        (pid(), pid()).prop_map(|(leader, member)| Control::GroupLeader { leader, member }),
        spawn,
        spawned,
    ]
}

/// The term that the control message is encoded as.
pub(crate) fn written(control: &Control) -> Result<Term, EncodeError> {
    let mut bytes = vec![131];
    control.write(&mut Writer::new(&mut bytes))?;
    Ok(Term::decode(&bytes).expect("a term"))
}

/// The signal as the peer decodes it: with a reason in the control message as the payload.
pub(crate) fn received(mut control: Control, payload: Option<Term>) -> Signal {
    let reason = match &mut control {
        Control::Exit { reason, .. }
        | Control::Exit2 { reason, .. }
        | Control::Down { reason, .. } => reason.take(),
        _ => None,
    };
    Signal { control, payload: payload.or(reason) }
}

/// Decodes a control message from a term.
fn read(term: &Term) -> Result<Control, String> {
    let bytes = term.encode().expect("a term");
    let mut decoder = Decoder::new(&bytes[1..]);
    let control = Control::read(&mut decoder).map_err(|why| why.to_string())?;
    assert!(decoder.rest().is_empty(), "{term} was not read to its end");
    Ok(control)
}

fn some_pid(id: u32) -> Pid {
    Pid { node: Atom::from_static("a@h"), id, serial: 0, creation: 1 }
}

fn term_of(pid: &Pid) -> Term {
    Term::Pid(Box::new(pid.clone()))
}

/// A tuple of this number and these fields.
fn encoded(number: i64, fields: &[Term]) -> Term {
    Term::tuple([Term::Integer(number)].into_iter().chain(fields.iter().cloned()))
}

#[test]
fn trace_token_follows_the_recipient_and_precedes_the_exit_reason() {
    let (from, to) = (some_pid(1), some_pid(2));
    let (token, reason) = (Term::atom("token"), Term::atom("reason"));
    let (f, t) = (term_of(&from), term_of(&to));
    let empty = Term::atom("");
    let token_of = Some(token.clone());
    for (number, fields, control) in [
        (
            12,
            vec![empty, t.clone(), token.clone()],
            Control::Send { to: to.clone(), token: token_of.clone() },
        ),
        (
            13,
            vec![f.clone(), t.clone(), token.clone(), reason.clone()],
            Control::Exit {
                from: from.clone(),
                to: to.clone(),
                token: token_of.clone(),
                reason: Some(reason.clone()),
            },
        ),
        (27, vec![f, t, token], Control::Exit2 { from, to, token: token_of, reason: None }),
    ] {
        assert_eq!(read(&encoded(number, &fields)), Ok(control.clone()));
        assert_eq!(written(&control), Ok(encoded(number, &fields)));
    }
}

#[test]
fn errors_contain_the_number_of_the_control_message() {
    let pid = term_of(&some_pid(1));
    for (term, line) in [
        (Term::atom("x"), "no control message: not a tuple"),
        (Term::tuple([]), "no control message: no number in front"),
        (encoded(1, std::slice::from_ref(&pid)), "control message 1: too few fields"),
        (
            encoded(1, &[pid.clone(), pid.clone(), pid.clone()]),
            "control message 1: too many fields",
        ),
        (encoded(1, &[Term::from(1), pid.clone()]), "control message 1: not a pid"),
        (encoded(5, &[]), "control message 5: unknown"),
        (encoded(99, &[]), "control message 99: unknown"),
        (
            encoded(35, &[Term::from(0), pid.clone(), pid]),
            "control message 35: not the number of an unlink",
        ),
    ] {
        assert_eq!(read(&term), Err(line.to_owned()));
    }
}

#[test]
fn altact_signal_may_have_unknown_flags_and_additional_fields() {
    let (from, to) = (some_pid(1), some_pid(2));
    let huge = Term::from((BigInt::from(1) << 200) + 1);
    let more = [huge, term_of(&from), term_of(&to), Term::atom("more")];
    let control = Control::Altact {
        priority: true,
        exit: false,
        from: from.clone(),
        to: To::Pid(to),
        token: None,
    };
    assert_eq!(read(&encoded(37, &more)), Ok(control));
    // Both an alias and a name, or neither although the field is a name.
    for flags in [12, 0] {
        let fields = [Term::from(flags), term_of(&from), Term::atom("name")];
        assert!(read(&encoded(37, &fields)).is_err());
    }
    let negative = [Term::from(-1), term_of(&from), term_of(&from)];
    assert!(read(&encoded(37, &negative)).is_err());
}

#[test]
fn encoding_depends_on_the_flags_of_both_nodes() {
    let (from, to) = (some_pid(1), some_pid(2));
    let alias = Reference::new(Atom::from_static("a@h"), 1, &[1, 2, 3]).expect("three words");
    for asked in [false, true] {
        let kind = |flags| Control::to_alias(flags, from.clone(), alias.clone(), asked);
        let Some(Control::Altact { priority, exit: false, to: To::Alias(_), .. }) =
            kind(Flags::OFFERED)
        else {
            panic!("OTP 28 supports the newer encoding");
        };
        assert_eq!(priority, asked);
        assert!(matches!(kind(Flags::ALIAS), Some(Control::AliasSend { .. })));
        assert_eq!(kind(Flags::empty()), None);
        let exit = |flags| Control::exit_alias(flags, from.clone(), alias.clone(), asked);
        let Some(Control::Altact { priority, exit: true, to: To::Alias(_), .. }) =
            exit(Flags::OFFERED)
        else {
            panic!("OTP 28 supports exit signals to aliases");
        };
        assert_eq!(priority, asked);
        assert_eq!(exit(Flags::ALIAS), None);
    }
    let reason = Term::atom("killed");
    let exit = |flags| Control::exit(flags, from.clone(), to.clone(), reason.clone());
    let (control, payload) = exit(Flags::OFFERED);
    assert!(control.has_payload() && payload.is_some());
    let (control, payload) = exit(Flags::REQUIRED);
    assert!(!control.has_payload() && payload.is_none());
    assert!(matches!(
        Control::to_pid(Flags::REQUIRED, from.clone(), to.clone()),
        Control::Send { .. }
    ));
    assert!(matches!(Control::to_pid(Flags::OFFERED, from, to), Control::SendSender { .. }));
}

proptest! {
    #[test]
    fn every_control_message_survives_the_round_trip(control in control()) {
        prop_assert_eq!(read(&written(&control).expect("a term")), Ok(control));
    }

    #[test]
    fn message_with_a_changed_field_decodes_or_is_refused_with_a_one_line_error(
        control in control(),
        place in 0..8usize,
        field in term(),
    ) {
        let Ok(Term::Tuple(mut elements)) = written(&control) else { unreachable!("a tuple") };
        let place = place % elements.len();
        elements[place] = field;
        match read(&Term::Tuple(elements)) {
            // Unused fields are not preserved.
            Ok(changed) => {
                prop_assert_eq!(read(&written(&changed).expect("a term")), Ok(changed));
            }
            Err(why) => prop_assert_eq!(why.lines().count(), 1),
        }
    }
}
