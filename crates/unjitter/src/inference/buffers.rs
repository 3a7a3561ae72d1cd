//! Buffers that are used again.

/// Makes a buffer that is written before it is read at least so long.
pub(super) fn make_room(buffer: &mut Vec<f64>, len: usize) {
    // Not twice as long: to copy it costs no more than to write it, which is about to be done.
    buffer.reserve_exact(len.saturating_sub(buffer.len()));
    buffer.resize(buffer.len().max(len), 0.0);
}

/// Fills a buffer with so many numbers, and gives it no more room than that.
pub(super) fn refill(buffer: &mut Vec<f64>, len: usize, value: f64) {
    if buffer.capacity() < len {
        *buffer = Vec::new();
    }
    buffer.clear();
    buffer.reserve_exact(len);
    buffer.resize(len, value);
}
