#[derive(Debug)]
struct Counter(i64);

#[purlin::server]
impl Counter {
    #[cast]
    fn add(&mut self, number: i64) {
        self.0 += number;
    }
}

#[purlin::main]
async fn main() {
    let counter = purlin::server::start::<Counter>(Counter(1));
    counter.add(5);
}
