//! What outlives the hook: activity, marks, sessions.

use super::client::{Client, files};
use crate::world::World;
use serde_json::json;
use std::time::{Duration, SystemTime};

/// Without trill, desktop and multiplexer: only what is written down is of interest.
fn world() -> World {
    let world = World::new();
    world.file(world.config_file(), "[notify]\nbackends = []\n");
    world
}

fn age(file: std::path::PathBuf, age: Duration) {
    std::fs::File::open(file).unwrap().set_modified(SystemTime::now() - age).unwrap();
}

#[test]
fn a_turn_is_followed_from_its_prompt_to_its_end() {
    let world = world();
    let client = Client::in_lane(&world, "fix");
    assert_eq!(client.activity(), None);
    client.says("SessionStart");
    assert_eq!(client.activity(), None);
    let turn = |event: &str, id: &str| client.says_with(event, json!({"prompt_id": id}));
    turn("UserPromptSubmit", "p-1");
    client.does("working");
    turn("PermissionRequest", "p-1");
    client.does("waiting");
    assert_eq!(world.asks(), ["scruff.shop.fix"]);
    turn("PostToolUse", "p-1");
    client.does("working");
    assert!(world.asks().is_empty() && world.state().join("asks").is_dir());
    turn("Stop", "p-1");
    client.does("done");
    turn("PostToolUse", "p-1");
    client.does("done");
    turn("PostToolUse", "p-2");
    client.does("working");
    turn("Stop", "p-2");
    client.notifies("idle_prompt");
    client.does("done");
    assert_eq!(world.asks(), ["scruff.shop.fix"]);
    client.says_with("SessionEnd", json!({"reason": "prompt_input_exit"}));
    assert_eq!(client.activity(), None);
    for directory in ["asks", "asking", "ended", "waits", "sessions/by-session"] {
        assert!(files(&world.state().join(directory)).is_empty(), "{directory}");
    }
}

#[test]
fn background_agents_are_waited_for_for_an_hour() {
    let world = world();
    let client = Client::in_lane(&world, "fix");
    client.says_with("Stop", json!({"background_tasks": [{"type": "workflow", "status": "running"}]}));
    client.does("working");
    assert_eq!(files(&world.state().join("waits")), ["scruff.shop.fix"]);
    client.notifies("idle_prompt");
    assert!(world.asks().is_empty());
    age(world.state().join("waits/scruff.shop.fix"), Duration::from_secs(3700));
    client.notifies("idle_prompt");
    assert_eq!(world.asks(), ["scruff.shop.fix"]);
    assert!(files(&world.state().join("waits")).is_empty());
}

#[test]
fn what_a_client_inside_a_client_says_is_not_the_lanes() {
    let world = world();
    let client = Client::in_lane(&world, "fix");
    client.says_with("SessionStart", json!({"source": "startup"}));
    client.says("UserPromptSubmit");
    client.does("working");
    let nested = Client::at(&world, &client.cwd, "nested");
    for event in ["SessionStart", "UserPromptSubmit", "PermissionRequest", "Stop", "SessionEnd"] {
        nested.says(event);
        client.does("working");
    }
    let printing = Client::at(&world, &client.cwd, "printing").with("CLAUDE_CODE_SESSION_ATTENDED", "0");
    let sdk = Client::at(&world, &client.cwd, "sdk").with("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
    for client in [printing, sdk] {
        client.says("PermissionRequest");
        client.does("working");
    }
    assert!(world.asks().is_empty());
    assert_eq!(
        std::fs::read_to_string(world.state().join("sessions/by-lane").join(client.lane_id())).unwrap(),
        client.session
    );
}

#[test]
fn an_unattended_run_is_recorded_only_where_nobody_sits() {
    let world = world();
    let bound = |client: &Client| {
        std::fs::read_to_string(world.state().join("sessions/by-lane").join(client.lane_id())).unwrap()
    };
    let printing = Client::in_lane(&world, "fix").with("CLAUDE_CODE_SESSION_ATTENDED", "0");
    printing.says("SessionStart");
    printing.says("Stop");
    assert_eq!((printing.activity(), bound(&printing)), (None, printing.session.clone()));
    let person = Client::at(&world, &printing.cwd, "person");
    person.says("SessionStart");
    person.says("Stop");
    person.does("done");
    assert_eq!(bound(&person), "person");
    printing.says("Stop");
    assert_eq!(bound(&person), "person");
}

#[test]
fn a_lane_goes_on_with_another_conversation_when_its_own_is_over() {
    let world = world();
    let first = Client::in_lane(&world, "fix");
    first.says("SessionStart");
    first.says_with("SessionEnd", json!({"reason": "clear"}));
    let process = world.program("sleep").arg("600").start();
    let second = Client::at(&world, &first.cwd, "second").with("CLAUDE_PID", &process.pid().to_string());
    second.says_with("SessionStart", json!({"source": "clear"}));
    second.says("PermissionRequest");
    second.does("waiting");
    let third = Client::at(&world, &first.cwd, "third");
    third.says("Stop");
    third.does("waiting");
    // A client that is killed says nothing.
    process.kill();
    third.says("Stop");
    third.does("done");
}

#[test]
fn a_conversation_that_is_resumed_from_elsewhere_does_not_move_a_lane() {
    let world = world();
    let client = Client::in_lane(&world, "fix");
    let other = Client::at(&world, &client.cwd, "other");
    other.says_with("SessionStart", json!({"source": "resume"}));
    assert!(!world.state().join("sessions/by-lane").join(client.lane_id()).exists());
    other.says("UserPromptSubmit");
    assert!(world.state().join("sessions/by-lane").join(client.lane_id()).exists());
}

#[test]
fn a_client_that_walks_off_still_belongs_to_its_lane() {
    let world = world();
    let client = Client::in_lane(&world, "fix");
    client.says("UserPromptSubmit");
    let away = Client::at(&world, &world.home(), &client.session);
    away.says("PermissionRequest");
    client.does("waiting");
    assert_eq!(world.asks(), ["scruff.shop.fix"]);
    let gone = Client::at(&world, &client.cwd.join("no/such/dir"), &client.session);
    gone.says("UserPromptSubmit");
    client.does("working");
    let lane = Client::in_lane(&world, "two");
    lane.says("SessionStart");
    // Stepping into a lane that another one has doesn't make it theirs.
    Client::at(&world, &lane.cwd, &client.session).says("PermissionRequest");
    client.does("waiting");
    assert_eq!(lane.activity(), None);
}

#[test]
fn a_sub_agent_in_a_lane_of_its_own_asks_for_its_conversations_lane() {
    let world = world();
    let client = Client::in_lane(&world, "fix");
    client.says("UserPromptSubmit");
    let own = Client::in_lane(&world, "agent-a1");
    let agent = Client::at(&world, &own.cwd, &client.session);
    agent.says_with("PermissionRequest", json!({"agent_id": "a1"}));
    client.does("waiting");
    assert_eq!((own.activity(), world.asks()), (None, vec!["scruff.shop.fix".to_owned()]));
    agent.says_with("PostToolUse", json!({"agent_id": "a1"}));
    client.does("working");
}

#[test]
fn twenty_hooks_of_one_conversation_at_once_lose_nothing() {
    let world = world();
    let client = Client::in_lane(&world, "fix");
    client.says("UserPromptSubmit");
    let agent = |number: usize| json!({"agent_id": format!("a{number}")});
    let all = |event: &str| {
        let running: Vec<_> = (0..20).map(|number| client.call(event, agent(number)).start()).collect();
        for hook in running {
            hook.finish().ok().silent();
        }
    };
    all("PermissionRequest");
    client.does("waiting");
    let asking = std::fs::read_to_string(world.state().join("asking").join(&client.session)).unwrap();
    assert_eq!(asking.lines().count(), 20, "{asking}");
    all("PostToolUse");
    client.does("working");
    assert!(world.asks().is_empty() && files(&world.state().join("asking")).is_empty());
}
