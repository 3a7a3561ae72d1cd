//! Reusable buffers.

/// Makes a buffer at least so long; its old content stays until overwritten.
pub(super) fn make_room(buffer: &mut Vec<f64>, len: usize) {
    // Without doubling: copying it costs no more than the write that follows.
    buffer.reserve_exact(len.saturating_sub(buffer.len()));
    buffer.resize(buffer.len().max(len), 0.0);
}

/// Fills a buffer with so many numbers and reserves no more room.
pub(super) fn refill(buffer: &mut Vec<f64>, len: usize, value: f64) {
    if buffer.capacity() < len {
        *buffer = Vec::new();
    }
    buffer.clear();
    buffer.reserve_exact(len);
    buffer.resize(len, value);
}
