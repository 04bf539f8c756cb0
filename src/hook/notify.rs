//! From a client's event to what it means: the table of the manual.

use super::event::Kind;
use super::payload::Payload;
use crate::config::Idle;
use crate::notify::turn::Event;

/// Notifications that ask nothing.
const NO_QUESTION: [&str; 4] =
    ["auth_success", "agent_completed", "elicitation_complete", "elicitation_response"];

/// Word that nothing has happened for a while.
const IDLE: &str = "idle_prompt";

/// Why a session ends that goes on as another one.
const GOES_ON: [&str; 2] = ["clear", "resume"];

/// What an event means for its lane; `None` where it means nothing.
pub(super) fn event(kind: Kind, payload: &Payload, idle: Idle) -> Option<Event> {
    if let Some(agent) = payload.agent() {
        return match kind {
            Kind::Ask => Some(Event::Asks(Some(agent))),
            Kind::Tool | Kind::AgentEnd | Kind::Failed => Some(Event::AgentGoesOn(agent)),
            _ => None,
        };
    }
    match kind {
        Kind::Ask => Some(Event::Asks(None)),
        Kind::Notification => notification(payload, idle),
        Kind::Done if payload.stop_hook_active => None,
        Kind::Done => Some(Event::Stops { in_flight: payload.in_flight }),
        Kind::Failed => Some(Event::Fails),
        Kind::Prompt => Some(Event::Begins { by_harness: payload.by_harness }),
        Kind::Tool => Some(Event::Works),
        Kind::Interrupt => Some(Event::Interrupted),
        Kind::End => {
            let goes_on = payload.reason().is_some_and(|reason| GOES_ON.contains(&reason.as_str()));
            Some(Event::Ends { goes_on })
        }
        Kind::Start | Kind::AgentEnd | Kind::Create | Kind::Remove | Kind::Other => None,
    }
}

fn notification(payload: &Payload, idle: Idle) -> Option<Event> {
    match payload.notification().as_deref() {
        Some(IDLE) => (idle == Idle::Ask).then_some(Event::Idles),
        Some(word) if NO_QUESTION.contains(&word) => None,
        _ => Some(Event::Reminds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Event> {
        let payload = Payload::parse(text.as_bytes());
        event(payload.kind(), &payload, Idle::Ask)
    }

    fn notification(word: &str) -> Option<Event> {
        of(&format!(r#"{{"hook_event_name":"Notification","notification_type":"{word}"}}"#))
    }

    #[test]
    fn only_questions_among_the_notifications_ask() {
        for word in
            ["permission_prompt", "elicitation_dialog", "agent_needs_input", "ToolPermission", "new", ""]
        {
            assert_eq!(notification(word), Some(Event::Reminds), "{word}");
        }
        assert_eq!(of(r#"{"hook_event_name":"Notification"}"#), Some(Event::Reminds));
        assert!(NO_QUESTION.iter().all(|word| notification(word).is_none()));
        assert_eq!(notification("idle_prompt"), Some(Event::Idles));
        let idle = Payload::parse(br#"{"hook_event_name":"Notification","notification_type":"idle_prompt"}"#);
        assert_eq!(event(idle.kind(), &idle, Idle::Ignore), None);
    }

    #[test]
    fn a_stop_that_goes_on_means_nothing() {
        assert_eq!(of(r#"{"hook_event_name":"Stop","stop_hook_active":true}"#), None);
        assert_eq!(
            of(r#"{"hook_event_name":"AfterAgent","stop_hook_active":false}"#),
            Some(Event::Stops { in_flight: false })
        );
    }

    #[test]
    fn from_inside_a_sub_agent_only_a_question_and_its_answer_count() {
        let agent = |name: &str| of(&format!(r#"{{"hook_event_name":"{name}","agent_id":"a"}}"#));
        assert_eq!(agent("PermissionRequest"), Some(Event::Asks(Some("a".to_owned()))));
        for name in ["PostToolUse", "PostToolUseFailure", "SubagentStop", "StopFailure"] {
            assert_eq!(agent(name), Some(Event::AgentGoesOn("a".to_owned())), "{name}");
        }
        for name in ["Stop", "UserPromptSubmit", "Notification", "SessionEnd", "Interrupt"] {
            assert_eq!(agent(name), None, "{name}");
        }
    }
}
