#[purlin::server]
#[derive(Debug)]
struct Counter(i64);

fn main() {}
