//! How much memory inference may take.
//!
//! Stamps that lie far from their instances, as those of a wrong clock do, have windows as wide as the
//! session, and the cells of all windows may be more than any machine holds. They are counted before
//! anything is allocated; what would need more than the limit is an error instead of an abort. The limit
//! belongs to the process, as its threads do, and no result depends on it.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes; 0 until somebody asks or sets it.
static LIMIT: AtomicU64 = AtomicU64::new(0);

/// The limit where the machine does not tell what it has: 4 GiB.
const UNKNOWN: u64 = 4 << 30;

/// Sets the limit, in bytes; at least one.
pub fn set_memory_limit(bytes: u64) {
    LIMIT.store(bytes.max(1), Ordering::Relaxed);
}

/// The limit in bytes. By default half of what the machine has, or of what the control group of
/// the process may use; 4 GiB on systems that do not say.
pub fn memory_limit() -> u64 {
    match LIMIT.load(Ordering::Relaxed) {
        0 => {
            let limit = available().map_or(UNKNOWN, |bytes| bytes / 2);
            set_memory_limit(limit);
            limit
        }
        limit => limit,
    }
}

/// What Linux says of the machine and of the control group, whichever is less.
fn available() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo").ok()?;
    let machine = total_kib(&machine)?.saturating_mul(1024);
    let group = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .into_iter()
        .find_map(|path| std::fs::read_to_string(path).ok()?.trim().parse().ok());
    Some(group.unwrap_or(machine).min(machine))
}

fn total_kib(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find(|line| line.starts_with("MemTotal:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_read_as_it_writes() {
        let text = "MemFree:  1 kB\nMemTotal:       24597704 kB\nMemAvailable: 2 kB\n";
        assert_eq!(total_kib(text), Some(24_597_704));
        assert_eq!(total_kib("MemTotal: lots"), None);
        assert!(memory_limit() > 1 << 20);
    }
}
