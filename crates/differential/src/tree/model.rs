//! State machine of OTP's supervisor rules: the expected events of a tree.
//!
//! G2: each step of a tree at rest leads to exactly one other tree, by the rules of OTP's
//! supervisor.

use std::collections::HashMap;

use super::{
    Answer, AutoShutdown, Child, Event, Id, Order, Restart, Strategy, Supervisor, TOP, Tree,
};
use crate::language::Reason;

/// Returns the expected events of a tree.
pub fn events(tree: &Tree) -> Vec<Event> {
    let mut world = World::default();
    let mut end = None;
    match Live::start(&tree.top, &mut world) {
        Err(reason) => end = Some(reason),
        Ok(mut top) => {
            for order in &tree.orders {
                let (answer, ended) = world.carry_out(*order, &mut top);
                world.events.push(Event::Answered(answer));
                if ended.is_some() {
                    end = ended;
                    break;
                }
                top.show(&mut world.events);
            }
            if end.is_none() {
                top.stop(&mut world);
            }
        }
    }
    world.events.push(Event::Over(end.unwrap_or(Reason::Shutdown)));
    world.events
}

/// State outside of the tree.
#[derive(Default)]
struct World {
    events: Vec<Event>,
    /// Number of further starts that fail, by worker.
    fails: HashMap<Id, u8>,
}

/// A running supervisor.
struct Live {
    spec: Supervisor,
    kids: Vec<Kid>,
    restarts: u8,
}

/// A child of a supervisor: its specification and its state.
struct Kid {
    child: Child,
    state: State,
}

/// Whether a child runs.
enum State {
    Down,
    /// A worker, or a supervisor with its state.
    Up(Option<Live>),
}

/// Exit reason of a supervisor, if it has ended.
type Ended = Option<Reason>;

impl World {
    fn carry_out(&mut self, order: Order, top: &mut Live) -> (Answer, Ended) {
        let done = match order {
            Order::Fail(id, starts) => {
                self.fails.insert(id, starts);
                Some((Answer::Done, None))
            }
            Order::End(id, reason) => top.with_worker(id, self, &mut |live, at, world| {
                world.events.push(Event::Ended(id, reason));
                live.exited(at, reason, world)
            }),
            Order::Kill(id) => top.with_worker(id, self, &mut |live, at, world| {
                live.exited(at, Reason::Killed, world)
            }),
            Order::Terminate(of, id) => {
                top.with(TOP, of, self, &mut |live, world| live.terminate(id, world))
            }
            Order::Restart(of, id) => {
                top.with(TOP, of, self, &mut |live, world| live.restart_child(id, world))
            }
            Order::Delete(of, id) => top.with(TOP, of, self, &mut |live, _| live.delete(id)),
            Order::Start(of, id, restart) => {
                top.with(TOP, of, self, &mut |live, world| live.start_child(id, restart, world))
            }
            Order::Stranger(of) => top.with(TOP, of, self, &mut |_, _| Answer::Done),
        };
        done.unwrap_or((Answer::NoProcess, None))
    }

    fn start(&mut self, child: &Child) -> Result<State, ()> {
        if let Some(supervisor) = &child.supervises {
            return Live::start(supervisor, self).map(|live| State::Up(Some(live))).map_err(drop);
        }
        if let Some(left) = self.fails.get_mut(&child.id).filter(|left| **left > 0) {
            *left -= 1;
            self.events.push(Event::Refused(child.id));
            return Err(());
        }
        self.events.push(Event::Started(child.id));
        Ok(State::Up(None))
    }
}

impl Kid {
    fn is_up(&self) -> bool {
        matches!(self.state, State::Up(_))
    }

    fn stop(&mut self, world: &mut World) {
        match std::mem::replace(&mut self.state, State::Down) {
            State::Up(Some(mut live)) => live.stop(world),
            State::Up(None) if !self.child.brutal => {
                world.events.push(Event::Stopped(self.child.id, Reason::Shutdown));
            }
            State::Up(None) | State::Down => {}
        }
    }
}

impl Live {
    fn start(spec: &Supervisor, world: &mut World) -> Result<Self, Reason> {
        let kid = |child: &Child| Kid { child: child.clone(), state: State::Down };
        let kids = spec.children.iter().map(kid).collect();
        let mut live = Self { spec: spec.clone(), kids, restarts: 0 };
        match live.start_from(0, world) {
            Ok(()) => Ok(live),
            Err(_) => {
                live.stop(world);
                Err(Reason::ShutdownWith)
            }
        }
    }

    /// Starts the children from `first` on, in order, until one fails.
    fn start_from(&mut self, first: usize, world: &mut World) -> Result<(), usize> {
        for at in first..self.kids.len() {
            self.kids[at].state = world.start(&self.kids[at].child).map_err(|()| at)?;
        }
        Ok(())
    }

    /// Stops all children, in reverse order.
    fn stop(&mut self, world: &mut World) {
        self.kids.iter_mut().rev().for_each(|kid| kid.stop(world));
    }

    /// Handles the end of a child.
    fn exited(&mut self, at: usize, reason: Reason, world: &mut World) -> Ended {
        let orderly = matches!(reason, Reason::Normal | Reason::Shutdown | Reason::ShutdownWith);
        let child = &self.kids[at].child;
        match child.restart {
            Restart::Permanent => self.restart(at, world),
            Restart::Transient if !orderly => self.restart(at, world),
            Restart::Transient | Restart::Temporary => {
                let significant = child.significant;
                self.down(at);
                self.shut_down_with(significant, world)
            }
        }
    }

    /// Marks a child as not running; a temporary child is removed.
    fn down(&mut self, at: usize) {
        self.kids[at].state = State::Down;
        if self.kids[at].child.restart == Restart::Temporary {
            self.kids.remove(at);
        }
    }

    fn shut_down_with(&mut self, significant: bool, world: &mut World) -> Ended {
        let left = self.kids.iter().any(|kid| kid.child.significant && kid.is_up());
        let ends = significant
            && match self.spec.auto_shutdown {
                AutoShutdown::Never => false,
                AutoShutdown::Any => true,
                AutoShutdown::All => !left,
            };
        ends.then(|| {
            self.stop(world);
            Reason::Shutdown
        })
    }

    /// Restarts a child and those selected by the strategy; repeats if a start fails.
    fn restart(&mut self, mut at: usize, world: &mut World) -> Ended {
        loop {
            self.kids[at].state = State::Down;
            self.restarts += 1;
            if self.restarts > self.spec.intensity {
                self.stop(world);
                return Some(Reason::Shutdown);
            }
            let first = match self.spec.strategy {
                Strategy::OneForOne => match world.start(&self.kids[at].child) {
                    Ok(state) => {
                        self.kids[at].state = state;
                        return None;
                    }
                    Err(()) => continue,
                },
                Strategy::OneForAll => 0,
                Strategy::RestForOne => at,
            };
            self.kids[first..].iter_mut().rev().for_each(|kid| kid.stop(world));
            let mut place = 0;
            self.kids.retain(|kid| {
                place += 1;
                place <= first || kid.child.restart != Restart::Temporary
            });
            match self.start_from(first, world) {
                Ok(()) => return None,
                Err(failed) => at = failed,
            }
        }
    }

    fn place(&self, id: Id) -> Option<usize> {
        self.kids.iter().position(|kid| kid.child.id == id)
    }

    fn terminate(&mut self, id: Id, world: &mut World) -> Answer {
        let Some(at) = self.place(id) else { return Answer::NotFound };
        self.kids[at].stop(world);
        self.down(at);
        Answer::Done
    }

    fn restart_child(&mut self, id: Id, world: &mut World) -> Answer {
        let Some(at) = self.place(id) else { return Answer::NotFound };
        if self.kids[at].is_up() {
            return Answer::Running;
        }
        match world.start(&self.kids[at].child) {
            Ok(state) => {
                self.kids[at].state = state;
                Answer::Done
            }
            Err(()) => Answer::Failed,
        }
    }

    fn delete(&mut self, id: Id) -> Answer {
        let Some(at) = self.place(id) else { return Answer::NotFound };
        if self.kids[at].is_up() {
            return Answer::Running;
        }
        self.kids.remove(at);
        Answer::Done
    }

    fn start_child(&mut self, id: Id, restart: Restart, world: &mut World) -> Answer {
        match self.place(id) {
            Some(at) if self.kids[at].is_up() => return Answer::AlreadyStarted,
            Some(_) => return Answer::AlreadyPresent,
            None => {}
        }
        let child = Child { id, restart, brutal: false, significant: false, supervises: None };
        match world.start(&child) {
            Ok(state) => {
                self.kids.push(Kid { child, state });
                Answer::Done
            }
            Err(()) => Answer::Failed,
        }
    }

    /// Applies a function to the supervisor with number `wanted`, if it is alive.
    fn with(
        &mut self,
        own: Id,
        wanted: Id,
        world: &mut World,
        does: &mut dyn FnMut(&mut Self, &mut World) -> Answer,
    ) -> Option<(Answer, Ended)> {
        if own == wanted {
            return Some((does(self, world), None));
        }
        self.kids.iter_mut().find_map(|kid| match &mut kid.state {
            State::Up(Some(live)) => live.with(kid.child.id, wanted, world, does),
            _ => None,
        })
    }

    /// Ends the worker with number `wanted`, if it is alive, and each supervisor that ends in
    /// consequence.
    fn with_worker(
        &mut self,
        wanted: Id,
        world: &mut World,
        ends: &mut dyn FnMut(&mut Self, usize, &mut World) -> Ended,
    ) -> Option<(Answer, Ended)> {
        for at in 0..self.kids.len() {
            let own = self.kids[at].child.id;
            match &mut self.kids[at].state {
                State::Up(None) if own == wanted => {
                    return Some((Answer::Done, ends(self, at, world)));
                }
                State::Up(Some(live)) => {
                    if let Some((answer, ended)) = live.with_worker(wanted, world, ends) {
                        let ended = ended.and_then(|reason| self.exited(at, reason, world));
                        return Some((answer, ended));
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Lists the last child first, as supervisors do.
    fn show(&self, events: &mut Vec<Event>) {
        for kid in self.kids.iter().rev() {
            events.push(Event::Child(kid.child.id, kid.is_up()));
            if let State::Up(Some(live)) = &kid.state {
                live.show(events);
            }
        }
    }
}
