//! Pictures: PNG and Netpbm files, and how their samples become elements and back.

use std::io::{Cursor, Read};

use image::codecs::png::{PngDecoder, PngEncoder};
use image::codecs::pnm::{PnmDecoder, PnmSubtype, SampleEncoding};
use image::{ExtendedColorType, ImageDecoder, ImageEncoder};
use nbcc_base::text::counted;
use nbcc_stages::{ElementType, Image};

/// A picture: samples row by row, the channels of a pixel together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// 1 grey, 2 grey and alpha, 3 colour, 4 colour and alpha.
    pub channels: u32,
    /// The sample that means white.
    pub white: u16,
    /// The samples, up to `white`.
    pub samples: Vec<u16>,
}

/// What is wrong with a picture.
#[derive(Debug, PartialEq, Eq)]
pub enum PictureError {
    /// It is damaged, or of a sort that is not read.
    Broken(String),
    /// It has too many pixels: its extents.
    Large(String),
    /// There is no memory for its pixels: its extents.
    Memory(String),
}

fn broken(error: impl std::fmt::Display) -> PictureError {
    PictureError::Broken(error.to_string())
}

/// Memory that a decoder may use beside the picture, in bytes.
const DECODER_MEMORY: u64 = 1 << 30;

/// Reads a PNG or Netpbm file; which of them, its first bytes say.
pub fn read(bytes: &[u8]) -> Result<Picture, PictureError> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => read_png(bytes),
        [b'P', b'1'..=b'7', ..] => read_pnm(bytes),
        _ => Err(broken("it begins neither as a PNG nor as a Netpbm file does")),
    }
}

fn check_size(width: u32, height: u32, channels: u32) -> Result<usize, PictureError> {
    let extent = [width, height, channels];
    super::room_for(&extent).ok_or_else(|| {
        let shape = super::by(&extent[..2]);
        match super::count(&extent) {
            Some(_) => PictureError::Memory(shape),
            None => PictureError::Large(shape),
        }
    })
}

fn read_png(bytes: &[u8]) -> Result<Picture, PictureError> {
    let mut limits = image::Limits::no_limits();
    limits.max_alloc = Some(DECODER_MEMORY);
    let decoder = PngDecoder::with_limits(Cursor::new(bytes), limits).map_err(broken)?;
    let (width, height) = decoder.dimensions();
    let color = decoder.color_type();
    let channels = u32::from(color.channel_count());
    let count = check_size(width, height, channels)?;
    let sample_bytes = usize::from(color.bytes_per_pixel() / color.channel_count());
    let mut buffer = vec![0; count * sample_bytes];
    decoder.read_image(&mut buffer).map_err(broken)?;
    check_palette(bytes)?;
    let (white, samples) = match sample_bytes {
        1 => (255, buffer.iter().map(|&b| u16::from(b)).collect()),
        2 => (65535, buffer.chunks_exact(2).map(|b| u16::from_ne_bytes([b[0], b[1]])).collect()),
        _ => return Err(broken("its samples have neither 8 nor 16 bits")),
    };
    Ok(Picture { width, height, channels, white, samples })
}

/// Refuses pixels that are no entry of their palette, which the decoder takes for black.
fn check_palette(bytes: &[u8]) -> Result<(), PictureError> {
    let limits = png::Limits { bytes: DECODER_MEMORY as usize };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(png::Transformations::IDENTITY);
    let mut reader = decoder.read_info().map_err(broken)?;
    let info = reader.info();
    let (width, bits) = (info.width as usize, info.bit_depth as usize);
    let entries = info.palette.as_ref().map_or(0, |palette| palette.len() / 3);
    if info.color_type != png::ColorType::Indexed || entries >= 1 << bits {
        return Ok(());
    }
    let size = reader.output_buffer_size().ok_or_else(|| broken("it is too large"))?;
    let mut rows = vec![0; size];
    let line = reader.next_frame(&mut rows).map_err(broken)?.line_size;
    let entry = |row: &[u8], x: usize| {
        let at = x * bits;
        usize::from(row[at / 8] >> (8 - bits - at % 8)) & ((1 << bits) - 1)
    };
    let mut all = rows.chunks_exact(line).flat_map(|row| (0..width).map(move |x| entry(row, x)));
    match all.find(|&entry| entry >= entries) {
        Some(entry) => {
            Err(broken(format!("a pixel is entry {entry} of its palette, which has {entries}")))
        }
        None => Ok(()),
    }
}

/// The header is read by the library; samples are taken as they are, where the library would
/// scale those of a file whose white is not 255 or 65535.
fn read_pnm(bytes: &[u8]) -> Result<Picture, PictureError> {
    let decoder = PnmDecoder::new(Cursor::new(bytes)).map_err(broken)?;
    let (width, height) = decoder.dimensions();
    let channels = u32::from(decoder.color_type().channel_count());
    let count = check_size(width, height, channels)?;
    if matches!(decoder.subtype(), PnmSubtype::Bitmap(_)) {
        let mut buffer = vec![0; count];
        decoder.read_image(&mut buffer).map_err(broken)?;
        let samples = buffer.iter().map(|&b| u16::from(b != 0)).collect();
        return Ok(Picture { width, height, channels, white: 1, samples });
    }
    let ascii = match decoder.subtype() {
        PnmSubtype::Graymap(encoding) | PnmSubtype::Pixmap(encoding) => {
            encoding == SampleEncoding::Ascii
        }
        _ => false,
    };
    let (mut reader, header) = decoder.into_inner();
    let white = u16::try_from(header.maximal_sample()).map_err(broken)?;
    let mut raster = Vec::new();
    reader.read_to_end(&mut raster).map_err(broken)?;
    let cut = || broken("it ends in its pixels");
    let samples: Vec<u16> = if ascii {
        let text = std::str::from_utf8(&raster).map_err(broken)?;
        let words = text.lines().flat_map(|l| l.split('#').next().unwrap_or("").split_whitespace());
        words.take(count).map(str::parse).collect::<Result<_, _>>().map_err(broken)?
    } else if white < 256 {
        raster.iter().take(count).map(|&b| u16::from(b)).collect()
    } else {
        raster.chunks_exact(2).take(count).map(|b| u16::from_be_bytes([b[0], b[1]])).collect()
    };
    if samples.len() < count {
        return Err(cut());
    }
    if samples.iter().any(|&s| s > white) {
        return Err(broken(format!("a sample is greater than its greatest, {white}")));
    }
    Ok(Picture { width, height, channels, white, samples })
}

/// Something to be told about how a picture was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// Its colours became brightness.
    Luma,
    /// Its samples have fewer bits than the elements.
    Widened,
}

/// The brightness of a pixel after ITU-R BT.601, rounded; the weights are in 65536ths.
fn luma(pixel: &[u16]) -> u16 {
    let [r, g, b] = [0, 1, 2].map(|c| u64::from(pixel[c]));
    ((r * 19595 + g * 38470 + b * 7471 + 32768) >> 16) as u16
}

impl Picture {
    /// The picture as an image of two dimensions (brightness) or three (x, y, channel). `Err` with
    /// what the samples are where the type cannot hold them.
    pub fn to_image(&self, ty: ElementType, dims: u32) -> Result<(Image, Vec<Remark>), String> {
        let mut remarks = Vec::new();
        let pixels = self.samples.chunks_exact(self.channels as usize);
        let (extent, samples): (Vec<u32>, Vec<u16>) = if dims == 3 {
            let plane = |c| pixels.clone().map(move |pixel| pixel[c as usize]);
            let planes = (0..self.channels).flat_map(plane).collect();
            (vec![self.width, self.height, self.channels], planes)
        } else if self.channels >= 3 {
            remarks.push(Remark::Luma);
            (vec![self.width, self.height], pixels.map(luma).collect())
        } else {
            (vec![self.width, self.height], pixels.map(|pixel| pixel[0]).collect())
        };
        let bits = if self.white < 256 { 8 } else { 16 };
        let white = self.white;
        let unfit = || format!("samples of {bits} bits");
        let data = match ty {
            ElementType::F32 => {
                let scale = f32::from(white);
                samples.iter().map(|&s| (f32::from(s) / scale).to_bits()).collect()
            }
            ElementType::Bool if samples.iter().all(|&s| s == 0 || s == white) => {
                samples.iter().map(|&s| u32::from(s != 0)).collect()
            }
            ElementType::Bool => return Err("samples that are neither black nor white".into()),
            _ if i64::from(white) > ty.integer_range().1 => return Err(unfit()),
            _ => {
                if ty.bits() > bits {
                    remarks.push(Remark::Widened);
                }
                samples.iter().map(|&s| u32::from(s)).collect()
            }
        };
        Ok((Image { data, extent: extent.clone(), ..empty(ty, &extent) }, remarks))
    }

    /// The picture repeated, or cut, to other extents.
    pub fn repeated(&self, width: u32, height: u32) -> Picture {
        let mut samples = Vec::with_capacity((width * height * self.channels) as usize);
        for y in 0..height {
            for x in 0..width {
                let pixel = (y % self.height) * self.width + x % self.width;
                let start = (pixel * self.channels) as usize;
                samples.extend(&self.samples[start..start + self.channels as usize]);
            }
        }
        Picture { width, height, samples, ..*self }
    }

    /// A grey picture with its samples three times.
    pub fn colored(&self) -> Picture {
        let samples = self.samples.iter().flat_map(|&s| [s; 3]).collect();
        Picture { channels: 3 * self.channels, samples, ..*self }
    }

    /// The picture that an image is. `Err` with what stands against it.
    pub fn from_image(image: &Image) -> Result<Picture, String> {
        may_be_picture(image.ty, image.extent.len())?;
        let (width, height) = (image.extent[0], image.extent[1]);
        let channels = image.extent.get(2).copied().unwrap_or(1);
        if !matches!(channels, 1 | 3 | 4) {
            return Err(format!("it has {channels} channels"));
        }
        if width == 0 || height == 0 {
            return Err("it is empty".into());
        }
        let (white, sample): (u16, fn(u32) -> u16) = match image.ty {
            ElementType::F32 => (255, |w| {
                // A NaN is black.
                (f32::from_bits(w).clamp(0.0, 1.0) * 255.0).round() as u16
            }),
            ElementType::Bool => (255, |w| if w == 0 { 0 } else { 255 }),
            ElementType::U16 => (65535, |w| w as u16),
            _ => (255, |w| w as u16),
        };
        let plane = (width * height) as usize;
        let samples = (0..plane)
            .flat_map(|p| (0..channels as usize).map(move |c| image.data[c * plane + p]))
            .map(sample)
            .collect();
        Ok(Picture { width, height, channels, white, samples })
    }

    /// The bytes of a PNG file.
    pub fn to_png(&self) -> Result<Vec<u8>, String> {
        let color = match (self.channels, self.white) {
            (1, 255) => ExtendedColorType::L8,
            (3, 255) => ExtendedColorType::Rgb8,
            (4, 255) => ExtendedColorType::Rgba8,
            (1, _) => ExtendedColorType::L16,
            (3, _) => ExtendedColorType::Rgb16,
            _ => ExtendedColorType::Rgba16,
        };
        let bytes: Vec<u8> = if self.white == 255 {
            self.samples.iter().map(|&s| s as u8).collect()
        } else {
            self.samples.iter().flat_map(|s| s.to_ne_bytes()).collect()
        };
        let mut file = Vec::new();
        PngEncoder::new(&mut file)
            .write_image(&bytes, self.width, self.height, color)
            .map_err(|error| error.to_string())?;
        Ok(file)
    }

    /// The bytes of a binary PGM file, or a PPM file where `colour` is set.
    pub fn to_pnm(&self, colour: bool) -> Result<Vec<u8>, String> {
        let picture = match (self.channels, colour) {
            (1, false) | (3, true) => self,
            (1, true) => &self.colored(),
            (n, true) => return Err(format!("it has {n} channels, a PPM file has three")),
            (n, false) => return Err(format!("it has {n} channels, a PGM file has one")),
        };
        let magic = if colour { "P6" } else { "P5" };
        let mut file =
            format!("{magic}\n{} {}\n{}\n", self.width, self.height, self.white).into_bytes();
        if self.white < 256 {
            file.extend(picture.samples.iter().map(|&s| s as u8));
        } else {
            file.extend(picture.samples.iter().flat_map(|s| s.to_be_bytes()));
        }
        Ok(file)
    }
}

/// Whether images of this type and number of dimensions can be pictures; `Err` says why not.
pub fn may_be_picture(ty: ElementType, dims: usize) -> Result<(), String> {
    if !matches!(ty, ElementType::F32 | ElementType::U8 | ElementType::U16 | ElementType::Bool) {
        return Err(format!("its elements are {ty}"));
    }
    if dims != 2 && dims != 3 {
        return Err(format!("it has {}", counted(dims, "dimension")));
    }
    Ok(())
}

/// An image of that type and number of dimensions without elements.
fn empty(ty: ElementType, extent: &[u32]) -> Image {
    Image { ty, min: vec![0; extent.len()], extent: Vec::new(), data: Vec::new() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn colors() -> Picture {
        let samples = vec![255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 20, 30];
        Picture { width: 2, height: 2, channels: 3, white: 255, samples }
    }

    #[test]
    fn pictures_survive_their_files() {
        let grey = Picture { channels: 1, width: 4, height: 3, ..colors() };
        let deep = Picture { white: 65535, samples: vec![40000; 12], ..colors() };
        for picture in [colors(), grey, deep] {
            assert_eq!(read(&picture.to_png().unwrap()), Ok(picture.clone()));
            let pnm = picture.to_pnm(picture.channels == 3).unwrap();
            assert_eq!(read(&pnm), Ok(picture));
        }
    }

    #[test]
    fn netpbm_samples_are_taken_as_they_are() {
        let grey = read(b"P2\n# made by hand\n3 1 100\n0 50 # half\n100\n").unwrap();
        assert_eq!((grey.white, &grey.samples[..]), (100, &[0, 50, 100][..]));
        let (image, _) = grey.to_image(ElementType::F32, 2).unwrap();
        assert_eq!(image.floats().collect::<Vec<_>>(), [0.0, 0.5, 1.0]);
        assert_eq!(read(b"P5 1 1 9\n\x07").unwrap().samples, [7]);
        assert_eq!(read(b"P1 3 1\n1 0 1\n").unwrap().samples, [0, 1, 0]);
    }

    #[test]
    fn colour_becomes_luma_or_three_planes() {
        let (image, remarks) = colors().to_image(ElementType::U8, 2).unwrap();
        assert_eq!((image.data, remarks), (vec![76, 150, 29, 18], vec![Remark::Luma]));
        let (image, remarks) = colors().to_image(ElementType::U8, 3).unwrap();
        assert_eq!(image.extent, [2, 2, 3]);
        assert_eq!(image.data, [255, 0, 0, 10, 0, 255, 0, 20, 0, 0, 255, 30]);
        assert_eq!(remarks, []);
        assert_eq!(Picture::from_image(&image), Ok(colors()));
    }

    #[test]
    fn types_that_cannot_hold_the_samples_are_refused() {
        assert!(colors().to_image(ElementType::I8, 2).is_err());
        assert!(colors().to_image(ElementType::Bool, 3).is_err());
        let (_, remarks) = colors().to_image(ElementType::I16, 3).unwrap();
        assert_eq!(remarks, [Remark::Widened]);
        let deep = Picture { white: 65535, ..colors() };
        assert!(deep.to_image(ElementType::U8, 3).is_err());
        assert!(deep.to_image(ElementType::U16, 3).is_ok());
    }

    #[test]
    fn floats_are_clamped_and_rounded() {
        let values = [-1.0, 0.5, 2.0, f32::NAN, 1.0 / 255.0, 0.499 / 255.0];
        let picture = Picture::from_image(&Image::from_f32(&[6, 1], &values)).unwrap();
        assert_eq!(picture.samples, [0, 128, 255, 0, 1, 0]);
    }

    #[test]
    fn broken_and_huge_pictures_are_refused() {
        for bytes in [&b""[..], b"P5", b"P5 2 2 255\nab", b"P2 1 1 9\n10", b"GIF89a"] {
            assert!(matches!(read(bytes), Err(PictureError::Broken(_))), "{bytes:?}");
        }
        let huge = read(b"P5 100000 100000 255\n");
        assert_eq!(huge, Err(PictureError::Large("100000x100000".into())));
    }

    #[test]
    fn pixels_are_entries_of_their_palette() {
        // Five pixels a row of 2 bits: of the second byte, six bits are none.
        let picture = |rows: &[u8]| {
            let mut bytes = Vec::new();
            let mut encoder = png::Encoder::new(&mut bytes, 5, 2);
            encoder.set_color(png::ColorType::Indexed);
            encoder.set_depth(png::BitDepth::Two);
            encoder.set_palette(vec![0, 0, 0, 10, 20, 30, 255, 255, 255]);
            let mut writer = encoder.write_header().unwrap();
            writer.write_image_data(rows).unwrap();
            writer.finish().unwrap();
            read(&bytes)
        };
        let good = picture(&[0b00_01_10_00, 0b01_11_11_11, 0, 0b10_00_00_00]).unwrap();
        assert_eq!(good.samples[3..6], [10, 20, 30]);
        let what = "a pixel is entry 3 of its palette, which has 3".to_string();
        let wrong = picture(&[0, 0, 0b00_11_00_00, 0]);
        assert_eq!(wrong, Err(PictureError::Broken(what)));
    }

    proptest! {
        #[test]
        fn damage_is_no_panic(at in 0usize..200, byte: u8, cut in 0usize..200, png: bool) {
            let picture = colors();
            let mut bytes = if png { picture.to_png() } else { picture.to_pnm(true) }.unwrap();
            let length = bytes.len();
            bytes[at % length] = byte;
            bytes.truncate(length - cut.min(length));
            let _ = read(&bytes);
        }
    }
}
