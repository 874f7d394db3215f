//! The counter of the guide's chapter on servers, in ractor.

use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, call};

struct Counter;

enum Message {
    Add(i64),
    Total(RpcReplyPort<i64>),
}

impl Actor for Counter {
    type Msg = Message;
    type State = i64;
    type Arguments = i64;

    async fn pre_start(&self, _: ActorRef<Message>, start: i64) -> Result<i64, ActorProcessingErr> {
        Ok(start)
    }

    async fn handle(
        &self,
        _: ActorRef<Message>,
        message: Message,
        state: &mut i64,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            Message::Add(number) => *state += number,
            Message::Total(reply) => reply.send(*state)?,
        }
        Ok(())
    }
}

#[test]
fn counter_of_the_guide_adds() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("threads start").block_on(async {
        let (counter, _) = Actor::spawn(None, Counter, 0).await.expect("it starts");
        counter.cast(Message::Add(5)).expect("it runs");
        assert_eq!(call!(counter, Message::Total).expect("it runs"), 5);
    });
}
