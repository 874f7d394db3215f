//! State machines: events, transitions and their actions, timeouts, start and stop.

use std::time::Duration;

use crate::common::here;
use crate::waiting::{MS, rest, simulated, uptime};
use purlin::server::{self, ServerRef, StartError};
use purlin::state_machine::{Entry, Event, Init, Machine, Mail, StateMachine, Timeout, Transition};
use purlin::supervisor::{ChildSpec, SupervisorSpec};
use purlin::{
    CallError, Exit, ExitReason, Message, Overflow, Pid, Process, Reply, SpawnOptions, spawn,
};
use purlin_testkit::Simulation;
use tokio::sync::oneshot;

/// A machine that performs the transitions it is sent, and reports events to a witness.
#[derive(Debug)]
struct Recorder {
    witness: Pid<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Postpones all events but timeouts and transitions.
    Busy,
    Free(u8),
    /// Sets the timeouts of the state and `'a'` when it is entered, and cancels `'b'`.
    Timed,
    /// Cannot be entered.
    Closed,
}

/// Behaviour of `init`.
enum Begin {
    Ready(State),
    Then(u8),
    Trap,
    Ignore,
    Fail,
}

#[derive(Debug)]
enum Cast {
    Note(u8),
    Go(fn() -> Transition<Recorder>),
    /// Waits in the handler.
    Hold(oneshot::Receiver<()>),
    Fail(&'static str),
    Panic,
}

#[derive(Debug, Message)]
enum Info {
    Text(&'static str),
    #[from]
    Exit(Exit),
}

type Me = Process<Mail<Recorder>>;

impl StateMachine for Recorder {
    type Args = (Pid<String>, Begin);
    type State = State;
    type Call = Reply<u8>;
    type Cast = Cast;
    type Info = Info;
    type Internal = u8;
    type TimeoutName = char;

    async fn init((witness, begin): Self::Args, me: &mut Me) -> server::Result<Init<Self>> {
        let recorder = Self { witness };
        match begin {
            Begin::Ready(state) => Ok(Init::Ready(recorder, state)),
            Begin::Then(n) => Ok(Init::Then(recorder, State::Free(0), Event::Internal(n))),
            Begin::Trap => {
                me.trap_exit(true);
                Ok(Init::Ready(recorder, State::Free(0)))
            }
            Begin::Ignore => Ok(Init::Ignore),
            Begin::Fail => Err("no init".into()),
        }
    }

    async fn handle_event(
        &mut self,
        event: Event<Self>,
        state: &State,
        _me: &mut Me,
    ) -> server::Result<Transition<Self>> {
        let text = match (state, event) {
            (_, Event::Cast(Cast::Go(transition))) => return Ok(transition()),
            (_, Event::Timeout(timeout, n)) => format!("{timeout:?} {n}"),
            (State::Busy, event) => return Ok(Transition::keep_state().postpone(event)),
            (_, Event::Cast(Cast::Hold(gate))) => {
                let _ = gate.await;
                "held".to_owned()
            }
            (_, Event::Cast(Cast::Note(n))) => format!("note {n}"),
            (_, Event::Cast(Cast::Fail(why))) => return Err(why.into()),
            (_, Event::Cast(Cast::Panic)) => panic!("on purpose"),
            (_, Event::Call(reply)) => {
                reply.send(7);
                "call".to_owned()
            }
            (_, Event::Info(Info::Text(text))) => format!("info {text}"),
            (_, Event::Info(Info::Exit(exit))) => format!("exit {}", exit.reason),
            (_, Event::Internal(n)) => format!("internal {n}"),
        };
        self.witness.send(text);
        Ok(Transition::keep_state())
    }

    async fn state_enter(
        &mut self,
        from: &State,
        state: &State,
        _me: &mut Me,
    ) -> server::Result<Entry<Self>> {
        self.witness.send(format!("{from:?} to {state:?}"));
        Ok(match state {
            State::Busy | State::Free(_) => Entry::keep_state(),
            State::Timed => Entry::keep_state()
                .timeout(Timeout::State, 5 * MS, 5)
                .timeout(Timeout::Named('a'), 6 * MS, 6)
                .cancel_timeout(Timeout::Named('b')),
            State::Closed => return Err(ExitReason::error("closed").into()),
        })
    }

    async fn terminate(&mut self, reason: &ExitReason, state: &State, _me: &mut Me) {
        self.witness.send(format!("terminate {reason} in {state:?}"));
    }
}

/// Starts a recorder, and takes the report of its first state.
async fn recorder(me: &mut Process<String>, state: State) -> ServerRef<Machine<Recorder>> {
    let started = server::start((me.pid(), Begin::Ready(state))).await.expect("it starts");
    assert_eq!(me.receive().await, format!("{state:?} to {state:?}"));
    started
}

/// Asserts that these are the next reports, and that no other follows before the machine waits.
async fn sees(me: &mut Process<String>, reports: &[&str]) {
    let mut seen = Vec::new();
    for _ in reports {
        seen.push(me.receive().await);
    }
    assert_eq!(seen, reports);
    rest().await;
    assert_eq!(me.flush(), Vec::<String>::new(), "after {reports:?}");
}

// G6: events of every kind are handled in the order of arrival
#[test]
fn events_are_handled_in_the_state() {
    simulated(async |mut me: Process<String>| {
        let recorder = recorder(&mut me, State::Free(0)).await;
        recorder.cast(Cast::Note(1));
        recorder.send(Info::Text("two"));
        assert_eq!(recorder.call(|reply| reply).await, Ok(7));
        sees(&mut me, &["note 1", "info two", "call"]).await;
        let shown = recorder.inspect(|machine| *machine.state()).await;
        assert_eq!(shown, Ok(State::Free(0)));
        let witness = recorder.inspect(|machine| machine.data().witness.id()).await;
        assert_eq!(witness, Ok(me.id()));
    });
}

// G6: a change of the state retries postponed events, in order and before newer ones
#[test]
fn postponed_events_are_handled_after_a_change_of_the_state() {
    simulated(async |mut me: Process<String>| {
        let recorder = recorder(&mut me, State::Busy).await;
        recorder.cast(Cast::Note(1));
        recorder.send(Info::Text("two"));
        let call = recorder.send_request(|reply| reply);
        let (go, gate) = oneshot::channel();
        recorder.cast(Cast::Hold(gate));
        recorder.cast(Cast::Go(Transition::keep_state));
        recorder.cast(Cast::Go(Transition::repeat_state));
        recorder.cast(Cast::Go(|| Transition::next_state(State::Busy)));
        sees(&mut me, &["Busy to Busy"]).await;
        recorder.cast(Cast::Go(|| Transition::next_state(State::Free(1))));
        sees(&mut me, &["Busy to Free(1)", "note 1", "info two", "call"]).await;
        assert_eq!(call.await, Ok(7));
        // The messages that arrive meanwhile are newer than the postponed ones.
        recorder.cast(Cast::Note(3));
        go.send(()).expect("the machine waits");
        sees(&mut me, &["held", "note 3"]).await;
    });
}

// G6: an event can be postponed by the transition that changes the state
#[test]
fn an_event_postponed_in_a_change_of_the_state_is_handled_in_the_new_state() {
    simulated(async |mut me: Process<String>| {
        let recorder = recorder(&mut me, State::Busy).await;
        recorder.cast(Cast::Note(1));
        recorder.cast(Cast::Go(|| {
            let postponed = Event::Cast(Cast::Note(2));
            Transition::next_state(State::Free(1)).postpone(postponed)
        }));
        sees(&mut me, &["Busy to Free(1)", "note 1", "note 2"]).await;
    });
}

// G6: queued events come first, then postponed ones, then those of the mailbox
#[test]
fn queued_events_are_handled_before_postponed_ones() {
    simulated(async |mut me: Process<String>| {
        let recorder = recorder(&mut me, State::Busy).await;
        recorder.cast(Cast::Note(1));
        recorder.cast(Cast::Go(|| {
            Transition::next_state(State::Free(1))
                .next_event(Event::Internal(2))
                .next_event(Event::Cast(Cast::Note(3)))
        }));
        recorder.cast(Cast::Note(4));
        sees(&mut me, &["Busy to Free(1)", "internal 2", "note 3", "note 1", "note 4"]).await;
    });
}

// G6: postponed events are older than those that were queued before the change of the state
#[test]
fn postponed_events_are_handled_before_those_that_were_queued_earlier() {
    simulated(async |mut me: Process<String>| {
        let recorder = recorder(&mut me, State::Busy).await;
        recorder.cast(Cast::Note(1));
        recorder.cast(Cast::Go(|| {
            let change = Cast::Go(|| Transition::next_state(State::Free(1)));
            Transition::keep_state()
                .next_event(Event::Cast(change))
                .next_event(Event::Cast(Cast::Note(2)))
        }));
        sees(&mut me, &["Busy to Free(1)", "note 1", "note 2"]).await;
    });
}

// G6: a change of the state cancels its timeout, and no event does
#[test]
fn a_state_timeout_ends_with_the_state() {
    simulated(async |mut me: Process<String>| {
        let recorder = recorder(&mut me, State::Free(0)).await;
        let began = uptime();
        let set =
            Cast::Go(|| Transition::next_state(State::Free(1)).timeout(Timeout::State, 50 * MS, 1));
        recorder.cast(set);
        recorder.cast(Cast::Note(2));
        recorder.cast(Cast::Go(Transition::repeat_state));
        recorder.cast(Cast::Go(|| Transition::next_state(State::Free(1))));
        sees(&mut me, &["Free(0) to Free(1)", "note 2", "Free(1) to Free(1)"]).await;
        assert_eq!(me.receive().await, "State 1");
        assert_eq!(uptime() - began, 50 * MS);

        recorder.cast(Cast::Go(|| Transition::keep_state().timeout(Timeout::State, 50 * MS, 1)));
        recorder.cast(Cast::Go(|| Transition::next_state(State::Free(2))));
        sees(&mut me, &["Free(1) to Free(2)"]).await;
        recorder.pid().send_after(100 * MS, Mail::Cast(Cast::Note(3)));
        sees(&mut me, &["note 3"]).await;
    });
}

// G6: any event cancels the event timeout
#[test]
fn an_event_timeout_ends_with_the_next_event() {
    simulated(async |mut me: Process<String>| {
        let recorder = recorder(&mut me, State::Free(0)).await;
        let began = uptime();
        let set = || Transition::keep_state().timeout(Timeout::Event, 50 * MS, 1);
        recorder.cast(Cast::Go(set));
        assert_eq!(me.receive().await, "Event 1");
        assert_eq!(uptime() - began, 50 * MS);
        recorder.cast(Cast::Go(set));
        recorder.cast(Cast::Note(2));
        recorder.cast(Cast::Go(|| {
            let queued = Transition::keep_state().next_event(Event::Internal(3));
            queued.timeout(Timeout::Event, Duration::ZERO, 1)
        }));
        sees(&mut me, &["note 2", "internal 3"]).await;
        recorder.pid().send_after(100 * MS, Mail::Cast(Cast::Note(4)));
        sees(&mut me, &["note 4"]).await;
    });
}

// G6: timeouts with names run independently; they can be set again, cancelled and updated
#[test]
fn a_named_timeout_ends_by_its_own_actions_only() {
    simulated(async |mut me: Process<String>| {
        const A: Timeout<char> = Timeout::Named('a');
        const B: Timeout<char> = Timeout::Named('b');
        let recorder = recorder(&mut me, State::Free(0)).await;
        let began = uptime();
        let both = || Transition::keep_state().timeout(A, 20 * MS, 1).timeout(B, 10 * MS, 2);
        recorder.cast(Cast::Go(both));
        recorder.cast(Cast::Note(3));
        recorder.cast(Cast::Go(|| Transition::next_state(State::Free(1))));
        recorder.cast(Cast::Go(|| Transition::keep_state().update_timeout(A, 4)));
        sees(&mut me, &["note 3", "Free(0) to Free(1)"]).await;
        assert_eq!((me.receive().await, uptime() - began), ("Named('b') 2".into(), 10 * MS));
        assert_eq!((me.receive().await, uptime() - began), ("Named('a') 4".into(), 20 * MS));

        // Set again, the time begins again; cancelled, it does not end.
        let began = uptime();
        recorder.cast(Cast::Go(both));
        recorder.cast(Cast::Go(|| Transition::keep_state().timeout(A, 30 * MS, 5)));
        recorder.cast(Cast::Go(|| Transition::keep_state().cancel_timeout(B)));
        assert_eq!((me.receive().await, uptime() - began), ("Named('a') 5".into(), 30 * MS));
        recorder.cast(Cast::Go(both));
        recorder.cast(Cast::Go(|| {
            Transition::keep_state().timeout(A, Duration::MAX, 6).cancel_timeout(B)
        }));
        recorder.pid().send_after(100 * MS, Mail::Cast(Cast::Note(7)));
        sees(&mut me, &["note 7"]).await;
    });
}

// G6: a timeout of zero is handled after queued events and before messages
#[test]
fn a_timeout_of_zero_is_handled_before_a_message() {
    simulated(async |mut me: Process<String>| {
        let recorder = recorder(&mut me, State::Free(0)).await;
        recorder.cast(Cast::Go(|| {
            Transition::keep_state()
                .timeout(Timeout::State, Duration::ZERO, 1)
                .update_timeout(Timeout::Named('a'), 2)
                .timeout(Timeout::Named('b'), Duration::ZERO, 3)
                .next_event(Event::Internal(4))
                .next_event(Event::Cast(Cast::Go(|| {
                    Transition::keep_state().cancel_timeout(Timeout::Named('b'))
                })))
        }));
        recorder.cast(Cast::Note(5));
        sees(&mut me, &["internal 4", "State 1", "Named('a') 2", "note 5"]).await;
        // Set again, a timeout that waits has a timer.
        let began = uptime();
        recorder.cast(Cast::Go(|| {
            Transition::keep_state().timeout(Timeout::Named('a'), Duration::ZERO, 6).next_event(
                Event::Cast(Cast::Go(|| {
                    Transition::keep_state().timeout(Timeout::Named('a'), 10 * MS, 7)
                })),
            )
        }));
        assert_eq!((me.receive().await, uptime() - began), ("Named('a') 7".into(), 10 * MS));
    });
}

// G6: of several actions for one timeout the last has an effect, also that of the state's entry
#[test]
fn the_last_action_for_a_timeout_replaces_the_others() {
    simulated(async |mut me: Process<String>| {
        let recorder = recorder(&mut me, State::Free(0)).await;
        let began = uptime();
        recorder.cast(Cast::Go(|| {
            Transition::keep_state()
                .timeout(Timeout::State, 10 * MS, 1)
                .update_timeout(Timeout::State, 2)
        }));
        // The update finds no timeout that runs.
        assert_eq!((me.receive().await, uptime() - began), ("State 2".into(), Duration::ZERO));
        recorder.cast(Cast::Go(|| {
            Transition::next_state(State::Timed)
                .timeout(Timeout::State, MS, 3)
                .timeout(Timeout::Named('a'), MS, 3)
                .timeout(Timeout::Named('b'), MS, 3)
        }));
        assert_eq!(me.receive().await, "Free(0) to Timed");
        assert_eq!((me.receive().await, uptime() - began), ("State 5".into(), 5 * MS));
        assert_eq!((me.receive().await, uptime() - began), ("Named('a') 6".into(), 6 * MS));
    });
}

// G6: a timeout whose timer has fired arrives in the order of the mailbox, and can be cancelled there
#[test]
fn a_timeout_waits_in_the_mailbox_and_can_be_cancelled_there() {
    simulated(async |mut me: Process<String>| {
        let recorder = recorder(&mut me, State::Free(0)).await;
        for cancels in [false, true] {
            recorder.cast(Cast::Go(|| {
                let set = Transition::keep_state().timeout(Timeout::State, MS, 1);
                set.timeout(Timeout::Named('a'), MS / 2, 2)
            }));
            let (go, gate) = oneshot::channel();
            recorder.cast(Cast::Hold(gate));
            recorder.cast(match cancels {
                false => Cast::Note(3),
                true => Cast::Go(|| {
                    let left = Transition::next_state(State::Free(1));
                    left.cancel_timeout(Timeout::Named('a'))
                }),
            });
            rest().await;
            rest().await;
            recorder.cast(Cast::Note(4));
            go.send(()).expect("the machine waits");
            let between: &[_] = match cancels {
                false => &["held", "note 3", "Named('a') 2", "State 1", "note 4"],
                true => &["held", "Free(0) to Free(1)", "note 4"],
            };
            sees(&mut me, between).await;
        }
    });
}

// G6: a timeout that is set again does not end with the timer that has fired before
#[test]
fn a_timeout_that_waits_in_the_mailbox_can_be_set_again() {
    simulated(async |mut me: Process<String>| {
        let recorder = recorder(&mut me, State::Free(0)).await;
        recorder.cast(Cast::Go(|| Transition::keep_state().timeout(Timeout::State, MS / 2, 1)));
        let (go, gate) = oneshot::channel();
        recorder.cast(Cast::Hold(gate));
        recorder.cast(Cast::Go(|| Transition::keep_state().timeout(Timeout::State, 10 * MS, 2)));
        rest().await;
        let began = uptime();
        go.send(()).expect("the machine waits");
        sees(&mut me, &["held"]).await;
        assert_eq!((me.receive().await, uptime() - began), ("State 2".into(), 10 * MS));
    });
}

// G6, B2: a full mailbox does not lose a timeout
#[test]
fn a_timeout_passes_the_bound_of_the_mailbox() {
    use Overflow::{DropNewest, DropOldest, Reject, Wait};
    for (overflow, bound) in [(Wait, 1), (Reject, 1), (DropNewest, 1), (DropOldest, 3)] {
        Simulation::new(1).run(async move |mut me: Process<String>| {
            let started =
                server::start::<Machine<Recorder>>((me.pid(), Begin::Ready(State::Timed)));
            let options = SpawnOptions::new().bound(bound, overflow);
            let recorder = started.options(options).await.expect("it starts");
            rest().await;
            let (go, gate) = oneshot::channel();
            recorder.cast(Cast::Hold(gate));
            rest().await;
            recorder.cast(Cast::Note(1));
            for _ in 0..10 {
                rest().await;
            }
            let drops = overflow == DropOldest;
            if drops {
                // The mailbox is full. The oldest message is dropped that is no timeout.
                recorder.cast(Cast::Note(2));
            }
            go.send(()).expect("the machine waits");
            let timeouts = ["State 5", "Named('a') 6"];
            let handled = match drops {
                false => [["note 1"].as_slice(), &timeouts].concat(),
                true => [timeouts.as_slice(), &["note 2"]].concat(),
            };
            sees(&mut me, &[["Timed to Timed", "held"].as_slice(), &handled].concat()).await;
        });
    }
}

// G6: the entry of the first state and of a repeated one; an error in it stops the machine
#[test]
fn each_entry_of_a_state_has_a_call() {
    simulated(async |mut me: Process<String>| {
        let begun = server::start::<Machine<Recorder>>((me.pid(), Begin::Then(1))).await;
        let recorder = begun.expect("it starts");
        recorder.cast(Cast::Go(|| Transition::repeat_state().next_event(Event::Internal(2))));
        let entered = "Free(0) to Free(0)";
        sees(&mut me, &[entered, "internal 1", entered, "internal 2"]).await;
        recorder.cast(Cast::Go(|| Transition::next_state(State::Closed)));
        assert_eq!(recorder.pid().ended().await, ExitReason::error("closed"));
        sees(&mut me, &["Free(0) to Closed", "terminate closed in Closed"]).await;
        // The starter does not wait for the entry of the first state.
        let begin = Begin::Ready(State::Closed);
        let closed = server::start::<Machine<Recorder>>((me.pid(), begin)).await;
        let ended = closed.expect("it starts").pid().ended().await;
        assert_eq!(ended, ExitReason::error("closed"));
        sees(&mut me, &["Closed to Closed", "terminate closed in Closed"]).await;
    });
}

// G6: every kind of stop calls `terminate`, and a postponed call gets the reason
#[test]
fn a_stop_ends_postponed_calls() {
    simulated(async |mut me: Process<String>| {
        let error = || ExitReason::error("broken");
        for (cast, reason) in [
            (Cast::Go(|| Transition::stop(ExitReason::Normal)), ExitReason::Normal),
            (Cast::Go(|| Transition::stop(ExitReason::error("broken"))), error()),
            (Cast::Go(|| Transition::next_state(State::Closed)), ExitReason::error("closed")),
        ] {
            let recorder = recorder(&mut me, State::Busy).await;
            let call = recorder.send_request(|reply| reply);
            recorder.cast(cast);
            assert_eq!(call.await, Err(CallError::Ended(reason.clone())));
            let last = me.flush().pop().expect("it reports its end");
            assert!(last.starts_with(&format!("terminate {reason} in ")), "{last}");
        }
        let failing = recorder(&mut me, State::Free(0)).await;
        failing.cast(Cast::Fail("broken"));
        assert_eq!(failing.pid().ended().await, error());
        sees(&mut me, &["terminate broken in Free(0)"]).await;
        let panicking = recorder(&mut me, State::Free(0)).await;
        panicking.cast(Cast::Panic);
        assert!(matches!(panicking.pid().ended().await, ExitReason::Panic(_)));
        assert!(me.receive().await.contains("on purpose"));
        let stopped = recorder(&mut me, State::Free(0)).await;
        stopped.cast(Cast::Note(1));
        assert_eq!(stopped.stop().await, Ok(()));
        sees(&mut me, &["note 1", "terminate normal in Free(0)"]).await;
    });
}

// G6: the result of a start shows whether the machine is up
#[test]
fn a_failed_start_returns_its_reason() {
    simulated(async |mut me: Process<String>| {
        let start = |begin| server::start::<Machine<Recorder>>((me.pid(), begin));
        assert_eq!(start(Begin::Ignore).await.err(), Some(StartError::Ignored));
        let failed = StartError::Failed(ExitReason::error("no init"));
        assert_eq!(start(Begin::Fail).await.err(), Some(failed));
        rest().await;
        assert_eq!(me.flush(), Vec::<String>::new(), "what has not begun does not terminate");
    });
}

// G6: an exit signal of the parent stops a machine that traps exits; that of another is an info
#[test]
fn a_machine_that_traps_exits_stops_with_its_parent() {
    simulated(async |mut me: Process<String>| {
        let (tx, rx) = oneshot::channel();
        let witness = me.pid();
        let parent = spawn(async move |mut me: Process<()>| {
            let linked = server::start_link::<Machine<Recorder>>(&me, (witness, Begin::Trap)).await;
            tx.send(linked.expect("it starts")).expect("the test waits");
            me.receive().await;
        });
        let recorder = rx.await.expect("it starts");
        recorder.pid().exit(ExitReason::error("ignored"));
        sees(&mut me, &["Free(0) to Free(0)", "exit ignored"]).await;
        parent.exit(ExitReason::error("lost"));
        sees(&mut me, &["terminate lost in Free(0)"]).await;
    });
}

// G6, G2: a machine is a child like any server
#[test]
fn a_supervisor_restarts_a_machine() {
    simulated(async |mut me: Process<String>| {
        let witness = me.pid();
        let spec = ChildSpec::server("recorder", move |me| {
            let args = (witness.clone(), Begin::Ready(State::Free(0)));
            server::start_link::<Machine<Recorder>>(me, args).name("recorder")
        });
        let supervisor = SupervisorSpec::one_for_one().child(spec);
        let supervisor = supervisor.start_link(&me).await.expect("it starts");
        let first = here().server::<Machine<Recorder>>("recorder").expect("it is registered");
        first.cast(Cast::Panic);
        first.pid().ended().await;
        rest().await;
        let second = here().server::<Machine<Recorder>>("recorder").expect("it is restarted");
        assert_ne!(first, second);
        assert_eq!(second.call(|reply| reply).await, Ok(7));
        assert_eq!(supervisor.stop(ExitReason::Normal).await, ExitReason::Normal);
        let reports = me.flush();
        assert_eq!(reports.iter().filter(|report| *report == "Free(0) to Free(0)").count(), 2);
    });
}

// G6, F1: a machine that always queues an event lets other processes run and can be ended
#[test]
fn a_machine_that_never_waits_can_be_ended() {
    fn again() -> Transition<Recorder> {
        Transition::keep_state().next_event(Event::Cast(Cast::Go(again)))
    }
    Simulation::new(1).run(async move |mut me: Process<String>| {
        let recorder = recorder(&mut me, State::Free(0)).await;
        recorder.cast(Cast::Go(again));
        purlin::yield_now().await;
        recorder.pid().exit(ExitReason::Kill);
        assert_eq!(recorder.pid().ended().await, ExitReason::Killed);
    });
}

// G6: the timers of a machine end with it
#[test]
fn the_end_of_a_machine_cancels_its_timeouts() {
    Simulation::new(1).run(async move |mut me: Process<String>| {
        let recorder = recorder(&mut me, State::Timed).await;
        recorder.stop().await.expect("it stops");
        let dropped = here().dropped_messages();
        for _ in 0..10 {
            rest().await;
        }
        assert_eq!(here().dropped_messages(), dropped);
    });
}
