#[derive(Debug)]
struct Counter(i64);

#[purlin::server]
impl Counter {
    #[cast]
    fn add(&mut self, number: i64) -> i64 {
        self.0 += number;
        self.0
    }
}

fn main() {}
