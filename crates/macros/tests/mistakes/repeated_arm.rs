#![deny(unreachable_patterns)]

use purlin::{Process, Reference, receive};
use std::time::Duration;

enum Msg {
    Order(Reference, u32),
    Cancel,
}

async fn worker(mut me: Process<Msg>, limit: u32) {
    // An arm with a guard may be followed by one for the same messages.
    receive!(me, {
        Msg::Order(_, n) if n > limit => {}
        Msg::Order(_, 0 | 1) => {}
        Msg::Order(..) => {}
        Msg::Cancel => {}
        Msg::Order(_, 7) => {}
        after Duration::ZERO => {}
    });
    let order = me.make_ref();
    receive!(me, tag == order, {
        Msg::Order(tag, 3 | 4 | 3) => {}
        Msg::Order(tag, _) => {}
        Msg::Order(tag, n) if n > limit => {}
    });
}

fn main() {}
