//! Servers declared by `#[purlin::server]`.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;
use std::time::Duration;

use purlin::server::{self, Argument, Init, Mail, Next, RequestKind, Server, ServerRef};
use purlin::{CallError, Down, Exit, ExitReason, Process, Reply, spawn};

use crate::waiting::{MS, rest, simulated, uptime};

#[derive(Debug)]
struct Counter(i64);

#[purlin::server]
impl Counter {
    #[cast]
    fn add(&mut self, number: i64) {
        self.0 += number;
    }

    #[call]
    fn total(&self) -> i64 {
        self.0
    }
}

#[purlin::test]
async fn calls_and_casts_are_methods_of_the_server_ref() -> server::Result<()> {
    let counter = server::start::<Counter>(Counter(37)).await?;
    counter.add(5);
    assert_eq!(counter.total().await?, 42);
    counter.cast(CounterCast::Add(1));
    assert_eq!(counter.call(CounterCall::Total).await?, 43);
    Ok(())
}

// A handler stays a method, which a test can call without a process.
#[test]
fn handlers_stay_methods() {
    let mut counter = Counter(1);
    counter.add(2);
    assert_eq!(counter.total(), 3);
}

mod market {
    use super::*;

    /// A server in its own module, with every mark.
    #[derive(Debug)]
    pub(super) struct Market {
        prices: HashMap<String, u32>,
        waiting: Vec<Reply<u32>>,
        pub(super) log: Vec<String>,
        end: Option<tokio::sync::oneshot::Sender<ExitReason>>,
    }

    /// Hides the prelude's in generated code, which must not mind.
    #[allow(dead_code, reason = "it hides another name")]
    enum Ok {}

    #[purlin::server]
    impl Market {
        #[init]
        async fn open(
            symbols: Vec<String>,
            end: Option<tokio::sync::oneshot::Sender<ExitReason>>,
            me: &mut Process<Mail<Self>>,
        ) -> Result<Init<Self>, String> {
            if symbols.is_empty() {
                return Err("a market needs a symbol".into());
            }
            me.trap_exit(true);
            tokio::task::yield_now().await;
            let prices = symbols.into_iter().map(|symbol| (symbol, 0)).collect();
            let market = Self { prices, waiting: vec![], log: vec![], end };
            Result::Ok(Init::Then(market, Next::Continue(("journal".into(), 2))))
        }

        #[handle_continue]
        fn load(&mut self, file: String, lines: usize) {
            self.log.push(format!("{file}:{lines}"));
        }

        /// Returns the price
        /// of a symbol.
        #[call]
        async fn price(&self, symbol: String) -> Option<u32> {
            tokio::task::yield_now().await;
            self.prices.get(&symbol).copied()
        }

        #[call]
        fn next_trade(&mut self, reply: Reply<u32>) {
            self.waiting.push(reply);
        }

        /// Closes the market.
        #[call]
        fn close(&mut self, reply: Reply<usize>) -> Next<Self> {
            reply.send(self.prices.len());
            Next::Stop(ExitReason::Shutdown)
        }

        #[call(timeout = Duration::from_millis(1))]
        fn never(&mut self, never: Reply<()>) {
            std::mem::forget(never);
        }

        #[cast]
        fn trade(&mut self, symbol: String, price: u32) -> Result<(), std::num::ParseIntError> {
            if price == 0 {
                "zero".parse::<u32>()?;
            }
            for reply in self.waiting.drain(..) {
                reply.send(price);
            }
            self.prices.insert(symbol, price);
            Result::Ok(())
        }

        #[cast]
        fn watch(&mut self, (pid, _): (purlin::Pid<()>, u8), me: &Process<Mail<Self>>) {
            me.monitor(&pid);
        }

        #[deprecated]
        #[cast]
        fn old(&mut self) {}

        #[deprecated]
        #[info]
        fn old_info(&mut self, _old: u8) {}

        #[info]
        fn r#yield(&mut self) -> Next<Self> {
            self.log.push("yield".into());
            Next::Timeout(Duration::from_millis(1))
        }

        #[info]
        fn down(&mut self, down: Down) {
            self.log.push(format!("down {}", down.reason));
        }

        #[info]
        fn exit(&mut self, exit: Exit) {
            self.log.push(format!("exit {}", exit.reason));
        }

        #[timeout]
        fn idle(&mut self) {
            self.log.push("idle".into());
        }

        #[terminate]
        async fn closed(&mut self, reason: &ExitReason, _me: &mut Process<Mail<Self>>) {
            if let Some(end) = self.end.take() {
                let _ = end.send(reason.clone());
            }
        }

        #[cfg(any())]
        #[call]
        fn absent(&self, missing: Missing) -> Missing {}
    }
}
use market::{Market, MarketClient as _, MarketInfo};

#[purlin::test]
async fn every_mark_has_its_handler() -> server::Result<()> {
    let refused = server::start::<Market>((vec![], None)).await;
    assert!(refused.is_err_and(|error| error.to_string().contains("a market needs a symbol")));

    let (end, ended) = tokio::sync::oneshot::channel();
    let market = server::start::<Market>((vec!["ACME".into()], Some(end))).await?;
    market.trade("ACME".into(), 7);
    assert_eq!(market.price("ACME".into()).await?, Some(7));
    assert_eq!(market.price("NONE".into()).await?, None);

    let watched = spawn(async |_: Process<()>| ExitReason::error("gone"));
    watched.ended().await;
    market.watch((watched, 0));
    market.pid().exit(ExitReason::error("stranger"));
    wait_for(&market, 3).await?;
    market.send(MarketInfo::Yield);
    wait_for(&market, 5).await?;
    let mut seen = log(&market).await?;
    seen[1..3].sort();
    assert_eq!(seen, ["journal:2", "down noproc", "exit stranger", "yield", "idle"]);

    let never = market.never().await;
    assert_eq!(never, Err(CallError::Timeout(Duration::from_millis(1))));
    assert_eq!(market.close().await?, 1);
    assert_eq!(ended.await?, ExitReason::Shutdown);
    Ok(())
}

/// Waits until the log has this many lines.
async fn wait_for(market: &ServerRef<Market>, lines: usize) -> Result<(), CallError> {
    while log(market).await?.len() < lines {
        purlin::yield_now().await;
    }
    Ok(())
}

async fn log(market: &ServerRef<Market>) -> Result<Vec<String>, CallError> {
    market.inspect(|market| market.log.clone()).await
}

#[purlin::test]
async fn a_reply_can_be_sent_later() -> server::Result<()> {
    let market = server::start::<Market>((vec!["ACME".into()], None)).await?;
    let waiter = purlin::task::spawn({
        let market = market.clone();
        async move { market.next_trade().await }
    });
    while market.inspect(|market| format!("{market:?}")).await?.contains("waiting: []") {
        purlin::yield_now().await;
    }
    market.trade("ACME".into(), 9);
    assert_eq!(waiter.await?, Ok(9));
    Ok(())
}

#[purlin::test]
async fn an_error_of_a_cast_stops_the_server_and_is_its_reason() -> server::Result<()> {
    let market = server::start::<Market>((vec!["ACME".into()], None)).await?;
    market.trade("ACME".into(), 0);
    assert_eq!(market.pid().ended().await.to_string(), "invalid digit found in string");
    Ok(())
}

#[derive(Debug)]
struct Cache<K, const SIZE: usize>
where
    K: Debug,
{
    entries: HashMap<K, u32>,
}

#[purlin::server]
impl<K, const SIZE: usize> Cache<K, SIZE>
where
    K: Debug + Eq + Hash + Send + 'static,
{
    const LIMIT: Duration = Duration::from_secs(SIZE as u64);

    #[call(timeout = Self::LIMIT.max(Duration::MAX))]
    fn get(&self, key: K) -> Option<u32> {
        self.entries.get(&key).copied()
    }

    #[call]
    fn put(&mut self, key: K, value: u32) -> Result<(), Refused<Self>> {
        if self.entries.len() == SIZE {
            return Err(Refused { full: SIZE, cache: PhantomData });
        }
        self.entries.insert(key, value);
        Ok(())
    }

    #[cast]
    fn clear(&mut self) {
        self.entries.clear();
    }

    #[info]
    fn expired(&mut self, key: K) {
        self.entries.remove(&key);
    }
}

/// Error of a request of the cache `C`, which is a generic type with `Self` as its argument.
#[derive(Debug)]
struct Refused<C> {
    full: usize,
    cache: PhantomData<fn() -> C>,
}

#[purlin::test]
async fn a_server_can_be_generic() -> server::Result<()> {
    let cache = Cache::<&'static str, 1> { entries: HashMap::new() };
    let cache = server::start::<Cache<_, 1>>(cache).await?;
    assert!(cache.put("a", 1).await?.is_ok());
    assert!(cache.put("b", 1).await?.is_err_and(|refused| refused.full == 1));
    assert_eq!(cache.get("a").await?, Some(1));
    cache.send(CacheInfo::Expired("a"));
    assert_eq!(cache.get("a").await?, None);
    cache.clear();
    Ok(())
}

/// Ends when no message arrives for a time that its state gives.
#[derive(Debug)]
struct Session {
    idle: Duration,
    touched: u32,
    /// How often it does not end when it is idle.
    leases: u32,
}

#[purlin::server]
impl Session {
    #[init]
    fn open(idle: Duration) -> Self {
        Self { idle, touched: 0, leases: 0 }
    }

    #[call]
    fn touch(&mut self) -> u32 {
        self.touched += 1;
        self.touched
    }

    #[cast]
    fn extend(&mut self) -> Next<Self> {
        self.leases += 1;
        Next::Wait
    }

    #[timeout(self.idle)]
    fn expire(&mut self) -> Next<Self> {
        match self.leases.checked_sub(1) {
            Some(left) => {
                self.leases = left;
                Next::Wait
            }
            None => Next::Stop(ExitReason::Shutdown),
        }
    }
}

#[purlin::test]
async fn a_timeout_with_a_time_follows_every_handler() -> server::Result<()> {
    let untouched = server::start::<Session>(Duration::from_millis(1)).await?;
    assert_eq!(untouched.pid().ended().await, ExitReason::Shutdown);
    let session = server::start::<Session>(Duration::from_millis(1)).await?;
    let _ = session.touch().await;
    assert_eq!(session.pid().ended().await, ExitReason::Shutdown);
    let kept = server::start::<Session>(Duration::MAX).await?;
    assert_eq!(kept.touch().await?, 1);
    Ok(())
}

// G1: also after handlers that return `Next::Wait`, and again after the timeout itself
#[test]
fn an_idle_timeout_limits_every_wait() {
    simulated(async |_: Process<()>| {
        let session = server::start::<Session>(10 * MS).await.expect("it starts");
        rest().await;
        session.extend();
        session.extend();
        assert_eq!(session.pid().ended().await, ExitReason::Shutdown);
        assert_eq!(uptime(), 31 * MS, "one millisecond, and three times ten");
    });
}

#[test]
fn the_protocol_is_a_table_of_the_requests() {
    let protocol = Market::protocol().expect("it is declared by the macro");
    assert_eq!(protocol.name, "Market");
    let names: Vec<_> = protocol.requests.iter().map(|request| request.name).collect();
    let calls = ["price", "next_trade", "close", "never"];
    assert_eq!(
        names,
        [&calls[..], &["trade", "watch", "old", "old_info", "yield", "down", "exit"]].concat()
    );
    let price = protocol.requests[0];
    assert_eq!((price.kind, price.docs), (RequestKind::Call, "Returns the price\nof a symbol."));
    assert_eq!(price.arguments, [Argument { name: "symbol", type_name: "String" }]);
    assert_eq!(price.reply, Some("Option<u32>"));
    assert_eq!(protocol.requests[1].reply, Some("u32"));
    let watched = protocol.requests[5].arguments[0];
    assert_eq!((watched.name, watched.type_name), ("argument_0", "(purlin::Pid<()>, u8)"));
    let trade = protocol.requests[4];
    assert_eq!((trade.kind, trade.reply, trade.docs), (RequestKind::Cast, None, ""));
}
