//! Messages and acks of the ack protocol. Pure.

/// Header size in bytes: the id and the payload size. An ack has the same size.
pub(super) const HEAD: usize = 12;

/// Maximum payload size in bytes.
const LARGEST: usize = 16 << 20;

/// Newest id and number of messages that are received and not acknowledged.
#[derive(Clone, Copy, Default)]
pub(super) struct Pending {
    newest: [u8; 8],
    count: u32,
}

impl Pending {
    pub(super) fn one(id: [u8; 8]) -> Self {
        Pending { newest: id, count: 1 }
    }

    pub(super) fn add(&mut self, newer: Pending) {
        if newer.count > 0 {
            self.newest = newer.newest;
            self.count += newer.count;
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.count.into()
    }

    /// Returns the ack; `None` if no message is pending.
    pub(super) fn ack(&self) -> Option<[u8; HEAD]> {
        let skipped = self.count.checked_sub(1)?;
        let mut ack = [0; HEAD];
        ack[..8].copy_from_slice(&self.newest);
        ack[8..].copy_from_slice(&skipped.to_le_bytes());
        Some(ack)
    }
}

/// The complete messages at the beginning of a block.
pub(super) struct Skimmed {
    pub(super) pending: Pending,
    /// Their size in bytes.
    pub(super) used: usize,
    /// Size of the next message in bytes, as far as it is known; `None` if it is too large.
    pub(super) needed: Option<usize>,
}

/// Finds the complete messages at the beginning of a block.
pub(super) fn skim(block: &[u8]) -> Skimmed {
    let (mut pending, mut used) = (Pending::default(), 0);
    let needed = loop {
        let Some((head, rest)) = block[used..].split_first_chunk() else {
            break Some(HEAD);
        };
        let (id, size) = parsed(head);
        if size > LARGEST {
            break None;
        }
        if rest.len() < size {
            break Some(HEAD + size);
        }
        pending = Pending { newest: id, count: pending.count + 1 };
        used += HEAD + size;
    };
    Skimmed { pending, used, needed }
}

/// Returns the id and the payload of each message of a block that contains complete ones only.
pub(super) fn messages(block: &[u8]) -> impl Iterator<Item = ([u8; 8], &[u8])> {
    let mut rest = block;
    std::iter::from_fn(move || {
        let (head, after) = rest.split_first_chunk()?;
        let (id, size) = parsed(head);
        let (payload, after) = after.split_at_checked(size)?;
        rest = after;
        Some((id, payload))
    })
}

/// Returns the payload size of a header; `None` if it is too large.
pub(super) fn size(head: &[u8; HEAD], of: fn([u8; 4]) -> u32) -> Option<usize> {
    let [.., a, b, c, d] = *head;
    let size = of([a, b, c, d]) as usize;
    (size <= LARGEST).then_some(size)
}

fn parsed(head: &[u8; HEAD]) -> ([u8; 8], usize) {
    let [id @ .., a, b, c, d] = *head;
    (id, u32::from_le_bytes([a, b, c, d]) as usize)
}
