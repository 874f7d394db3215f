//! From what rules see at each look to warnings that stay as they are for as long as they should.
//!
//! A sighting becomes a warning when it has been made at as many looks in a row as its kind asks for. A
//! warning ends when it has not been made for [`REST`].

use std::time::Duration;

use rustc_hash::FxHashMap;

use super::{Kind, Sighting, Subject, Warning};
use crate::census::Census;

/// How long a warning stays after it was last seen: long enough to be read, and longer than the pauses
/// of what comes and goes every few looks.
pub const REST: Duration = Duration::from_secs(5);

/// When there is more between two looks than this, nobody has looked in between, and what was seen
/// before and after was not seen in a row. While the page is open looks are a second apart, or a few if
/// there is a lot to see; where only a scraper looks they are as far apart as its scrapes, a minute at most
/// as a rule.
pub const GAP: Duration = Duration::from_secs(90);

/// What has been seen, and what of it is a warning.
#[derive(Debug, Default)]
pub(super) struct Steady {
    /// The census that was looked at last, and when it was made.
    number: u64,
    at: Duration,
    kept: FxHashMap<(Kind, Subject), Kept>,
}

#[derive(Debug)]
struct Kept {
    /// Looks in a row at which it was seen.
    looks: u32,
    told: bool,
    since: Duration,
    last: Duration,
    line: String,
}

/// How many looks in a row have to see it. Who waits for whom is read process by process, so that two
/// calls of different moments can look like a cycle once; the other rules see for themselves that they
/// are not mistaken.
fn needed(kind: Kind) -> u32 {
    match kind {
        Kind::CallCycle => 2,
        _ => 1,
    }
}

impl Steady {
    /// Whether a census has not been looked at.
    pub(super) fn is_news(&self, census: &Census) -> bool {
        census.number != self.number
    }

    /// Takes what is seen in a census.
    pub(super) fn look(&mut self, census: &Census, seen: impl IntoIterator<Item = Sighting>) {
        let at = census.overview.at;
        if at.saturating_sub(self.at) > GAP {
            self.kept.retain(|_, kept| kept.told);
        }
        (self.number, self.at) = (census.number, at);
        for Sighting { kind, subject, line, since } in seen {
            let kept = self.kept.entry((kind, subject)).or_insert_with(|| Kept {
                looks: 0,
                told: false,
                since,
                last: at,
                line: String::new(),
            });
            kept.looks += 1;
            kept.told |= kept.looks >= needed(kind);
            (kept.last, kept.line) = (at, line);
        }
        self.kept.retain(|_, kept| {
            let seen = kept.last == at;
            kept.looks = if seen { kept.looks } else { 0 };
            seen || (kept.told && at.saturating_sub(kept.last) < REST)
        });
    }

    /// The warnings of the last look.
    pub(super) fn warnings(&self) -> Vec<Warning> {
        let told = self.kept.iter().filter(|(_, kept)| kept.told);
        let mut warnings: Vec<_> = told
            .map(|((kind, subject), kept)| Warning {
                kind: *kind,
                subject: subject.clone(),
                line: kept.line.clone(),
                since: kept.since,
            })
            .collect();
        warnings.sort_by(|a, b| (a.kind, a.since, &a.subject).cmp(&(b.kind, b.since, &b.subject)));
        warnings
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::{GAP, REST, Steady};
    use crate::warnings::fixture::{at, pid};
    use crate::warnings::{Kind, Sighting, Subject};

    fn sighting(kind: Kind, since: u64) -> Sighting {
        let subject = Subject::Process(pid(7));
        Sighting { kind, subject, line: format!("at {since}"), since: Duration::from_secs(since) }
    }

    /// Which seconds have a warning, when it is seen at those.
    fn told(kind: Kind, seen: &[bool]) -> Vec<Option<u64>> {
        let mut steady = Steady::default();
        let looks = seen.iter().zip(1..);
        let told = looks.map(|(&seen, second)| {
            steady.look(&at(second), seen.then(|| sighting(kind, second)));
            steady.warnings().first().map(|warning| warning.since.as_secs())
        });
        told.collect()
    }

    #[test]
    fn a_warning_that_returns_within_its_rest_is_the_same_and_after_it_another() {
        let mut seen = vec![true];
        seen.extend([false; 4]);
        seen.push(true);
        seen.extend([false; 5]);
        seen.push(true);
        let due = [Some(1); 10].into_iter().chain([None, Some(12)]).collect::<Vec<_>>();
        assert_eq!(told(Kind::Hog, &seen), due);
    }

    #[test]
    fn a_cycle_has_to_be_seen_twice_in_a_row() {
        let seen = [true, false, true, false, true, true];
        assert_eq!(told(Kind::CallCycle, &seen), [None, None, None, None, None, Some(5)]);
    }

    #[test]
    fn two_looks_with_a_long_time_between_are_not_in_a_row() {
        let mut steady = Steady::default();
        let later = 2 + GAP.as_secs();
        for second in [1, later] {
            steady.look(&at(second), [sighting(Kind::CallCycle, second)]);
            assert!(steady.warnings().is_empty());
        }
        steady.look(&at(later + 1), [sighting(Kind::CallCycle, later + 1)]);
        assert_eq!(steady.warnings()[0].since.as_secs(), later);
    }

    proptest! {
        /// However its cause comes and goes, a warning does not come and go faster than its rest.
        #[test]
        fn between_an_end_and_the_last_sighting_lies_a_whole_rest(
            seen in proptest::collection::vec(any::<bool>(), 1..60),
        ) {
            let told = told(Kind::Hog, &seen);
            let rest = REST.as_secs() as usize;
            for (second, told) in told.iter().enumerate() {
                let lately = &seen[second.saturating_sub(rest - 1)..=second];
                prop_assert_eq!(told.is_some(), lately.contains(&true), "{}: {:?}", second, seen);
            }
        }
    }
}
