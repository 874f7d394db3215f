//! Trees on purlin: its own supervisors, on a simulated node that reports when the tree is at rest.
//!
//! One process is the parent of the top supervisor and executes the orders that the test thread
//! sends to it; between two orders everything that is runnable runs.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use purlin::server::{self, Init, Mail, Next, Server};
use purlin::supervisor::{
    AutoShutdown, ChildProcess, ChildSpec, DeleteError, Restart, RestartError, Shutdown,
    StartChildError, SupervisorRef, SupervisorSpec, TerminateError,
};
use purlin::{Exit, ExitReason, Pid, Process, receive, spawn};
use purlin_testkit::Simulation;

use super::reasons::{reason, reason_of};
use crate::language::Reason;
use crate::tree::{self, Answer, Child, Event, Id, Order, Strategy, Supervisor, TOP, Tree};

/// Longer than any run.
const PERIOD: Duration = Duration::from_secs(1_000_000);

/// Runs a tree on a simulated node and returns its events; the seed determines the decisions of the
/// node.
///
/// # Panics
///
/// Panics if the operating system refuses a resource that the node needs.
pub fn simulate_tree(tree: &Tree, seed: u32) -> Vec<Event> {
    let mut simulation = Simulation::new(seed.into());
    let forest = Arc::new(Forest::default());
    let top = supervisor(&forest, &tree.top);
    let parent = simulation.node().spawn({
        let forest = Arc::clone(&forest);
        move |me| parent(me, forest, top)
    });
    let orders = tree.orders.iter().flat_map(|order| [Command::Give(*order), Command::Log]);
    for command in orders.chain([Command::Stop]) {
        parent.send(command);
        simulation.advance(Duration::ZERO);
    }
    drop(simulation);
    std::mem::take(&mut forest.lock().events)
}

/// State shared by all processes of a tree.
#[derive(Debug, Default)]
struct Forest(Mutex<Records>);

/// What the processes of a running tree have recorded.
#[derive(Debug, Default)]
struct Records {
    events: Vec<Event>,
    /// Number of further starts that fail, by worker.
    fails: HashMap<Id, u8>,
    workers: HashMap<Id, Pid<Mail<Worker>>>,
}

impl Forest {
    fn lock(&self) -> MutexGuard<'_, Records> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn see(&self, event: Event) {
        self.lock().events.push(event);
    }
}

/// A worker of a tree.
#[derive(Debug)]
struct Worker {
    id: Id,
    forest: Arc<Forest>,
    /// The worker ends because of an order, not because of its supervisor.
    ends: bool,
}

impl Server for Worker {
    type Args = (Id, Arc<Forest>);
    type Call = Infallible;
    type Cast = Reason;
    type Info = Exit;
    type Continue = Infallible;

    async fn init(
        (id, forest): Self::Args,
        me: &mut Process<Mail<Self>>,
    ) -> server::Result<Init<Self>> {
        let mut records = forest.lock();
        if let Some(left) = records.fails.get_mut(&id).filter(|left| **left > 0) {
            *left -= 1;
            records.events.push(Event::Refused(id));
            return Err("refused".into());
        }
        records.events.push(Event::Started(id));
        records.workers.insert(id, me.pid());
        drop(records);
        me.trap_exit(true);
        Ok(Init::Ready(Self { id, forest, ends: false }))
    }

    async fn handle_cast(
        &mut self,
        why: Reason,
        _: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        self.forest.see(Event::Ended(self.id, why));
        self.ends = true;
        Ok(Next::Stop(reason_of(why)))
    }

    async fn terminate(&mut self, why: &ExitReason, _: &mut Process<Mail<Self>>) {
        if !self.ends {
            self.forest.see(Event::Stopped(self.id, reason(why)));
        }
    }
}

fn supervisor(forest: &Arc<Forest>, of: &Supervisor) -> SupervisorSpec {
    let spec = match of.strategy {
        Strategy::OneForOne => SupervisorSpec::one_for_one(),
        Strategy::OneForAll => SupervisorSpec::one_for_all(),
        Strategy::RestForOne => SupervisorSpec::rest_for_one(),
    };
    let spec = spec.intensity(of.intensity.into()).period(PERIOD);
    let spec = spec.auto_shutdown(match of.auto_shutdown {
        tree::AutoShutdown::Never => AutoShutdown::Never,
        tree::AutoShutdown::Any => AutoShutdown::AnySignificant,
        tree::AutoShutdown::All => AutoShutdown::AllSignificant,
    });
    of.children.iter().fold(spec, |spec, own| spec.child(child(forest, own)))
}

fn child(forest: &Arc<Forest>, of: &Child) -> ChildSpec {
    let id = of.id;
    let spec = match &of.supervises {
        Some(own) => {
            ChildSpec::supervisor(id.to_string(), supervisor(forest, own).name(&name(id))).untyped()
        }
        None => {
            let forest = Arc::clone(forest);
            ChildSpec::server(id.to_string(), move |me| {
                server::start_link::<Worker>(me, (id, Arc::clone(&forest)))
            })
            .untyped()
        }
    };
    let spec = spec.restart(restart(of.restart));
    let spec = spec.shutdown(if of.brutal { Shutdown::BrutalKill } else { Shutdown::Infinity });
    if of.significant { spec.significant() } else { spec }
}

fn restart(of: tree::Restart) -> Restart {
    match of {
        tree::Restart::Permanent => Restart::Permanent,
        tree::Restart::Transient => Restart::Transient,
        tree::Restart::Temporary => Restart::Temporary,
    }
}

/// Returns the registered name of a child supervisor.
fn name(id: Id) -> String {
    format!("supervisor-{id}")
}

/// Message type of the parent.
#[derive(purlin::Message)]
enum Command {
    /// Execute an order.
    Give(Order),
    /// Log the answer to the order and the children of the tree.
    Log,
    /// Stop the tree and log how it ended.
    Stop,
    /// The top supervisor has ended.
    #[from]
    Over(Exit),
}

async fn parent(mut me: Process<Command>, forest: Arc<Forest>, top: SupervisorSpec) {
    me.trap_exit(true);
    let top = top.start_link(&me).await.ok();
    let (mut answer, mut over) = (Answer::NoProcess, top.is_none());
    loop {
        // After the top supervisor has ended, orders and looks are ignored.
        let alive = || top.as_ref().filter(|top| top.pid().is_alive());
        receive!(me, {
            Command::Give(order) => {
                if let Some(top) = alive() {
                    answer = carry_out(order, top, &forest).await;
                }
            }
            Command::Log if !over => {
                forest.see(Event::Answered(answer));
                match alive() {
                    Some(top) => show(top.clone(), &forest).await,
                    None => over = true,
                }
            }
            Command::Log => {}
            Command::Stop => {
                if let Some(top) = alive() {
                    top.pid().exit(ExitReason::Shutdown);
                }
                let exit = receive!(me, { Command::Over(exit) => exit });
                return forest.see(Event::Over(reason(&exit.reason)));
            }
        });
    }
}

async fn carry_out(order: Order, top: &SupervisorRef, forest: &Arc<Forest>) -> Answer {
    let worker = |id: Id| forest.lock().workers.get(&id).filter(|pid| pid.is_alive()).cloned();
    let supervisor = |id: Id| match id {
        TOP => Some(top.clone()),
        id => SupervisorRef::whereis(&name(id)).ok(),
    };
    match order {
        Order::Fail(id, starts) => {
            forest.lock().fails.insert(id, starts);
            Answer::Done
        }
        Order::End(id, why) => {
            let Some(pid) = worker(id) else { return Answer::NoProcess };
            pid.send(Mail::Cast(why));
            Answer::Done
        }
        Order::Kill(id) => {
            let Some(pid) = worker(id) else { return Answer::NoProcess };
            pid.exit(ExitReason::Kill);
            Answer::Done
        }
        Order::Terminate(of, id) => {
            let Some(of) = supervisor(of) else { return Answer::NoProcess };
            match of.terminate_child(&id.to_string()).await {
                Ok(()) => Answer::Done,
                Err(TerminateError::NotFound) => Answer::NotFound,
                Err(_) => Answer::NoProcess,
            }
        }
        Order::Restart(of, id) => {
            let Some(of) = supervisor(of) else { return Answer::NoProcess };
            match of.restart_child(&id.to_string()).await {
                Ok(_) => Answer::Done,
                Err(RestartError::NotFound) => Answer::NotFound,
                Err(RestartError::Running) => Answer::Running,
                Err(RestartError::Restarting) => Answer::Restarting,
                Err(RestartError::Failed(_)) => Answer::Failed,
                Err(_) => Answer::NoProcess,
            }
        }
        Order::Delete(of, id) => {
            let Some(of) = supervisor(of) else { return Answer::NoProcess };
            match of.delete_child(&id.to_string()).await {
                Ok(()) => Answer::Done,
                Err(DeleteError::NotFound) => Answer::NotFound,
                Err(DeleteError::Running) => Answer::Running,
                Err(DeleteError::Restarting) => Answer::Restarting,
                Err(_) => Answer::NoProcess,
            }
        }
        Order::Start(of, id, restart) => {
            let Some(of) = supervisor(of) else { return Answer::NoProcess };
            let own = Child { id, restart, brutal: false, significant: false, supervises: None };
            match of.start_child(child(forest, &own)).await {
                Ok(_) => Answer::Done,
                Err(StartChildError::AlreadyStarted(_)) => Answer::AlreadyStarted,
                Err(StartChildError::AlreadyPresent) => Answer::AlreadyPresent,
                Err(StartChildError::Failed(_)) => Answer::Failed,
                Err(_) => Answer::NoProcess,
            }
        }
        Order::Stranger(of) => {
            let Some(of) = supervisor(of) else { return Answer::NoProcess };
            spawn(async move |_: Process<()>| of.pid().exit(ExitReason::Shutdown));
            Answer::Done
        }
    }
}

/// Logs the children as listed by the supervisors. OTP lists the last child first, without a
/// guarantee; purlin lists the first, so the list is reversed here.
///
/// WHY boxed: the function is recursive.
fn show(of: SupervisorRef, forest: &Forest) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
    Box::pin(async move {
        for own in of.which_children().await.unwrap_or_default().into_iter().rev() {
            let id = own.id.parse().unwrap_or(Id::MAX);
            let runs = matches!(own.process, ChildProcess::Running(_));
            forest.see(Event::Child(id, runs));
            if let (true, Ok(of)) = (runs, SupervisorRef::whereis(&name(id))) {
                show(of, forest).await;
            }
        }
    })
}
