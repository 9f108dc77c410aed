//! The gate for live streams: checks each event against its schema, as `[gate] mode` says.
//!
//! Input: events on their way to a view. Output: events for the view, and the violations found. Never: an event checked in mode
//! `off`, or different events for two readers of one view.

use crate::config::GateMode;
use framegate_translators::contracts::{CONTRACTS, Contract};
use framegate_translators::encode::EventRef;
use framegate_translators::frame::Frame;
use framegate_translators::gate::{self, Verdict};
use framegate_translators::schema::Schemas;
use std::collections::HashMap;

/// The mode, and the compiled schemas of every contract that has schemas.
pub struct Gate {
    mode: GateMode,
    schemas: HashMap<&'static str, Schemas>,
}

impl Gate {
    /// Creates a gate for all contracts.
    ///
    /// # Errors
    /// A built-in schema does not compile; the tests rule this out.
    pub fn new(mode: GateMode) -> Result<Self, String> {
        Self::over(mode, CONTRACTS.iter())
    }

    /// Creates a gate for the events of one contract.
    ///
    /// # Errors
    /// See [`Gate::new`].
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

    /// A gate for one contract with schemas from a test. With the built-in schemas, no encoder's event would be withheld.
    #[cfg(test)]
    pub(crate) fn with_schemas(mode: GateMode, contract: &Contract, schemas: Schemas) -> Self {
        Self { mode, schemas: HashMap::from([(contract.name, schemas)]) }
    }

    /// The compiled schemas of a contract; `None` if its events are not checked.
    pub fn schemas_of(&self, contract: &Contract) -> Option<&Schemas> {
        self.schemas.get(contract.name)
    }

    /// The gate for the events of a contract; `None` if they are not checked.
    pub fn of(&self, contract: &'static Contract) -> Option<gate::Gate<'_>> {
        let schemas = self.schemas.get(contract.name)?;
        Some(gate::Gate::new(contract, schemas, self.mode == GateMode::Enforce))
    }
}

/// Passes an event through the gate, or directly to the sink if there is none.
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
