//! Spread programs on a real BEAM, over a slow wire: what is in flight when the processes of both nodes sleep stays in
//! flight for long.

use std::time::Duration;

use purlin_differential::language::{After, Op, Pattern, Program};
use purlin_differential::model::{Runtime, allows};
use purlin_differential::spread::Spread;

/// Long compared with a question to the BEAM that does not cross the wire. Only a broken detection of rest depends on it.
const LATENCY: Duration = Duration::from_millis(20);

// D2: `noproc` is sent by the reader of the connection, and no process of purlin has a turn
#[test]
fn a_receive_with_an_idle_timeout_gets_what_the_reader_of_the_connection_answers() {
    let receive = Op::Receive(Pattern::Down, After::Idle);
    let scripts =
        vec![Vec::new(), vec![Op::MonitorName(0, 0), receive, Op::MonitorName(0, 1), receive]];
    let program = Program { bases: 2, scripts, abroad: Some(0b10) };
    assert!(program.is_valid(), "{program}");
    let mut spread = Spread::start(0, 2, LATENCY).expect("both nodes start");
    let seen = spread.see(&program, 1).expect("the program comes to rest");
    let allowed = allows(&program, Runtime::Both, &seen, 10_000);
    assert!(matches!(allowed, Ok(Some(_))), "{program}{seen}");
}
