//! Images in memory: what a pipeline reads and writes.

use crate::ElementType;
use crate::bounds::Interval;

/// A dense image, dimension 0 varying fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The type of its elements.
    pub ty: ElementType,
    /// The first coordinate of each dimension.
    pub min: Vec<i32>,
    /// The number of elements along each dimension.
    pub extent: Vec<u32>,
    /// One word an element, sign- or zero-extended, floats as their bits.
    pub data: Vec<u32>,
}

impl Default for Image {
    fn default() -> Image {
        Image { ty: ElementType::U8, min: vec![0], extent: vec![0], data: Vec::new() }
    }
}

impl Image {
    /// An image of zeros whose coordinates start at zero. The caller has checked the size.
    pub fn zeros(ty: ElementType, extent: &[u32]) -> Image {
        let count = extent.iter().map(|&n| n as usize).product();
        Image { ty, min: vec![0; extent.len()], extent: extent.to_vec(), data: vec![0; count] }
    }

    /// An image of zeros over a region. The caller has checked the size.
    pub fn over(ty: ElementType, region: &[Interval]) -> Image {
        let extent: Vec<u32> = region.iter().map(|i| i.extent()).collect();
        Image { min: region.iter().map(|i| i.min).collect(), ..Image::zeros(ty, &extent) }
    }

    /// An image of floats whose coordinates start at zero, dimension 0 varying fastest. Panics
    /// where the number of values is not that of the extents.
    pub fn from_f32(extent: &[u32], values: &[f32]) -> Image {
        let mut image = Image::zeros(ElementType::F32, extent);
        assert_eq!(image.data.len(), values.len(), "values for an image of {extent:?}");
        image.data = values.iter().map(|v| v.to_bits()).collect();
        image
    }

    /// Where in `data` an element lies, `None` outside the image.
    pub fn position(&self, at: &[i32]) -> Option<usize> {
        let mut position = 0usize;
        for d in (0..self.extent.len()).rev() {
            let offset = i64::from(at[d]) - i64::from(self.min[d]);
            if offset < 0 || offset >= i64::from(self.extent[d]) {
                return None;
            }
            position = position * self.extent[d] as usize + offset as usize;
        }
        Some(position)
    }

    /// An element, `None` outside the image.
    pub fn get(&self, at: &[i32]) -> Option<u32> {
        self.position(at).map(|p| self.data[p])
    }

    /// The elements as floats.
    pub fn floats(&self) -> impl Iterator<Item = f32> + '_ {
        self.data.iter().map(|&w| f32::from_bits(w))
    }
}
