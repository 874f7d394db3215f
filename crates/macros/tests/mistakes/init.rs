#[derive(Debug)]
struct Counter(i64);

#[purlin::server]
impl Counter {
    #[init]
    fn new(start: i64) -> i64 {
        start
    }

    #[call]
    fn total(&self) -> i64 {
        self.0
    }
}

fn main() {}
