//! Where each value lives.

mod remark;

pub use remark::{Remark, RemarkKind};
