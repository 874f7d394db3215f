//! Interpreter of one process on purlin: executes its script and logs what it observes.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use purlin::{
    CallError, MonitorRef, Pid, Process, Reply, exit, receive, register, unregister, whereis,
    yield_now,
};

use super::alias::AliasOf;
use super::message::{Msg, Raw, matches, raw};
use super::reasons::{reason, reason_of};
use super::world::World;
use crate::language::{After, How, Op, Pattern, Reason, Slot, Tag, Who};
use crate::outcome::Seen;

/// Longer than any run.
const FOR_EVER: Duration = Duration::from_secs(24 * 3600);

/// WHY boxed: a spawned child runs the same function, whose type would contain itself.
type Life = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Returns the function of a base process, which waits until all base processes exist, with their aliases if the program
/// uses any.
pub(super) fn base(world: Arc<World>, who: Who) -> impl FnOnce(Process<Msg>) -> Life + Send {
    move |me| {
        Box::pin(async move {
            if world.has_aliases {
                world.has_alias(who, me.priority_alias());
            }
            world.nudged(who).await;
            Player::new(world, who, me).play().await;
        })
    }
}

fn child(world: Arc<World>, who: Who) -> impl FnOnce(Process<Msg>) -> Life + Send {
    move |me| Box::pin(Player::new(world, who, me).play())
}

/// A process with its handle.
struct Player {
    me: Process<Msg>,
    who: Who,
    world: Arc<World>,
    /// Monitors by slot.
    monitors: Vec<(Slot, MonitorRef)>,
    /// Received calls that were not answered, the oldest first.
    owed: Vec<Reply<Tag>>,
    chance: fastrand::Rng,
}

impl Player {
    fn new(world: Arc<World>, who: Who, me: Process<Msg>) -> Self {
        let chance = fastrand::Rng::with_seed(u64::from(world.seed) << 8 | u64::from(who));
        Self { me, who, world, monitors: Vec::new(), owed: Vec::new(), chance }
    }

    async fn play(mut self) {
        let script = self.world.scripts[usize::from(self.who)].clone();
        for op in script {
            // WHY: signals are handled between turns; so there are turns of one step and turns of many.
            if self.chance.u8(..3) == 0 {
                yield_now().await;
            }
            self.step(op).await;
        }
    }

    async fn step(&mut self, op: Op) {
        match op {
            Op::Spawn(child, how) => self.spawn(child, how),
            Op::Send(to, tag) => self.world.peer(self.who, to).send(self.who, tag),
            Op::SendName(name, tag) if self.world.is_far(name) => {
                self.see(Seen::SentByName(true));
                self.world.abroad().named(name).send(self.who, tag);
            }
            Op::SendName(name, tag) => {
                let to = whereis::<Msg>(&self.world.name(name));
                self.see(Seen::SentByName(to.is_ok()));
                if let Ok(to) = to {
                    to.send(Msg::Message(self.who, tag));
                }
            }
            Op::Receive(pattern, after) => self.receive(pattern, after).await,
            Op::Link(to) => self.world.peer(self.who, to).link(&self.me),
            Op::Unlink(to) => self.world.peer(self.who, to).unlink(&self.me),
            Op::Monitor(to, slot) => {
                let monitor = self.world.peer(self.who, to).monitor(&self.me);
                self.monitors(slot, monitor);
            }
            Op::MonitorName(name, slot) if self.world.is_far(name) => {
                let monitor = self.world.abroad().named(name).monitor(&self.me);
                self.monitors(slot, monitor);
            }
            Op::MonitorName(name, slot) => {
                let monitor = self.me.monitor_name(&self.world.name(name));
                self.monitors(slot, monitor);
            }
            Op::Demonitor(slot, flush) => {
                let monitor = self.monitor(slot);
                let there = match flush {
                    true => self.me.demonitor_flush(monitor),
                    false => self.me.demonitor(monitor),
                };
                self.see(Seen::Demonitored(there));
            }
            Op::ExitSelf(reason) => exit(reason_of(reason)),
            // WHY not `panic!`: thousands of panics would each print a line.
            Op::Crash => std::panic::resume_unwind(Box::new("crash")),
            Op::Exit(to, reason) => self.world.peer(self.who, to).exit(reason_of(reason)),
            Op::Trap(on) => {
                self.me.trap_exit(on);
            }
            Op::Register(name, of) => {
                let done = register(&self.world.name(name), &self.world.pid(of));
                self.see(Seen::Registered(done.is_ok()));
            }
            Op::Unregister(name) => {
                self.see(Seen::Unregistered(unregister(&self.world.name(name))));
            }
            Op::Whereis(name) => match whereis::<Msg>(&self.world.name(name)) {
                Ok(pid) => self.world.see(self.who, Raw::Whereis(pid.id())),
                Err(_) => self.see(Seen::Whereis(None)),
            },
            Op::Call(to, tag) => self.call(to, tag).await,
            Op::Reply(tag) => {
                if !self.owed.is_empty() {
                    self.owed.remove(0).send(tag);
                }
            }
            Op::SendAlias(to, tag, priority) => {
                self.world.alias(to).send(self.who, tag, priority).await;
            }
            Op::ExitAlias(to, reason, priority) => {
                self.world.alias(to).exit(reason_of(reason), priority).await;
            }
            Op::Unalias => {
                if let AliasOf::Here(own) = self.world.alias(self.who) {
                    self.me.unalias(&own);
                }
            }
            Op::LinkPriority(to) => self.world.peer(self.who, to).link_priority(&self.me),
            Op::MonitorPriority(to, slot) => {
                let monitor = self.world.peer(self.who, to).monitor(&self.me);
                self.me.prioritize(monitor);
                self.monitors(slot, monitor);
            }
            Op::Park => self.rest().await,
            Op::Cut(by) => self.world.abroad().cut(by),
        }
    }

    fn see(&self, seen: Seen) {
        self.world.see(self.who, Raw::Seen(seen));
    }

    fn spawn(&mut self, who: Who, how: How) {
        let life = child(Arc::clone(&self.world), who);
        let pid: Pid<Msg> = match how {
            How::Plain => purlin::spawn(life),
            How::Link => self.me.spawn_link(life),
            How::Monitor(slot) => {
                let (pid, monitor) = self.me.spawn_monitor(life);
                self.monitors(slot, monitor);
                pid
            }
        };
        self.world.spawned(who, pid);
    }

    fn monitors(&mut self, slot: Slot, monitor: MonitorRef) {
        self.monitors.push((slot, monitor));
        self.world.monitors(monitor, slot);
    }

    fn monitor(&self, slot: Slot) -> MonitorRef {
        match self.monitors.iter().find(|(own, _)| *own == slot) {
            Some((_, monitor)) => *monitor,
            None => unreachable!("a valid program uses no monitor before it makes it"),
        }
    }

    async fn receive(&mut self, pattern: Pattern, after: After) {
        let taken = if after == After::Zero {
            self.take_now(pattern).await
        } else {
            self.world.set_idle(self.who, after == After::Idle);
            let (world, who) = (Arc::clone(&self.world), self.who);
            let taken = tokio::select! {
                biased;
                message = self.take(pattern) => Some(message),
                () = world.nudged(who) => None,
            };
            if taken.is_none() && world.is_finishing() {
                return self.show().await;
            }
            world.set_idle(who, false);
            taken
        };
        match taken {
            Some(message) => {
                let raw = raw(message, |reply| self.owed.push(reply));
                self.world.see(self.who, raw);
            }
            None => self.see(Seen::Nothing),
        }
    }

    async fn take(&mut self, pattern: Pattern) -> Msg {
        let monitors = &self.monitors;
        match pattern {
            Pattern::Any => self.me.receive().await,
            pattern => receive!(self.me, {
                message if matches(pattern, &message, monitors) => message,
            }),
        }
    }

    async fn take_now(&mut self, pattern: Pattern) -> Option<Msg> {
        let monitors = &self.monitors;
        receive!(self.me, {
            message if matches(pattern, &message, monitors) => Some(message),
            after Duration::ZERO => None,
        })
    }

    async fn call(&mut self, to: Who, tag: Tag) {
        let (world, who) = (Arc::clone(&self.world), self.who);
        let server = world.pid(to);
        let seen = tokio::select! {
            biased;
            answer = server.call_timeout(|reply| Msg::Request(who, tag, reply), FOR_EVER) => {
                match answer {
                    Ok(tag) => Seen::Answer(tag),
                    Err(CallError::NoProcess) => Seen::Failed(Reason::NoProcess),
                    Err(CallError::Ended(why)) => Seen::Failed(reason(&why)),
                    Err(CallError::OwnProcess) => Seen::Refused,
                    Err(_) => Seen::Failed(Reason::Other),
                }
            }
            () = world.nudged(who) => return self.show().await,
        };
        self.see(seen);
    }

    /// Waits forever.
    async fn rest(&mut self) {
        self.world.nudged(self.who).await;
        self.show().await;
    }

    /// Shows the mailbox when the program is at rest, and then waits forever.
    async fn show(&mut self) {
        // WHY kept: dropping a `Reply` would end the call of a caller that has not shown its mailbox yet.
        let waiting = self.me.flush().into_iter();
        let left = waiting.map(|message| raw(message, |reply| self.owed.push(reply))).collect();
        self.world.leave(self.who, left);
        std::future::pending().await
    }
}
