use purlin::supervisor::ChildSpec;
use purlin::{Process, SpawnOptions};

enum Message {
    Work,
}

async fn worker(mut me: Process<Message>) {
    me.receive().await;
}

fn link_to_the_wrong_parent(me: &Process<Message>) -> ChildSpec<purlin::Pid<Message>> {
    ChildSpec::worker("worker", worker).options(SpawnOptions::new().name("worker").link(me))
}

fn link_twice(me: &Process<Message>) {
    let _ = SpawnOptions::new().link(me).link(me).spawn(worker);
}

fn monitor_without_down(me: &Process<Message>) {
    let _ = SpawnOptions::new().monitor(me);
}

fn main() {}
