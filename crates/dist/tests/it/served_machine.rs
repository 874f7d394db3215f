//! State machine of purlin, called by `gen_statem`, `sys` and Elixir.

use std::convert::Infallible;
use std::time::Duration;

use crate::processes::{beam_and_ours, join};
use crate::support::{Beam, Epmd};
use purlin::server;
use purlin::state_machine::{Entry, Event, Init, Machine, Mail, StateMachine, Timeout, Transition};
use purlin::{Process, Reply};
use purlin_dist::cluster::{Cluster, Served};
use serde::{Deserialize, Serialize};

/// Door with a lock: the data are the digits that were pressed.
#[derive(Debug)]
struct Door {
    pressed: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Locked,
    Open,
}

#[derive(Debug)]
enum Call {
    Pass(Reply<u32>),
    Digits(Reply<usize>),
}

impl StateMachine for Door {
    type Args = ();
    type State = State;
    type Call = Call;
    type Cast = String;
    /// Locks the door, by a timeout of zero.
    type Info = ();
    type Internal = ();
    type TimeoutName = Infallible;

    async fn init((): (), _me: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
        Ok(Init::Ready(Self { pressed: String::new() }, State::Locked))
    }

    async fn handle_event(
        &mut self,
        event: Event<Self>,
        state: &State,
        _me: &mut Process<Mail<Self>>,
    ) -> server::Result<Transition<Self>> {
        Ok(match (state, event) {
            (_, Event::Call(Call::Digits(reply))) => {
                reply.send(self.pressed.len());
                Transition::keep_state()
            }
            (State::Locked, pass @ Event::Call(_)) => Transition::keep_state().postpone(pass),
            (State::Open, Event::Call(Call::Pass(reply))) => {
                reply.send(7);
                Transition::keep_state()
            }
            (State::Locked, Event::Cast(digits)) => {
                self.pressed.push_str(&digits);
                match self.pressed.ends_with("4711") {
                    true => Transition::next_state(State::Open),
                    false => Transition::keep_state(),
                }
            }
            (_, Event::Info(())) => {
                Transition::keep_state().timeout(Timeout::State, Duration::ZERO, ())
            }
            (_, Event::Timeout(..)) => Transition::next_state(State::Locked),
            (_, _) => Transition::keep_state(),
        })
    }

    async fn state_enter(
        &mut self,
        _from: &State,
        _state: &State,
        _me: &mut Process<Mail<Self>>,
    ) -> server::Result<Entry<Self>> {
        self.pressed.clear();
        Ok(Entry::keep_state())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ask {
    Pass,
    Digits,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Press {
    Press(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Lock {
    Lock,
}

async fn door(cluster: &Cluster) {
    let served = Served::<Machine<Door>>::new()
        .calls(|ask, caller| match ask {
            Ask::Pass => Call::Pass(caller.reply()),
            Ask::Digits => Call::Digits(caller.reply()),
        })
        .casts(|Press::Press(digits)| digits)
        .infos(|Lock::Lock| ())
        .state(|machine| (*machine.state(), machine.data().pressed.clone()));
    cluster.serves(served);
    let started = cluster.node().start::<Machine<Door>>(()).name("door").await;
    started.expect("the name is free");
}

// G6: calls of a BEAM are events, also postponed ones; `sys` has the state and the data
#[tokio::test]
async fn a_beam_uses_a_state_machine_as_a_gen_statem() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    door(&cluster).await;
    beam.eval("S = {door, 'ours@127.0.0.1'}, C = fun(Q) -> gen_statem:call(S, Q) end").await;
    assert_eq!(beam.eval("gen_statem:cast(S, {press, <<\"47\">>}), C(digits)").await, "2");
    assert_eq!(beam.eval("sys:get_state(S, infinity)").await, "{locked,<<\"47\">>}");
    // The machine postpones both calls; the first caller gives up.
    let gives_up = beam.eval("gen_statem:call(S, pass, {clean_timeout, 0})").await;
    assert!(gives_up.starts_with("{exit,{timeout,"), "{gives_up}");
    beam.eval("R = gen_statem:send_request(S, pass)").await;
    assert_eq!(beam.eval("C(digits), gen_statem:wait_response(R, 0)").await, "timeout");
    beam.eval("gen_statem:cast(S, {press, <<\"11\">>})").await;
    assert_eq!(beam.eval("gen_statem:wait_response(R, infinity)").await, "{reply,7}");
    assert_eq!(beam.eval("receive Late -> Late after 0 -> none end").await, "none");
    assert_eq!(beam.eval("C(pass)").await, "7");
    assert_eq!(beam.eval("S ! lock, sys:get_state(S, infinity)").await, "{locked,<<>>}");
    let status = beam.eval("sys:get_status(S, infinity)").await;
    assert!(status.starts_with("{status,<") && status.contains("{module,gen_statem}"), "{status}");
    // A request that cannot be decoded is no event.
    let refused = beam.eval("C({pass, 7})").await;
    assert!(refused.starts_with("{exit,{{bad_call,<<"), "{refused}");
    // The end of the machine ends a postponed call.
    beam.eval("Q = gen_statem:send_request(S, pass)").await;
    assert_eq!(beam.eval("gen_statem:stop(S, {shutdown, enough}, infinity)").await, "ok");
    let ended = beam.eval("{error, {Why, _}} = gen_statem:wait_response(Q, infinity), Why").await;
    assert_eq!(ended, "{shutdown,enough}");
}

#[tokio::test]
async fn elixir_uses_a_state_machine_as_a_gen_statem() {
    let epmd = Epmd::start();
    let mut beam = Beam::start_elixir(&epmd, "elixir").await;
    let cluster = join(&epmd, "ours").await;
    door(&cluster).await;
    let mut elixir = async |code: &str| {
        let code = code.replace("THERE", "{:door, :\\\"ours@127.0.0.1\\\"}");
        beam.eval(&format!("element(1, 'Elixir.Code':eval_string(<<\"{code}\">>))")).await
    };
    assert_eq!(elixir(":gen_statem.cast(THERE, {:press, ~s(4711)})").await, "ok");
    assert_eq!(elixir(":gen_statem.call(THERE, :pass)").await, "7");
    assert_eq!(elixir("GenServer.call(THERE, :digits, :infinity)").await, "0");
    assert_eq!(elixir(":gen_statem.stop(THERE)").await, "ok");
}
