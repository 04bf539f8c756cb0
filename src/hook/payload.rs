//! The one normaliser: what every client sends, in the same few fields. What is missing, null or
//! of another type is absent. The conversation (`message`, `prompt`, `last_assistant_message`) is
//! never taken out of the payload.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::event::{self, Kind};
use super::json;
use crate::session::SessionId;

/// Members whose text is kept, by the names that clients have given them.
const KEPT: [&str; 19] = [
    "hook_event_name",
    "type",
    "session_id",
    "thread-id",
    "cwd",
    "prompt_id",
    "turn_id",
    "turn-id",
    "agent_id",
    "notification_type",
    "source",
    "reason",
    "client",
    "agent",
    "name",
    "worktree_name",
    "base_path",
    "worktree_path",
    "path",
];

const EVENT: [&str; 2] = ["hook_event_name", "type"];
const SESSION: [&str; 2] = ["session_id", "thread-id"];
const TURN: [&str; 3] = ["prompt_id", "turn_id", "turn-id"];
const CLIENT: [&str; 2] = ["client", "agent"];
const NAME: [&str; 2] = ["name", "worktree_name"];
const BASE: [&str; 2] = ["base_path", "cwd"];
const PATH: [&str; 2] = ["worktree_path", "path"];

/// A text longer than this is none of the kept ones, in bytes.
const MAX_TEXT: usize = 8 << 10;

/// How many names of members are kept for an error message.
const MAX_KEYS: usize = 40;

/// What a prompt begins with that no human wrote: Claude tells itself so that a task has ended.
const HARNESS: &[u8] = b"\"<task-notification>";

/// Background tasks that go on with the work while the main thread rests.
const AGENTS: [&str; 4] = ["subagent", "local_agent", "workflow", "local_workflow"];
const IN_FLIGHT: [&str; 2] = ["running", "pending"];

/// A payload, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    texts: Vec<(&'static str, Vec<u8>)>,
    keys: Vec<String>,
    /// Whether the turn goes on because a stop hook said so.
    pub stop_hook_active: bool,
    /// Whether background agents still work.
    pub in_flight: bool,
    /// Whether the prompt is one that the client wrote to itself.
    pub by_harness: bool,
}

impl Payload {
    /// Takes a payload apart. Whatever the bytes are, the result is what can be used of them.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut payload = Payload::default();
        for (name, value) in json::members(bytes) {
            payload.take(name, value);
        }
        payload
    }

    fn take(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"stop_hook_active" => self.stop_hook_active = value == b"true",
            b"background_tasks" => self.in_flight = json::items(value).any(works),
            b"prompt" => self.by_harness = value.starts_with(HARNESS),
            _ => {
                let kept = KEPT.into_iter().find(|kept| kept.as_bytes() == name);
                let text = kept.filter(|_| value.len() <= MAX_TEXT).and_then(|_| json::string(value));
                self.texts.extend(kept.zip(text.filter(|text| !text.is_empty())));
            }
        }
        if self.keys.len() < MAX_KEYS && name.len() <= 100 {
            self.keys.push(String::from_utf8_lossy(name).into_owned());
        }
    }

    /// The first of these members that is there and not empty.
    fn first(&self, aliases: &[&'static str]) -> Option<&[u8]> {
        aliases.iter().find_map(|alias| self.get(alias))
    }

    /// Logs under which name a member came that clients have renamed before, for the next time.
    fn log(&self, aliases: &[&'static str]) {
        let fired = aliases.iter().find(|alias| self.get(alias).is_some());
        tracing::info!(?fired, among = ?aliases, "payload");
    }

    fn get(&self, name: &str) -> Option<&[u8]> {
        self.texts.iter().rev().find(|(kept, _)| *kept == name).map(|(_, text)| text.as_slice())
    }

    fn text(&self, aliases: &[&'static str]) -> Option<String> {
        self.first(aliases).map(|text| String::from_utf8_lossy(text).into_owned())
    }

    fn path_of(&self, aliases: &[&'static str]) -> Option<PathBuf> {
        self.first(aliases).map(|text| OsString::from_vec(text.to_owned()).into())
    }

    /// What the payload itself says it is about.
    pub fn kind(&self) -> Kind {
        self.text(&EVENT).and_then(|name| event::named(&name)).unwrap_or(Kind::Other)
    }

    /// The client's conversation.
    pub fn session(&self) -> Option<SessionId> {
        self.text(&SESSION).and_then(|text| SessionId::parse(&text))
    }

    /// Where the client stands.
    pub fn cwd(&self) -> Option<PathBuf> {
        self.path_of(&["cwd"]).filter(|path| path.is_absolute())
    }

    /// Which turn this belongs to.
    pub fn turn(&self) -> Option<String> {
        self.text(&TURN)
    }

    /// The sub-agent from inside of which this comes.
    pub fn agent(&self) -> Option<String> {
        self.text(&["agent_id"])
    }

    /// What a notification is about.
    pub fn notification(&self) -> Option<String> {
        self.text(&["notification_type"])
    }

    /// Why a session has begun.
    pub fn source(&self) -> Option<String> {
        self.text(&["source"])
    }

    /// Why a session has ended.
    pub fn reason(&self) -> Option<String> {
        self.text(&["reason"])
    }

    /// The client's name for itself.
    pub fn client(&self) -> Option<String> {
        self.text(&CLIENT)
    }

    /// The name of the checkout that is wanted.
    pub fn name(&self) -> Option<String> {
        self.log(&NAME);
        self.text(&NAME)
    }

    /// The directory that the checkout is wanted from.
    pub fn base(&self) -> Option<PathBuf> {
        self.log(&BASE);
        self.path_of(&BASE)
    }

    /// The checkout that is to go.
    pub fn path(&self) -> Option<PathBuf> {
        self.log(&PATH);
        self.path_of(&PATH)
    }

    /// The names of the members received, for an error message.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }
}

/// Whether a background task goes on with the work. Both lists are of what is known to: a shell,
/// a monitor, an unknown word do not count.
fn works(task: &[u8]) -> bool {
    let says = |wanted: &str, words: &[&str]| {
        let member = json::members(task).find(|(name, _)| *name == wanted.as_bytes());
        let text = member.and_then(|(_, value)| json::string(value)).unwrap_or_default();
        words.iter().any(|word| word.as_bytes() == text)
    };
    says("type", &AGENTS) && says("status", &IN_FLIGHT)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Payload {
        Payload::parse(text.as_bytes())
    }

    #[test]
    fn claude_codex_and_gemini_come_to_the_same() {
        let claude = parse(
            r#"{"session_id":"7d0c","prompt_id":"p-31","cwd":"/l/pears","hook_event_name":"Stop",
            "stop_hook_active":false,"last_assistant_message":"x","background_tasks":[],"session_crons":[]}"#,
        );
        let codex = parse(
            r#"{"type":"agent-turn-complete","thread-id":"7d0c","turn-id":"p-31","cwd":"/l/pears",
            "client":"codex-tui","input-messages":["prune it"],"last-assistant-message":"Pruned."}"#,
        );
        let gemini = parse(
            r#"{"session_id":"7d0c","cwd":"/l/pears","hook_event_name":"AfterAgent","prompt":"x",
            "timestamp":"2026-10-02T09:15:00.000Z","prompt_response":"Pruned.","stop_hook_active":false}"#,
        );
        for payload in [&claude, &codex, &gemini] {
            assert_eq!(payload.kind(), Kind::Done);
            assert_eq!(payload.session().unwrap().as_str(), "7d0c");
            assert_eq!(payload.cwd().unwrap(), PathBuf::from("/l/pears"));
            assert!(!payload.in_flight && !payload.stop_hook_active);
        }
        assert_eq!(
            (claude.turn(), codex.turn(), gemini.turn()),
            (Some("p-31".into()), Some("p-31".into()), None)
        );
    }

    #[test]
    fn only_agents_that_run_are_in_flight() {
        let tasks = |tasks: &str| parse(&format!("{{\"background_tasks\":{tasks}}}")).in_flight;
        assert!(tasks(r#"[{"type":"shell","status":"running"},{"status":"running","type":"subagent"}]"#));
        assert!(tasks(r#"[{"type":"local_workflow","status":"pending"}]"#));
        assert!(!tasks(r#"[{"type":"shell","status":"running"},{"type":"monitor","status":"running"}]"#));
        assert!(!tasks(
            r#"[{"type":"subagent","status":"completed"},{"type":"teammate","status":"running"}]"#
        ));
        for other in
            ["null", "[]", "{}", "3", "\"subagent running\"", "[null,3,[\"subagent\"],{}]", "[{\"type\":3}]"]
        {
            assert!(!tasks(other), "{other}");
        }
    }

    #[test]
    fn a_field_of_another_type_is_absent_and_costs_only_itself() {
        for other in ["null", "3", "1e400", "true", "[\"x\"]", "{\"x\":1}", "\"\"", "\"\\ud83d\""] {
            let text = format!(
                "{{\"agent_id\":{other},\"cwd\":{other},\"hook_event_name\":\"Stop\",\"session_id\":\"s\"}}"
            );
            let payload = parse(&text);
            assert_eq!((payload.kind(), payload.cwd()), (Kind::Done, None), "{other}");
            assert_eq!(payload.session().unwrap().as_str(), "s", "{other}");
        }
        assert!(!parse(r#"{"stop_hook_active":"true"}"#).stop_hook_active);
    }

    #[test]
    fn the_first_alias_that_says_something_wins() {
        let payload = parse(r#"{"path":"/b","worktree_path":"","worktree_name":"w","name":null,"cwd":"/c"}"#);
        assert_eq!(payload.path().unwrap(), PathBuf::from("/b"));
        assert_eq!(payload.name().unwrap(), "w");
        assert_eq!(payload.base().unwrap(), PathBuf::from("/c"));
        assert_eq!(payload.keys(), ["path", "worktree_path", "worktree_name", "name", "cwd"]);
    }

    #[test]
    fn a_directory_keeps_its_bytes() {
        let payload = Payload::parse(b"{\"cwd\":\"/l/\xff\",\"hook_event_name\":\"Stop\"}");
        assert_eq!(payload.cwd().unwrap().into_os_string().into_vec(), b"/l/\xff");
    }

    #[test]
    fn a_prompt_of_the_clients_own_is_told_from_a_humans() {
        assert!(parse(r#"{"prompt":"<task-notification>\n<task-id>x"}"#).by_harness);
        assert!(!parse(r#"{"prompt":"what is a <task-notification>?"}"#).by_harness);
    }

    #[test]
    fn nothing_of_a_conversation_is_kept() {
        let text = r#"{"message":"SECRET","prompt":"SECRET","last_assistant_message":"SECRET",
            "prompt_response":"SECRET","input-messages":["SECRET"],"tool_input":{"command":"SECRET"},
            "session_id":"s","title":"SECRET","details":{"command":"SECRET"}}"#;
        assert!(!format!("{:?}", parse(text)).contains("SECRET"));
    }

    const NAMES: [&str; 24] = [
        "hook_event_name",
        "type",
        "session_id",
        "thread-id",
        "cwd",
        "prompt_id",
        "turn_id",
        "agent_id",
        "notification_type",
        "source",
        "reason",
        "client",
        "name",
        "worktree_name",
        "base_path",
        "worktree_path",
        "path",
        "stop_hook_active",
        "background_tasks",
        "prompt",
        "message",
        "last_assistant_message",
        "tool_response",
        "unheard_of",
    ];

    fn value() -> impl Strategy<Value = String> {
        let text =
            prop_oneof![Just("Stop".to_owned()), Just("PostToolUse".to_owned()), "\\PC{0,20}", ".{0,20}"];
        let text = text.prop_map(|text| serde_json::to_string(&text).unwrap());
        let odd = prop::sample::select(vec![
            "null",
            "true",
            "false",
            "0",
            "-1e400",
            "[]",
            "{}",
            "[[[[]]]]",
            "\"\\ud800\"",
            "\"open",
            "{\"a\":",
            "nul",
        ]);
        let task = r#"\[\{"type":"(subagent|shell|x)","status":"(running|done)"\}\]"#;
        prop_oneof![3 => text, 2 => odd.prop_map(str::to_owned), 1 => task]
    }

    proptest! {
        #[test]
        fn whatever_clients_send_comes_to_something_safe(
            members in prop::collection::vec((prop::sample::select(NAMES.to_vec()), value()), 0..12),
            cut in any::<prop::sample::Index>(),
            noise in prop::collection::vec(any::<u8>(), 0..8),
        ) {
            let members: Vec<String> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
            let mut text = format!("{{{}}}", members.join(",")).into_bytes();
            let at = cut.index(text.len());
            text.splice(at..at, noise);
            for payload in [Payload::parse(&text), Payload::parse(&text[..at])] {
                let session = payload.session();
                let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
                prop_assert!(session.is_none_or(|id| id.as_str().bytes().all(safe)));
                prop_assert!(payload.cwd().is_none_or(|cwd| cwd.is_absolute()));
                let _ = (payload.kind(), payload.turn(), payload.agent(), payload.path(), payload.base());
            }
        }
    }
}
