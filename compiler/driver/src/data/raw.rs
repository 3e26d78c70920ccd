//! Raw images: elements in memory order, little endian, the first dimension fastest. A bool is a
//! byte.

use nbcc_stages::{ElementType, Image};

/// Bytes of an element in a file.
fn width(ty: ElementType) -> usize {
    ty.bits().div_ceil(8) as usize
}

/// Reads an image of the given extents, whose number of elements the caller has checked.
pub fn read(bytes: &[u8], ty: ElementType, extent: &[u32]) -> Result<Image, String> {
    let mut image = Image { extent: extent.to_vec(), ..Image::zeros(ty, &[]) };
    image.min = vec![0; extent.len()];
    let elements: usize = extent.iter().map(|&n| n as usize).product();
    let expected = elements * width(ty);
    if bytes.len() != expected {
        return Err(format!(
            "it has {} bytes where {} elements of {ty} take {expected}",
            bytes.len(),
            super::by(extent)
        ));
    }
    image.data = bytes.chunks_exact(width(ty)).map(|element| word(element, ty)).collect();
    Ok(image)
}

/// An element as a word: sign- or zero-extended, a bool as 0 or 1.
fn word(bytes: &[u8], ty: ElementType) -> u32 {
    let unsigned = bytes.iter().rev().fold(0u32, |word, &b| word << 8 | u32::from(b));
    match ty {
        ElementType::Bool => u32::from(unsigned != 0),
        ElementType::I8 => unsigned as i8 as u32,
        ElementType::I16 => unsigned as i16 as u32,
        _ => unsigned,
    }
}

/// The bytes of an image.
pub fn write(image: &Image) -> Vec<u8> {
    let width = width(image.ty);
    image.data.iter().flat_map(|word| word.to_le_bytes().into_iter().take(width)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_keep_their_value() {
        let image = read(&[0xff, 0xff, 0x01, 0x80], ElementType::I16, &[2]).unwrap();
        assert_eq!(image.data, [-1i32 as u32, -32767i32 as u32]);
        assert_eq!(write(&image), [0xff, 0xff, 0x01, 0x80]);
        assert_eq!(read(&[2, 0], ElementType::Bool, &[1, 2]).unwrap().data, [1, 0]);
        assert!(read(&[0; 5], ElementType::F32, &[1]).is_err());
    }
}
