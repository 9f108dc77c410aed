//! Takes the place of the full validator in a build without the feature `validation`: no schema compiles.

use super::Violation;
use serde_json::Value;
use std::convert::Infallible;
use std::marker::PhantomData;

const ABSENT: &str = "this build has no schema validator (feature `validation` of framegate-translators)";

/// Collects nothing.
pub(super) struct Registry;

impl Registry {
    pub(super) fn of(_: &mut dyn Iterator<Item = (&str, &Value)>) -> Result<Self, String> {
        Ok(Self)
    }

    pub(super) fn compile(&self, _: &Value) -> Result<Validator, String> {
        Err(ABSENT.to_owned())
    }
}

/// Cannot be constructed.
#[derive(Clone, Debug)]
pub(crate) struct Validator(Infallible);

impl Validator {
    pub(crate) fn is_valid(&self, _: &Value) -> bool {
        match self.0 {}
    }

    pub(crate) fn errors<'v>(&'v self, _: &'v Value) -> Vec<ValidationError<'v>> {
        match self.0 {}
    }
}

/// Cannot be constructed.
pub(crate) struct ValidationError<'v>(pub(crate) Infallible, PhantomData<&'v Value>);

pub(crate) fn violations<'e>(errors: impl IntoIterator<Item = ValidationError<'e>>) -> Vec<Violation> {
    errors.into_iter().map(|error| match error.0 {}).collect()
}

pub(crate) fn compile_foreign(_: &str) -> Result<Validator, String> {
    Err(ABSENT.to_owned())
}
