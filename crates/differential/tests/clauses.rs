//! Unit tests of the model: the number of allowed outcomes of small programs, and their contents.

use purlin_differential::language::{After, By, How, Op, Pattern, Program, Reason, Script};
use purlin_differential::model::{Runtime, allows, outcomes};
use purlin_differential::outcome::{End, Item, Outcome, Seen, Watched};

const ANY: Op = Op::Receive(Pattern::Any, After::Never);

fn program(bases: u8, scripts: &[&[Op]]) -> Program {
    let scripts: Vec<Script> = scripts.iter().map(|script| script.to_vec()).collect();
    let program = Program { bases, scripts, abroad: None };
    assert!(program.is_valid(), "{program}");
    program
}

/// Returns all outcomes of a spread program with the processes of the bit mask `abroad` on the
/// BEAM.
fn spread(abroad: u8, scripts: &[&[Op]]) -> Vec<Outcome> {
    let scripts: Vec<Script> = scripts.iter().map(|script| script.to_vec()).collect();
    let program = Program { bases: scripts.len() as u8, scripts, abroad: Some(abroad) };
    assert!(program.is_valid(), "{program}");
    let found = outcomes(&program, Runtime::Both, 100_000).expect("the program is small");
    found.into_keys().collect()
}

fn all(program: &Program) -> Vec<Outcome> {
    let found = outcomes(program, Runtime::Beam, 10_000).expect("the program is small");
    found.into_keys().collect()
}

/// Returns the outcome of a program that has exactly one.
fn only(program: &Program) -> Outcome {
    let mut all = all(program);
    assert_eq!(all.len(), 1, "{program}");
    all.remove(0)
}

// M2, D4: signals between two processes arrive in the order sent, the end last
#[test]
fn messages_of_one_sender_and_its_end_come_in_order() {
    let sends: &[Op] = &[Op::Send(0, 0), Op::Send(0, 1), Op::ExitSelf(Reason::Boom)];
    let outcome = only(&program(1, &[&[Op::Spawn(1, How::Monitor(0)), ANY, ANY, Op::Park], sends]));
    assert_eq!(outcome.0[0].log, [Seen::Got(Item::Message(1, 0)), Seen::Got(Item::Message(1, 1))]);
    let down = Item::Down(0, Watched::Process(1), Reason::Boom);
    assert_eq!(outcome.0[0].end, End::Waits(vec![down]));
}

// M3: a message that is relayed by another process may be overtaken
#[test]
fn two_senders_have_no_order() {
    let triangle = program(
        3,
        &[&[Op::Send(2, 0), Op::Send(1, 1), Op::Park], &[ANY, Op::Send(2, 2)], &[ANY, ANY]],
    );
    assert_eq!(all(&triangle).len(), 2);
}

// R3: `after 0` sees the messages in the mailbox, including those sent to oneself
#[test]
fn a_message_to_oneself_is_in_the_mailbox_immediately() {
    let looks = Op::Receive(Pattern::Any, After::Zero);
    let outcome = only(&program(1, &[&[Op::Send(0, 1), looks]]));
    assert_eq!(outcome.0[0].log, [Seen::Got(Item::Message(0, 1))]);
}

// M2, L3: a signal that arrived before a message to oneself stays before it, even if exits are
// trapped only later
#[test]
fn a_queued_signal_comes_before_a_later_message_to_oneself() {
    let steps = [Op::Link(0), Op::Send(1, 0), Op::Trap(true), Op::Park];
    let exit = Item::Exit(0, Reason::NoProcess);
    let before = End::Waits(vec![exit, Item::Message(1, 0)]);
    let outcomes = all(&program(2, &[&[], &steps]));
    assert!(outcomes.iter().any(|outcome| outcome.0[1].end == before));
}

// L3, L4: `normal` from another process is ignored, `kill` cannot be trapped
#[test]
fn normal_and_kill_have_one_outcome() {
    let ignored = program(2, &[&[Op::Exit(1, Reason::Normal)], &[Op::Park]]);
    assert_eq!(only(&ignored).0[1].end, End::Waits(vec![]));
    let killed = program(2, &[&[Op::Exit(1, Reason::Kill)], &[Op::Trap(true), Op::Park]]);
    assert_eq!(only(&killed).0[1].end, End::Ended(Reason::Killed));
}

// L5: after unlink the end of the other process has no effect; a link made again works again
#[test]
fn a_link_can_be_made_again_after_unlink() {
    let ends = |steps: &[Op]| {
        let script = [&[Op::Spawn(1, How::Link)], steps, &[Op::Send(1, 0), Op::Park]].concat();
        only(&program(1, &[&script, &[ANY, Op::ExitSelf(Reason::Bang)]])).0[0].end.clone()
    };
    assert_eq!(ends(&[Op::Unlink(1)]), End::Waits(vec![]));
    assert_eq!(ends(&[Op::Unlink(1), Op::Link(1)]), End::Ended(Reason::Bang));
}

// L6, D2: a late link or monitor gives noproc
#[test]
fn late_links_and_monitors_give_noproc() {
    let late: &[Op] = &[Op::Receive(Pattern::Any, After::Idle), Op::Link(0), Op::Park];
    assert_eq!(only(&program(2, &[&[], late])).0[1].end, End::Ended(Reason::NoProcess));
}

// C1, C3: a call ends with the reply, with the server's exit reason, or immediately for oneself
#[test]
fn a_call_has_one_outcome() {
    let serve: &[Op] = &[Op::Receive(Pattern::Request, After::Never), Op::Reply(2)];
    let answered = only(&program(2, &[&[Op::Call(1, 0)], serve]));
    assert_eq!(answered.0[0].log, [Seen::Answer(2)]);
    let fail: &[Op] = &[Op::Receive(Pattern::Request, After::Never), Op::Crash];
    let failed = only(&program(2, &[&[Op::Call(1, 0)], fail]));
    assert_eq!(failed.0[0].log, [Seen::Failed(Reason::Crash)]);
    let refused = only(&program(1, &[&[Op::Call(0, 0)]]));
    assert_eq!(refused.0[0].log, [Seen::Refused]);
}

// N1: a name has one owner
#[test]
fn one_of_two_processes_gets_a_name() {
    let wants: &[Op] = &[Op::Register(0, 0), Op::Park];
    let also: &[Op] = &[Op::Register(0, 1), Op::Park];
    for outcome in all(&program(2, &[wants, also])) {
        let got = outcome.0.iter().filter(|trace| trace.log == [Seen::Registered(true)]);
        assert_eq!(got.count(), 1);
    }
}

#[test]
fn the_search_for_one_outcome_agrees_with_the_list_of_all() {
    let mut compared = 0;
    for seed in 0..100 {
        let program = purlin_differential::generate::generate(seed, true);
        let Some(all) = outcomes(&program, Runtime::Purlin, 500) else { continue };
        compared += 1;
        for outcome in all.keys() {
            let way = allows(&program, Runtime::Purlin, outcome, 100_000);
            assert!(matches!(way, Ok(Some(_))), "seed {seed}:\n{program}{outcome}");
        }
        let mut other = all.keys().next().expect("every program comes to rest").clone();
        other.0[0].log.push(Seen::Failed(Reason::Other));
        assert_eq!(allows(&program, Runtime::Purlin, &other, 100_000), Ok(None));
    }
    assert!(
        compared > 50,
        "{compared} of 100 programs have few enough states to list all outcomes"
    );
}

/// Returns the contents of the mailbox of the first process at the end, in all outcomes.
fn left(program: &Program) -> Vec<Vec<Item>> {
    let waits = |outcome: Outcome| match &outcome.0[0].end {
        End::Waits(left) => left.clone(),
        end => panic!("{end:?}"),
    };
    all(program).into_iter().map(waits).collect()
}

// M6: a priority message comes before ordinary ones of the same sender, unless the alias was removed
#[test]
fn priority_messages_come_first() {
    let sends: &[Op] = &[
        Op::Send(0, 0),
        Op::SendAlias(0, 1, true),
        Op::SendAlias(0, 2, false),
        Op::SendAlias(0, 0, true),
    ];
    let [first, second, third, fourth] = [1, 0, 0, 2].map(|tag| Item::Message(1, tag));
    assert_eq!(left(&program(2, &[&[Op::Park], sends])), [vec![first, second, third, fourth]]);
    let mut removed = left(&program(2, &[&[Op::Unalias, Op::Park], sends]));
    removed.sort();
    removed.dedup();
    let ordinary = Item::Message(1, 0);
    assert!(removed.contains(&vec![ordinary]) && removed.contains(&vec![first, ordinary]));
    assert_eq!(removed.len(), 4, "the alias is removed before or after each message");
}

// M6, R1: a receive that has taken an ordinary message did not wait for the priority message
#[test]
fn a_receive_takes_the_message_that_is_first_at_that_time() {
    let sends: &[Op] = &[Op::Send(0, 0), Op::SendAlias(0, 1, true)];
    let outcomes = all(&program(2, &[&[ANY, ANY], sends]));
    let log = |first, second| [first, second].map(|tag| Seen::Got(Item::Message(1, tag)));
    assert_eq!(outcomes.len(), 2);
    for log in [log(0, 1), log(1, 0)] {
        assert!(outcomes.iter().any(|outcome| outcome.0[0].log == log));
    }
}

// M6: exit and down messages
#[test]
fn exit_and_down_messages_may_have_priority() {
    let ends: &[Op] = &[Op::Send(0, 0), Op::ExitSelf(Reason::Boom)];
    let watches = |link, monitor| {
        left(&program(
            1,
            &[&[Op::Trap(true), Op::Spawn(1, How::Plain), link, monitor, Op::Park], ends],
        ))
    };
    let message = Item::Message(1, 0);
    let down = |left: &[Item]| left.iter().position(|item| matches!(item, Item::Down(..)));
    let exit = |left: &[Item]| left.iter().position(|item| matches!(item, Item::Exit(..)));
    for left in watches(Op::LinkPriority(1), Op::Monitor(1, 0)) {
        assert_eq!((exit(&left), left[1], down(&left)), (Some(0), message, Some(2)));
    }
    for left in watches(Op::Link(1), Op::MonitorPriority(1, 0)) {
        assert_eq!((down(&left), left[1], exit(&left)), (Some(0), message, Some(2)));
    }
    // The last call decides about a link that exists.
    let calls = |calls: &[Op]| {
        let begins = [Op::Trap(true), Op::Spawn(1, How::Link)];
        let script = [&begins, calls, &[Op::Send(1, 0), Op::Park]].concat();
        left(&program(1, &[&script, &[&[ANY], ends].concat()]))
    };
    let ended = Item::Exit(1, Reason::Boom);
    assert_eq!(calls(&[Op::LinkPriority(1), Op::Link(1)]), [[message, ended]]);
    assert_eq!(calls(&[Op::LinkPriority(1)]), [[ended, message]]);
    assert_eq!(calls(&[Op::LinkPriority(1), Op::Unlink(1), Op::Link(1)]), [[message, ended]]);
    let sends: &[Op] = &[
        Op::Send(0, 0),
        Op::ExitAlias(0, Reason::Bang, true),
        Op::ExitAlias(0, Reason::Boom, false),
    ];
    let [bang, boom] = [Reason::Bang, Reason::Boom].map(|reason| Item::Exit(1, reason));
    let traps: &[Op] = &[Op::Trap(true), Op::Park];
    let ended = all(&program(2, &[traps, sends]));
    assert!(ended.iter().any(|outcome| outcome.0[0].end == End::Waits(vec![bang, message, boom])));
    assert!(ended.iter().any(|outcome| outcome.0[0].end == End::Ended(Reason::Bang)));
}

// M2: purlin sends to an alias on the BEAM without an order relative to its pid; the BEAM in order
#[test]
fn a_remote_alias_is_an_address_of_its_own() {
    let sends: &[Op] = &[Op::Send(0, 0), Op::SendAlias(0, 1, false)];
    let receives: &[Op] = &[Op::Receive(Pattern::Any, After::Idle), Op::Park];
    for script in [&[Op::Park], receives] {
        let ended = |abroad| spread(abroad, &[script, sends]).len();
        assert_eq!((ended(0b01), ended(0b10)), (2, 1));
    }
    // Also while the sender may get an exit signal, so that its steps and the arrivals have many orders.
    let hits: &[Op] =
        &[Op::Receive(Pattern::Any, After::Idle), Op::ExitAlias(1, Reason::Normal, false)];
    let overtakes = |outcome: Outcome| outcome.0[0].log[0] == Seen::Got(Item::Message(1, 1));
    assert!(spread(0b01, &[hits, sends]).into_iter().any(overtakes));
}

// L2, D1: `noconnection` is caused only by a cut, and comes once
#[test]
fn links_and_monitors_across_nodes_fire_when_the_connection_is_cut() {
    let watches: &[Op] = &[Op::Trap(true), Op::Link(1), Op::Monitor(1, 0), Op::Park];
    let lost = [
        Item::Exit(1, Reason::NoConnection),
        Item::Down(0, Watched::Process(1), Reason::NoConnection),
    ];
    for abroad in [0b01, 0b10] {
        let left = |other: &[Op]| -> Vec<Vec<Item>> {
            let all = spread(abroad, &[watches, other]).into_iter();
            all.map(|outcome| match &outcome.0[0].end {
                End::Waits(left) => left.clone(),
                end => panic!("{end:?}"),
            })
            .collect()
        };
        assert_eq!(left(&[Op::Park]), [vec![]], "nothing was cut");
        let cut = left(&[Op::Trap(true), Op::Cut(By::Wire), Op::Park]);
        assert!(cut.iter().any(|left| left.len() == 2), "both were lost");
        for left in cut {
            let counts = lost.map(|item| left.iter().filter(|own| **own == item).count());
            assert!(counts.iter().all(|count| *count <= 1), "{left:?}");
            assert_eq!(counts.iter().sum::<usize>(), left.len(), "{left:?}");
        }
    }
}

// M2: signals lost with a connection are contiguous, and the others arrive in order
#[test]
fn messages_lost_in_a_cut_are_contiguous() {
    let sends: &[Op] = &[Op::Send(1, 0), Op::Send(1, 1), Op::Send(1, 2)];
    for abroad in [0b101, 0b110] {
        let all = spread(abroad, &[sends, &[Op::Park], &[Op::Cut(By::Wire)]]);
        let mut left: Vec<Vec<u8>> = Vec::new();
        for outcome in all {
            let End::Waits(items) = &outcome.0[1].end else { panic!("{outcome}") };
            let tags = items.iter().map(|item| match item {
                Item::Message(0, tag) => *tag,
                item => panic!("{item}"),
            });
            left.push(tags.collect());
        }
        left.sort();
        let pieces: [&[u8]; 7] = [&[], &[0], &[0, 1], &[0, 1, 2], &[0, 2], &[1, 2], &[2]];
        assert_eq!(left, pieces);
    }
}

// M2: a name is a separate address, without an order relative to the pid
#[test]
fn a_remote_name_is_looked_up_on_arrival() {
    let sends: &[Op] = &[Op::SendName(1, 0), Op::MonitorName(1, 0), Op::Park];
    let outcomes = spread(0b10, &[sends, &[Op::Register(1, 1), Op::Park]]);
    let no_such = Item::Down(0, Watched::Name(1), Reason::NoProcess);
    let seen = |mail: &[Item], down: &[Item]| {
        let ends = [End::Waits(down.to_vec()), End::Waits(mail.to_vec())];
        outcomes
            .iter()
            .any(|outcome| outcome.0.iter().zip(&ends).all(|(trace, end)| trace.end == *end))
    };
    let message = Item::Message(0, 0);
    assert_eq!(outcomes.len(), 3);
    assert!(seen(&[message], &[]) && seen(&[], &[no_such]) && seen(&[], &[]));
}
