//! Limit on the log lines that a peer or an unauthenticated client can cause.

use std::time::Duration;

use tokio::time::Instant;

/// Period in which the number of lines is limited.
const PERIOD: Duration = Duration::from_secs(1);

/// Counts events of one kind, some of which are logged.
#[derive(Debug)]
pub(crate) struct LogLimit {
    /// Maximum number of lines in one period.
    most: u32,
    /// Start of the period, and the number of lines since then.
    period: Option<(Instant, u32)>,
    unlogged: u64,
}

impl LogLimit {
    pub(crate) fn new(most: u32) -> Self {
        Self { most, period: None, unlogged: 0 }
    }

    /// Counts an event. If it may be logged, returns the number of events since the last line, including this one.
    pub(crate) fn count(&mut self) -> Option<u64> {
        let now = Instant::now();
        self.unlogged += 1;
        let period = self.period.filter(|(start, _)| now.duration_since(*start) < PERIOD);
        let (start, lines) = period.unwrap_or((now, 0));
        if lines == self.most {
            return None;
        }
        self.period = Some((start, lines + 1));
        Some(std::mem::take(&mut self.unlogged))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn further_events_of_a_period_are_counted_for_its_next_line() {
        let mut limit = LogLimit::new(2);
        assert_eq!([(); 4].map(|()| limit.count()), [Some(1), Some(1), None, None]);
        tokio::time::advance(PERIOD).await;
        assert_eq!([(); 3].map(|()| limit.count()), [Some(3), Some(1), None]);
    }
}
