//! The launch file: which kernels run, on grids of which size, with which arguments, and which
//! buffers come back. docs/launch.md describes the format.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use nbcc_base::{SourceId, Span};
use nbcc_isa::ScalarType;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::toml::Document;
use crate::claims::Use;
use crate::data::arrays::{self, ArrayForm};
use crate::files;
use crate::kinds::grids::{Contents, Repeat};
use crate::session::{Session, Stop};

/// Bytes of the word of `until`.
const WORD: u64 = 4;

/// Bytes of all buffers at most.
pub const MAX_BUFFERS: u64 = 4 << 30;

/// What a launch file asks for, its data read.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Initial contents of module variables.
    pub symbols: Vec<SymbolData>,
    /// The buffers, in the order of their first naming.
    pub buffers: Vec<Buffer>,
    /// The launches, in order.
    pub launches: Vec<Launch>,
    /// What is copied back in the end.
    pub reads: Vec<Read>,
}

impl Plan {
    /// The contents of the buffers, which are taken out.
    pub fn take_contents(&mut self) -> Vec<Contents> {
        let taken =
            |buffer: &mut Buffer| std::mem::replace(&mut buffer.contents, Contents::Zeros(0));
        self.buffers.iter_mut().map(taken).collect()
    }
}

/// Initial contents of a module variable.
#[derive(Clone, Debug)]
pub struct SymbolData {
    /// The variable's name.
    pub name: String,
    /// What it begins with.
    pub bytes: Vec<u8>,
    /// Where a file gives it.
    pub at: Option<Span>,
}

/// Memory on the device.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// Its contents before the first launch.
    pub contents: Contents,
    /// The form that they had in their file.
    pub form: ArrayForm,
}

/// A launch of a kernel.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel; the only one of the module where none is named.
    pub kernel: Option<String>,
    /// Where the launch stands in the file.
    pub at: Range<usize>,
    /// Blocks in each dimension.
    pub grid: [u32; 3],
    /// Threads of a block in each dimension.
    pub block: [u32; 3],
    /// Bytes of shared memory beyond what the kernel declares.
    pub dynamic_shared_bytes: u32,
    /// The arguments, in order.
    pub args: Vec<Arg>,
    /// How often it comes.
    pub repeat: Repeat,
    /// Where `until` stands.
    pub until_at: Range<usize>,
}

/// An argument.
#[derive(Clone, Debug)]
pub struct Arg {
    /// Where it stands in the file.
    pub at: Range<usize>,
    /// What it is.
    pub value: ArgValue,
}

/// What an argument is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgValue {
    /// A scalar: its type's name and its bytes, little endian.
    Scalar(&'static str, Vec<u8>),
    /// Bytes of anything.
    Bytes(Vec<u8>),
    /// An address in a buffer: the buffer's number, and bytes from its beginning.
    Buffer(usize, u64),
}

/// A buffer that is copied back.
#[derive(Clone, Debug)]
pub struct Read {
    /// The number of the buffer.
    pub buffer: usize,
    /// Where its contents go.
    pub path: PathBuf,
    /// In which form.
    pub form: ArrayForm,
    /// Where that is asked for.
    pub at: Span,
}

/// Reads the launch file of a program and the data that it names.
pub fn read(session: &mut Session, path: &Path, program: &Path) -> Result<(SourceId, Plan), Stop> {
    let source = files::read_source(session, path)?;
    let text = session.sources.get(source).text.clone();
    let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let document = Document { session, source };
    let stem = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (plan, named) = (Plan::default(), BTreeMap::new());
    let mut reader = Reader { document, folder, stem, plan, named };
    reader.file(&text)?;
    Ok((source, reader.plan))
}

/// A buffer by its name.
struct Named {
    number: usize,
    /// Where it got its contents.
    defined: Option<Range<usize>>,
    first: Range<usize>,
}

struct Reader<'s> {
    document: Document<'s>,
    folder: PathBuf,
    /// The program's name, for files that are not named.
    stem: String,
    plan: Plan,
    named: BTreeMap<String, Named>,
}

/// The keys of a launch.
const LAUNCH: [&str; 7] =
    ["kernel", "grid", "block", "dynamic_shared_bytes", "arg", "repeat", "until"];

/// Launches of one `repeat` or `until` at most.
const MAX_REPEAT: u32 = 1_000_000;

impl Reader<'_> {
    fn file(&mut self, text: &str) -> Result<(), Stop> {
        let document = self.document.parse(text)?;
        let table = document.get_ref();
        let known: Vec<&str> = ["symbol", "launch", "read"].into_iter().chain(LAUNCH).collect();
        self.document.check_keys(table, &known)?;
        for symbol in self.document.array(table, "symbol")? {
            self.symbol(symbol)?;
        }
        let launches = self.document.array(table, "launch")?;
        let inline = table.keys().find(|key| LAUNCH.contains(&key.get_ref().as_ref()));
        match inline {
            Some(key) if !launches.is_empty() => {
                let message = "launches stand both at the top level and under `launch`".to_string();
                let help = "move the keys of the top level into a [[launch]] of their own";
                return Err(self.document.fault(key.span(), message, "a launch of its own", help));
            }
            Some(_) => self.launch(table, document.span())?,
            None => {}
        }
        for launch in &launches {
            let table = self.document.table(launch, "launch")?;
            self.document.check_keys(table, &LAUNCH)?;
            self.launch(table, launch.span())?;
        }
        if self.plan.launches.is_empty() {
            let message = "the launch file launches nothing".to_string();
            let help = "add a [[launch]] with `grid`, `block` and its [[launch.arg]]s";
            return Err(self.document.fault(0..0, message, "no launch", help));
        }
        for read in self.document.array(table, "read")? {
            self.read(read)?;
        }
        let empty = self.named.iter().find(|(_, named)| named.defined.is_none());
        if let Some((name, named)) = empty {
            let (at, message) = (named.first.clone(), format!("buffer `{name}` has no size"));
            let help = "give it `bytes = N` (zeros) or `file = \"...\"` where it is named first";
            return Err(self.document.fault(at, message, "neither size nor contents", help));
        }
        self.check_offsets()
    }

    /// Addresses lie in their buffers, or at their ends; words lie in them.
    fn check_offsets(&mut self) -> Result<(), Stop> {
        let mut asked: Vec<(usize, u64, u64, Range<usize>)> = Vec::new();
        for launch in &self.plan.launches {
            for arg in &launch.args {
                if let ArgValue::Buffer(number, offset) = arg.value {
                    asked.push((number, offset, 0, arg.at.clone()));
                }
            }
            if let Some((number, offset)) = launch.repeat.until {
                asked.push((number, offset, WORD, launch.until_at.clone()));
            }
        }
        for (number, offset, bytes, at) in asked {
            let buffer = &self.plan.buffers[number];
            let (name, size) = (&buffer.name, buffer.contents.size());
            if offset + bytes > size {
                let message = format!("offset {offset} is outside of buffer `{name}`");
                let help = format!("the buffer has {size} bytes");
                return Err(self.document.fault(at, message, "too far", &help));
            }
        }
        Ok(())
    }

    fn symbol(&mut self, value: &Spanned<DeValue<'_>>) -> Result<(), Stop> {
        let table = self.document.table(value, "symbol")?;
        self.document.check_keys(table, &["name", "file"])?;
        let name = self.required(table, "name", value.span())?;
        let name = self.document.string(name, "name")?;
        let file = self.required(table, "file", value.span())?;
        let (bytes, _) = self.contents(file)?;
        if self.plan.symbols.iter().any(|symbol| symbol.name == name) {
            let message = format!("symbol `{name}` is given twice");
            let help = "leave one of the two out";
            return Err(self.document.fault(value.span(), message, "again", help));
        }
        let at = Some(self.document.span(value.span()));
        self.plan.symbols.push(SymbolData { name, bytes, at });
        Ok(())
    }

    fn launch(&mut self, table: &DeTable<'_>, at: Range<usize>) -> Result<(), Stop> {
        let kernel = match table.get("kernel") {
            Some(name) => Some(self.document.string(name, "kernel")?),
            None => None,
        };
        let at = table.get("kernel").map_or(at, Spanned::span);
        let grid = self.required(table, "grid", at.clone())?;
        let grid = self.dimensions(grid, "grid")?;
        let block = self.required(table, "block", at.clone())?;
        let block = self.dimensions(block, "block")?;
        let dynamic_shared_bytes = match table.get("dynamic_shared_bytes") {
            Some(bytes) => {
                let high = i128::from(u32::MAX);
                self.document.integer(bytes, "dynamic_shared_bytes", 0, high)? as u32
            }
            None => 0,
        };
        let mut args = Vec::new();
        for arg in self.document.array(table, "arg")? {
            let value = self.arg(arg)?;
            args.push(Arg { at: arg.span(), value });
        }
        let (repeat, until_at) = self.repeat(table)?;
        let launch =
            Launch { kernel, at, grid, block, dynamic_shared_bytes, args, repeat, until_at };
        self.plan.launches.push(launch);
        Ok(())
    }

    /// How often a launch comes.
    fn repeat(&mut self, table: &DeTable<'_>) -> Result<(Repeat, Range<usize>), Stop> {
        let most = i128::from(MAX_REPEAT);
        let times = match table.get("repeat") {
            Some(times) => Some(self.document.integer(times, "repeat", 1, most)? as u32),
            None => None,
        };
        let Some(value) = table.get("until") else {
            return Ok((Repeat { times: times.unwrap_or(1), until: None }, 0..0));
        };
        let word = self.document.table(value, "until")?;
        self.document.check_keys(word, &["buffer", "offset"])?;
        let name = self.required(word, "buffer", value.span())?;
        let name = self.document.string(name, "buffer")?;
        let offset = self.offset(word)?;
        let Some(number) = self.named.get(&name).map(|named| named.number) else {
            let message = format!("there is no buffer `{name}`");
            let help = "name one that an argument of this launch or of one before it names";
            return Err(self.document.fault(value.span(), message, "not known", help));
        };
        let until = Some((number, offset));
        Ok((Repeat { times: times.unwrap_or(MAX_REPEAT), until }, value.span()))
    }

    /// The bytes from the beginning of a buffer that `offset` says.
    fn offset(&mut self, table: &DeTable<'_>) -> Result<u64, Stop> {
        match table.get("offset") {
            Some(value) => {
                let high = i128::from(MAX_BUFFERS);
                Ok(self.document.integer(value, "offset", 0, high)? as u64)
            }
            None => Ok(0),
        }
    }

    /// One to three sizes of at least 1; those that are left out are 1.
    fn dimensions(&mut self, value: &Spanned<DeValue<'_>>, what: &str) -> Result<[u32; 3], Stop> {
        let mut sizes = [1; 3];
        let (low, high) = (1, i128::from(i32::MAX));
        match value.get_ref() {
            DeValue::Array(values) if (1..=3).contains(&values.len()) => {
                for (size, value) in sizes.iter_mut().zip(values) {
                    *size = self.document.integer(value, what, low, high)? as u32;
                }
            }
            DeValue::Array(_) => {
                let message = format!("`{what}` has one to three sizes");
                let help = format!("write it as in `{what} = [16, 16, 1]`");
                return Err(self.document.fault(value.span(), message, "not so many", &help));
            }
            _ => sizes[0] = self.document.integer(value, what, low, high)? as u32,
        }
        Ok(sizes)
    }

    fn arg(&mut self, value: &Spanned<DeValue<'_>>) -> Result<ArgValue, Stop> {
        let table = self.document.table(value, "arg")?;
        let mut known = vec!["hex", "buffer", "file", "bytes", "offset"];
        known.extend(argument_types().map(ScalarType::name));
        self.document.check_keys(table, &known)?;
        if table.contains_key("buffer") {
            return self.buffer_arg(table, value.span());
        }
        let mut entries = table.iter();
        let (Some((key, scalar)), None) = (entries.next(), entries.next()) else {
            let message = "an argument is one scalar, `hex` or `buffer`".to_string();
            let help = "as in `f32 = 2.5`, `hex = \"00ff\"`, `buffer = \"x\"` with `bytes = 4096`";
            return Err(self.document.fault(value.span(), message, "one of these", help));
        };
        let name = key.get_ref().as_ref();
        if let Some(ty) = argument_types().find(|ty| ty.name() == name) {
            let bytes = match ty.range() {
                Some((low, high)) => {
                    let number = self.document.integer(scalar, name, low, high)?;
                    number.to_le_bytes()[..ty.bytes() as usize].to_vec()
                }
                None => {
                    let number = self.document.real(scalar, name)?;
                    arrays::float_bytes(ty, number).expect("what has no range is a float")
                }
            };
            return Ok(ArgValue::Scalar(ty.name(), bytes));
        }
        if name == "hex" {
            let text = self.document.string(scalar, "hex")?;
            return match arrays::unhex(&text) {
                Some(bytes) => Ok(ArgValue::Bytes(bytes)),
                None => {
                    let message = "`hex` takes pairs of hexadecimal digits".to_string();
                    let help = "write two digits a byte, as in `hex = \"0000803f\"`";
                    Err(self.document.fault(scalar.span(), message, "not such", help))
                }
            };
        }
        let message = format!("`{name}` says nothing without `buffer`");
        let help = "say which: `buffer = \"NAME\"`";
        Err(self.document.fault(value.span(), message, "of which buffer?", help))
    }

    fn buffer_arg(&mut self, table: &DeTable<'_>, at: Range<usize>) -> Result<ArgValue, Stop> {
        self.document.check_keys(table, &["buffer", "file", "bytes", "offset"])?;
        let name = self.document.string(&table["buffer"], "buffer")?;
        let offset = self.offset(table)?;
        let contents = match (table.get("file"), table.get("bytes")) {
            (Some(_), Some(bytes)) => {
                let message = format!("buffer `{name}` has both `file` and `bytes`");
                let help = "leave `bytes` out: the file says how many there are";
                return Err(self.document.fault(bytes.span(), message, "one too many", help));
            }
            (Some(file), None) => {
                let (bytes, form) = self.contents(file)?;
                Some((Contents::Bytes(bytes), form))
            }
            (None, Some(bytes)) => {
                let high = i128::from(MAX_BUFFERS);
                let size = self.document.integer(bytes, "bytes", 0, high)? as u64;
                Some((Contents::Zeros(size), ArrayForm::Raw))
            }
            (None, None) => None,
        };
        let number = self.plan.buffers.len();
        let known = self.named.entry(name.clone()).or_insert_with(|| {
            self.plan.buffers.push(Buffer {
                name: name.clone(),
                contents: Contents::Zeros(0),
                form: ArrayForm::Raw,
            });
            Named { number, defined: None, first: at.clone() }
        });
        let number = known.number;
        let Some((contents, form)) = contents else {
            return Ok(ArgValue::Buffer(number, offset));
        };
        if known.defined.is_some() {
            let message = format!("buffer `{name}` gets contents twice");
            let help = "name it without `file` and `bytes` from the second time on";
            return Err(self.document.fault(at, message, "again", help));
        }
        known.defined = Some(at.clone());
        self.plan.buffers[number].contents = contents;
        self.plan.buffers[number].form = form;
        let total: u64 = self.plan.buffers.iter().map(|buffer| buffer.contents.size()).sum();
        if total > MAX_BUFFERS {
            let message = "the buffers take more than 4 GiB".to_string();
            let help = "use smaller buffers";
            return Err(self.document.fault(at, message, "too much with this one", help));
        }
        Ok(ArgValue::Buffer(number, offset))
    }

    fn read(&mut self, value: &Spanned<DeValue<'_>>) -> Result<(), Stop> {
        let table = self.document.table(value, "read")?;
        self.document.check_keys(table, &["buffer", "file", "dtype", "shape"])?;
        let name_value = self.required(table, "buffer", value.span())?;
        let name = self.document.string(name_value, "buffer")?;
        let Some(number) = self.named.get(&name).map(|named| named.number) else {
            let message = format!("there is no buffer `{name}`");
            let help = match self.named.is_empty() {
                true => "no argument of a launch is a buffer".to_string(),
                false => {
                    let names: Vec<&str> = self.named.keys().map(String::as_str).collect();
                    format!("there are: {}", names.join(", "))
                }
            };
            return Err(self.document.fault(name_value.span(), message, "not known", &help));
        };
        let path = match table.get("file") {
            Some(file) => self.folder.join(self.document.string(file, "file")?),
            None => self.unnamed(table, name_value, &name)?,
        };
        let form = self.form(table, &path, value.span(), number)?;
        let at = table.get("file").map_or(value.span(), Spanned::span);
        let span = self.document.span(at.clone());
        self.document.session.with_name_at(span, |session| files::check_folder(session, &path))?;
        if let Err(what) = self.document.session.claims.claim(&path, Use::Write) {
            let help = "give what is copied back another name";
            return Err(self.document.fault(at, what, "this file", help));
        }
        self.plan.reads.push(Read { buffer: number, path, form, at: span });
        Ok(())
    }

    /// Where a buffer goes whose place is not said: like an image that is not named, into the
    /// current folder, called after the program.
    fn unnamed(
        &mut self,
        table: &DeTable<'_>,
        at: &Spanned<DeValue<'_>>,
        name: &str,
    ) -> Result<PathBuf, Stop> {
        if name.contains(['/', '\\']) {
            let message = format!("buffer `{name}` needs a file: its name is none");
            let help = "say where it goes, as in `file = \"out.bin\"`";
            return Err(self.document.fault(at.span(), message, "names no file", help));
        }
        let is_array = ["dtype", "shape"].iter().any(|key| table.contains_key(*key));
        let extension = if is_array { "npy" } else { "bin" };
        Ok(format!("{}.{name}.{extension}", self.stem).into())
    }

    fn form(
        &mut self,
        table: &DeTable<'_>,
        path: &Path,
        at: Range<usize>,
        buffer: usize,
    ) -> Result<ArrayForm, Stop> {
        let is_npy = path.extension().is_some_and(|extension| extension == "npy");
        if !is_npy {
            if let Some(key) = ["dtype", "shape"].iter().find_map(|key| table.get(*key)) {
                let message = "only .npy files have a type and a shape".to_string();
                let help = "give the file the extension .npy";
                return Err(self.document.fault(key.span(), message, "means nothing here", help));
            }
            return Ok(ArrayForm::Raw);
        }
        let given = match &self.plan.buffers[buffer].form {
            ArrayForm::Npy { scalar, shape } => Some((*scalar, shape.clone())),
            ArrayForm::Raw => None,
        };
        let scalar = match (table.get("dtype"), &given) {
            (Some(dtype), _) => self.element_type(dtype)?,
            (None, Some((scalar, _))) => *scalar,
            (None, None) => return Err(self.no_form("dtype", at)),
        };
        let name = scalar.name();
        let shape = match (table.get("shape"), given) {
            (Some(_), _) => {
                let mut shape = Vec::new();
                for size in self.document.array(table, "shape")? {
                    let size = self.document.integer(size, "shape", 0, i128::from(u32::MAX))?;
                    shape.push(size as u64);
                }
                shape
            }
            (None, Some((_, shape))) => shape,
            (None, None) => return Err(self.no_form("shape", at)),
        };
        let shape_at = table.get("shape").or(table.get("dtype")).map_or(at, Spanned::span);
        let bytes =
            shape.iter().try_fold(u64::from(scalar.bytes()), |product, &n| product.checked_mul(n));
        let has = self.plan.buffers[buffer].contents.size();
        if bytes != Some(has) {
            let message = format!("the shape does not fit the buffer, which has {has} bytes");
            let label = match bytes {
                Some(bytes) => format!("these are {bytes} bytes of {name}"),
                None => "far too large".to_string(),
            };
            let elements = has / u64::from(scalar.bytes());
            let help = match has.is_multiple_of(u64::from(scalar.bytes())) {
                true => format!("it holds {elements} elements of {name}: `shape = [{elements}]`"),
                false => format!("no shape of {name} fits: use another `dtype`, or a .bin file"),
            };
            return Err(self.document.fault(shape_at, message, &label, &help));
        }
        Ok(ArrayForm::Npy { scalar, shape })
    }

    fn element_type(&mut self, dtype: &Spanned<DeValue<'_>>) -> Result<ScalarType, Stop> {
        let name = self.document.string(dtype, "dtype")?;
        ScalarType::from_name(&name).ok_or_else(|| {
            let message = format!("`{name}` is no element type of .npy files");
            let help = "there are: bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64";
            self.document.fault(dtype.span(), message, "not known", help)
        })
    }

    /// The buffer did not come from an array that would tell.
    fn no_form(&mut self, key: &str, at: Range<usize>) -> Stop {
        let message = format!("`{key}` is missing");
        let help = "a buffer that came from an .npy file has its type and shape; \
                    else say them, as in `dtype = \"f32\"` and `shape = [512, 512]`";
        self.document.fault(at, message, &format!("without `{key}`"), help)
    }

    fn required<'v, 't>(
        &mut self,
        table: &'v DeTable<'t>,
        key: &str,
        at: Range<usize>,
    ) -> Result<&'v Spanned<DeValue<'t>>, Stop> {
        table.get(key).ok_or_else(|| {
            let message = format!("`{key}` is missing");
            let help = format!("add it, as in `{}`", example(key));
            self.document.fault(at, message, &format!("without `{key}`"), &help)
        })
    }

    /// The contents of a data file beside the launch file.
    fn contents(&mut self, file: &Spanned<DeValue<'_>>) -> Result<(Vec<u8>, ArrayForm), Stop> {
        let path = self.folder.join(self.document.string(file, "file")?);
        let span = self.document.span(file.span());
        self.document.session.with_name_at(span, |session| arrays::read(session, &path))
    }
}

/// A key with a value of the right kind.
fn example(key: &str) -> &'static str {
    match key {
        "grid" => "grid = [128, 1, 1]",
        "block" => "block = [256, 1, 1]",
        "name" => "name = \"table\"",
        "buffer" => "buffer = \"x\"",
        "dtype" => "dtype = \"f32\"",
        "shape" => "shape = [64, 64]",
        _ => "file = \"x.npy\"",
    }
}

/// The types that arguments have: truth values are integers there.
fn argument_types() -> impl Iterator<Item = ScalarType> {
    ScalarType::ALL.into_iter().filter(|ty| *ty != ScalarType::Bool)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::MessageFormat;

    const FILE: &str = "grid = 1\nblock = 1\narg = [{ buffer = \"x\", file = \"x.npy\" }, \
                          { buffer = \"y\", bytes = 24 }]\n[[read]]\nfile = \"out.npy\"\n";

    fn array(name: &str, shape: &[u64]) -> Option<ArrayForm> {
        let scalar = ScalarType::from_name(name)?;
        Some(ArrayForm::Npy { scalar, shape: shape.to_vec() })
    }

    /// The form of what is read back, where the launch file ends like that.
    fn form(end: &str) -> Option<ArrayForm> {
        let folder = tempfile::tempdir().unwrap();
        let mut session = Session::new(MessageFormat::Human);
        let given = array("f32", &[2, 3]).unwrap();
        arrays::write(&mut session, &folder.path().join("x.npy"), &given, &[0; 24]).unwrap();
        files::publish(&mut session).unwrap();
        let path = folder.path().join("launch.toml");
        std::fs::write(&path, format!("{FILE}{end}")).unwrap();
        let plan = read(&mut session, &path, Path::new("k.ptx"));
        plan.ok().map(|(_, plan)| plan.reads[0].form.clone())
    }

    #[test]
    fn arrays_keep_their_type_and_shape() {
        assert_eq!(form("buffer = \"x\""), array("f32", &[2, 3]));
        assert_eq!(form("buffer = \"x\"\ndtype = \"i32\""), array("i32", &[2, 3]));
        assert_eq!(form("buffer = \"x\"\nshape = [6]"), array("f32", &[6]));
        assert_eq!(form("buffer = \"x\"\ndtype = \"f64\"\nshape = [3]"), array("f64", &[3]));
        assert_eq!(form("buffer = \"x\"\ndtype = \"f64\""), None);
        assert_eq!(form("buffer = \"y\""), None);
        assert_eq!(form("buffer = \"y\"\ndtype = \"u8\""), None);
        assert_eq!(form("buffer = \"y\"\ndtype = \"u8\"\nshape = [24]"), array("u8", &[24]));
    }
}
