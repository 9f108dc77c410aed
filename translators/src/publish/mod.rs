//! What a contract shows to those who write clients of it: its schemas in one document, and as TypeScript.
//!
//! In: a contract. Out: text that is a function of its schema files alone. Never: a statement that the schemas do not make,
//! a keyword passed over in silence.

mod bundle;
mod names;
mod typescript;

pub use bundle::{bundle, bundle_id, schema_id};
pub use typescript::{Unsupported, typescript};
