//! The counter of the guide's chapter on servers, in kameo.

use kameo::prelude::*;

#[derive(Actor)]
struct Counter(i64);

#[messages]
impl Counter {
    #[message]
    fn add(&mut self, number: i64) {
        self.0 += number;
    }

    #[message]
    fn total(&self) -> i64 {
        self.0
    }
}

#[test]
fn counter_of_the_guide_adds() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("threads start").block_on(async {
        let counter = Counter::spawn(Counter(0));
        counter.tell(Add { number: 5 }).await.expect("it runs");
        assert_eq!(counter.ask(Total).await.expect("it runs"), 5);
    });
}
