//! The figures of the last ten minutes, for the graphs.
//!
//! While nobody looks nothing is sampled, and the history has a gap, which shows in [`Overview::at`].

use std::collections::VecDeque;
use std::sync::Arc;

use super::Overview;

/// How many overviews are kept: ten minutes of them while somebody looks.
pub const KEPT: usize = 600;

/// The figures of the last ten minutes, the oldest first.
#[derive(Clone, Debug, Default)]
pub struct History(VecDeque<Arc<Overview>>);

impl History {
    /// Adds the newest; the oldest goes if there are too many.
    pub(crate) fn push(&mut self, newest: Arc<Overview>) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(newest);
    }

    /// The overviews, the oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<Overview>> {
        self.0.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::{History, KEPT, Overview};

    #[test]
    fn the_oldest_go_when_there_are_too_many() {
        let mut history = History::default();
        for second in 0..KEPT as u64 + 10 {
            let at = Duration::from_secs(second);
            history.push(Arc::new(Overview { at, ..Overview::default() }));
        }
        assert_eq!(history.len(), KEPT);
        assert_eq!(history.iter().next().map(|first| first.at), Some(Duration::from_secs(10)));
    }
}
