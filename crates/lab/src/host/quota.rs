//! How much of the processor a container's control group allows: cgroups(7), versions 1 and 2.
//!
//! Pure: who calls says how a file is read. A limit above the groups that are
//! mounted here, outside of the container, cannot be seen from inside.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What a control group allows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "Stored", try_from = "Stored")]
pub enum Quota {
    /// All there is.
    Unlimited,
    /// The time of so many cores; who has used it up waits for the next period.
    Cores(f64),
}

/// As it is stored: `"none"`, or a number.
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

/// The least that a group of this program, or one above it, allows.
///
/// From `/proc/self/cgroup`, `/proc/self/mountinfo` and the files that `read`
/// gives. `None` where no control group of the processor is mounted.
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

/// A hierarchy of groups that can limit the processor.
struct Mount<'a> {
    /// The group that its folder shows.
    root: &'a str,
    /// The folder.
    point: &'a Path,
    /// Whether it is the one of version 2.
    unified: bool,
}

impl<'a> Mount<'a> {
    /// From a line of `mountinfo`.
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

    /// The folder of this program's group.
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
        // WHY: in a container the folder may show a group that the path does not begin with.
        let below = Path::new(own).strip_prefix(self.root).unwrap_or(Path::new(""));
        Some(self.point.join(below))
    }

    /// The cores that one group allows, where it limits them.
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
    fn the_unified_hierarchy_limits_by_the_least_of_the_groups_above() {
        let files = [
            ("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
            ("/sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
            ("/elsewhere/cpu.max", "1000 100000\n"),
        ];
        assert_eq!(found("0::/a/b\n", UNIFIED, &files), Some(Quota::Cores(1.5)));
        assert_eq!(found("0::/c\n", UNIFIED, &files), Some(Quota::Unlimited));
    }

    #[test]
    fn the_hierarchy_of_version_1_limits_by_two_files() {
        let folder = "/sys/fs/cgroup/cpu,cpuacct/docker/x";
        let (time, period) =
            (format!("{folder}/cpu.cfs_quota_us"), format!("{folder}/cpu.cfs_period_us"));
        let groups = "4:memory:/docker/y\n3:cpu,cpuacct:/docker/x\n2:cpuset:/\n";
        let files = |quota| [(time.as_str(), quota), (period.as_str(), "100000\n")];
        assert_eq!(found(groups, SPLIT, &files("50000\n")), Some(Quota::Cores(0.5)));
        assert_eq!(found(groups, SPLIT, &files("-1\n")), Some(Quota::Unlimited));
        // In both, the lower of the two counts.
        let mixed = [&files("50000\n")[..], &[("/sys/fs/cgroup/cpu.max", "25000 100000")]].concat();
        let both = format!("{SPLIT}{UNIFIED}");
        let groups = format!("{groups}0::/\n");
        assert_eq!(found(&groups, &both, &mixed), Some(Quota::Cores(0.25)));
    }

    #[test]
    fn a_container_sees_its_own_group_as_the_root() {
        let mounts = "40 39 0:26 /docker/x /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
        let files = [("/sys/fs/cgroup/cpu.max", "200000 100000\n")];
        for groups in ["0::/docker/x\n", "0::/\n", "0::/../y\n"] {
            assert_eq!(found(groups, mounts, &files), Some(Quota::Cores(2.0)), "{groups}");
        }
    }

    #[test]
    fn where_nothing_is_mounted_nothing_is_known() {
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
