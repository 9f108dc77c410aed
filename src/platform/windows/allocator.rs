//! The allocator of the program.

/// The system's allocator; jemalloc is not compiled for Windows.
pub type Allocator = std::alloc::System;

/// Its value, for `#[global_allocator]`.
pub const ALLOCATOR: Allocator = std::alloc::System;
