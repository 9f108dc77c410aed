//! A contract's schemas for authors of clients: in one document, and as TypeScript.
//!
//! Input: a contract. Output: text derived only from its schema files. Never: a statement that the schemas do not make, or a
//! keyword that is silently ignored.

mod bundle;
mod document;
pub mod names;
mod typescript;

pub use bundle::{bundle, bundle_id, schema_id};
pub use document::document_of;
pub use typescript::{Unsupported, typescript};
