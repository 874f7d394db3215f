//! The BEAM node of spread programs, controlled over its standard input and output, which are not
//! affected by cuts of the wire.

use std::io;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use purlin_term::{Atom, Term, from_bytes, to_bytes};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::wire::Wire;
use crate::beam::{Beam, cannot_be, packet, read_outcome};
use crate::language::{Program, Who};
use crate::outcome::Outcome;

/// Process numbers with their pids.
pub(super) type Known = Vec<(Who, Term)>;
/// Numbers of base processes with their aliases.
pub(super) type Aliases = Vec<(Who, Term)>;

/// A question to the node, which `erlang/differential_spread.erl` answers.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Question<'a> {
    /// A program, the seed for its yields, the bit mask of its processes on the BEAM, and the name
    /// of the other node.
    Start(&'a Program, u32, u8, Atom),
    Go(&'a Known, &'a Aliases),
    /// The OTP release of the node.
    Release,
    Idle,
    Wake(Who),
    Finish(&'a Known),
}

/// A running `erl` node that executes the BEAM's part of spread programs.
pub(super) struct Machine {
    beam: Beam,
    answers: Receiver<Vec<u8>>,
}

impl Machine {
    /// Starts a node with this name. The wire is cut whenever one of its processes requests it.
    pub(super) fn start(name: &str, cookie: &str, epmd: u16, wire: Wire) -> io::Result<Self> {
        let options = ["-start_epmd", "false", "-name", name, "-setcookie", cookie];
        let port = epmd.to_string();
        let environment = [("ERL_EPMD_PORT", port.as_str())];
        let mut beam = Beam::run_with("differential_spread", &options, &environment)?;
        let mut output = beam.output().ok_or_else(|| io::Error::other("erl has no output"))?;
        let (sender, answers) = channel();
        thread::spawn(move || {
            while let Ok(mut packet) = packet(&mut output) {
                match packet.first().copied() {
                    Some(0) => wire.cut(),
                    Some(_) if sender.send(packet.split_off(1)).is_ok() => {}
                    _ => return,
                }
            }
        });
        Ok(Self { beam, answers })
    }

    fn ask<T: DeserializeOwned>(&mut self, question: &Question<'_>) -> io::Result<T> {
        self.beam.write(&to_bytes(question).map_err(io::Error::other)?)?;
        let answer = self.answers.recv().map_err(|_| io::Error::other("the BEAM has ended"))?;
        from_bytes(&answer).map_err(io::Error::other)
    }

    /// Returns the OTP release of the node.
    pub(super) fn release(&mut self) -> io::Result<u32> {
        self.ask(&Question::Release)
    }

    /// Spawns the base processes of a program that are on the BEAM; they wait for [`Machine::go`].
    /// Returns their pids and aliases.
    pub(super) fn begin(
        &mut self,
        program: &Program,
        seed: u32,
        other: &str,
    ) -> io::Result<(Known, Aliases)> {
        let other = Atom::new(other).map_err(io::Error::other)?;
        self.ask(&Question::Start(program, seed, program.abroad.unwrap_or(0), other))
    }

    /// Starts the scripts, with the pids and aliases of the base processes of the other node.
    pub(super) fn go(&mut self, others: &Known, aliases: &Aliases) -> io::Result<()> {
        self.ask::<Term>(&Question::Go(others, aliases)).map(drop)
    }

    /// Returns the first process in a receive with an idle timeout.
    pub(super) fn idle(&mut self) -> io::Result<Option<Who>> {
        let all: Vec<Who> = self.ask(&Question::Idle)?;
        Ok(all.first().copied())
    }

    pub(super) fn wake(&mut self, who: Who) -> io::Result<()> {
        self.ask::<Term>(&Question::Wake(who)).map(drop)
    }

    /// Returns the pids and the outcome of the processes of the program, and kills those that are
    /// left.
    pub(super) fn finish(
        &mut self,
        program: &Program,
        others: &Known,
    ) -> io::Result<(Known, Outcome)> {
        let (pids, outcome): (Known, Term) = self.ask(&Question::Finish(others))?;
        let outcome = read_outcome(&outcome, program).ok_or_else(|| cannot_be(program))?;
        Ok((pids, outcome))
    }
}
