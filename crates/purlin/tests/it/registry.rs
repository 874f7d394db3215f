//! Registries: keys of any type, unique and duplicate, values, and the end of a process.

use crate::common::{self, DropCounter, PanicsWhenDropped, Token, here};
use crate::waiting::{MS, comes, rest, simulated};
use std::error::Error;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use purlin::registry::{RegisterError, Registry};
use purlin::server::{self, Mail, Next, ServerRef};
use purlin::supervisor::{ChildTemplate, InitAck, Restart, StartChildError, SupervisorSpec};
use purlin::{CallError, ExitReason, Pid, Process, ProcessId, receive, spawn, yield_now};

/// Spawns a process that waits until it is stopped.
fn idle() -> Pid<()> {
    spawn(async |mut me: Process<()>| me.receive().await)
}

async fn end(pid: &Pid<()>) {
    pid.exit(ExitReason::Kill);
    pid.ended().await;
}

// N4: a key of a unique registry belongs to one live process
#[purlin::test]
async fn a_unique_key_has_one_live_process() {
    let registry = Registry::unique();
    let (a, b) = (idle(), idle());
    let key = |n: u8| (n, "room".to_string());
    assert_eq!(registry.register(key(1), &a, "first"), Ok(()));
    for pid in [&a, &b] {
        let taken = registry.register(key(1), pid, "second");
        assert_eq!(taken, Err(RegisterError::AlreadyRegistered(a.id())));
    }
    assert_eq!(registry.register(key(2), &a, "other"), Ok(()), "a process has several names");
    assert_eq!(registry.whereis(&key(1)), Some(a.clone()));
    assert_eq!(registry.lookup(&key(1)), [(a.clone(), "first")]);
    assert_eq!(registry.keys(&a), [key(1), key(2)]);
    assert_eq!(registry.keys(&b), []);
    assert_eq!(registry.count(), 2);

    end(&a).await;
    assert_eq!(registry.whereis(&key(1)), None);
    assert_eq!(registry.register(key(1), &b, "second"), Ok(()), "its end frees the key");
    assert_eq!(registry.lookup(&key(1)), [(b.clone(), "second")]);
    assert_eq!(registry.register(key(3), &a, ""), Err(RegisterError::NoProcess(a.id())));
    end(&b).await;
}

// N4: entries under one key, in the order of registration
#[purlin::test]
async fn a_duplicate_key_has_many_entries_in_order() {
    let registry: Registry<&str, ProcessId, u8> = Registry::duplicate();
    let (a, b) = (idle(), idle());
    for (pid, value) in [(&a, 1), (&b, 2), (&a, 3)] {
        registry.register("k", &pid.id(), value).expect("it lives");
    }
    assert_eq!(registry.lookup("k"), [(a.id(), 1), (b.id(), 2), (a.id(), 3)]);
    assert_eq!(registry.keys(&a), ["k", "k"]);

    assert!(registry.update_value("k", &a, |value| *value *= 10));
    assert!(!registry.update_value("other", &a, |_| unreachable!("there is none")));
    assert_eq!(registry.lookup("k"), [(a.id(), 10), (b.id(), 2), (a.id(), 30)]);

    assert!(registry.unregister("k", &a));
    assert!(!registry.unregister("k", &a));
    assert_eq!((registry.lookup("k"), registry.keys(&a)), (vec![(b.id(), 2)], vec![]));
    registry.unregister_all(&b);
    assert_eq!(registry.count(), 0);
    end(&a).await;
    end(&b).await;
}

// N4: the table keeps nothing of a process that has ended, nor a process of a dropped table
#[purlin::test]
async fn the_end_of_a_process_drops_its_values() {
    let counter = DropCounter::default();
    let registry: Registry<u32, Pid<()>, Arc<Token>> = Registry::duplicate();
    let pid = idle();
    for key in 0..100 {
        registry.register(key, &pid, Arc::new(counter.token())).expect("it lives");
    }
    end(&pid).await;
    comes("the values are dropped", || counter.dropped() == 100).await;

    let pid = idle();
    registry.register(1, &pid, Arc::new(counter.token())).expect("it lives");
    drop(registry);
    assert_eq!(counter.dropped(), 101);
    end(&pid).await;
}

// N4: a process can be unregistered and registered many times
#[purlin::test]
async fn a_key_can_be_registered_again() {
    let registry: Registry<u32, Pid<()>> = Registry::unique();
    let pid = idle();
    for _ in 0..1000 {
        registry.register(1, &pid, ()).expect("the key is free");
        assert!(registry.unregister(&1, &pid));
    }
    registry.register(1, &pid, ()).expect("the key is free");
    end(&pid).await;
    assert_eq!(registry.whereis(&1), None);
    comes("the entry is removed", || registry.keys(&pid).is_empty()).await;
}

// N4: a value whose destructor panics ends no other process
#[purlin::test]
async fn a_value_that_panics_when_dropped_stays_alone() {
    let (counter, registry) = (DropCounter::default(), Registry::duplicate());
    let value = || Arc::new((counter.token(), PanicsWhenDropped("on purpose")));
    let pid = idle();
    for key in [1, 1, 2, 3] {
        registry.register(key, &pid, value()).expect("it lives");
    }
    end(&pid).await;
    comes("all entries are removed", || counter.dropped() == 4).await;
    let next = idle();
    for key in [1, 1, 2] {
        assert_eq!(registry.register(key, &next, value()), Ok(()));
    }
    assert!(registry.unregister(&1, &next));
    assert_eq!((counter.dropped(), registry.count()), (6, 1));
    std::mem::forget(registry);
    end(&next).await;
}

/// A key whose destructor panics.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Barbed(u32);

impl Drop for Barbed {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "on purpose");
    }
}

// N4: a key whose destructor panics keeps no entry of its process
#[purlin::test]
async fn a_key_that_panics_when_dropped_stays_alone() {
    let (counter, registry) = (DropCounter::default(), Registry::unique());
    let pid = idle();
    for key in 1..=3 {
        registry.register(Barbed(key), &pid, Arc::new(counter.token())).expect("it lives");
    }
    end(&pid).await;
    comes("all entries are removed", || counter.dropped() == 3).await;
    assert!(registry.keys(&pid).is_empty());
}

/// Key whose hash and comparison panic on request.
#[derive(Clone)]
struct Fussy {
    number: u32,
    /// Whether the next `hash` of any key panics, and whether comparisons with the second key do.
    panics: Arc<[AtomicBool; 2]>,
}

impl Hash for Fussy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        assert!(!self.panics[0].swap(false, Ordering::Relaxed), "on purpose");
        self.number.hash(state);
    }
}

impl PartialEq for Fussy {
    fn eq(&self, other: &Self) -> bool {
        assert!(!(self.number == 2 && self.panics[1].load(Ordering::Relaxed)), "on purpose");
        self.number == other.number
    }
}

impl Eq for Fussy {}

// N4: a panic of `Hash` or `Eq` of a key keeps no entry of a process that has ended
#[test]
fn a_key_that_panics_keeps_no_entry() {
    simulated(async |_: Process<()>| {
        let panics = Arc::new([const { AtomicBool::new(false) }; 2]);
        let key = |number| Fussy { number, panics: Arc::clone(&panics) };
        let registry = Registry::unique();
        let values: [_; 3] = std::array::from_fn(|_| Arc::new(()));
        let counts = || values.each_ref().map(Arc::strong_count);
        let register = |pid: &Pid<()>| {
            for (number, value) in (1..).zip(&values) {
                let registered = registry.register(key(number), pid, Arc::clone(value));
                registered.expect("the key is free");
            }
        };
        let pid = idle();
        register(&pid);
        panics[0].store(true, Ordering::Relaxed);
        end(&pid).await;
        rest().await;
        assert_eq!(counts(), [1; 3]);

        let pid = idle();
        register(&pid);
        panics[1].store(true, Ordering::Relaxed);
        let unregister = AssertUnwindSafe(|| registry.unregister(&key(1), &pid));
        catch_unwind(unregister).expect_err("the second key panics");
        panics[1].store(false, Ordering::Relaxed);
        assert_eq!(registry.keys(&pid).len(), 3);
        end(&pid).await;
        rest().await;
        assert_eq!(counts(), [1; 3]);
    });
}

// N4: of many processes that race for one key, one has it; with processes that end meanwhile
#[test]
fn one_of_many_processes_gets_a_key() {
    simulated(async |_: Process<()>| {
        let registry: Registry<u8, Pid<()>> = Registry::unique();
        for _ in 0..20 {
            let rivals: Vec<_> = (0..5)
                .map(|_| {
                    let registry = registry.clone();
                    spawn(async move |me: Process<()>| {
                        purlin::yield_now().await;
                        registry.register(1, &me.pid(), ()).is_ok().then_some(()).ok_or("taken")?;
                        assert_eq!(registry.whereis(&1), Some(me.pid()));
                        purlin::yield_now().await;
                        assert_eq!(registry.whereis(&1), Some(me.pid()));
                        Ok::<(), &str>(())
                    })
                })
                .collect();
            let mut won = 0;
            for rival in rivals {
                won += usize::from(rival.ended().await == ExitReason::Normal);
            }
            assert!(won > 0, "a free key can be registered");
            assert_eq!(registry.whereis(&1), None);
        }
    });
}

// N4: threads outside of the node register, look up and end processes concurrently
#[test]
fn threads_register_and_look_up_concurrently() {
    let node = common::node(2);
    let registry: Registry<u32, Pid<()>, u32> = Registry::unique();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (node, registry) = (&node, &registry);
            scope.spawn(move || {
                for round in 0..500 {
                    let key = (thread + round) % 3;
                    let pid = node.spawn(async |mut me: Process<()>| me.receive().await);
                    if registry.register(key, &pid, round).is_ok() {
                        assert!(registry.lookup(&key).iter().all(|(found, _)| *found == pid));
                    }
                    pid.send(());
                }
            });
        }
    });
    common::until("every process has ended", || registry.count() == 0);
    common::stop(&node);
}

// N4: the keys of a process are those of its entries, however registrations overlap
#[test]
fn threads_register_and_unregister_one_process() {
    let node = common::node(1);
    let registry: Registry<u32, Pid<()>> = Registry::duplicate();
    let pid = node.spawn(async |mut me: Process<()>| me.receive().await);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (pid, registry) = (&pid, &registry);
            scope.spawn(move || {
                for round in 0..2000 {
                    registry.register(round % 3, pid, ()).expect("it lives");
                    if thread == 0 {
                        registry.unregister_all(pid);
                    } else if thread == 1 {
                        registry.unregister(&(round % 3), pid);
                    }
                }
            });
        }
    });
    let mut keys = registry.keys(&pid);
    keys.sort_unstable();
    let entries = (0..3).flat_map(|key| vec![key; registry.lookup(&key).len()]);
    assert!(entries.eq(keys));
    pid.send(());
    common::until("the process has ended", || registry.count() == 0);
    common::stop(&node);
}

// N4, G2: one child per key, looked up without the supervisor
#[purlin::test]
async fn find_or_start_returns_one_child_per_key() {
    let registry: Registry<String, Pid<()>> = Registry::unique();
    let child = {
        let registry = registry.clone();
        async move |mut me: Process<()>, ack: InitAck, key: String| {
            registry.register(key, &me.pid(), ())?;
            ack.ok();
            me.receive().await;
            Ok::<(), RegisterError>(())
        }
    };
    let template = ChildTemplate::worker_with_ack("child", child).restart(Restart::Temporary);
    let supervisor = SupervisorSpec::simple_one_for_one(template).start(&here()).await;
    let supervisor = supervisor.expect("it has no children");
    let find = || registry.find_or_start("a", &supervisor, "a".to_string());
    let (first, same) = tokio::join!(find(), find());
    let first = first.expect("it starts");
    assert_eq!(same, Ok(first.clone()));

    assert_eq!(registry.whereis("a"), Some(first));
    supervisor.stop(ExitReason::Shutdown).await;
    assert!(find().await.is_err(), "the child has ended with its supervisor");
}

type Sessions = Registry<u8, ServerRef<Session>>;

/// Server that ends when it is idle. Its end takes two milliseconds.
#[derive(Debug)]
struct Session;

#[purlin::server]
impl Session {
    #[init]
    fn open(
        key: u8,
        sessions: Sessions,
        me: &mut Process<Mail<Self>>,
    ) -> Result<Self, RegisterError> {
        sessions.register(key, &ServerRef::new(me.pid()), ())?;
        Ok(Self)
    }

    #[call]
    fn touch(&self) {}

    #[timeout(9 * MS)]
    fn close(&mut self) -> Next<Self> {
        Next::Stop(ExitReason::Normal)
    }

    #[terminate]
    async fn save(&mut self, me: &mut Process<Mail<Self>>) {
        receive!(me, { after 2 * MS => {} });
    }
}

// N4, C1, G2: a client whose server ends while it is found or called asks for its successor
#[test]
fn every_call_to_a_server_that_ends_when_idle_is_answered() {
    simulated(async |me: Process<()>| {
        let sessions = Sessions::unique();
        let template = ChildTemplate::server("session", server::start_link::<Session>);
        let template = template.restart(Restart::Transient);
        let supervisor = SupervisorSpec::simple_one_for_one(template).start_link(&me).await;
        let supervisor = supervisor.expect("it has no children");
        let client = async move |mut me: Process<()>| -> Result<(), Box<dyn Error + Send + Sync>> {
            let (mut answers, mut retries) = (0, 0);
            while answers < 20 {
                match sessions.find_or_start(&7, &supervisor, (7, sessions.clone())).await {
                    Ok(session) => match session.touch().await {
                        Ok(()) => {
                            answers += 1;
                            // The session has begun to end after this time.
                            receive!(me, { after 10 * MS => {} });
                            continue;
                        }
                        Err(CallError::NoProcess | CallError::Ended(ExitReason::Normal)) => {}
                        Err(error) => return Err(error.into()),
                    },
                    Err(StartChildError::Restarting) => {}
                    Err(error) => return Err(error.into()),
                }
                retries += 1;
                yield_now().await;
            }
            assert!(retries > 0, "a session has ended during a call");
            Ok(())
        };
        let clients: Vec<_> = (0..4).map(|_| spawn(client.clone())).collect();
        for client in clients {
            assert_eq!(client.ended().await, ExitReason::Normal);
        }
    });
}
