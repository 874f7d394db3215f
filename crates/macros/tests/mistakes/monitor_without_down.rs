use purlin::server::Mail;
use purlin::{Pid, Process};

#[derive(Debug)]
struct Watcher;

#[purlin::server]
impl Watcher {
    #[cast]
    fn watch(&mut self, pid: Pid<()>, me: &mut Process<Mail<Self>>) {
        me.monitor(&pid);
    }
}

enum Message {
    Work,
}

async fn worker(me: Process<Message>, pid: Pid<()>) {
    me.monitor(&pid);
}

fn main() {}
