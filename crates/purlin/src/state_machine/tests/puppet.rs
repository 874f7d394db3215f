//! Machine that a program controls, and its driver, in virtual time.
//!
//! `otp.escript` has the same machine and driver on OTP's `gen_statem`.

use std::fmt;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::Notify;

use super::program::{Act, Change, Class, Kind, Program, Step, Target, Timer};
use crate::server::{self, ServerRef};
use crate::state_machine::{Entry, Event, Init, Machine, Mail, StateMachine, Timeout, Transition};
use crate::{ExitReason, Node, Process, Reply, Request};

/// Number of events after which the machine stops, so that every program ends.
const MOST_EVENTS: u32 = 40;

/// Text of what has happened.
#[derive(Clone, Debug, Default)]
struct Trace(Arc<Mutex<String>>);

impl Trace {
    fn saw(&self, what: fmt::Arguments<'_>) {
        let mut text = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        write!(text, "{what} ").expect("a text takes text");
    }
}

#[derive(Debug)]
struct Puppet {
    program: Arc<Program>,
    trace: Trace,
    /// Ends the hold of the machine.
    go: Arc<Notify>,
    handled: u32,
    timers: u64,
}

#[derive(Debug)]
enum Cast {
    Event(u8),
    /// Waits in the handler.
    Hold,
}

impl Puppet {
    fn changes(&mut self, changes: &[Change]) -> Entry<Self> {
        changes.iter().fold(Entry::keep_state(), |entry, change| match *change {
            Change::Start(timer, seconds, content) => {
                entry.timeout(timer.timeout(), self.time(seconds), content)
            }
            Change::Update(timer, content) => entry.update_timeout(timer.timeout(), content),
            Change::Cancel(timer) => entry.cancel_timeout(timer.timeout()),
        })
    }

    /// Returns a time that is different for each timer, so that few fire at the same moment.
    fn time(&mut self, seconds: u8) -> Duration {
        if seconds == 0 {
            return Duration::ZERO;
        }
        self.timers += 1;
        Duration::from_millis(u64::from(seconds) * 1000 + self.timers)
    }
}

impl Timer {
    fn timeout(self) -> Timeout<char> {
        match self {
            Self::State => Timeout::State,
            Self::Event => Timeout::Event,
            Self::A => Timeout::Named('a'),
            Self::B => Timeout::Named('b'),
        }
    }
}

impl Kind {
    fn event(self, content: u8) -> Event<Puppet> {
        match self {
            Self::Internal => Event::Internal(content),
            Self::Cast => Event::Cast(Cast::Event(content)),
            Self::Info => Event::Info(content),
        }
    }
}

impl StateMachine for Puppet {
    type Args = (Arc<Program>, Trace, Arc<Notify>);
    type State = u8;
    type Call = (u8, Reply<()>);
    type Cast = Cast;
    type Info = u8;
    type Internal = u8;
    type TimeoutName = char;

    async fn init(
        (program, trace, go): Self::Args,
        _me: &mut Process<Mail<Self>>,
    ) -> server::Result<Init<Self>> {
        let first = program.first.map(Event::Internal);
        let puppet = Self { program, trace, go, handled: 0, timers: 0 };
        Ok(match first {
            Some(event) => Init::Then(puppet, 0, event),
            None => Init::Ready(puppet, 0),
        })
    }

    async fn handle_event(
        &mut self,
        event: Event<Self>,
        &state: &u8,
        _me: &mut Process<Mail<Self>>,
    ) -> server::Result<Transition<Self>> {
        if let Event::Cast(Cast::Hold) = event {
            self.go.notified().await;
            return Ok(Transition::keep_state());
        }
        let (class, kind, content) = match &event {
            Event::Call((content, _)) => (Class::External, "call", *content),
            Event::Cast(Cast::Event(content)) => (Class::External, "cast", *content),
            Event::Cast(Cast::Hold) => unreachable!("it has been handled"),
            Event::Info(content) => (Class::External, "info", *content),
            Event::Internal(content) => (Class::Internal, "internal", *content),
            Event::Timeout(Timeout::State, content) => (Class::Timeout, "state", *content),
            Event::Timeout(Timeout::Event, content) => (Class::Timeout, "event", *content),
            Event::Timeout(Timeout::Named('a'), content) => (Class::Timeout, "a", *content),
            Event::Timeout(Timeout::Named(_), content) => (Class::Timeout, "b", *content),
        };
        self.trace.saw(format_args!("{state}:{kind}:{content}"));
        self.handled += 1;
        if self.handled > MOST_EVENTS {
            self.trace.saw(format_args!("limit"));
            return Ok(Transition::stop(ExitReason::Normal));
        }
        let program = Arc::clone(&self.program);
        let reaction = program.reaction(state, class, content);
        let mut transition = match reaction.target {
            Target::Keep => Transition::keep_state(),
            Target::Repeat => Transition::repeat_state(),
            Target::Next(state) => Transition::next_state(state),
            Target::Stop => Transition::stop(ExitReason::Normal),
            Target::Fail => Transition::stop(ExitReason::error("oops")),
        };
        if reaction.postpones {
            transition = transition.postpone(event);
        } else if let Event::Call((_, reply)) = event
            && reaction.replies
        {
            reply.send(());
        }
        for (kind, content) in &reaction.next_events {
            transition = transition.next_event(kind.event(*content));
        }
        transition.entry = self.changes(&reaction.changes);
        Ok(transition)
    }

    async fn state_enter(
        &mut self,
        from: &u8,
        state: &u8,
        _me: &mut Process<Mail<Self>>,
    ) -> server::Result<Entry<Self>> {
        let program = Arc::clone(&self.program);
        if !program.enters {
            return Ok(Entry::keep_state());
        }
        self.trace.saw(format_args!("enter:{from}:{state}"));
        Ok(self.changes(&program.entries[usize::from(*state)]))
    }

    async fn terminate(&mut self, reason: &ExitReason, state: &u8, _me: &mut Process<Mail<Self>>) {
        self.trace.saw(format_args!("terminate:{reason}:{state}"));
    }
}

/// Returns the trace of purlin's state machine in a program.
pub(super) fn play(program: &Program) -> String {
    let mut tokio = tokio::runtime::Builder::new_current_thread();
    let tokio = tokio.enable_all().start_paused(true);
    let mut node = Node::builder().simulated(0, tokio).expect("a node starts");
    let (program, trace) = (Arc::new(program.clone()), Trace::default());
    let driver = {
        let trace = trace.clone();
        move |me| async move { Driver::start(me, program, trace).await.run().await }
    };
    node.run(driver).unwrap_or_else(|halted| panic!("the driver is stuck: {halted:?}"));
    let text = trace.0.lock().unwrap_or_else(PoisonError::into_inner);
    text.trim_end().to_owned()
}

/// Process that sends the machine its events.
struct Driver {
    me: Process<()>,
    program: Arc<Program>,
    trace: Trace,
    go: Arc<Notify>,
    puppet: ServerRef<Machine<Puppet>>,
    /// Number of calls made.
    calls: u32,
    /// Calls without an answer so far, with their numbers.
    open: Vec<(u32, Request<()>)>,
}

impl Driver {
    async fn start(me: Process<()>, program: Arc<Program>, trace: Trace) -> Self {
        let go = Arc::new(Notify::new());
        let args = (Arc::clone(&program), trace.clone(), Arc::clone(&go));
        let puppet = server::start(args).await.expect("it starts");
        Self { me, program, trace, go, puppet, calls: 0, open: Vec::new() }
    }

    async fn run(mut self) {
        let program = Arc::clone(&self.program);
        let mut steps = program.steps.iter();
        while self.rest().await {
            match steps.next() {
                Some(Step::Do(act)) => self.act(*act).await,
                Some(Step::Held(acts)) => {
                    self.puppet.cast(Cast::Hold);
                    for act in acts {
                        self.act(*act).await;
                    }
                    self.go.notify_one();
                }
                None => {
                    self.puppet.stop().await.expect("it stops");
                    break;
                }
            }
        }
    }

    async fn act(&mut self, act: Act) {
        match act {
            Act::Call(content) => {
                let request = self.puppet.send_request(|reply| (content, reply));
                self.calls += 1;
                self.open.push((self.calls, request.timeout(Duration::MAX)));
            }
            Act::Cast(content) => self.puppet.cast(Cast::Event(content)),
            Act::Info(content) => self.puppet.send(content),
            Act::Wait(seconds) => {
                let time = Duration::from_millis(u64::from(seconds) * 1000 + 500);
                self.me.pid().send_after(time, ());
                self.me.receive().await;
            }
        }
    }

    /// Waits until the machine waits for a message, and notes the answers of calls. Returns whether
    /// it is alive.
    async fn rest(&mut self) -> bool {
        let alive = self.puppet.inspect(|_| ()).await.is_ok();
        self.open.retain_mut(|(number, request)| {
            let answer = request.now_or_never();
            if let Some(Ok(())) = answer {
                self.trace.saw(format_args!("reply:{number}"));
            }
            answer.is_none()
        });
        alive
    }
}
