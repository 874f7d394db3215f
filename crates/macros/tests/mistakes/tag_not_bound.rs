#![allow(unused)]

use purlin::{Process, Reference, receive};

enum Msg {
    Order(Reference, u32),
    Cancel,
}

async fn worker(mut me: Process<Msg>) -> u32 {
    let tag = me.make_ref();
    receive!(me, tag == tag, {
        Msg::Order(tag, n) => n,
        Msg::Cancel => 0,
    })
}

async fn counter(mut me: Process<Msg>) -> u32 {
    let order = me.make_ref();
    receive!(me, tag == order, {
        Msg::Order(_, tag) => tag,
    })
}

fn main() {}
