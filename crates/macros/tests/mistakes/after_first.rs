#![allow(unused)]

use purlin::{Process, receive};
use std::time::Duration;

async fn worker(mut me: Process<u32>) -> u32 {
    receive!(me, {
        after Duration::ZERO => 0,
        n => n,
    })
}

fn main() {}
