//! NumPy's array format: shape `[H, W]` for dimensions (x, y), `[C, H, W]` for (x, y, c), `[W]`
//! for one.

use nbcc_base::member::Component;
use nbcc_stages::{ElementType, Image};

use super::raw;

/// What an array file begins with.
pub const MAGIC: &[u8] = b"\x93NUMPY";

/// What is wrong with an array file.
#[derive(Debug, PartialEq, Eq)]
pub enum NpyError {
    /// It is damaged.
    Broken(String),
    /// Its elements have this type, which is not the one asked for, or one that no image has.
    Type(String),
    /// It has too many elements or dimensions: its shape.
    Large(String),
    /// There is no memory for its elements: its shape.
    Memory(String),
}

/// Reads an image whose elements must be of type `ty`.
pub fn read(bytes: &[u8], ty: ElementType) -> Result<Image, NpyError> {
    let (text, elements) = split(bytes)?;
    let header = parse_header(text)?;
    let element = match header.descr.trim_start_matches(['<', '>', '|', '=']) {
        "b1" => ElementType::Bool,
        "u1" => ElementType::U8,
        "u2" => ElementType::U16,
        "u4" => ElementType::U32,
        "i1" => ElementType::I8,
        "i2" => ElementType::I16,
        "i4" => ElementType::I32,
        "f4" => ElementType::F32,
        "f8" => return Err(NpyError::Type("float64".into())),
        "f2" => return Err(NpyError::Type("float16".into())),
        "i8" => return Err(NpyError::Type("int64".into())),
        "u8" => return Err(NpyError::Type("uint64".into())),
        _ => return Err(NpyError::Type(format!("'{}'", header.descr))),
    };
    if ty != element {
        return Err(NpyError::Type(element.to_string()));
    }
    let extent: Option<Vec<u32>> = header
        .shape
        .iter()
        .rev()
        .map(|&n| i32::try_from(n).ok().and_then(|n| u32::try_from(n).ok()))
        .collect();
    let large = || NpyError::Large(format!("{:?}", header.shape));
    let extent = extent.filter(|e| e.len() <= 16).ok_or_else(large)?;
    let width = (element.bits().div_ceil(8)) as usize;
    let expected = super::count(&extent).ok_or_else(large)? * width;
    if super::room_for(&extent).is_none() {
        return Err(NpyError::Memory(format!("{:?}", header.shape)));
    }
    check_length(elements, expected).map_err(NpyError::Broken)?;
    let mut elements = elements.to_vec();
    if header.descr.starts_with('>') {
        elements.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    }
    let image = raw::read(&elements, element, &extent).map_err(NpyError::Broken)?;
    Ok(if header.fortran { from_fortran(image) } else { image })
}

/// What comes after a header must be its elements: what is behind them is of something else, and which
/// of both was meant is not known.
fn check_length(elements: &[u8], expected: usize) -> Result<(), String> {
    match elements.len() {
        has if has == expected => Ok(()),
        has => Err(format!("its elements take {expected} bytes, it has {has}")),
    }
}

/// The text of the header and what comes after it.
fn split(bytes: &[u8]) -> Result<(&str, &[u8]), NpyError> {
    let broken = |what: &str| NpyError::Broken(what.to_string());
    if !bytes.starts_with(MAGIC) {
        return Err(broken("it does not begin as an .npy file does"));
    }
    let size_bytes = match bytes.get(6) {
        Some(1) => 2,
        Some(2 | 3) => 4,
        _ => return Err(broken("its version is none that is known")),
    };
    let start = 8 + size_bytes;
    let size = bytes.get(8..start).unwrap_or_default();
    let length = size.iter().rev().fold(0usize, |n, &b| n << 8 | usize::from(b));
    let header = bytes.get(start..).and_then(|rest| rest.get(..length));
    let header = header.ok_or_else(|| broken("it ends in its header"))?;
    let text = std::str::from_utf8(header).map_err(|_| broken("its header is not text"))?;
    Ok((text, &bytes[start + length..]))
}

/// What a header says.
struct Header<'a> {
    /// NumPy's name of the elements' type; empty where they are structures.
    descr: &'a str,
    /// The fields of a structure.
    fields: Vec<Field>,
    /// Bytes of a structure.
    bytes: u64,
    fortran: bool,
    shape: Vec<u64>,
}

/// A field of a structured type, scalars of one type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// NumPy's name of the scalars' type, with its byte order.
    pub ty: String,
    /// The byte in the structure where the first scalar lies.
    pub offset: u64,
    /// The names that lead to it.
    pub path: Vec<Component>,
}

/// Structures in structures at most.
const MAX_DEPTH: u32 = 64;

/// Reads the header of a plain array.
fn parse_header(text: &str) -> Result<Header<'_>, NpyError> {
    let header = parse_any_header(text)?;
    match header.descr.is_empty() {
        false => Ok(header),
        true => Err(NpyError::Broken("its elements are structures".to_string())),
    }
}

/// Reads a header: a Python dictionary of exactly these three keys, in any order.
fn parse_any_header(text: &str) -> Result<Header<'_>, NpyError> {
    let broken = |what: &str| NpyError::Broken(format!("its header {what}"));
    let mut reader = HeaderReader { rest: text };
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    let (mut fields, mut bytes) = (Vec::new(), 0);
    let mut parse = || {
        reader.expect('{')?;
        while !reader.accept('}') {
            let key = reader.string()?;
            reader.expect(':')?;
            match key {
                "descr" if reader.rest.trim_start().starts_with('[') => {
                    (fields, bytes) = reader.fields(0)?;
                    descr = Some("");
                }
                "descr" => descr = Some(reader.string()?),
                "fortran_order" => fortran = Some(reader.boolean()?),
                "shape" => shape = Some(reader.numbers()?),
                _ => return None,
            }
            if !reader.accept(',') {
                reader.expect('}')?;
                break;
            }
        }
        reader.rest.trim().is_empty().then_some(())
    };
    parse().ok_or_else(|| broken("is not that of a plain array"))?;
    match (descr, fortran, shape) {
        (Some(descr), Some(fortran), Some(shape)) => {
            Ok(Header { descr, fields, bytes, fortran, shape })
        }
        _ => Err(broken("lacks a key")),
    }
}

/// The tokens of a header. `None` at anything unexpected.
struct HeaderReader<'a> {
    rest: &'a str,
}

impl<'a> HeaderReader<'a> {
    fn accept(&mut self, wanted: char) -> bool {
        let rest = self.rest.trim_start();
        let found = rest.strip_prefix(wanted);
        self.rest = found.unwrap_or(rest);
        found.is_some()
    }

    fn expect(&mut self, wanted: char) -> Option<()> {
        self.accept(wanted).then_some(())
    }

    fn string(&mut self) -> Option<&'a str> {
        let quote = ['\'', '"'].into_iter().find(|&q| self.accept(q))?;
        let (string, rest) = self.rest.split_once(quote)?;
        self.rest = rest;
        (!string.contains('\\')).then_some(string)
    }

    /// The fields of a structure, and its bytes: `[('re', '<i2'), ('', '|V2'), ('w', '<i4', (3,))]`.
    fn fields(&mut self, depth: u32) -> Option<(Vec<Field>, u64)> {
        (depth < MAX_DEPTH).then_some(())?;
        let (mut all, mut bytes) = (Vec::new(), 0_u64);
        self.expect('[')?;
        while !self.accept(']') {
            self.expect('(')?;
            let name = self.string()?;
            self.expect(',')?;
            let nested = self.rest.trim_start().starts_with('[');
            let (inner, ty, own) = match nested {
                true => {
                    let (inner, own) = self.fields(depth + 1)?;
                    (inner, "", own)
                }
                false => {
                    let ty = self.string()?;
                    let width = ty.trim_start_matches(['<', '>', '|', '=']).get(1..)?;
                    (vec![], ty, width.parse().ok()?)
                }
            };
            let mut counts = Vec::new();
            if self.accept(',') && !self.rest.trim_start().starts_with(')') {
                counts = self.numbers()?;
                self.accept(',');
            }
            self.expect(')')?;
            let elements = counts.iter().try_fold(1_u64, |n, &count| n.checked_mul(count))?;
            let component =
                |bytes| Component { name: name.to_string(), bytes, counts: counts.clone() };
            // Bytes without a name are there so that others are aligned.
            if !nested && !name.is_empty() {
                let ty = ty.to_string();
                all.push(Field { ty, offset: bytes, path: vec![component(None)] });
            }
            for mut field in inner {
                field.offset = field.offset.checked_add(bytes)?;
                field.path.insert(0, component(Some(own)));
                all.push(field);
            }
            bytes = bytes.checked_add(own.checked_mul(elements)?)?;
            if !self.accept(',') {
                self.expect(']')?;
                break;
            }
        }
        Some((all, bytes))
    }

    fn boolean(&mut self) -> Option<bool> {
        let rest = self.rest.trim_start();
        let words = [("True", true), ("False", false)];
        words.into_iter().find_map(|(word, value)| {
            self.rest = rest.strip_prefix(word)?;
            Some(value)
        })
    }

    fn numbers(&mut self) -> Option<Vec<u64>> {
        let mut numbers = Vec::new();
        self.expect('(')?;
        while !self.accept(')') {
            let rest = self.rest.trim_start();
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            numbers.push(rest[..end].parse().ok()?);
            self.rest = &rest[end..];
            if !self.accept(',') {
                self.expect(')')?;
                break;
            }
        }
        Some(numbers)
    }
}

/// Brings elements stored with the first axis of the shape fastest into ours.
fn from_fortran(image: Image) -> Image {
    let data = fortran_order(&image.extent).map(|from| image.data[from]).collect();
    Image { data, ..image }
}

/// Where each element of an array, in our order, lies in a file that stores the last of the
/// extents fastest. There are as many as some memory holds.
fn fortran_order(extent: &[u32]) -> impl Iterator<Item = usize> {
    // Of nothing the other extents are not bounded by what there is, nor are the strides.
    let extent = if extent.contains(&0) { &[0] } else { extent };
    let count: usize = extent.iter().map(|&n| n as usize).product();
    let mut at = vec![0usize; extent.len()];
    // The stride of dimension d in the file: the product of the extents after it.
    let strides: Vec<usize> =
        (0..extent.len()).map(|d| extent[d + 1..].iter().map(|&n| n as usize).product()).collect();
    (0..count).map(move |_| {
        let from = at.iter().zip(&strides).map(|(a, s)| a * s).sum();
        for (at, &extent) in at.iter_mut().zip(extent) {
            *at += 1;
            if *at < extent as usize {
                break;
            }
            *at = 0;
        }
        from
    })
}

/// An array of numbers.
#[derive(Debug, PartialEq, Eq)]
pub struct Numbers {
    /// The elements in C order and little endian.
    pub bytes: Vec<u8>,
    /// The type of an element, without its byte order: `f4`.
    pub ty: String,
    /// The shape, the slowest dimension first.
    pub shape: Vec<u64>,
}

/// An array of numbers of any type and shape. What is wrong, in words, where it is none.
pub fn numbers(mut bytes: Vec<u8>) -> Result<Numbers, String> {
    let words = |error| match error {
        NpyError::Broken(what) => what,
        NpyError::Type(name) => format!("its elements are {name}"),
        NpyError::Large(shape) => format!("its shape {shape} is too large"),
        NpyError::Memory(shape) => format!("there is no memory for its shape {shape}"),
    };
    let (text, elements) = split(&bytes).map_err(words)?;
    let header = parse_header(text).map_err(words)?;
    let name = header.descr.trim_start_matches(['<', '>', '|', '=']);
    let width: usize = match name {
        "b1" | "i1" | "u1" => 1,
        "i2" | "u2" | "f2" => 2,
        "i4" | "u4" | "f4" => 4,
        "i8" | "u8" | "f8" => 8,
        _ => return Err(format!("its elements are '{}'", header.descr)),
    };
    let extent: Option<Vec<u32>> =
        header.shape.iter().rev().map(|&n| u32::try_from(n).ok()).collect();
    let large = || format!("its shape {:?} is too large", header.shape);
    let extent = extent.filter(|e| e.len() <= 16).ok_or_else(large)?;
    let product = |n: usize, &e: &u32| n.checked_mul(e as usize);
    let expected = extent.iter().try_fold(width, product).ok_or_else(large)?;
    check_length(elements, expected)?;
    let (start, fortran) = (bytes.len() - elements.len(), header.fortran);
    let (ty, big_endian, shape) = (name.to_string(), header.descr.starts_with('>'), header.shape);
    if big_endian {
        bytes[start..].chunks_exact_mut(width).for_each(<[u8]>::reverse);
    }
    let of = |bytes| Numbers { bytes, ty, shape };
    if !fortran {
        bytes.drain(..start);
        return Ok(of(bytes));
    }
    let mut turned = Vec::new();
    turned
        .try_reserve_exact(expected)
        .map_err(|_| format!("there is no memory for its {expected} bytes"))?;
    for from in fortran_order(&extent) {
        turned.extend_from_slice(&bytes[start + from * width..][..width]);
    }
    Ok(of(turned))
}

/// An array of structures.
#[derive(Debug, PartialEq, Eq)]
pub struct Structures {
    /// The structures one behind the other.
    pub elements: Vec<u8>,
    /// Their fields, and the bytes of one.
    pub fields: Vec<Field>,
    /// Bytes of a structure.
    pub bytes: u64,
    /// The shape, the slowest dimension first.
    pub shape: Vec<u64>,
}

/// An array of structures of any shape. What is wrong, in words, where it is none.
pub fn structures(mut bytes: Vec<u8>) -> Result<Structures, String> {
    let words = |error| match error {
        NpyError::Broken(what) => what,
        _ => "it is damaged".to_string(),
    };
    let (text, elements) = split(&bytes).map_err(words)?;
    let Header { descr, fields, bytes: each, fortran, shape } =
        parse_any_header(text).map_err(words)?;
    if !descr.is_empty() {
        return Err(format!("its elements are '{descr}', no structures"));
    }
    if fortran && shape.len() > 1 {
        return Err("its structures are stored in Fortran order".to_string());
    }
    let expected = shape.iter().try_fold(each, |n, &count| n.checked_mul(count));
    let expected = expected.and_then(|n| usize::try_from(n).ok());
    let expected = expected.ok_or_else(|| format!("its shape {shape:?} is too large"))?;
    check_length(elements, expected)?;
    let start = bytes.len() - elements.len();
    bytes.drain(..start);
    Ok(Structures { elements: bytes, fields, bytes: each, shape })
}

/// The bytes of an image as an array file.
pub fn write(image: &Image) -> Vec<u8> {
    let name = match image.ty {
        ElementType::Bool => "|b1",
        ElementType::U8 => "|u1",
        ElementType::U16 => "<u2",
        ElementType::U32 => "<u4",
        ElementType::I8 => "|i1",
        ElementType::I16 => "<i2",
        ElementType::I32 => "<i4",
        ElementType::F32 => "<f4",
    };
    let shape: Vec<u64> = image.extent.iter().rev().map(|&n| n.into()).collect();
    array(name, &shape, &raw::write(image))
}

/// An array file of elements in C order. `descr` is NumPy's name of their type.
fn array(descr: &str, shape: &[u64], elements: &[u8]) -> Vec<u8> {
    let mut bytes = header(descr, shape);
    bytes.extend(elements);
    bytes
}

/// What comes before the elements of an array file, which are in C order.
pub fn header(descr: &str, shape: &[u64]) -> Vec<u8> {
    header_of(&format!("'{descr}'"), shape)
}

/// The same for a type as Python writes it, which structures have.
pub fn header_of(descr: &str, shape: &[u64]) -> Vec<u8> {
    let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let mut header = format!(
        "{{'descr': {descr}, 'fortran_order': False, 'shape': ({}{comma}), }}",
        sizes.join(", ")
    );
    // The elements start at a multiple of 64 bytes; the header ends in a line break.
    // A header of more than 16 bits has the second version of the format, with 32.
    let is_long = header.len() > usize::from(u16::MAX) - 64;
    let before = if is_long { 12 } else { 10 };
    let padding = (64 - (before + header.len() + 1) % 64) % 64;
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    let mut bytes = MAGIC.to_vec();
    match is_long {
        true => {
            bytes.extend([2, 0]);
            bytes.extend((header.len() as u32).to_le_bytes());
        }
        false => {
            bytes.extend([1, 0]);
            bytes.extend((header.len() as u16).to_le_bytes());
        }
    }
    bytes.extend(header.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn image() -> Image {
        let data = (0..24u32).map(|i| i * 7 % 251).collect();
        Image { data, ..Image::zeros(ElementType::U8, &[4, 3, 2]) }
    }

    /// As numpy.save writes it.
    const HEADER: &str = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 4), }";

    #[test]
    fn files_are_as_numpy_writes_them() {
        let ours = image();
        let bytes = write(&ours);
        assert_eq!(&bytes[..10], b"\x93NUMPY\x01\x00\x76\x00");
        assert!(bytes[10..].starts_with(HEADER.as_bytes()));
        assert_eq!((bytes[127], bytes.len()), (b'\n', 128 + 24));
        let line = Image::zeros(ElementType::F32, &[5]);
        let text = String::from_utf8(write(&line)[10..128].to_vec()).unwrap();
        assert!(text.starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }"));
    }

    #[test]
    fn column_major_arrays_are_turned() {
        let ours = image();
        // The last dimension in memory is x: element (c, y, x) at c + 2 (y + 3 x).
        let mut elements = Vec::new();
        for x in 0..4 {
            for y in 0..3 {
                for c in 0..2 {
                    elements.push(ours.get(&[x, y, c]).unwrap() as u8);
                }
            }
        }
        let bytes = with_header(&HEADER.replace("False", "True"), &elements);
        assert_eq!(read(&bytes, ElementType::U8), Ok(ours));
    }

    fn with_header(header: &str, elements: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(elements);
        bytes
    }

    #[test]
    fn big_endian_elements_are_turned() {
        let header = "{\"shape\": (1,), \"descr\": \">i2\", \"fortran_order\": False}";
        let bytes = with_header(header, &[0xff, 0xfe]);
        assert_eq!(read(&bytes, ElementType::I16).unwrap().data, [-2i32 as u32]);
    }

    #[test]
    fn elements_come_in_c_order_and_little_endian() {
        let header =
            |order: &str| format!("{{'descr': '>i2', 'fortran_order': {order}, 'shape': (2, 3)}}");
        let stored = [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6];
        let read = |order| numbers(with_header(&header(order), &stored)).map(|array| array.bytes);
        assert_eq!(read("False"), Ok(vec![1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0]));
        assert_eq!(read("True"), Ok(vec![1, 0, 3, 0, 5, 0, 2, 0, 4, 0, 6, 0]));
        let file = array("<f8", &[2], &[0; 16]);
        assert!(numbers(file[..file.len() - 1].to_vec()).is_err());
        assert_eq!(numbers(file).map(|array| array.bytes), Ok(vec![0; 16]));
    }

    #[test]
    fn wrong_headers_are_refused() {
        let read = |header: &str| read(&with_header(header, &[0; 16]), ElementType::F32);
        let f4 = |shape: &str| {
            read(&format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}"))
        };
        assert!(f4("(2, 2)").is_ok());
        assert!(matches!(f4("(9, 9)"), Err(NpyError::Broken(_))));
        assert!(matches!(f4("(4294967296, 4294967296, 4)"), Err(NpyError::Large(_))));
        assert!(matches!(f4("(99999999999999999999,)"), Err(NpyError::Broken(_))));
        assert!(matches!(f4("(-1,)"), Err(NpyError::Broken(_))));
        assert!(matches!(f4("((((((1,)))))"), Err(NpyError::Broken(_))));
        assert!(matches!(read("{'descr': '<f4'}"), Err(NpyError::Broken(_))));
        let double = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}";
        assert_eq!(read(double), Err(NpyError::Type("float64".into())));
    }

    /// Strides of nothing are no product of extents that nobody has.
    #[test]
    fn nothing_is_turned_whatever_its_other_extents() {
        let header = |extent: &str| {
            let shape = format!("({extent}, {extent}, {extent}, 0)");
            format!("{{'descr': '<f4', 'fortran_order': True, 'shape': {shape}}}")
        };
        let array = numbers(with_header(&header("4294967295"), &[]));
        assert!(array.unwrap().bytes.is_empty());
        let image = read(&with_header(&header("2147483647"), &[]), ElementType::F32);
        assert!(image.unwrap().data.is_empty());
    }

    #[test]
    fn bytes_behind_the_elements_are_refused() {
        let mut file = write(&image());
        file.push(0);
        let what = "its elements take 24 bytes, it has 25".to_string();
        assert_eq!(read(&file, ElementType::U8), Err(NpyError::Broken(what.clone())));
        assert_eq!(numbers(file), Err(what));
    }

    proptest! {
        #[test]
        fn damage_is_no_panic(at in 0usize..200, byte: u8, cut in 0usize..200) {
            let mut bytes = write(&image());
            let length = bytes.len();
            bytes[at % length] = byte;
            bytes.truncate(length - cut.min(length));
            let _ = read(&bytes, ElementType::U8);
        }

        #[test]
        fn written_images_are_read_back(
            (extent, data) in prop::collection::vec(0u32..5, 0..4).prop_flat_map(|extent| {
                let count = extent.iter().map(|&n| n as usize).product::<usize>();
                (Just(extent), prop::collection::vec(any::<i16>(), count))
            })
        ) {
            let data = data.into_iter().map(|v| i32::from(v) as u32).collect();
            let image = Image { data, ..Image::zeros(ElementType::I16, &extent) };
            prop_assert_eq!(read(&write(&image), ElementType::I16), Ok(image));
        }
    }
}
