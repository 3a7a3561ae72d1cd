//! Bytes of a table that is still written, until they end or Ctrl-C says that they do.
//!
//! A read that waits for bytes cannot be left. So another thread reads, and hands on what it has; who reads from that
//! looks for a Ctrl-C meanwhile, which then is nothing but the end of the table.

use std::cell::Cell;
use std::io::{Cursor, ErrorKind, Read, Result};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use crate::interrupt::{Listening, is_requested};

/// How often to look for a Ctrl-C while nothing comes: more than anybody notices.
const LOOK: Duration = Duration::from_millis(50);
/// Bytes handed on at a time, at most.
const PIECE: usize = 1 << 16;

/// Bytes that end at a Ctrl-C.
#[derive(Debug)]
pub(super) struct UntilInterrupted {
    pieces: Receiver<Result<Vec<u8>>>,
    piece: Cursor<Vec<u8>>,
    is_left: Left,
    /// Whoever reads keeps what there is.
    _listening: Listening,
}

/// Whether a Ctrl-C was the end.
#[derive(Debug, Clone, Default)]
pub(super) struct Left(Rc<Cell<bool>>);

impl Left {
    pub(super) fn get(&self) -> bool {
        self.0.get()
    }
}

impl UntilInterrupted {
    /// Begins to read.
    pub(super) fn new(raw: Box<dyn Read + Send>, is_left: Left) -> Self {
        let _listening = Listening::start();
        let (send, pieces) = sync_channel(1);
        // Nobody waits for its end: it may wait for bytes that never come, until the program ends.
        std::thread::spawn(move || hand_on(raw, &send));
        Self { pieces, piece: Cursor::default(), is_left, _listening }
    }
}

/// Hands on all that can be read; an empty piece, or none, is the end.
fn hand_on(mut raw: Box<dyn Read + Send>, send: &SyncSender<Result<Vec<u8>>>) {
    loop {
        let mut piece = vec![0; PIECE];
        let read = match raw.read(&mut piece) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read,
        };
        let is_last = !matches!(read, Ok(1..));
        piece.truncate(*read.as_ref().unwrap_or(&0));
        if send.send(read.map(|_| piece)).is_err() || is_last {
            return;
        }
    }
}

impl Read for UntilInterrupted {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            let count = self.piece.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            if is_requested() {
                self.is_left.0.set(true);
                return Ok(0);
            }
            match self.pieces.recv_timeout(LOOK) {
                Ok(piece) => self.piece = Cursor::new(piece?),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
    }
}
