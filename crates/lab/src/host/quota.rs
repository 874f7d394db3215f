//! CPU quota of a container's control group: cgroups(7), versions 1 and 2.
//!
//! Pure: the caller supplies the function that reads a file. A limit of a group above the mounted
//! ones, outside of the container, is not visible from inside.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// CPU limit of a control group.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "Stored", try_from = "Stored")]
pub enum Quota {
    /// No limit.
    Unlimited,
    /// Limit in cores; a group that has used up its time waits for the next period.
    Cores(f64),
}

/// Stored form: `"none"`, or a number.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Stored {
    Word(String),
    Cores(f64),
}

impl From<Quota> for Stored {
    fn from(quota: Quota) -> Self {
        match quota {
            Quota::Unlimited => Self::Word("none".into()),
            Quota::Cores(cores) => Self::Cores(cores),
        }
    }
}

impl TryFrom<Stored> for Quota {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        match stored {
            Stored::Cores(cores) => Ok(Self::Cores(cores)),
            Stored::Word(word) if word == "none" => Ok(Self::Unlimited),
            Stored::Word(word) => Err(format!("quota is {word:?}, neither \"none\" nor a number")),
        }
    }
}

/// Returns the lowest limit of this program's group and of the groups above it.
///
/// Reads `/proc/self/cgroup`, `/proc/self/mountinfo` and the files that `read` returns. Returns
/// `None` if no control group of the processor is mounted.
pub(super) fn quota(
    groups: &str,
    mounts: &str,
    read: &dyn Fn(&Path) -> Option<String>,
) -> Option<Quota> {
    let mut least = None;
    for mount in mounts.lines().filter_map(Mount::read) {
        let Some(own) = mount.group(groups) else { continue };
        let folders = own.ancestors().take_while(|folder| folder.starts_with(mount.point));
        let limits = folders.filter_map(|folder| mount.limit(folder, read));
        let here = limits.fold(f64::INFINITY, f64::min);
        least = Some(least.map_or(here, |least: f64| least.min(here)));
    }
    least.map(|cores| if cores.is_finite() { Quota::Cores(cores) } else { Quota::Unlimited })
}

/// A mounted cgroup hierarchy that can limit CPU time.
struct Mount<'a> {
    /// The group at the root of the mount.
    root: &'a str,
    /// The mount point.
    point: &'a Path,
    /// Whether the hierarchy is of version 2.
    unified: bool,
}

impl<'a> Mount<'a> {
    /// Parses a line of `mountinfo`.
    fn read(line: &'a str) -> Option<Self> {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (root, point) = (place.next()?, Path::new(place.next()?));
        let mut kind = kind.split(' ');
        let unified = match kind.next()? {
            "cgroup2" => true,
            "cgroup" if kind.nth(1)?.split(',').any(|word| word == "cpu") => false,
            _ => return None,
        };
        Some(Self { root, point, unified })
    }

    /// Returns the folder of this program's group.
    fn group(&self, groups: &str) -> Option<PathBuf> {
        let own = groups.lines().find_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            let mine = match self.unified {
                true => controllers.is_empty(),
                false => controllers.split(',').any(|word| word == "cpu"),
            };
            mine.then_some(path)
        })?;
        // WHY: in a container the mount may show a group that is not a prefix of the path.
        let below = Path::new(own).strip_prefix(self.root).unwrap_or(Path::new(""));
        Some(self.point.join(below))
    }

    /// Returns the limit of one group in cores, if it has one.
    fn limit(&self, folder: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Option<f64> {
        let text = match self.unified {
            true => read(&folder.join("cpu.max"))?,
            false => {
                let [time, period] = ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
                    .map(|name| read(&folder.join(name)).unwrap_or_default());
                format!("{} {}", time.trim(), period.trim())
            }
        };
        let mut numbers = text.split_whitespace().map(|word| word.parse::<i64>().ok());
        let (time, period) = (numbers.next()??, numbers.next()??);
        (time > 0 && period > 0).then(|| time as f64 / period as f64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const UNIFIED: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
    const SPLIT: &str = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset
";

    fn found(groups: &str, mounts: &str, files: &[(&str, &str)]) -> Option<Quota> {
        quota(groups, mounts, &|path| {
            let file = files.iter().find(|(name, _)| Path::new(name) == path)?;
            Some(file.1.to_owned())
        })
    }

    #[test]
    fn version_2_quota_is_the_lowest_of_the_group_and_its_ancestors() {
        let files = [
            ("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
            ("/sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
            ("/elsewhere/cpu.max", "1000 100000\n"),
        ];
        assert_eq!(found("0::/a/b\n", UNIFIED, &files), Some(Quota::Cores(1.5)));
        assert_eq!(found("0::/c\n", UNIFIED, &files), Some(Quota::Unlimited));
    }

    #[test]
    fn version_1_quota_is_read_from_two_files() {
        let folder = "/sys/fs/cgroup/cpu,cpuacct/docker/x";
        let (time, period) =
            (format!("{folder}/cpu.cfs_quota_us"), format!("{folder}/cpu.cfs_period_us"));
        let groups = "4:memory:/docker/y\n3:cpu,cpuacct:/docker/x\n2:cpuset:/\n";
        let files = |quota| [(time.as_str(), quota), (period.as_str(), "100000\n")];
        assert_eq!(found(groups, SPLIT, &files("50000\n")), Some(Quota::Cores(0.5)));
        assert_eq!(found(groups, SPLIT, &files("-1\n")), Some(Quota::Unlimited));
        // If both hierarchies set a limit, the lower one applies.
        let mixed = [&files("50000\n")[..], &[("/sys/fs/cgroup/cpu.max", "25000 100000")]].concat();
        let both = format!("{SPLIT}{UNIFIED}");
        let groups = format!("{groups}0::/\n");
        assert_eq!(found(&groups, &both, &mixed), Some(Quota::Cores(0.25)));
    }

    #[test]
    fn quota_is_found_if_the_mount_shows_the_containers_group_as_root() {
        let mounts = "40 39 0:26 /docker/x /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
        let files = [("/sys/fs/cgroup/cpu.max", "200000 100000\n")];
        for groups in ["0::/docker/x\n", "0::/\n", "0::/../y\n"] {
            assert_eq!(found(groups, mounts, &files), Some(Quota::Cores(2.0)), "{groups}");
        }
    }

    #[test]
    fn quota_is_unknown_without_a_mounted_hierarchy() {
        assert_eq!(found("0::/\n", "", &[]), None);
        assert_eq!(found("", UNIFIED, &[]), None);
    }

    #[test]
    fn a_quota_is_stored_as_a_word_or_a_number() {
        for (quota, text) in [(Quota::Unlimited, "\"none\""), (Quota::Cores(1.5), "1.5")] {
            assert_eq!(serde_json::to_string(&quota).unwrap(), text);
            assert_eq!(serde_json::from_str::<Quota>(text).unwrap(), quota);
        }
        assert!(serde_json::from_str::<Quota>("\"some\"").is_err());
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(groups: String, mounts: String, file: String) {
            let _ = found(&groups, &mounts, &[]);
            let _ = found("0::/\n", UNIFIED, &[("/sys/fs/cgroup/cpu.max", &file)]);
        }
    }
}
