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
