//! The words of `scruff hook`, and what clients' events come down to.

/// What an event is about, whatever the client calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The client wants a checkout.
    Create,
    /// The client wants a checkout gone.
    Remove,
    /// A session has begun, or goes on.
    Start,
    /// A session has ended.
    End,
    /// A turn begins.
    Prompt,
    /// A tool has run.
    Tool,
    /// The client asks its user for permission.
    Ask,
    /// The client has something to say; its type says what.
    Notification,
    /// A turn has ended.
    Done,
    /// A turn has ended with an error.
    Failed,
    /// The user has cut a turn short.
    Interrupt,
    /// A sub-agent has ended.
    AgentEnd,
    /// Nothing that matters here.
    Other,
}

/// The words that clients are told to call, besides their own names for events.
pub const WORDS: [&str; 6] = ["create", "remove", "notify", "session-start", "session-end", "prompt"];

/// The clients' own names: Claude's and Codex's, which are alike, then Gemini's.
const EVENTS: [(&str, Kind); 44] = [
    ("WorktreeCreate", Kind::Create),
    ("WorktreeRemove", Kind::Remove),
    ("SessionStart", Kind::Start),
    ("SessionEnd", Kind::End),
    ("UserPromptSubmit", Kind::Prompt),
    ("PostToolUse", Kind::Tool),
    ("PostToolUseFailure", Kind::Tool),
    ("PermissionRequest", Kind::Ask),
    ("Notification", Kind::Notification),
    ("Stop", Kind::Done),
    ("StopFailure", Kind::Failed),
    ("Interrupt", Kind::Interrupt),
    ("SubagentStop", Kind::AgentEnd),
    ("agent-turn-complete", Kind::Done),
    ("ConfigChange", Kind::Other),
    ("CwdChanged", Kind::Other),
    ("DirectoryAdded", Kind::Other),
    ("Elicitation", Kind::Other),
    ("ElicitationResult", Kind::Other),
    ("FileChanged", Kind::Other),
    ("InstructionsLoaded", Kind::Other),
    ("MessageDisplay", Kind::Other),
    ("PermissionDenied", Kind::Other),
    ("PostCompact", Kind::Other),
    ("PostModelSwitch", Kind::Other),
    ("PostToolBatch", Kind::Other),
    ("PreCompact", Kind::Other),
    ("PreModelSwitch", Kind::Other),
    ("PreSkillShellCommand", Kind::Other),
    ("PreToolUse", Kind::Other),
    ("Setup", Kind::Other),
    ("SubagentStart", Kind::Other),
    ("TaskCompleted", Kind::Other),
    ("TaskCreated", Kind::Other),
    ("TeammateIdle", Kind::Other),
    ("UserPromptExpansion", Kind::Other),
    ("BeforeAgent", Kind::Prompt),
    ("AfterTool", Kind::Tool),
    ("AfterAgent", Kind::Done),
    ("AfterModel", Kind::Other),
    ("BeforeModel", Kind::Other),
    ("BeforeTool", Kind::Other),
    ("BeforeToolSelection", Kind::Other),
    ("PreCompress", Kind::Other),
];

/// What a client's own name for an event means; `None` for one that no client is known to have.
pub fn named(name: &str) -> Option<Kind> {
    EVENTS.iter().find(|(event, _)| *event == name).map(|(_, kind)| *kind)
}

/// What a word means. `Some(None)`: the payload says.
pub fn word(word: &str) -> Option<Option<Kind>> {
    match word {
        "create" => Some(Some(Kind::Create)),
        "remove" => Some(Some(Kind::Remove)),
        "notify" => Some(None),
        "session-start" => Some(Some(Kind::Start)),
        "session-end" => Some(Some(Kind::End)),
        "prompt" => Some(Some(Kind::Prompt)),
        event => named(event).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_and_every_event_is_a_word() {
        assert!(WORDS.iter().all(|text| word(text).is_some()));
        assert!(EVENTS.iter().all(|(event, kind)| word(event) == Some(Some(*kind))));
        assert_eq!(word("stop"), None);
        assert_eq!(word(""), None);
    }
}
