//! History of node overviews for the graphs, ten minutes long.
//!
//! Without a watcher nothing is sampled. The resulting gap is visible in [`Overview::at`].

use std::collections::VecDeque;
use std::sync::Arc;

use super::Overview;

/// Capacity of the history in overviews: ten minutes at the default period.
pub const KEPT: usize = 600;

/// The most recent overviews, oldest first.
#[derive(Clone, Debug, Default)]
pub struct History(VecDeque<Arc<Overview>>);

impl History {
    /// Appends `newest`. At capacity it evicts the oldest overview.
    pub(crate) fn push(&mut self, newest: Arc<Overview>) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(newest);
    }

    /// Returns the overviews, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<Overview>> {
        self.0.iter()
    }

    /// Returns the number of overviews.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns `true` if the history is empty.
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
    fn the_oldest_overview_is_evicted_at_capacity() {
        let mut history = History::default();
        for second in 0..KEPT as u64 + 10 {
            let at = Duration::from_secs(second);
            history.push(Arc::new(Overview { at, ..Overview::default() }));
        }
        assert_eq!(history.len(), KEPT);
        assert_eq!(history.iter().next().map(|first| first.at), Some(Duration::from_secs(10)));
    }
}
