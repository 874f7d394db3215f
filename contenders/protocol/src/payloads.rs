//! Payloads of `exchange`, `message-size`, `bandwidth` and `message-moved`.
//!
//! A [`Payloads`] is the payload source and sink of one process: it supplies messages to send and
//! accepts received ones. `new` builds everything that can be built before the clock starts.

/// Payload source and sink of a process.
pub trait Payloads: Send + 'static {
    /// The message type.
    type Message: Send + 'static;

    /// Returns the next message to send.
    fn supply(&mut self) -> Self::Message;

    /// Accepts a received message.
    fn accept(&mut self, message: Self::Message);

    /// Returns the total length of all accepted lists.
    fn elements(&self) -> u64 {
        0
    }

    /// Returns the number of messages allocated while the clock ran, because none could be reused.
    fn allocated(&self) -> u64 {
        0
    }
}

/// Short messages: one machine word.
#[derive(Debug, Default)]
pub struct Short {
    next: u64,
}

impl Payloads for Short {
    type Message = u64;

    fn supply(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn accept(&mut self, message: u64) {
        std::hint::black_box(message);
    }
}

/// Lists that are moved: received lists are reused for sending.
///
/// COST: none while the clock runs, as long as lists are in stock. If one process runs far ahead of
/// the other, one zeroed allocation per message, counted by [`Payloads::allocated`].
#[derive(Debug)]
pub struct Moved {
    stock: Vec<Vec<i64>>,
    length: usize,
    elements: u64,
    allocated: u64,
}

/// Maximum stock of one process, in bytes. It covers the largest run of the lab (5000 lists of
/// 2000); beyond it, filling the stock would take longer than the run.
const STOCK_BYTES: usize = 96 << 20;

impl Moved {
    /// Creates a stock for `n` sends of lists of this length.
    #[must_use]
    pub fn new(n: u64, length: usize) -> Self {
        let n = usize::try_from(n).unwrap_or(usize::MAX);
        let affordable = STOCK_BYTES / (size_of::<Vec<i64>>() + length * size_of::<i64>());
        let count = n.min(affordable.max(8));
        // WHY: capacity for twice as many, so that accepting messages does not grow the stock while
        // the clock runs.
        let mut stock = Vec::with_capacity(2 * count);
        stock.extend((0..count).map(|_| list(length)));
        Moved { stock, length, elements: 0, allocated: 0 }
    }
}

impl Payloads for Moved {
    type Message = Vec<i64>;

    fn supply(&mut self) -> Vec<i64> {
        self.stock.pop().unwrap_or_else(|| {
            self.allocated += 1;
            vec![0; self.length]
        })
    }

    fn accept(&mut self, message: Vec<i64>) {
        self.elements += message.len() as u64;
        self.stock.push(message);
    }

    fn elements(&self) -> u64 {
        self.elements
    }

    fn allocated(&self) -> u64 {
        self.allocated
    }
}

/// Lists that the sender deep-copies for each send, as the BEAM does.
#[derive(Debug)]
pub struct Copied {
    original: Vec<i64>,
    elements: u64,
}

impl Copied {
    /// Creates the original from which the copies are made.
    #[must_use]
    pub fn new(length: usize) -> Self {
        Copied { original: list(length), elements: 0 }
    }
}

impl Payloads for Copied {
    type Message = Vec<i64>;

    fn supply(&mut self) -> Vec<i64> {
        self.original.clone()
    }

    fn accept(&mut self, message: Vec<i64>) {
        self.elements += message.len() as u64;
    }

    fn elements(&self) -> u64 {
        self.elements
    }
}

/// Returns a list of small integers.
fn list(length: usize) -> Vec<i64> {
    (0..length as i64).map(|i| i & 0xff).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_list_is_reused_before_a_new_one_is_allocated() {
        let mut payload = Moved::new(1, 3);
        let list = payload.supply();
        let address = list.as_ptr();
        payload.accept(list);
        let again = payload.supply();
        assert_eq!(again.as_ptr(), address);
        assert_eq!((payload.elements(), payload.allocated()), (3, 0));
        assert_eq!(payload.supply().len(), 3);
        assert_eq!(payload.allocated(), 1);
    }

    #[test]
    fn copied_list_is_a_distinct_list_with_equal_elements() {
        let mut payload = Copied::new(3);
        let (one, other) = (payload.supply(), payload.supply());
        assert_eq!(one, other);
        assert_ne!(one.as_ptr(), other.as_ptr());
    }

    #[test]
    fn stock_of_long_lists_is_bounded() {
        let payload = Moved::new(crate::COUNT_MAX, 1_000_000);
        assert_eq!(payload.stock.len(), 12);
    }
}
