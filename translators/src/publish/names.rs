//! Names of a contract's types in other languages.

/// The name in Pascal case: `tool.file_read` becomes `ToolFileRead`.
pub fn pascal(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .filter_map(|word| {
            let mut letters = word.chars();
            letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str())
        })
        .collect()
}

/// The type of all events of a contract: `FramesV2Event`.
pub fn of_contract(contract: &str) -> String {
    pascal(contract) + "Event"
}

/// The type of one kind of event: `ToolStartedEvent`.
pub fn of_kind(kind: &str) -> String {
    let name = pascal(kind);
    if name.ends_with("Event") { name } else { name + "Event" }
}

/// The type of a definition within a schema.
pub fn of_definition(kind: &str, definition: &str) -> String {
    of_kind(kind) + &pascal(definition)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_pascal_case() {
        assert_eq!(of_contract("agent-manager.v1"), "AgentManagerV1Event");
        assert_eq!(of_kind("tool.file_read.completed"), "ToolFileReadCompletedEvent");
        assert_eq!(of_kind("provider_event"), "ProviderEvent");
        assert_eq!(of_definition("tool_result", "output item"), "ToolResultEventOutputItem");
    }
}
