#[derive(Debug)]
struct Counter(i64);

#[purlin::server]
impl Counter {
    fn total(&self) -> i64 {
        self.0
    }
}

fn main() {}
