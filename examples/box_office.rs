//! A server: seats that are sold, waited for, and freed when a customer crashes.
//!
//! The box office is a *server*: a state, and handlers for calls (`handle_call`), casts
//! (`handle_cast`) and infos (`handle_info`). Its clients hold a `ServerRef` and never see a
//! mailbox.
//!
//! The example shows three techniques. `init` returns immediately and leaves the slow part,
//! counting the seats, to `handle_continue`, so that the starter does not wait for it. A customer
//! whose order exceeds the seats left waits: the office stores the `Reply`, serves other customers,
//! and replies later. The office monitors its customers: when one crashes, it receives a `Down` as
//! an info and gives the seats to waiting customers.
//!
//! Run it with `cargo run --example box_office`. It prints:
//!
//! ```text
//! the office is open
//! the office has 3 seats
//! anna has 2 seats
//! ben waits for 2 seats
//! carl has 1 seat
//! anna is gone: no show
//! ben has 2 seats
//! the office closes with 0 seats left
//! ```

use std::collections::{HashMap, VecDeque};

use purlin::server::{self, Init, Mail, Next, Server, ServerRef};
use purlin::{Down, ExitReason, Message, MonitorRef, Pid, Process, ProcessId, Reply, spawn};

/// The state of the office.
#[derive(Debug)]
struct Office {
    seats: usize,
    /// Name and number of seats of each customer, by its monitor.
    taken: HashMap<MonitorRef, (&'static str, usize)>,
    waiting: VecDeque<Order>,
}

/// Calls of the office.
#[derive(Debug)]
enum Ask {
    Take(Order),
    Waiting(Reply<usize>),
}

/// A customer's order.
#[derive(Debug)]
struct Order {
    who: &'static str,
    customer: ProcessId,
    seats: usize,
    reply: Reply<()>,
}

/// Infos of the office.
#[derive(Debug, Message)]
enum Notice {
    #[from]
    Down(Down),
}

/// Continuation after `init`.
#[derive(Debug)]
struct CountSeats(usize);

/// Cast that closes the office.
#[derive(Debug)]
struct Close;

impl Server for Office {
    type Args = usize;
    type Call = Ask;
    type Cast = Close;
    type Info = Notice;
    type Continue = CountSeats;

    async fn init(seats: usize, _me: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
        let office = Office { seats: 0, taken: HashMap::new(), waiting: VecDeque::new() };
        println!("the office is open");
        Ok(Init::Then(office, Next::Continue(CountSeats(seats))))
    }

    async fn handle_continue(
        &mut self,
        CountSeats(seats): CountSeats,
        _me: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        self.seats = seats;
        println!("the office has {seats} seats");
        Ok(Next::Wait)
    }

    async fn handle_call(
        &mut self,
        ask: Ask,
        me: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        match ask {
            Ask::Take(order) if order.seats <= self.seats => self.sell(order, me),
            Ask::Take(order) => {
                println!("{} waits for {} seats", order.who, order.seats);
                self.waiting.push_back(order);
            }
            Ask::Waiting(reply) => reply.send(self.waiting.len()),
        }
        Ok(Next::Wait)
    }

    async fn handle_cast(
        &mut self,
        Close: Close,
        _me: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        Ok(Next::Stop(ExitReason::Normal))
    }

    async fn handle_info(
        &mut self,
        Notice::Down(down): Notice,
        me: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        if let Some((who, seats)) = self.taken.remove(&down.monitor) {
            println!("{who} is gone: {}", down.reason);
            self.seats += seats;
        }
        while self.waiting.front().is_some_and(|order| order.seats <= self.seats) {
            let Some(order) = self.waiting.pop_front() else { break };
            // A customer that no longer waits gets no seats.
            if order.reply.is_wanted() {
                self.sell(order, me);
            }
        }
        Ok(Next::Wait)
    }

    async fn terminate(&mut self, _reason: &ExitReason, _me: &mut Process<Mail<Self>>) {
        println!("the office closes with {} seats left", self.seats);
    }
}

impl Office {
    fn sell(&mut self, order: Order, me: &Process<Mail<Self>>) {
        let Order { who, customer, seats, reply } = order;
        println!("{who} has {seats} seat{}", if seats == 1 { "" } else { "s" });
        self.seats -= seats;
        self.taken.insert(me.monitor(customer), (who, seats));
        reply.send(());
    }
}

/// Spawns a customer: buys, reports that it was served, and stays until it is sent an exit reason.
fn customer(
    office: &ServerRef<Office>,
    who: &'static str,
    seats: usize,
) -> (Pid<ExitReason>, tokio::sync::oneshot::Receiver<()>) {
    let office = office.clone();
    let (tell, served) = tokio::sync::oneshot::channel();
    let pid = spawn(async move |mut me: Process<ExitReason>| {
        let customer = me.id();
        let take = |reply| Ask::Take(Order { who, customer, seats, reply });
        if let Err(error) = office.call(take).await {
            return ExitReason::error(error);
        }
        let _ = tell.send(());
        me.receive().await
    });
    (pid, served)
}

#[purlin::main]
async fn main() -> server::Result<()> {
    let office = server::start::<Office>(3).await?;
    let (anna, anna_served) = customer(&office, "anna", 2);
    anna_served.await?;
    let (_ben, ben_served) = customer(&office, "ben", 2);
    while office.call(Ask::Waiting).await? == 0 {
        purlin::yield_now().await;
    }
    let (_carl, carl_served) = customer(&office, "carl", 1);
    carl_served.await?;
    anna.send(ExitReason::error("no show"));
    ben_served.await?;
    office.cast(Close);
    office.pid().ended().await;
    Ok(())
}
