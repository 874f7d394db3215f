//! The pool of the guide's chapter on services, in kameo.

use kameo::error::Infallible;
use kameo::mailbox;
use kameo::prelude::*;

#[derive(Actor, Clone)]
struct Squarer;

#[messages]
impl Squarer {
    #[message]
    fn square(&self, n: u64) -> u64 {
        n * n
    }
}

struct Pool {
    workers: Vec<ActorRef<Squarer>>,
    next: usize,
}

impl Actor for Pool {
    type Args = usize;
    type Error = Infallible;

    async fn on_start(size: usize, pool: ActorRef<Self>) -> Result<Self, Infallible> {
        let mut workers = Vec::new();
        for _ in 0..size {
            let worker = Squarer::supervise(&pool, Squarer);
            workers.push(worker.spawn_with_mailbox(mailbox::bounded(100)).await);
        }
        Ok(Pool { workers, next: 0 })
    }
}

#[messages]
impl Pool {
    #[message]
    fn worker(&mut self) -> ActorRef<Squarer> {
        self.next = (self.next + 1) % self.workers.len();
        self.workers[self.next].clone()
    }
}

#[test]
fn pool_of_the_guide_squares() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("threads start").block_on(async {
        let pool = Pool::spawn(4);
        let worker = pool.ask(Worker).await.expect("it runs");
        assert_eq!(worker.ask(Square { n: 12 }).try_send().await.expect("it runs"), 144);
    });
}
