mod counting {
    #[derive(Debug)]
    pub struct Counter(pub i64);

    #[purlin::server]
    impl Counter {
        #[cast]
        fn add(&mut self, number: i64) {
            self.0 += number;
        }
    }
}

async fn use_it(counter: purlin::server::ServerRef<counting::Counter>) {
    counter.add(5);
}

fn main() {}
