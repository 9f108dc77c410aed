//! The allocator of the program.

/// jemalloc, or the system's allocator in a build without the feature.
#[cfg(feature = "jemalloc")]
pub type Allocator = tikv_jemallocator::Jemalloc;

/// Its value, for `#[global_allocator]`.
#[cfg(feature = "jemalloc")]
pub const ALLOCATOR: Allocator = tikv_jemallocator::Jemalloc;

/// jemalloc, or the system's allocator in a build without the feature.
#[cfg(not(feature = "jemalloc"))]
pub type Allocator = std::alloc::System;

/// Its value, for `#[global_allocator]`.
#[cfg(not(feature = "jemalloc"))]
pub const ALLOCATOR: Allocator = std::alloc::System;
