//! Arrays of structures: one array of a structured type in a file, an array for each member to a
//! program.

use std::fmt::Write;
use std::path::Path;

use nbcc_base::Diagnostic;
use nbcc_base::member::{Component, Member};
use nbcc_host::function::GivenArray;
use nbcc_isa::{ScalarType, Signature, SignatureParam};

use super::{arrays, npy};
use crate::session::{Session, Stop};
use crate::{codes, files, limits};

/// An array of structures as hosts know it.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// Its name.
    pub name: String,
    /// Bytes of a structure.
    pub bytes: u64,
    /// The parameters that hold its members, with their numbers among the arrays, and these.
    pub params: Vec<(usize, &'a SignatureParam, Vec<Member>)>,
}

/// The arrays of structures of a signature, which a loader has checked.
pub fn groups(signature: &Signature) -> Vec<Group<'_>> {
    let mut all: Vec<Group<'_>> = Vec::new();
    let arrays = signature.params.iter().filter(|param| param.array.is_some());
    for (number, param) in arrays.enumerate() {
        let Ok(Some(members)) = param.structure() else { continue };
        let Some(Member { of, bytes, .. }) = members.first().cloned() else { continue };
        match all.iter_mut().find(|group| group.name == of) {
            Some(group) => group.params.push((number, param, members)),
            None => all.push(Group { name: of, bytes, params: vec![(number, param, members)] }),
        }
    }
    all
}

/// What hosts call the array that a parameter is, or belongs to.
pub fn host_name(param: &SignatureParam) -> String {
    match param.structure() {
        Ok(Some(members)) if !members.is_empty() => members[0].of.clone(),
        _ => param.name.clone(),
    }
}

impl Group<'_> {
    /// Whether the function leaves it as it is.
    pub fn is_const(&self) -> bool {
        self.params.iter().all(|(_, param, _)| param.array.as_ref().is_some_and(|a| a.is_const))
    }

    /// The members with the types of their scalars, in the order of their bytes.
    fn members(&self) -> Vec<(&Member, ScalarType)> {
        let typed = self
            .params
            .iter()
            .flat_map(|(_, param, members)| members.iter().map(|member| (member, param.ty)));
        let mut all: Vec<(&Member, ScalarType)> = typed.collect();
        all.sort_by_key(|(member, _)| member.offset);
        all
    }

    /// NumPy's description of the type in files.
    pub fn descr(&self) -> String {
        descr(&self.fields(), 0, self.bytes)
    }

    /// The type as people give it to `numpy.dtype`.
    fn dtype(&self) -> String {
        dtype(&self.fields(), 0, self.bytes)
    }

    fn fields(&self) -> Vec<Field<'_>> {
        self.members().into_iter().map(|(m, ty)| (m.offset, &m.path[..], ty)).collect()
    }

    /// The bytes of the scalars of each parameter in a structure, in order.
    fn offsets(&self) -> Vec<(usize, Vec<u64>)> {
        let of = |(_, param, members): &(usize, &SignatureParam, Vec<Member>)| {
            let width = param.ty.bytes();
            let mut all: Vec<u64> =
                members.iter().flat_map(|member| member.offsets(width.into())).collect();
            all.sort_unstable();
            (width as usize, all)
        };
        self.params.iter().map(of).collect()
    }

    /// The array of each parameter.
    fn apart(&self, elements: &[u8]) -> Vec<Vec<u8>> {
        let structures = || elements.chunks_exact((self.bytes as usize).max(1));
        let of = |(width, offsets): (usize, Vec<u64>)| {
            let scalars = structures().flat_map(|structure| {
                offsets.iter().flat_map(move |&at| &structure[at as usize..at as usize + width])
            });
            scalars.copied().collect()
        };
        self.offsets().into_iter().map(of).collect()
    }

    /// The structures, `count` of them, from the array of each parameter.
    fn together(&self, arrays: &[&[u8]], count: u64) -> Vec<u8> {
        let bytes = self.bytes as usize;
        let mut all = vec![0; bytes * count as usize];
        for (array, (width, offsets)) in arrays.iter().zip(self.offsets()) {
            let rows = array.chunks_exact((width * offsets.len()).max(1));
            for (structure, row) in all.chunks_exact_mut(bytes.max(1)).zip(rows) {
                for (scalar, &at) in row.chunks_exact(width).zip(&offsets) {
                    structure[at as usize..at as usize + width].copy_from_slice(scalar);
                }
            }
        }
        all
    }

    /// The array of each parameter, by its name, from a file.
    pub fn read(
        &self,
        session: &mut Session,
        file: &str,
    ) -> Result<Vec<(String, GivenArray)>, Stop> {
        let bytes = files::read(session, Path::new(file), files::MAX_DATA)?;
        let help = format!("write it with numpy.save; its dtype is numpy.dtype({})", self.dtype());
        let fail = |session: &mut Session, message: String| {
            let error = Diagnostic::error(&codes::BROKEN_DATA, message).in_file(file);
            Err(session.fail(error.help(help.clone())))
        };
        let found = match npy::structures(bytes) {
            Ok(found) => found,
            Err(what) => {
                return fail(session, format!("`{file}` is no array of structures: {what}"));
            }
        };
        let same = found.bytes == self.bytes && {
            let mut fields = found.fields.clone();
            fields.sort_by_key(|field| field.offset);
            let members = self.members();
            fields.len() == members.len()
                && fields.iter().zip(members).all(|(field, (member, ty))| {
                    let same_type = is_type(&field.ty, ty);
                    same_type && field.offset == member.offset && field.path == member.path
                })
        };
        if !same {
            return fail(session, format!("`{file}` holds other structures than `{}`", self.name));
        }
        let mut arrays = Vec::new();
        let offsets = self.offsets();
        let parts = self.apart(&found.elements);
        for (((_, param, _), (_, offsets)), bytes) in self.params.iter().zip(offsets).zip(parts) {
            let mut shape = found.shape.clone();
            shape.push(offsets.len() as u64);
            arrays.push((param.name.clone(), GivenArray { ty: param.ty, shape, bytes }));
        }
        Ok(arrays)
    }

    /// Writes the structures to a file.
    pub fn write(
        &self,
        session: &mut Session,
        path: &Path,
        shape: &[u64],
        arrays: &[&[u8]],
    ) -> Result<(), Stop> {
        let count = shape.iter().fold(1, |all: u64, &n| all.saturating_mul(n));
        if !nbcc_base::has_room(self.bytes.saturating_mul(count)) {
            let message = format!("there is no memory for the structures of `{}`", self.name);
            let error = Diagnostic::error(&codes::NO_MEMORY, message);
            return Err(session.fail(error.help(limits::LESS_MEMORY)));
        }
        let elements = self.together(arrays, count);
        files::write_parts(session, path, &[&npy::header_of(&self.descr(), shape), &elements])
    }
}

/// Whether NumPy's name is that of a type, little endian. A truth value is a byte.
fn is_type(name: &str, ty: ScalarType) -> bool {
    let expected = arrays::descr(ty);
    let is_little = !name.starts_with('>') || expected.ends_with('1');
    let name = name.trim_start_matches(['<', '>', '|', '=']);
    is_little && (name == &expected[1..] || (name == "b1" && ty == ScalarType::U8))
}

/// A scalar of a structure: its offset, the rest of its path, its type.
type Field<'a> = (u64, &'a [Component], ScalarType);

/// A field of a structure as NumPy has it.
struct Part<'a> {
    component: &'a Component,
    offset: u64,
    /// Bytes of one element.
    each: u64,
    /// The type of a scalar, where it is no structure.
    ty: ScalarType,
    /// Its own fields, where it is one.
    inner: Option<Vec<Field<'a>>>,
}

impl Part<'_> {
    /// Its extents as a tuple, if it is an array.
    fn shape(&self) -> Option<String> {
        let counts: Vec<String> = self.component.counts.iter().map(u64::to_string).collect();
        match &counts[..] {
            [] => None,
            [only] => Some(format!("({only},)")),
            all => Some(format!("({})", all.join(", "))),
        }
    }
}

/// The fields that scalars make, in the order of their bytes.
fn parts<'a>(fields: &[Field<'a>]) -> Vec<Part<'a>> {
    let (mut all, mut rest) = (Vec::new(), fields);
    while let Some(&(offset, path, ty)) = rest.first() {
        let Some((component, inner)) = path.split_first() else { break };
        let count = rest.iter().take_while(|(_, path, _)| path.first() == Some(component)).count();
        let (own, behind) = rest.split_at(count);
        rest = behind;
        // A structure starts where its first member lies, which has the offset 0 in it.
        let (inner, each) = match component.bytes {
            Some(each) if !inner.is_empty() => {
                (Some(own.iter().map(|&(at, path, ty)| (at, &path[1..], ty)).collect()), each)
            }
            _ => (None, u64::from(ty.bytes())),
        };
        all.push(Part { component, offset, each, ty, inner });
    }
    all
}

/// The list of the fields that lie in a structure of so many bytes from an offset on, as files have it.
fn descr(fields: &[Field<'_>], start: u64, bytes: u64) -> String {
    let mut text = String::from("[");
    let mut at = start;
    let padding = |text: &mut String, from: u64, to: u64| {
        if to > from {
            let _ = write!(text, "('', '|V{}'), ", to - from);
        }
    };
    for part in parts(fields) {
        padding(&mut text, at, part.offset);
        let what = match &part.inner {
            Some(inner) => descr(inner, part.offset, part.each),
            None => format!("'{}'", arrays::descr(part.ty)),
        };
        let _ = write!(text, "('{}', {what}", part.component.name);
        if let Some(shape) = part.shape() {
            text += ", ";
            text += &shape;
        }
        text += "), ";
        at = part.offset + part.each * part.component.elements();
    }
    padding(&mut text, at, start + bytes);
    text.truncate(text.trim_end_matches([',', ' ']).len());
    text + "]"
}

/// The same as `numpy.dtype` takes it, which makes fields of the padding in lists.
fn dtype(fields: &[Field<'_>], start: u64, bytes: u64) -> String {
    let (mut names, mut formats, mut offsets) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts(fields) {
        let what = match &part.inner {
            Some(inner) => dtype(inner, part.offset, part.each),
            None => format!("'{}'", arrays::descr(part.ty)),
        };
        names.push(format!("'{}'", part.component.name));
        formats.push(match part.shape() {
            Some(shape) => format!("({what}, {shape})"),
            None => what,
        });
        offsets.push((part.offset - start).to_string());
    }
    let [names, formats, offsets] = [names, formats, offsets].map(|list| list.join(", "));
    format!(
        "{{'names': [{names}], 'formats': [{formats}], 'offsets': [{offsets}], 'itemsize': {bytes}}}"
    )
}

#[cfg(test)]
mod tests {
    use nbcc_isa::{ArrayParam, Extent};

    use super::*;

    /// `struct { int8_t tag; struct { int16_t re, im; } w[3]; int64_t t[2]; uint8_t last; } a[2]`
    fn signature() -> Signature {
        let param = |name: &str, ty, members: &[&str], scalars| SignatureParam {
            name: name.into(),
            ty,
            array: Some(ArrayParam {
                extents: vec![Extent::Fixed(2), Extent::Fixed(scalars)],
                is_const: false,
            }),
            members: members.iter().map(ToString::to_string).collect(),
            value: None,
        };
        let params = vec![
            param("a.tag", ScalarType::I8, &["a 40 0 tag"], 1),
            param("a.w", ScalarType::I16, &["a 40 2 w{4}[3].re", "a 40 4 w{4}[3].im"], 6),
            param("a.t", ScalarType::I64, &["a 40 16 t[2]"], 2),
            param("a.last", ScalarType::U8, &["a 40 32 last"], 1),
        ];
        Signature { name: "f".into(), params, result: None }
    }

    const DESCR: &str = "[('tag', '|i1'), ('', '|V1'), ('w', [('re', '<i2'), ('im', '<i2')], (3,)), \
                         ('', '|V2'), ('t', '<i8', (2,)), ('last', '|u1'), ('', '|V7')]";

    /// `numpy.dtype(DTYPE).descr` is `DESCR`.
    const DTYPE: &str = "{'names': ['tag', 'w', 't', 'last'], \
                         'formats': ['|i1', ({'names': ['re', 'im'], 'formats': ['<i2', '<i2'], \
                         'offsets': [0, 2], 'itemsize': 4}, (3,)), ('<i8', (2,)), '|u1'], \
                         'offsets': [0, 2, 16, 32], 'itemsize': 40}";

    #[test]
    fn types_are_written_as_numpy_writes_them() {
        let signature = signature();
        assert!(signature.validate().is_ok());
        assert_eq!(groups(&signature)[0].descr(), DESCR);
        assert_eq!(groups(&signature)[0].dtype(), DTYPE);
    }

    #[test]
    fn structures_are_taken_apart_and_put_together() {
        let signature = signature();
        let group = &groups(&signature)[0];
        let mut elements: Vec<u8> = (0..80).collect();
        for padding in [1, 14, 15, 33, 34, 35, 36, 37, 38, 39] {
            elements[padding] = 0;
            elements[40 + padding] = 0;
        }
        let arrays = group.apart(&elements);
        assert_eq!(arrays[0], [0, 40]);
        assert_eq!(arrays[1][..6], [2, 3, 4, 5, 6, 7]);
        let arrays: Vec<&[u8]> = arrays.iter().map(Vec::as_slice).collect();
        assert_eq!(group.together(&arrays, 2), elements);
    }

    #[test]
    fn headers_are_read_back() {
        let file = [npy::header_of(DESCR, &[2]), vec![7; 80]].concat();
        let found = npy::structures(file.clone()).unwrap();
        assert_eq!((found.bytes, &found.shape[..], found.elements.len()), (40, &[2][..], 80));
        let offsets: Vec<u64> = found.fields.iter().map(|field| field.offset).collect();
        assert_eq!(offsets, [0, 2, 4, 16, 32]);
        assert!(npy::structures(file[..file.len() - 1].to_vec()).is_err());
        let deep = "[('a', ".repeat(1000);
        assert!(npy::structures(npy::header_of(&deep, &[1])).is_err());
        let vast = "[('a', '<i2', (18446744073709551615, 2))]";
        assert!(npy::structures(npy::header_of(vast, &[1])).is_err());
    }
}
