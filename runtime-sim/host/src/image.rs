//! Data of a buffer as the host holds it.

use nbcc_isa_ipim::Element;

use crate::HostError;

/// The elements of a buffer, innermost dimension first, each in a 32-bit word as in
/// banks: integers sign- or zero-extended, floats as their bits, `Bool` 0 or 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The type of the elements.
    pub element: Element,
    /// Elements of each dimension, innermost first; none for a scalar.
    pub extent: Vec<u32>,
    /// One word an element.
    pub words: Vec<u32>,
}

/// Puts runs of so many words in the opposite order.
fn reverse_runs(words: &mut [u32], run: usize) {
    words.reverse();
    words.chunks_mut(run).for_each(<[u32]>::reverse);
}

impl Image {
    /// A scalar.
    pub fn scalar(element: Element, word: u32) -> Image {
        Image { element, extent: Vec::new(), words: vec![word] }
    }

    /// An image whose elements are all zero.
    pub fn zeroed(element: Element, extent: &[u32]) -> Image {
        let count = extent.iter().map(|n| *n as usize).product();
        Image { element, extent: extent.to_vec(), words: vec![0; count] }
    }

    /// The same from the last element to the first along these dimensions, each of which it has.
    pub(crate) fn turned(&self, dims: &[u8]) -> Image {
        let mut words = self.words.clone();
        for &dim in dims {
            let (before, rest) = self.extent.split_at(dim.into());
            let run = before.iter().map(|&n| n as usize).product();
            let lines = words.chunks_mut(run * rest[0] as usize);
            lines.for_each(|line| reverse_runs(line, run));
        }
        Image { words, ..self.clone() }
    }

    /// Checks that this can be the buffer `name`.
    pub(crate) fn check(
        &self,
        name: &str,
        element: Element,
        extent: &[u32],
    ) -> Result<(), HostError> {
        if self.extent != extent {
            return Err(HostError::Extent {
                name: name.to_owned(),
                expected: extent.to_vec(),
                found: self.extent.clone(),
            });
        }
        if self.element != element {
            return Err(HostError::Element {
                name: name.to_owned(),
                expected: element,
                found: self.element,
            });
        }
        let expected = extent.iter().fold(1_u64, |n, e| n.saturating_mul(u64::from(*e)));
        if self.words.len() as u64 != expected {
            return Err(HostError::Words {
                name: name.to_owned(),
                expected,
                found: self.words.len() as u64,
            });
        }
        Ok(())
    }
}
