//! What a running kernel can reach: what its launch declared, and nothing else.
//!
//! Promises that every access is checked, and that computing with bytes that nobody wrote is told.
//! Knows nothing of when kernels run.

use super::history::{History, Rule};
use super::memory::{Memory, Part, Span};
use super::queue::Access;
use super::status::{Failure, Status};

/// A kernel while it runs.
pub struct Launch<'a> {
    pub(crate) memory: &'a mut Memory,
    pub(crate) history: &'a mut History,
    pub(crate) call: u64,
    pub(crate) stream: usize,
    pub(crate) name: &'static str,
    pub(crate) places: &'a [(Access, Part)],
}

impl Launch<'_> {
    /// The bytes of a span, poison among them.
    ///
    /// # Errors
    /// `IllegalAddress` when the launch did not declare it.
    pub fn read(&mut self, span: Span) -> Result<Vec<u8>, Failure> {
        let part = self.place(span, false)?;
        let allocation = self.memory.get(part.allocation);
        Ok(allocation.map_or_else(Vec::new, |it| it.bytes(part.offset, part.len).to_vec()))
    }

    /// Says that the kernel computes with all bytes of a span.
    ///
    /// # Errors
    /// `IllegalAddress` when the launch did not declare it.
    pub fn compute_with(&mut self, span: Span) -> Result<(), Failure> {
        let part = self.place(span, false)?;
        let allocation = self.memory.get(part.allocation);
        if let Some(at) = allocation.and_then(|it| it.unwritten(part.offset, part.len)) {
            let text = format!(
                "{} computes with byte {} of an allocation, which nobody wrote",
                self.name, at
            );
            self.history
                .violate(self.call, Some(self.stream), Rule::Unwritten, text);
        }
        Ok(())
    }

    /// Writes bytes from the start of a span on.
    ///
    /// # Errors
    /// `IllegalAddress` when the launch did not declare it as written.
    pub fn write(&mut self, span: Span, bytes: &[u8]) -> Result<(), Failure> {
        let part = self.place(Span::new(span.start, bytes.len()), true)?;
        if let Some(allocation) = self.memory.get_mut(part.allocation) {
            allocation.write(part.offset, bytes);
        }
        Ok(())
    }

    fn place(&mut self, span: Span, writes: bool) -> Result<Part, Failure> {
        let found = self.places.iter().find_map(|(access, part)| {
            let skip = span.start.0.checked_sub(access.span.start.0)?;
            let skip = usize::try_from(skip).ok()?;
            let inside = skip.checked_add(span.len)? <= access.span.len;
            (inside && (access.writes || !writes)).then_some(Part {
                offset: part.offset + skip,
                len: span.len,
                ..*part
            })
        });
        found.ok_or_else(|| {
            let text = format!(
                "{} {} {span}, which its launch did not declare",
                self.name,
                if writes { "writes" } else { "reads" }
            );
            self.history
                .violate(self.call, Some(self.stream), Rule::Declared, text.clone());
            Failure::new(Status::IllegalAddress, text)
        })
    }
}
