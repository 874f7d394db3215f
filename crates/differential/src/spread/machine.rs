//! The BEAM node of spread programs, controlled over its standard input and output, which are not
//! affected by cuts of the wire.

use std::io;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use purlin_term::{Atom, Term};

use super::wire::Wire;
use crate::beam::{Beam, packet};
use crate::language::Who;

/// Process numbers with their pids.
pub(super) type Known = Vec<(Who, Term)>;

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

    fn ask(&mut self, question: Term) -> io::Result<Vec<u8>> {
        let question = question.encode().map_err(io::Error::other)?;
        self.beam.write(&question)?;
        self.answers.recv().map_err(|_| io::Error::other("the BEAM has ended"))
    }

    /// Spawns the base processes of a program that are on the BEAM; they wait for [`Machine::go`].
    pub(super) fn begin(&mut self, code: &[u8], here: u8, other: &str) -> io::Result<Known> {
        let other = Term::Atom(Atom::new(other).map_err(io::Error::other)?);
        let (code, here) = (Term::from(code), Term::from(i64::from(here)));
        let pids = self.ask(Term::tuple([Term::atom("start"), code, here, other]))?;
        known(&read(&pids)?)
    }

    /// Starts the scripts, with the pids of the base processes of the other node.
    pub(super) fn go(&mut self, others: &Known) -> io::Result<()> {
        self.ask(Term::tuple([Term::atom("go"), pids(others)])).map(drop)
    }

    /// Returns the first process in a receive with an idle timeout.
    pub(super) fn idle(&mut self) -> io::Result<Option<Who>> {
        let idle = read(&self.ask(Term::atom("idle"))?)?;
        let all = idle.as_list().ok_or_else(|| unclear(&idle))?;
        Ok(all.first().and_then(Term::as_integer).map(|who| who as Who))
    }

    pub(super) fn wake(&mut self, who: Who) -> io::Result<()> {
        let who = Term::from(i64::from(who));
        self.ask(Term::tuple([Term::atom("wake"), who])).map(drop)
    }

    /// Returns the pids and the encoded outcome of the processes, and kills those that are left.
    pub(super) fn finish(&mut self, others: &Known) -> io::Result<(Known, Vec<u8>)> {
        let answer = read(&self.ask(Term::tuple([Term::atom("finish"), pids(others)]))?)?;
        match answer.as_tuple() {
            Some([pids, outcome]) => {
                Ok((known(pids)?, outcome.as_binary().unwrap_or_default().to_vec()))
            }
            _ => Err(unclear(&answer)),
        }
    }
}

fn pids(known: &Known) -> Term {
    let one = |(who, pid): &(Who, Term)| Term::tuple([Term::from(i64::from(*who)), pid.clone()]);
    Term::list(known.iter().map(one))
}

fn read(bytes: &[u8]) -> io::Result<Term> {
    Term::decode(bytes).map_err(io::Error::other)
}

fn known(term: &Term) -> io::Result<Known> {
    let one = |one: &Term| match one.as_tuple() {
        Some([who, pid]) => Some((who.as_integer()? as Who, pid.clone())),
        _ => None,
    };
    let all = term.as_list().and_then(|all| all.iter().map(one).collect());
    all.ok_or_else(|| unclear(term))
}

fn unclear(term: &Term) -> io::Error {
    io::Error::other(format!("the BEAM answered {term}"))
}
