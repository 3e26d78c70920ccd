//! What a host says of a launch.

/// What is launched.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The name of the kernel.
    pub kernel: &'a str,
    /// Blocks of the grid along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared: u32,
    /// The parameters as they lie in memory.
    pub params: &'a [u8],
}
