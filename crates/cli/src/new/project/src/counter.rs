//! Counter: a server that other processes find by its name.

/// State of the server.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    total: u64,
}

#[purlin::server]
impl Counter {
    /// Adds a number and returns the total.
    #[call]
    pub(crate) fn add(&mut self, number: u64) -> u64 {
        // A panic is a crash of this server only, which its supervisor restarts.
        self.total = self.total.checked_add(number).expect("the total fits into 64 bits");
        self.total
    }
}
