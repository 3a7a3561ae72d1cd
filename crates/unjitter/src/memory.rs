//! How much memory inference may take.
//!
//! If stamps lie far from their instances, as with a wrong clock, their windows are as wide as the
//! session, and all windows together may have more cells than any machine holds. Cells are counted before
//! anything is allocated; a session beyond the limit is an error instead of an abort. The limit belongs
//! to the process, as its threads do: a thread that needs much memory waits until the others leave room.
//! No result depends on the limit.
//!
//! No thread waits, or hands work to other threads, while it holds memory, so threads cannot deadlock.
//! Amounts that are small enough for all threads at once are neither counted nor waited for.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};

/// Bytes; 0 until it is first read or set.
static LIMIT: AtomicU64 = AtomicU64::new(0);

/// Bytes held by all threads.
static HELD: Mutex<u64> = Mutex::new(0);
/// Signals that memory was released.
static FREED: Condvar = Condvar::new();

/// The limit if the machine does not report its memory: 4 GiB.
const UNKNOWN: u64 = 4 << 30;

/// Sets the limit, in bytes; at least one.
pub fn set_memory_limit(bytes: u64) {
    LIMIT.store(bytes.max(1), Ordering::Relaxed);
}

/// The limit in bytes. By default half of what the process may use: the least of the machine's memory,
/// the control groups' limit and the address space; 4 GiB on systems that do not report these.
pub fn memory_limit() -> u64 {
    match LIMIT.load(Ordering::Relaxed) {
        0 => {
            let limit = available(&|path| std::fs::read_to_string(path).ok());
            set_memory_limit(limit.map_or(UNKNOWN, |bytes| bytes / 2));
            memory_limit()
        }
        limit => limit,
    }
}

/// Memory that the process may use, as Linux reports it.
fn available(read: &dyn Fn(&Path) -> Option<String>) -> Option<u64> {
    let word = |path: &str, line: &str, at: usize| -> Option<u64> {
        let text = read(Path::new(path))?;
        let line = text.lines().find_map(|text| text.strip_prefix(line))?;
        line.split_whitespace().nth(at)?.parse().ok()
    };
    let machine = word("/proc/meminfo", "MemTotal:", 0).map(|kib| kib.saturating_mul(1024));
    let addresses = word("/proc/self/limits", "Max address space", 0);
    let own = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
    let groups = own.lines().filter_map(|line| {
        let (hierarchy, group) = line.split_once(':')?.1.split_once(':')?;
        let (root, file) = match hierarchy {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if hierarchy.split(',').any(|name| name == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return None,
        };
        // The limits of the enclosing groups apply as well.
        let around = Path::new(group).ancestors().filter_map(|group| group.strip_prefix("/").ok());
        around
            .filter_map(|group| read(&Path::new(root).join(group).join(file))?.trim().parse().ok())
            .min()
    });
    groups.chain(machine).chain(addresses).min()
}

/// Whether all threads may take this much at once.
pub(crate) fn is_little(bytes: u64) -> bool {
    static CORES: OnceLock<usize> = OnceLock::new();
    let cores = CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
    // Asked only on a pool's thread: elsewhere the question would start a pool.
    let pool = rayon::current_thread_index().map_or(1, |_| rayon::current_num_threads());
    bytes.saturating_mul(4 * pool.max(*cores) as u64) <= memory_limit()
}

/// Waits until other threads leave room for so many bytes, and holds them. The only thread at work does
/// not wait.
pub(crate) fn hold(bytes: u64) -> Held {
    let is_full = |held: &mut u64| *held > 0 && held.saturating_add(bytes) > memory_limit();
    let held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    let mut held = FREED.wait_while(held, is_full).unwrap_or_else(PoisonError::into_inner);
    *held = held.saturating_add(bytes);
    Held(bytes)
}

/// Held memory; released when dropped.
#[derive(Debug)]
pub(crate) struct Held(u64);

impl Drop for Held {
    fn drop(&mut self) {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        *held = held.saturating_sub(self.0);
        FREED.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memory of a machine with these files.
    fn on(files: &[(&str, &str)]) -> Option<u64> {
        available(&|path| {
            let file = files.iter().find(|(name, _)| Path::new(name) == path);
            file.map(|(_, text)| (*text).to_owned())
        })
    }

    #[test]
    fn the_least_of_all_limits_counts() {
        let machine =
            ("/proc/meminfo", "MemFree:  1 kB\nMemTotal:       4096 kB\nMemAvailable: 2 kB\n");
        assert_eq!(on(&[machine]), Some(4096 << 10));
        assert_eq!(on(&[("/proc/meminfo", "MemTotal: lots")]), None);
        let limits = |bytes| ("/proc/self/limits", bytes);
        let open = limits(
            "Limit   Soft Limit   Hard Limit   Units\nMax address space    unlimited  unlimited bytes\n",
        );
        assert_eq!(on(&[machine, open]), Some(4096 << 10));
        let closed =
            limits("Max address space         3000000              unlimited            bytes\n");
        assert_eq!(on(&[machine, closed]), Some(3_000_000));
        let own = ("/proc/self/cgroup", "4:cpu,memory:/a/b\n3:pids:/\n0::/user/job\n");
        assert_eq!(on(&[machine, own]), Some(4096 << 10));
        let group = ("/sys/fs/cgroup/user/job/memory.max", "2000000\n");
        let around = ("/sys/fs/cgroup/user/memory.max", "1000000\n");
        assert_eq!(on(&[machine, own, group]), Some(2_000_000));
        assert_eq!(on(&[machine, own, group, around]), Some(1_000_000));
        let old = ("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "500000\n");
        assert_eq!(on(&[machine, own, group, old]), Some(500_000));
        assert_eq!(on(&[machine, own, ("/sys/fs/cgroup/memory.max", "max\n")]), Some(4096 << 10));
        assert!(memory_limit() > 1 << 20);
    }

    #[test]
    fn who_needs_much_waits_for_others() {
        let limit = memory_limit();
        assert!(is_little(limit / 10_000) && !is_little(limit / 2));
        let first = hold(limit);
        let (tell, told) = std::sync::mpsc::channel();
        let second = std::thread::spawn(move || {
            let _second = hold(limit / 2);
            tell.send(()).expect("somebody listens");
        });
        let wait = std::time::Duration::from_millis(50);
        assert!(told.recv_timeout(wait).is_err());
        drop(first);
        told.recv().expect("room now");
        second.join().expect("no panic");
    }
}
