//! Generator of random trees: the same seed always gives the same tree and the same orders.

use fastrand::Rng;

use super::{AutoShutdown, Child, Id, Order, Restart, Strategy, Supervisor, TOP, Tree};
use crate::language::Reason;

/// Returns the tree with this number.
pub fn generate(seed: u64) -> Tree {
    let mut planter = Planter {
        rng: Rng::with_seed(seed),
        next: TOP + 1,
        workers: Vec::new(),
        supervisors: vec![(TOP, Vec::new())],
    };
    let top = planter.supervisor(TOP, 2);
    let orders = (0..planter.rng.usize(2..9)).map(|_| planter.order()).collect();
    Tree { top, orders }
}

/// Generator of a tree and its orders.
struct Planter {
    rng: Rng,
    next: Id,
    workers: Vec<Id>,
    /// Supervisors with their children.
    supervisors: Vec<(Id, Vec<Id>)>,
}

impl Planter {
    fn supervisor(&mut self, own: Id, depth: u8) -> Supervisor {
        let strategies = [Strategy::OneForOne, Strategy::OneForAll, Strategy::RestForOne];
        let policies =
            [AutoShutdown::Never, AutoShutdown::Never, AutoShutdown::Any, AutoShutdown::All];
        let auto_shutdown = policies[self.rng.usize(..4)];
        let count = self.rng.usize(1..5);
        let children = (0..count).map(|_| self.child(own, depth, auto_shutdown)).collect();
        Supervisor {
            strategy: strategies[self.rng.usize(..3)],
            intensity: self.rng.u8(..4),
            auto_shutdown,
            children,
        }
    }

    /// Returns the number of a new child of this supervisor.
    fn number(&mut self, of: Id) -> Id {
        let id = self.next;
        self.next += 1;
        if let Some((_, children)) = self.supervisors.iter_mut().find(|(own, _)| *own == of) {
            children.push(id);
        }
        id
    }

    fn child(&mut self, of: Id, depth: u8, policy: AutoShutdown) -> Child {
        let id = self.number(of);
        let restart = self.restart();
        let supervises = if depth > 1 && self.rng.u8(..5) == 0 {
            self.supervisors.push((id, Vec::new()));
            Some(self.supervisor(id, depth - 1))
        } else {
            self.workers.push(id);
            None
        };
        let may = policy != AutoShutdown::Never && restart != Restart::Permanent;
        Child {
            id,
            restart,
            // A supervisor that is killed has no time to stop its children in order.
            brutal: supervises.is_none() && self.rng.u8(..6) == 0,
            significant: may && self.rng.bool(),
            supervises,
        }
    }

    fn restart(&mut self) -> Restart {
        [Restart::Permanent, Restart::Permanent, Restart::Transient, Restart::Temporary]
            [self.rng.usize(..4)]
    }

    fn order(&mut self) -> Order {
        let worker = self.workers[self.rng.usize(..self.workers.len())];
        let (of, children) = &self.supervisors[self.rng.usize(..self.supervisors.len())];
        let of = *of;
        let child = children[self.rng.usize(..children.len())];
        match self.rng.u8(..16) {
            0..5 => Order::End(worker, self.reason()),
            5..7 => Order::Kill(worker),
            7..9 => Order::Fail(worker, self.rng.u8(1..3)),
            9..11 => Order::Terminate(of, child),
            11..13 => Order::Restart(of, child),
            13 => Order::Delete(of, child),
            14 => self.start(of, child),
            _ => Order::Stranger(of),
        }
    }

    /// Starts a new child, or sometimes one that already exists.
    fn start(&mut self, of: Id, child: Id) -> Order {
        if self.rng.u8(..3) == 0 && self.workers.contains(&child) {
            return Order::Start(of, child, self.restart());
        }
        let id = self.number(of);
        self.workers.push(id);
        Order::Start(of, id, self.restart())
    }

    fn reason(&mut self) -> Reason {
        const LIKELY: [Reason; 6] = [
            Reason::Normal,
            Reason::Shutdown,
            Reason::ShutdownWith,
            Reason::Boom,
            Reason::Boom,
            Reason::Bang,
        ];
        LIKELY[self.rng.usize(..LIKELY.len())]
    }
}
