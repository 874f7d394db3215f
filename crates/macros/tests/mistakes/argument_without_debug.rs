struct Amount(i64);

#[derive(Debug)]
struct Counter(i64);

#[purlin::server]
impl Counter {
    #[cast]
    fn add(&mut self, amount: Amount) {
        self.0 += amount.0;
    }
}

fn main() {}
