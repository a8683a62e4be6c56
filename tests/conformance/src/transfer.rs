//! Whole transfers for checks that are about something else: written, waited for, cleaned up.

use crate::cx::{Cx, range};
use crate::outcome::Stop;
use gpu_seam::{Buffer, Direction, Execute};

impl<V: Execute> Cx<V> {
    /// A buffer that holds `bytes`, padded to the copy granularity.
    pub(crate) fn buffer_of(&self, bytes: &[u8]) -> Result<Buffer<V>, Stop> {
        let buffer = self.driver().allocate(self.round_up(bytes.len()).max(1))?;
        self.write(&buffer, 0, bytes)?;
        Ok(buffer)
    }

    /// Writes any bytes of a buffer, and waits.
    pub(crate) fn write(&self, buffer: &Buffer<V>, at: usize, bytes: &[u8]) -> Result<(), Stop> {
        let stream = self.stream();
        let padded = self.padded(bytes);
        let staging = self.upload_staging(&padded)?;
        let aligned = at.is_multiple_of(self.round_up(1));
        if aligned && at + padded.len() <= buffer.len() && padded.len() == bytes.len() {
            let to = range(buffer, at, padded.len());
            self.copy_in(stream, (&staging, 0, padded.len()), to)?;
            self.finish(stream)?;
        } else {
            let between = self.driver().allocate(padded.len())?;
            let to = range(&between, 0, padded.len());
            self.copy_in(stream, (&staging, 0, padded.len()), to)?;
            let from = range(&between, 0, bytes.len());
            self.copy_device(stream, from, range(buffer, at, bytes.len()))?;
            self.finish(stream)?;
            self.free(between)?;
        }
        self.free_staging(staging)
    }

    /// Reads any bytes of a buffer, after waiting for the context's stream.
    pub(crate) fn read(&self, buffer: &Buffer<V>, at: usize, len: usize) -> Result<Vec<u8>, Stop> {
        let stream = self.stream();
        let padded = self.round_up(len);
        let mut staging = self.driver().alloc_staging(padded, Direction::Download)?;
        let aligned = at.is_multiple_of(self.round_up(1));
        let bytes = if aligned && at + padded <= buffer.len() {
            self.copy_out(stream, range(buffer, at, padded), (&staging, 0, padded))?;
            self.driver().synchronize(stream)?;
            self.read_staging(&mut staging, len)?
        } else {
            let between = self.driver().allocate(padded)?;
            self.copy_device(stream, range(buffer, at, len), range(&between, 0, len))?;
            self.copy_out(stream, range(&between, 0, padded), (&staging, 0, padded))?;
            self.driver().synchronize(stream)?;
            let bytes = self.read_staging(&mut staging, len)?;
            self.free(between)?;
            bytes
        };
        self.free_staging(staging)?;
        Ok(bytes)
    }

    /// Reads a whole buffer.
    pub(crate) fn read_all(&self, buffer: &Buffer<V>) -> Result<Vec<u8>, Stop> {
        self.read(buffer, 0, buffer.len())
    }

    fn padded(&self, bytes: &[u8]) -> Vec<u8> {
        let mut padded = bytes.to_vec();
        padded.resize(self.round_up(bytes.len()), 0);
        padded
    }
}
