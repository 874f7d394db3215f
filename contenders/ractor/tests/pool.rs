//! The pool of the guide's chapter on services, in ractor.

use ractor::concurrency::Duration;
use ractor::factory::queues::DefaultQueue;
use ractor::factory::routing::QueuerRouting;
use ractor::factory::{
    DiscardMode, DiscardSettings, Factory, FactoryArguments, FactoryRef, Job, Worker, WorkerId,
    worker_builder,
};
use ractor::{Actor, ActorProcessingErr, RpcReplyPort};

struct Square(u64, RpcReplyPort<u64>);

struct Squarer;

impl Worker for Squarer {
    type Key = ();
    type Message = Square;
    type State = ();
    type Arguments = ();

    async fn pre_start(
        &self,
        _: WorkerId,
        _: &FactoryRef<(), Square>,
        _: (),
    ) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(
        &self,
        _: WorkerId,
        _: &FactoryRef<(), Square>,
        Job { msg: Square(n, reply), .. }: Job<(), Square>,
        _: &mut (),
    ) -> Result<(), ActorProcessingErr> {
        reply.send(n * n)?;
        Ok(())
    }
}

type Pool = Factory<(), Square, (), Squarer, QueuerRouting<(), Square>, DefaultQueue<(), Square>>;

#[test]
fn pool_of_the_guide_squares() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("threads start").block_on(async {
        let arguments = FactoryArguments::builder()
            .worker_builder(Box::new(worker_builder(|_| (Squarer, ()))))
            .queue(Default::default())
            .router(Default::default())
            .num_initial_workers(4)
            .discard_settings(DiscardSettings::Static { limit: 400, mode: DiscardMode::Newest })
            .build();
        let (pool, handle) =
            Actor::spawn(None, Pool::default(), arguments).await.expect("it starts");
        let limit = Some(Duration::from_secs(60));
        let squared = pool.call_job((), |reply| Square(12, reply), limit).await;
        assert_eq!(squared.expect("it runs").expect("it is answered"), 144);
        pool.stop(None);
        handle.await.expect("it does not panic");
    });
}
