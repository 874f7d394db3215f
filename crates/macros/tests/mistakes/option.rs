#[derive(Debug)]
struct Counter(i64);

#[purlin::server(serde)]
impl Counter {
    #[call]
    fn total(&self) -> i64 {
        self.0
    }
}

fn main() {}
