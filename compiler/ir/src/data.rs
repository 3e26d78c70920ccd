//! What a module of grid functions holds beside code: data objects with their initial contents,
//! the tables of kernels' parameters, and where in other sources its own source comes from.

use nbcc_base::{SourceId, Span};

use nbcc_base::member::Member;

use crate::{Extent, Func, Mem, NumType, Object, Space};

/// A variable with an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataObject {
    /// Its name, without the `@`; no other object of the module has it.
    pub name: String,
    /// What it belongs to: global, const, shared (one a block) or local (one a thread).
    pub space: Space,
    /// Its address is a multiple of this power of two.
    pub align: u32,
    /// Bytes.
    pub size: u64,
    /// Whether it is the dynamic shared memory of a block, whose size the launch says.
    pub dynamic: bool,
    /// The first bytes of its contents; the rest is zero.
    pub bytes: Vec<u8>,
    /// Addresses in its contents, by offset.
    pub relocations: Vec<Relocation>,
}

/// An address in the contents of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Where it stands, in bytes.
    pub offset: u64,
    /// How many bytes stand there: 1, 2, 4 or 8.
    pub width: u8,
    /// How many bits the address is shifted to the right first.
    pub shift: u8,
    /// What it is the address of.
    pub target: RelocationTarget,
    /// Bytes added to the address.
    pub addend: i64,
}

/// What a relocation is the address of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocationTarget {
    /// An object, in its own space.
    Object(Object),
    /// An object, as a generic address.
    Generic(Object),
    /// A function: see [`function_address`].
    Function(Func),
}

/// The address of a function: a small number that is not zero, the same in interpreter and binary.
pub fn function_address(func: Func) -> u64 {
    u64::from(func.as_u32()) + 1
}

/// What makes a function a kernel, which hosts launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// Its parameters, by offset in the space `param`.
    pub params: Vec<KernelParam>,
    /// The most threads of a block along each dimension.
    pub max_threads: Option<[u32; 3]>,
    /// The threads of a block along each dimension.
    pub required_threads: Option<[u32; 3]>,
    /// Blocks that a core should hold at once.
    pub min_blocks: Option<u32>,
    /// Blocks of its largest launch, where its launches are known.
    pub grid_blocks: Option<u64>,
}

impl Kernel {
    /// Bytes of all parameters, from offset 0 on.
    pub fn params_size(&self) -> u64 {
        let ends = self.params.iter().map(|p| u64::from(p.offset) + u64::from(p.size));
        ends.max().unwrap_or(0)
    }
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelParam {
    /// Its name, without the `%`.
    pub name: String,
    /// Where it stands in the space `param`, in bytes.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// Its offset is a multiple of this power of two.
    pub align: u32,
    /// Its type, unless it is any bits of its size, or an array of bytes.
    pub ty: Option<NumType>,
}

/// What makes a sequential function one that hosts call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Its parameters as the source has them. The scalars are the parameters of the entry block, in
    /// this order.
    pub params: Vec<InterfaceParam>,
    /// The type of its result, if it has one.
    pub result: Option<NumType>,
}

/// A parameter that hosts give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceParam {
    /// Its name, without the `%`.
    pub name: String,
    /// Its type, or that of its elements.
    pub ty: NumType,
    /// What it is where it is an array.
    pub array: Option<ArrayParam>,
    /// The members of the structures of an array that it holds, in the order of their bytes, where
    /// hosts know several arrays as one of structures. The last of its extents is how many scalars
    /// of a structure it holds.
    pub members: Vec<Member>,
    /// The bits of the scalar that the function is specialised to: hosts give no other.
    pub value: Option<u64>,
}

/// An array that hosts give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayParam {
    /// The memory object that it is; its name is the parameter's.
    pub mem: Mem,
    /// Whether the function leaves it as it is.
    pub is_const: bool,
    /// Its extents as hosts see them, the slowest first, where it is one dimension to the function;
    /// empty where hosts see those of the memory object.
    pub shape: Vec<Extent>,
}

/// A loop of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLoop {
    /// All of it.
    pub span: Span,
    /// What is asked for it, in order.
    pub wishes: Vec<Wish>,
}

/// What is asked for a loop, as the source has it: targets say which they know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// What it is about.
    pub name: String,
    /// What it should be.
    pub value: String,
}

/// Where the source of a module says that it comes from: marks in the order of the source, each
/// good from its position to the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineMarks {
    /// Names of files.
    pub files: Vec<String>,
    /// The marks. Use [`LineMarks::push`] in order.
    marks: Vec<LineMark>,
}

/// A place in another source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineMark {
    /// The source file from where on it is good.
    pub source: SourceId,
    /// The byte from where on it is good.
    pub start: u32,
    /// The place; nothing is known where it is `None`.
    pub place: Option<LinePlace>,
}

/// A line of another source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinePlace {
    /// Number in `files`.
    pub file: u32,
    /// From 1.
    pub line: u32,
    /// From 1; 0 where it is unknown.
    pub column: u32,
    /// The function that was inlined here, if one was.
    pub function: Option<String>,
}

impl LineMarks {
    /// Adds a mark behind the others. Panics where it stands before one of them.
    pub fn push(&mut self, mark: LineMark) {
        let key = |mark: &LineMark| (mark.source.0, mark.start);
        let last = self.marks.last().map(key);
        assert!(last.is_none_or(|last| last <= key(&mark)), "marks come in order");
        self.marks.push(mark);
    }

    /// The place that a span comes from.
    pub fn find(&self, span: Span) -> Option<&LinePlace> {
        let key = (span.source.0, span.start);
        let next = self.marks.partition_point(|mark| (mark.source.0, mark.start) <= key);
        let mark = &self.marks[next.checked_sub(1)?];
        if mark.source == span.source { mark.place.as_ref() } else { None }
    }
}
