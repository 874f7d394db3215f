//! Generator of random programs: the same seed always gives the same program.
//!
//! Each program has a theme, which makes some operations more likely than others: a bug between links and unlinks needs
//! several of both in one program.

use fastrand::Rng;

use crate::language::{
    After, By, How, MOST_PROCESSES, NAMES, Name, Op, Pattern, Program, Reason, Script, Side, Slot,
    TAGS, Tag, Who,
};

/// Operations to draw from, in the order of the columns below.
#[derive(Clone, Copy)]
enum Draw {
    Spawn,
    Send,
    Receive,
    Link,
    Unlink,
    Monitor,
    Demonitor,
    ExitSelf,
    Exit,
    Trap,
    Register,
    Named,
    Call,
    Reply,
    Cut,
}

const DRAWS: [Draw; 15] = [
    Draw::Spawn,
    Draw::Send,
    Draw::Receive,
    Draw::Link,
    Draw::Unlink,
    Draw::Monitor,
    Draw::Demonitor,
    Draw::ExitSelf,
    Draw::Exit,
    Draw::Trap,
    Draw::Register,
    Draw::Named,
    Draw::Call,
    Draw::Reply,
    Draw::Cut,
];

/// Weight of each operation, by theme.
const THEMES: [[u32; DRAWS.len()]; 6] = [
    // spawn send receive link unlink monitor demonitor exit-self exit trap register named call reply cut
    [4, 12, 14, 1, 0, 1, 0, 1, 1, 1, 0, 0, 1, 1, 0],
    [5, 4, 7, 9, 6, 1, 0, 4, 5, 7, 0, 0, 0, 0, 0],
    [5, 4, 8, 1, 0, 9, 6, 4, 4, 1, 0, 0, 0, 0, 0],
    [4, 3, 7, 1, 0, 2, 1, 3, 2, 1, 8, 11, 0, 0, 0],
    [4, 3, 8, 1, 0, 1, 0, 3, 3, 1, 0, 0, 9, 8, 0],
    [5, 6, 8, 3, 2, 3, 2, 2, 3, 3, 2, 3, 2, 2, 0],
];

/// Weights for spread programs, in which processes cannot call each other.
const SPREAD_THEMES: [[u32; DRAWS.len()]; 6] = [
    // spawn send receive link unlink monitor demonitor exit-self exit trap register named call reply cut
    [3, 14, 14, 1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 0, 3],
    [4, 4, 7, 11, 7, 1, 0, 3, 4, 7, 0, 0, 0, 0, 3],
    [4, 4, 8, 1, 0, 10, 6, 4, 3, 1, 0, 0, 0, 0, 3],
    [3, 4, 7, 1, 0, 2, 1, 3, 2, 1, 7, 12, 0, 0, 3],
    [4, 6, 8, 5, 4, 5, 3, 2, 3, 4, 2, 3, 0, 0, 4],
    [4, 6, 8, 6, 4, 5, 3, 3, 3, 4, 2, 3, 0, 0, 0],
];

/// Returns the program with this number.
pub fn generate(seed: u64) -> Program {
    let mut rng = Rng::with_seed(seed);
    let bases = [1, 2, 2, 2, 3, 3][rng.usize(..6)];
    author(rng, bases, &THEMES, None)
}

/// Returns the spread program with this number; each node has at least one of its processes.
pub fn generate_spread(seed: u64) -> Program {
    let mut rng = Rng::with_seed(seed);
    let bases = [2, 2, 2, 3, 3, 4][rng.usize(..6)];
    let abroad = 0b10 | rng.u8(..1 << bases) & !0b11;
    author(rng, bases, &SPREAD_THEMES, Some(abroad))
}

fn author(
    mut rng: Rng,
    bases: u8,
    themes: &'static [[u32; DRAWS.len()]],
    abroad: Option<u8>,
) -> Program {
    let children = rng.usize(..3).min(MOST_PROCESSES - usize::from(bases));
    let weights = &themes[rng.usize(..themes.len())];
    let scripts = vec![Vec::new(); bases.into()];
    let mut author =
        Author { rng, weights, children, cuts: 2, program: Program { bases, scripts, abroad } };
    for base in 0..bases {
        let length = author.rng.usize(2..8);
        author.write(base, (0..bases).collect(), length);
    }
    author.program
}

/// Writes the scripts of one program.
struct Author {
    rng: Rng,
    weights: &'static [u32; DRAWS.len()],
    /// Number of children that may still be spawned.
    children: usize,
    /// Number of cuts that may still be made.
    cuts: usize,
    program: Program,
}

impl Author {
    fn write(&mut self, who: Who, mut known: Vec<Who>, length: usize) {
        if !known.contains(&who) {
            known.push(who);
        }
        let mut slots = 0;
        for _ in 0..length {
            let op = self.op(who, &mut known, &mut slots);
            self.script(who).push(op);
            if op.is_last() {
                return;
            }
        }
        // A parked process shows its mailbox and can still receive signals.
        if self.rng.u32(..100) < 65 {
            self.script(who).push(Op::Park);
        }
    }

    fn script(&mut self, who: Who) -> &mut Script {
        &mut self.program.scripts[usize::from(who)]
    }

    fn op(&mut self, who: Who, known: &mut Vec<Who>, slots: &mut Slot) -> Op {
        let tag = self.tag();
        match self.draw() {
            Draw::Spawn if self.children > 0 => self.spawn(who, known, slots),
            Draw::Cut if self.cuts > 0 => {
                self.cuts -= 1;
                Op::Cut(if self.rng.u8(..3) == 0 { By::Node } else { By::Wire })
            }
            // All children have been spawned or all cuts made.
            Draw::Spawn | Draw::Cut | Draw::Send => Op::Send(self.other(who, known), tag),
            Draw::Receive => self.receive(*slots),
            Draw::Link => Op::Link(self.other(who, known)),
            Draw::Unlink => Op::Unlink(self.other(who, known)),
            Draw::Demonitor if *slots > 0 => Op::Demonitor(self.rng.u8(..*slots), self.rng.bool()),
            // There is no monitor to remove yet.
            Draw::Monitor | Draw::Demonitor => {
                *slots += 1;
                Op::Monitor(self.other(who, known), *slots - 1)
            }
            Draw::ExitSelf if self.rng.u8(..5) == 0 => Op::Crash,
            Draw::ExitSelf => Op::ExitSelf(self.reason()),
            Draw::Exit => Op::Exit(self.other(who, known), self.reason()),
            Draw::Trap => Op::Trap(self.rng.u8(..4) > 0),
            Draw::Register => {
                let of = if self.rng.bool() { who } else { self.other(who, known) };
                let of = if self.is_near(who, of) { of } else { who };
                Op::Register(self.own_name(who), of)
            }
            Draw::Named => self.named(who, slots),
            Draw::Call => Op::Call(self.other(who, known), tag),
            Draw::Reply => Op::Reply(tag),
        }
    }

    fn draw(&mut self) -> Draw {
        let total: u32 = self.weights.iter().sum();
        let mut left = self.rng.u32(..total);
        for (draw, weight) in DRAWS.into_iter().zip(self.weights) {
            match left.checked_sub(*weight) {
                Some(rest) => left = rest,
                None => return draw,
            }
        }
        Draw::Receive
    }

    fn spawn(&mut self, who: Who, known: &mut Vec<Who>, slots: &mut Slot) -> Op {
        self.children -= 1;
        let child = self.program.scripts.len() as Who;
        self.program.scripts.push(Vec::new());
        // A child is on its parent's node.
        if let Some(abroad) = &mut self.program.abroad {
            *abroad |= (*abroad >> who & 1) << child;
        }
        let length = self.rng.usize(1..5);
        self.write(child, known.clone(), length);
        known.push(child);
        let how = match self.rng.u8(..3) {
            0 => How::Plain,
            1 => How::Link,
            _ => {
                *slots += 1;
                How::Monitor(*slots - 1)
            }
        };
        Op::Spawn(child, how)
    }

    fn receive(&mut self, slots: Slot) -> Op {
        let pattern = match self.rng.u8(..12) {
            0..6 => Pattern::Any,
            6..9 => Pattern::Tag(self.tag()),
            9 if slots > 0 => Pattern::DownOf(self.rng.u8(..slots)),
            10 if slots > 0 => Pattern::Down,
            9 | 10 => Pattern::Request,
            _ => Pattern::Exit,
        };
        let after = match self.rng.u8(..10) {
            0..5 => After::Never,
            5..7 => After::Zero,
            _ => After::Idle,
        };
        Op::Receive(pattern, after)
    }

    fn is_near(&self, who: Who, other: Who) -> bool {
        self.program.side(who) == self.program.side(other)
    }

    /// Returns a name that the process can register and unregister.
    fn own_name(&mut self, who: Who) -> Name {
        match (self.program.abroad, self.program.side(who)) {
            (None, _) => self.rng.u8(..NAMES),
            (Some(_), Side::Purlin) => 0,
            (Some(_), Side::Beam) => 1,
        }
    }

    fn named(&mut self, who: Who, slots: &mut Slot) -> Op {
        let name = self.rng.u8(..NAMES);
        match self.rng.u8(..8) {
            0..3 => Op::SendName(name, self.tag()),
            3..5 => {
                *slots += 1;
                Op::MonitorName(name, *slots - 1)
            }
            5..7 if self.program.abroad.is_none() => Op::Whereis(name),
            5 => Op::Whereis(self.own_name(who)),
            6 => Op::SendName(name, self.tag()),
            _ if self.program.abroad.is_none() => Op::Unregister(name),
            _ => Op::Unregister(self.own_name(who)),
        }
    }

    /// Returns usually another process, in a spread program more often one on the other node.
    fn other(&mut self, who: Who, known: &[Who]) -> Who {
        if self.program.abroad.is_some() && self.rng.u8(..3) > 0 {
            let far = known.iter().copied().filter(|one| !self.is_near(who, *one));
            let far: Vec<Who> = far.collect();
            return far[self.rng.usize(..far.len())];
        }
        let others: Vec<Who> = known.iter().copied().filter(|one| *one != who).collect();
        if others.is_empty() || self.rng.u8(..12) == 0 {
            return who;
        }
        others[self.rng.usize(..others.len())]
    }

    fn tag(&mut self) -> Tag {
        self.rng.u8(..TAGS)
    }

    fn reason(&mut self) -> Reason {
        const LIKELY: [Reason; 9] = [
            Reason::Normal,
            Reason::Normal,
            Reason::Kill,
            Reason::Kill,
            Reason::Shutdown,
            Reason::ShutdownWith,
            Reason::Killed,
            Reason::Boom,
            Reason::Bang,
        ];
        LIKELY[self.rng.usize(..LIKELY.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::{generate, generate_spread};

    #[test]
    fn every_program_is_valid_and_reproducible() {
        for seed in 0..5000 {
            let program = generate(seed);
            assert!(program.is_valid(), "seed {seed}:\n{program}");
            assert_eq!(program, generate(seed));
            let spread = generate_spread(seed);
            assert!(spread.is_valid(), "seed {seed}:\n{spread}");
        }
    }
}
