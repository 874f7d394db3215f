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
    Alias,
    Unalias,
    LinkPriority,
    MonitorPriority,
}

const DRAWS: [Draw; 19] = [
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
    Draw::Alias,
    Draw::Unalias,
    Draw::LinkPriority,
    Draw::MonitorPriority,
];

/// Weight of each operation, by theme.
const THEMES: [[u32; DRAWS.len()]; 6] = [
    // spawn send receive link unlink monitor demonitor exit-self exit trap register named call reply cut alias unalias link-p monitor-p
    [4, 12, 14, 1, 0, 1, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0],
    [5, 4, 7, 9, 6, 1, 0, 4, 5, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [5, 4, 8, 1, 0, 9, 6, 4, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [4, 3, 7, 1, 0, 2, 1, 3, 2, 1, 8, 11, 0, 0, 0, 0, 0, 0, 0],
    [4, 3, 8, 1, 0, 1, 0, 3, 3, 1, 0, 0, 9, 8, 0, 0, 0, 0, 0],
    [5, 6, 8, 3, 2, 3, 2, 2, 3, 3, 2, 3, 2, 2, 0, 0, 0, 0, 0],
];

/// Weights for spread programs, in which processes cannot call each other.
const SPREAD_THEMES: [[u32; DRAWS.len()]; 6] = [
    // spawn send receive link unlink monitor demonitor exit-self exit trap register named call reply cut alias unalias link-p monitor-p
    [3, 14, 14, 1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 0, 3, 0, 0, 0, 0],
    [4, 4, 7, 11, 7, 1, 0, 3, 4, 7, 0, 0, 0, 0, 3, 0, 0, 0, 0],
    [4, 4, 8, 1, 0, 10, 6, 4, 3, 1, 0, 0, 0, 0, 3, 0, 0, 0, 0],
    [3, 4, 7, 1, 0, 2, 1, 3, 2, 1, 7, 12, 0, 0, 3, 0, 0, 0, 0],
    [4, 6, 8, 5, 4, 5, 3, 2, 3, 4, 2, 3, 0, 0, 4, 0, 0, 0, 0],
    [4, 6, 8, 6, 4, 5, 3, 3, 3, 4, 2, 3, 0, 0, 0, 0, 0, 0, 0],
];

/// Weights of programs with aliases and priority messages.
const PRIORITY_THEMES: [[u32; DRAWS.len()]; 4] = [
    // spawn send receive link unlink monitor demonitor exit-self exit trap register named call reply cut alias unalias link-p monitor-p
    [2, 8, 12, 0, 0, 0, 0, 1, 1, 2, 0, 0, 1, 1, 0, 14, 1, 0, 1],
    [3, 5, 8, 3, 4, 0, 0, 4, 3, 8, 0, 0, 0, 0, 0, 6, 1, 8, 0],
    [3, 5, 8, 0, 0, 4, 5, 4, 3, 1, 0, 0, 1, 1, 0, 6, 1, 1, 8],
    [3, 6, 9, 2, 2, 2, 2, 2, 2, 4, 1, 2, 1, 1, 0, 8, 1, 3, 3],
];

/// Weights of spread programs with priority messages: with aliases and without cuts, or without
/// aliases and with cuts.
const SPREAD_PRIORITY_THEMES: [[u32; DRAWS.len()]; 4] = [
    // spawn send receive link unlink monitor demonitor exit-self exit trap register named call reply cut alias unalias link-p monitor-p
    [2, 8, 12, 0, 0, 0, 0, 1, 1, 3, 0, 1, 0, 0, 0, 14, 1, 1, 1],
    [3, 5, 8, 2, 2, 2, 2, 2, 2, 5, 1, 2, 0, 0, 0, 8, 1, 5, 5],
    [3, 5, 8, 3, 5, 1, 0, 3, 3, 7, 0, 1, 0, 0, 3, 0, 0, 9, 2],
    [3, 5, 8, 1, 0, 4, 5, 3, 3, 2, 1, 3, 0, 0, 3, 0, 0, 2, 9],
];

/// First OTP release with priority messages.
pub(crate) const FIRST_WITH_PRIORITY: u32 = 28;

/// Returns the program with this number. With `priority`, which OTP 28 and later support, half of the
/// programs have priority messages.
pub fn generate(seed: u64, priority: bool) -> Program {
    let mut rng = Rng::with_seed(seed);
    let bases = [1, 2, 2, 2, 3, 3][rng.usize(..6)];
    let themes: &[_] = if priority && rng.bool() { &PRIORITY_THEMES } else { &THEMES };
    author(rng, bases, themes, None)
}

/// Returns the spread program with this number; each node has at least one of its processes.
/// `priority` is as for [`generate`].
pub fn generate_spread(seed: u64, priority: bool) -> Program {
    let mut rng = Rng::with_seed(seed);
    let bases = [2, 2, 2, 3, 3, 4][rng.usize(..6)];
    let abroad = 0b10 | rng.u8(..1 << bases) & !0b11;
    let themes: &[_] =
        if priority && rng.bool() { &SPREAD_PRIORITY_THEMES } else { &SPREAD_THEMES };
    author(rng, bases, themes, Some(abroad))
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
            Draw::Alias => self.alias(who, tag),
            Draw::Unalias if who < self.program.bases => Op::Unalias,
            // A child has no alias.
            Draw::Unalias => Op::SendAlias(self.base(who), tag, true),
            Draw::LinkPriority => Op::LinkPriority(self.other(who, known)),
            Draw::MonitorPriority => {
                *slots += 1;
                Op::MonitorPriority(self.other(who, known), *slots - 1)
            }
        }
    }

    fn alias(&mut self, who: Who, tag: Tag) -> Op {
        let (of, priority) = (self.base(who), self.rng.u8(..3) > 0);
        if of != who && self.rng.u8(..3) == 0 {
            return Op::ExitAlias(of, self.reason(), priority);
        }
        Op::SendAlias(of, tag, priority)
    }

    /// Returns a base process, usually another one.
    fn base(&mut self, who: Who) -> Who {
        let bases: Vec<Who> = (0..self.program.bases).collect();
        let of = self.other(who, &bases);
        if of < self.program.bases { of } else { bases[0] }
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
            for priority in [false, true] {
                let program = generate(seed, priority);
                assert!(program.is_valid(), "seed {seed}:\n{program}");
                assert_eq!(program, generate(seed, priority));
                let spread = generate_spread(seed, priority);
                assert!(spread.is_valid(), "seed {seed}:\n{spread}");
            }
        }
    }
}
