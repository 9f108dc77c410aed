//! The gate of live streams: each event against its schema, as `[gate] mode` says.
//!
//! In: events on their way to a view. Out: events for the view, and what was wrong. Never: an event checked where the mode is
//! `off`; different events for two readers of one view.

use crate::config::GateMode;
use framegate_translators::contracts::{CONTRACTS, Contract};
use framegate_translators::encode::EventRef;
use framegate_translators::frame::Frame;
use framegate_translators::gate::{self, Verdict};
use framegate_translators::schema::Schemas;
use std::collections::HashMap;

/// The mode, and the compiled schemas of every contract that has some.
pub struct Gate {
    mode: GateMode,
    schemas: HashMap<&'static str, Schemas>,
}

impl Gate {
    /// A gate of that mode.
    ///
    /// # Errors
    /// A built-in schema that does not compile, which the tests rule out.
    pub fn new(mode: GateMode) -> Result<Self, String> {
        Self::over(mode, CONTRACTS.iter())
    }

    /// A gate for the events of one contract.
    ///
    /// # Errors
    /// As [`Gate::new`].
    pub fn only(mode: GateMode, contract: &'static Contract) -> Result<Self, String> {
        Self::over(mode, std::iter::once(contract))
    }

    fn over(mode: GateMode, contracts: impl Iterator<Item = &'static Contract>) -> Result<Self, String> {
        let checked = contracts.filter(|contract| mode != GateMode::Off && !contract.schemas.is_empty());
        let schemas = checked
            .map(|contract| Schemas::compile(contract.schemas).map(|schemas| (contract.name, schemas)))
            .collect::<Result<_, _>>()?;
        Ok(Self { mode, schemas })
    }

    /// A gate for one contract with schemas of the test's own: encoders give no reason to withhold anything.
    #[cfg(test)]
    pub(crate) fn with_schemas(mode: GateMode, contract: &Contract, schemas: Schemas) -> Self {
        Self { mode, schemas: HashMap::from([(contract.name, schemas)]) }
    }

    /// What passes the events of a contract; `None` where they are not checked.
    pub fn of(&self, contract: &'static Contract) -> Option<gate::Gate<'_>> {
        let schemas = self.schemas.get(contract.name)?;
        Some(gate::Gate::new(contract, schemas, self.mode == GateMode::Enforce))
    }
}

/// Passes an event of a contract that is checked, or is not.
pub fn pass(
    gate: Option<&gate::Gate<'_>>,
    frame: &Frame,
    event: EventRef<'_>,
    sink: &mut dyn FnMut(EventRef<'_>),
) -> Verdict {
    match gate {
        Some(gate) => gate.pass(frame, event, sink),
        None => {
            sink(event);
            Verdict::Kept
        }
    }
}
