//! Target-neutral transforms.
