#![allow(unused)]

use purlin::Reply;

#[derive(Debug)]
struct Counter(i64);

#[purlin::server]
impl Counter {
    #[cast]
    fn rename(&mut self, name: &str) {}

    #[cast]
    fn total(&self, reply: Reply<i64>) {}

    #[call]
    fn add(self, number: i64) {}

    #[call]
    fn stop(&mut self) {}

    #[call]
    #[cast]
    fn both(&mut self) {}

    #[call]
    fn any(&mut self, value: impl Into<i64>) {}
}

fn main() {}
