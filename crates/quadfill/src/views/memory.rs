//! How much memory there is, for this process: that of the machine, or of the control group that a container or a
//! service runs in.

use std::fs;
use std::path::{Path, PathBuf};

/// The bytes of memory that this process can still take, where the system tells.
pub(super) fn free_memory() -> Option<usize> {
    let of_groups = groups().filter_map(|group| Some(group.limit()?.saturating_sub(group.used()?)));
    of_machine("MemAvailable:").into_iter().chain(of_groups).min()
}

/// The bytes of memory that this process may take in all, where the system tells.
pub(super) fn total_memory() -> Option<usize> {
    of_machine("MemTotal:").into_iter().chain(groups().filter_map(|group| group.limit())).min()
}

fn of_machine(kind: &str) -> Option<usize> {
    let about = fs::read_to_string("/proc/meminfo").ok()?;
    let line = about.lines().find_map(|line| line.strip_prefix(kind))?;
    let kib: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// A control group, in the layout of either version.
struct Group {
    folder: PathBuf,
    limit: &'static str,
    used: &'static str,
}

impl Group {
    fn limit(&self) -> Option<usize> {
        // Without a limit it says `max`, or a number beyond any memory.
        read_number(&self.folder.join(self.limit))
    }

    /// Without the files that are kept in memory only as long as there is room.
    fn used(&self) -> Option<usize> {
        let used = read_number(&self.folder.join(self.used))?;
        let about = fs::read_to_string(self.folder.join("memory.stat")).ok()?;
        let inactive = about.lines().find_map(|line| {
            let line = line.strip_prefix("total_").unwrap_or(line);
            line.strip_prefix("inactive_file ")?.parse::<usize>().ok()
        });
        Some(used.saturating_sub(inactive.unwrap_or(0)))
    }
}

fn read_number(file: &Path) -> Option<usize> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// The control groups of this process, with those that they are in.
fn groups() -> impl Iterator<Item = Group> {
    let about = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    about.lines().flat_map(groups_of_line).collect::<Vec<_>>().into_iter()
}

/// A line such as `4:memory:/user` (version 1) or `0::/user` (version 2).
fn groups_of_line(line: &str) -> Vec<Group> {
    let mut fields = line.splitn(3, ':');
    let (_, Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
        return Vec::new();
    };
    let (root, limit, used) = if controllers.split(',').any(|name| name == "memory") {
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
    } else if controllers.is_empty() {
        ("/sys/fs/cgroup", "memory.max", "memory.current")
    } else {
        return Vec::new();
    };
    let inner: PathBuf = Path::new(root).join(path.trim_start_matches('/')).components().collect();
    let folders = inner.ancestors().take_while(|folder| folder.starts_with(root));
    folders.map(|folder| Group { folder: folder.to_owned(), limit, used }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_tells_its_memory() {
        let (free, total) = (free_memory(), total_memory());
        assert!(free.is_some_and(|free| free > 1 << 20));
        assert!(free <= total);
    }

    #[test]
    fn groups_are_found_in_both_layouts() {
        let folders = |line: &str| -> Vec<String> {
            let groups = groups_of_line(line);
            groups.iter().map(|group| group.folder.display().to_string()).collect()
        };
        assert_eq!(
            folders("4:cpu,memory:/a"),
            ["/sys/fs/cgroup/memory/a", "/sys/fs/cgroup/memory"]
        );
        assert_eq!(folders("0::/"), ["/sys/fs/cgroup"]);
        assert!(folders("2:cpu:/a").is_empty());
        assert!(folders("nonsense").is_empty());
    }
}
