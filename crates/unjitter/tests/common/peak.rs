//! An allocator that counts the memory of each thread, and of all together.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, Ordering};

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static GROWS_IN_PLACE: Cell<bool> = const { Cell::new(false) };
}

static ALL_LIVE: AtomicIsize = AtomicIsize::new(0);
static ALL_PEAK: AtomicIsize = AtomicIsize::new(0);

fn count(change: isize) {
    let all = ALL_LIVE.fetch_add(change, Ordering::Relaxed) + change;
    ALL_PEAK.fetch_max(all, Ordering::Relaxed);
    let live = LIVE.get() + change;
    LIVE.set(live);
    PEAK.set(PEAK.get().max(live));
}

#[expect(unsafe_code, reason = "a global allocator cannot be written without")]
// SAFETY: every call goes to the system's allocator unchanged; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(at, layout) }
    }

    /// Two buffers for a moment, unless large ones are said to grow by moving pages.
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let (old, new) = (layout.size() as isize, size as isize);
        if GROWS_IN_PLACE.get() {
            count(new - old);
        } else {
            count(new);
            count(-old);
        }
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs `work` and returns its peak memory in bytes, beyond the memory held before.
pub(crate) fn peak_of<T>(work: impl FnOnce() -> T) -> (T, isize) {
    let before = LIVE.get();
    PEAK.set(before);
    let result = work();
    (result, PEAK.get() - before)
}

/// The same, if buffers grow by moving pages, not by a second copy.
#[allow(dead_code, reason = "only one of those who share this file asks for it")]
pub(crate) fn peak_without_copies_of<T>(work: impl FnOnce() -> T) -> (T, isize) {
    GROWS_IN_PLACE.set(true);
    let measured = peak_of(work);
    GROWS_IN_PLACE.set(false);
    measured
}

/// The same of all threads together.
#[allow(dead_code, reason = "only one of those who share this file asks for it")]
pub(crate) fn peak_of_all<T>(work: impl FnOnce() -> T) -> (T, isize) {
    let before = ALL_LIVE.load(Ordering::Relaxed);
    ALL_PEAK.store(before, Ordering::Relaxed);
    let result = work();
    (result, ALL_PEAK.load(Ordering::Relaxed) - before)
}

#[test]
fn the_counter_sees_what_was_given_back() {
    let (_, held) = peak_of(|| drop(Vec::<u8>::with_capacity(1 << 20)));
    // The vector, and nothing else of its size.
    assert!((1 << 20..1 << 21).contains(&held), "{held}");
}
