//! How the core reaches the arrays: addresses below [`DATA`](super::memory::DATA). Each array has a
//! page of control words and a window on its shared memory.
//!
//! To run a loop, the core writes the global registers that its package reads, the number of
//! iterations, then the number of the package, which loads the configuration where it is not loaded and
//! starts the array; the core goes on. A read of [`BUSY`] waits for the end of the array and gives zero.
//! Reads of global registers give what the array exported. Any access to the page or the window of an
//! array that runs waits for its end first. Words of pages are accessed as words.
//!
//! Objects that loops on arrays use live in a shared memory (a *home*, [`Home`](super::Home)) where they
//! fit; the loader places them before the call and takes parameters back after it. [`PRESENT`] of an
//! array is a bit set of the homes in it that fitted, by their place in `.nbcc.homes`: code tests it and
//! stays on the core where something is missing. [`PLACES`] has the address of each in the shared memory.
//!
//! What is larger than a shared memory goes through windows of it, stretch by stretch: the core asks the host
//! controller ([`HOST`]) for the next one.
//!
//! Several arrays take parts of one loop: each begins at an iteration of its own ([`FIRST`]) on twins of
//! the homes ([`Homed::Twin`](super::Homed::Twin)), and what they stored is copied to where the homes are
//! ([`COPY`]). What global registers of all of them have in common is written once, to the page
//! [`GROUP`].

/// The control page of array 0.
pub const CONTROL: u32 = 0x0001_0000;
/// From one control page to the next.
pub const CONTROL_BYTES: u32 = 0x1000;
/// Offsets of the global registers in a page: 4 bytes each from here on.
pub const GLOBALS: u32 = 0;
/// Offset of the number of iterations.
pub const ITERATIONS: u32 = 0x800;
/// Offset of the word whose writing starts the package of that number.
pub const START: u32 = 0x804;
/// Offset of the word whose reading waits for the array.
pub const BUSY: u32 = 0x808;
/// Offset of the first of the words with a bit for each home, bit 0 of the first for home 0.
pub const PRESENT: u32 = 0x80c;
/// Words of [`PRESENT`].
pub const PRESENT_WORDS: u32 = 8;
/// Homes of a program at most.
pub const MAX_HOMES: usize = 32 * PRESENT_WORDS as usize;
/// Offset of the first of the words with the address of each home in the shared memory; 0 of those that
/// are not in this array.
pub const PLACES: u32 = 0x900;
/// Offset of the number that the first iteration has for loads and stores; 0 again with each start.
pub const FIRST: u32 = 0x840;
/// Offset of the address in the shared memory from which on bytes are copied.
pub const COPY_AT: u32 = 0x844;
/// Offset of the number of bytes that are copied.
pub const COPY_BYTES: u32 = 0x848;
/// Offset of the word whose writing copies bytes of the shared memory of the array of that number, to
/// the same place in that of this array, after the ends of both; both are busy as long.
pub const COPY: u32 = 0x84c;
/// A page whose global registers are those of several arrays: who writes one writes it in all, after
/// the ends of all.
pub const GROUP: u32 = 0x000f_f000;
/// Offset in [`GROUP`] of a word with a bit for each of these arrays.
pub const MEMBERS: u32 = 0x800;
/// The page of the host controller, which moves bytes between the memory and shared memories, while the core
/// waits: two addresses as the core has them, then how many.
pub const HOST: u32 = 0x000f_e000;
/// Offset of the address from which on bytes are taken.
pub const FROM: u32 = 0;
/// Offset of the address to which they go.
pub const TO: u32 = 4;
/// Offset of the word whose writing moves so many, a shared memory full at most, after the end of each array that has
/// some of them.
pub const MOVE: u32 = 8;
/// The window on the shared memory of array 0.
pub const WINDOW: u32 = 0x0010_0000;
/// From one window to the next.
pub const WINDOW_BYTES: u32 = 0x0001_0000;
