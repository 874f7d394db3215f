//! Parsers for Linux's text files under `/proc` and `/sys`. Pure.
//!
//! The formats are those of proc(5) and of the kernel's documents `accounting/psi` and
//! `admin-guide/cputopology`. A value that is missing or malformed is `None`.

/// CPU time since boot in which a core had work, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticks {
    /// All time but the fourth and fifth field, in which a core was idle or waited for I/O.
    busy: u64,
    stolen: u64,
}

impl Ticks {
    /// Parses `/proc/stat`.
    pub(super) fn read(stat: &str) -> Option<Self> {
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let fields = line.split_whitespace().map(str::parse);
        let fields: Vec<u64> = fields.collect::<Result<_, _>>().ok()?;
        let &[user, nice, system, _, _, irq, softirq, stolen] = fields.first_chunk()?;
        // WHY not the fields after the eighth, guest time: the first two include them.
        let busy = [user, nice, system, irq, softirq, stolen].into_iter().sum();
        Some(Self { busy, stolen })
    }

    /// Returns the ticks stolen since `earlier`, time the hypervisor gave to other guests although
    /// this machine had work, and their percentage of the time in which it had work. Returns `None`
    /// if it had none.
    pub(super) fn stolen_since(self, earlier: Self) -> Option<(u64, f64)> {
        let busy = self.busy.checked_sub(earlier.busy).filter(|&busy| busy > 0)?;
        let stolen = self.lost_since(earlier);
        Some((stolen, 100.0 * stolen as f64 / busy as f64))
    }

    /// Returns the ticks stolen since `earlier`, even if no time has passed.
    pub(super) fn lost_since(self, earlier: Self) -> u64 {
        self.stolen.saturating_sub(earlier.stolen)
    }
}

/// Parses a file of `/proc/pressure`: the percentage of the last 10 s in which some task waited.
pub(super) fn pressure(text: &str) -> Option<f64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split_whitespace().find_map(|field| field.strip_prefix("avg10="))?.parse().ok()
}

/// Returns the number of cores in a list such as `0-3,8`.
pub(super) fn listed(cores: &str) -> Option<usize> {
    let mut count = 0;
    for piece in cores.trim().split(',') {
        let (first, last) = piece.split_once('-').unwrap_or((piece, piece));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        count += last.checked_sub(first)? + 1;
    }
    Some(count)
}

/// Parses `/proc/self/status`: the number of cores this program may use.
pub(super) fn allowed(status: &str) -> Option<usize> {
    listed(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn steal_time_is_the_difference_of_two_readings() {
        let stat = |user, idle, stolen| {
            Ticks::read(&format!(
                "cpu  {user} 2116507 992707 {idle} 29651 0 6082 {stolen} 70 7\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 5\n"
            ))
        };
        let before = stat(2_683_018, 3_327_355, 13_554).unwrap();
        let after = stat(2_683_198, 3_330_000, 13_574).unwrap();
        assert_eq!(after.stolen_since(before), Some((20, 10.0)));
        assert_eq!((after.lost_since(before), before.lost_since(before)), (20, 0));
        assert_eq!(before.stolen_since(before), None);
        assert_eq!(before.stolen_since(after), None);
        // Kernels before 2.6.11 have no steal field.
        assert_eq!(Ticks::read("cpu  1 2 3 4 5 6 7\n"), None);
        assert_eq!(Ticks::read("cpu0 1 2 3 4 5 6 7 8\n"), None);
    }

    #[test]
    fn pressure_is_that_of_the_last_ten_seconds() {
        let text = "some avg10=36.18 avg60=29.89 avg300=10.41 total=16339511486\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
        assert_eq!(pressure(text), Some(36.18));
        assert_eq!(pressure("full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"), None);
    }

    #[test]
    fn lists_of_cores_are_counted() {
        assert_eq!(listed("0-1\n"), Some(2));
        assert_eq!(listed("0-3,8,10-11"), Some(7));
        assert_eq!((listed(""), listed("3-1"), listed("a")), (None, None, None));
        let status = "Name:\tpurlin\nCpus_allowed:\t05\nCpus_allowed_list:\t0,2\n";
        assert_eq!((allowed(status), allowed("Name:\tx\n")), (Some(2), None));
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "(cpu |some |avg10=|[0-9]{1,20}|-|,|:|\n|\\PC){0,40}") {
            let _ = (Ticks::read(&text), pressure(&text), listed(&text), allowed(&text));
        }
    }
}
