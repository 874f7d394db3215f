//! What the two processes of `exchange`, `message-size` and `bandwidth` send each other.
//!
//! One [`Goods`] belongs to one process: it supplies what to send and takes in what was received.
//! Everything that can be built beforehand is built in `new`, before the clock starts.

/// Where a process gets its messages from, and where the received ones go.
pub trait Goods: Send + 'static {
    /// What travels.
    type Message: Send + 'static;

    /// The next message to send.
    fn supply(&mut self) -> Self::Message;

    /// Takes in a message that was received.
    fn accept(&mut self, message: Self::Message);

    /// The lengths of all lists that were taken in, added up.
    fn elements(&self) -> u64 {
        0
    }

    /// Messages that had to be allocated within the clock because none was at hand.
    fn allocated(&self) -> u64 {
        0
    }
}

/// Short messages: one machine word.
#[derive(Debug, Default)]
pub struct Short {
    next: u64,
}

impl Goods for Short {
    type Message = u64;

    fn supply(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn accept(&mut self, message: u64) {
        std::hint::black_box(message);
    }
}

/// Lists that change hands: what was received is sent on.
///
/// COST: nothing within the clock as long as the stock lasts; where one process runs far ahead of
/// the other, one zeroed allocation per message, which [`Goods::allocated`] counts.
#[derive(Debug)]
pub struct Moved {
    stock: Vec<Vec<i64>>,
    length: usize,
    elements: u64,
    allocated: u64,
}

/// The most that one process's stock may hold, in bytes. Enough for what the lab sends at its
/// longest (5000 lists of 2000); beyond it, filling the stock would take longer than the run.
const STOCK_BYTES: usize = 96 << 20;

impl Moved {
    /// A stock for `n` sends of lists of that length.
    #[must_use]
    pub fn new(n: u64, length: usize) -> Self {
        let n = usize::try_from(n).unwrap_or(usize::MAX);
        let affordable = STOCK_BYTES / (size_of::<Vec<i64>>() + length * size_of::<i64>());
        let count = n.min(affordable.max(8));
        // WHY: room for twice as many, so that taking in does not grow the stock within the clock.
        let mut stock = Vec::with_capacity(2 * count);
        stock.extend((0..count).map(|_| list(length)));
        Moved { stock, length, elements: 0, allocated: 0 }
    }
}

impl Goods for Moved {
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

/// Lists of which the sender makes a deep copy for each send, as the BEAM does.
#[derive(Debug)]
pub struct Copied {
    original: Vec<i64>,
    elements: u64,
}

impl Copied {
    /// The original from which the copies are made.
    #[must_use]
    pub fn new(length: usize) -> Self {
        Copied { original: list(length), elements: 0 }
    }
}

impl Goods for Copied {
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

/// A list of small integers.
fn list(length: usize) -> Vec<i64> {
    (0..length as i64).map(|i| i & 0xff).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_list_is_sent_on_and_only_then_allocated_anew() {
        let mut goods = Moved::new(1, 3);
        let list = goods.supply();
        let address = list.as_ptr();
        goods.accept(list);
        let again = goods.supply();
        assert_eq!(again.as_ptr(), address);
        assert_eq!((goods.elements(), goods.allocated()), (3, 0));
        assert_eq!(goods.supply().len(), 3);
        assert_eq!(goods.allocated(), 1);
    }

    #[test]
    fn a_copied_list_is_another_one_with_the_same_elements() {
        let mut goods = Copied::new(3);
        let (one, other) = (goods.supply(), goods.supply());
        assert_eq!(one, other);
        assert_ne!(one.as_ptr(), other.as_ptr());
    }

    #[test]
    fn the_stock_of_the_longest_lists_stays_small() {
        let goods = Moved::new(crate::COUNT_MAX, 1_000_000);
        assert_eq!(goods.stock.len(), 12);
    }
}
