//! Banners by trill: a stand-in writes down how it is called.

use super::client::{Client, files};
use crate::world::{World, wait};
use serde_json::json;
use std::path::PathBuf;

const FAKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fakes/trill");

impl World {
    /// A world in which trill is installed.
    pub fn with_trill() -> Self {
        let world = Self::new();
        std::fs::create_dir(world.root().join("trill")).unwrap();
        std::os::unix::fs::symlink(FAKE, world.bin().join("trill")).unwrap();
        world
    }

    /// The arguments of every call of trill so far.
    pub fn trills(&self) -> Vec<Vec<String>> {
        let calls = (1..).map(|n: u32| self.root().join("trill").join(n.to_string()));
        let done = calls.take_while(|call| call.join("ready").exists());
        done.map(|call| {
            let bytes = std::fs::read(call.join("args")).unwrap();
            let text = String::from_utf8(bytes).unwrap();
            text.strip_suffix('\0').unwrap_or_default().split('\0').map(str::to_owned).collect()
        })
        .collect()
    }

    #[track_caller]
    fn wait_for_trills(&self, n: usize) -> Vec<Vec<String>> {
        let last = || format!("{:#?}\n{}", self.trills(), self.notify_report());
        wait::until(&format!("{n} calls of trill"), || self.trills().len() >= n, last);
        self.trills()
    }
}

fn send(kind: &str, lane: &str, body: &str, symbol: &str) -> Vec<String> {
    let (key, action) = (format!("scruff/shop/{lane}"), format!("Go to lane=lane:shop/{lane}"));
    let args = [
        "send", "--kind", kind, "--title", lane, "--body", body, "--source", "claude", "--thread", lane,
        "--symbol", symbol, "--key", &key, "--action", &action,
    ];
    args.map(str::to_owned).to_vec()
}

fn ask(lane: &str) -> Vec<String> {
    send("ask", lane, "waiting on you", "questionmark.bubble")
}

fn done(lane: &str) -> Vec<String> {
    send("done", lane, "finished its turn", "checkmark.circle")
}

fn resolve(lane: &str) -> Vec<String> {
    vec!["resolve".to_owned(), format!("scruff/shop/{lane}")]
}

/// What a client says, and whether trill is to be called for it.
type Row = (&'static str, serde_json::Value, Option<fn(&str) -> Vec<String>>);

/// Says all of it, one after the other, each having had its effect before the next.
#[track_caller]
fn play(world: &World, lane: &str, rows: &[Row]) -> Vec<Vec<String>> {
    let client = Client::in_lane(world, lane);
    let before = world.trills().len();
    let mut expected = Vec::new();
    for (event, more, call) in rows {
        client.says_with(event, more.clone());
        expected.extend(call.map(|call| call(lane)));
        world.wait_for_trills(before + expected.len());
    }
    client.says_with("SessionEnd", json!({"reason": "other"}));
    world.wait_until_quiet();
    let mut calls = world.trills().split_off(before);
    if calls.len() > expected.len() {
        // What was still up when the session ended came down with it.
        assert_eq!(calls.pop(), Some(resolve(lane)), "{rows:?}");
    }
    assert_eq!(calls, expected, "{rows:?}");
    calls
}

fn none() -> serde_json::Value {
    json!({})
}

fn tasks(kind: &str, status: &str) -> serde_json::Value {
    json!({"stop_hook_active": false, "background_tasks": [{"id": "t", "type": kind, "status": status}]})
}

fn note(kind: &str) -> serde_json::Value {
    json!({"notification_type": kind})
}

#[test]
fn every_row_of_the_table_of_events() {
    let world = World::with_trill();
    let agent = json!({"agent_id": "a1", "agent_type": "reviewer"});
    let rows: Vec<Vec<Row>> = vec![
        vec![("PermissionRequest", none(), Some(ask))],
        vec![("Notification", note("permission_prompt"), Some(ask))],
        vec![("Notification", note("elicitation_dialog"), Some(ask))],
        vec![("Notification", note("agent_needs_input"), Some(ask))],
        vec![("Notification", note("something_new"), Some(ask)), ("UserPromptSubmit", none(), Some(resolve))],
        vec![("Notification", none(), Some(ask)), ("PostToolUse", none(), Some(resolve))],
        vec![("PermissionRequest", none(), Some(ask)), ("PostToolUseFailure", none(), Some(resolve))],
        vec![("PermissionRequest", none(), Some(ask)), ("Interrupt", none(), Some(resolve))],
        vec![("Stop", none(), Some(done)), ("Notification", note("idle_prompt"), Some(ask))],
        vec![
            ("Stop", tasks("subagent", "running"), None),
            ("Notification", note("idle_prompt"), None),
            ("Stop", tasks("subagent", "completed"), Some(done)),
        ],
        vec![("PermissionRequest", none(), Some(ask)), ("Stop", tasks("local_agent", "pending"), None)],
        vec![("Stop", tasks("shell", "running"), Some(done))],
        vec![("Stop", json!({"background_tasks": null}), Some(done))],
        vec![("Stop", json!({"stop_hook_active": true}), None)],
        vec![("AfterAgent", none(), Some(done))],
        vec![("PermissionRequest", none(), Some(ask)), ("Stop", none(), Some(done))],
        vec![(
            "StopFailure",
            json!({"error": "rate_limit"}),
            Some(|lane| send("done", lane, "its turn failed", "exclamationmark.triangle")),
        )],
        vec![
            ("Notification", note("auth_success"), None),
            ("Notification", note("agent_completed"), None),
            ("Notification", note("elicitation_complete"), None),
            ("Notification", note("elicitation_response"), None),
            ("UserPromptSubmit", none(), None),
            ("PostToolUse", none(), None),
            ("PreToolUse", none(), None),
            ("AnUnheardOfEvent", none(), None),
        ],
        vec![
            ("Stop", agent.clone(), None),
            ("StopFailure", agent.clone(), None),
            ("Notification", agent.clone(), None),
            ("UserPromptSubmit", agent.clone(), None),
            ("SubagentStop", agent.clone(), None),
        ],
        vec![
            ("PermissionRequest", agent.clone(), Some(ask)),
            ("Stop", tasks("subagent", "running"), None),
            ("PostToolUse", none(), None),
            ("PostToolUse", json!({"agent_id": "another"}), None),
            ("PostToolUse", agent.clone(), Some(resolve)),
        ],
        vec![
            ("PermissionRequest", agent.clone(), Some(ask)),
            ("Stop", none(), None),
            ("SubagentStop", agent, Some(resolve)),
        ],
    ];
    for (number, row) in rows.iter().enumerate() {
        play(&world, &format!("lane-{number}"), row);
    }
    assert!(world.asks().is_empty(), "{:?}", world.asks());
}

#[test]
fn codex_tells_its_end_of_turn_by_an_argument() {
    let world = World::with_trill();
    let client = Client::in_lane(&world, "fix");
    let payload = json!({"type": "agent-turn-complete", "thread-id": "t", "turn-id": "12", "cwd": client.cwd,
        "client": "codex-tui", "input-messages": ["SECRET"], "last-assistant-message": "SECRET"});
    let call = world.call(["hook", "notify", "--client", "codex", &payload.to_string()]);
    call.stdin_open().run().ok().silent().calm();
    assert_eq!(world.wait_for_trills(1), [done("fix")]);
    world.wait_until_quiet();
    client.does("done");
}

#[test]
fn idle_may_be_ignored() {
    let world = World::with_trill();
    world.file(world.config_file(), "[notify]\nidle = 'ignore'\n");
    play(&world, "fix", &[("Stop", none(), Some(done)), ("Notification", note("idle_prompt"), None)]);
}

#[test]
fn a_conversation_outside_of_any_lane_has_no_place_to_go_to() {
    let world = World::with_trill();
    let client = Client::at(&world, &world.work().join("home"), "7d0c/x");
    client.says("PermissionRequest");
    let args = [
        "send",
        "--kind",
        "ask",
        "--title",
        "home",
        "--body",
        "waiting on you",
        "--source",
        "claude",
        "--thread",
        "home",
        "--symbol",
        "questionmark.bubble",
        "--key",
        "scruff/session/7d0c-x",
    ];
    assert_eq!(world.wait_for_trills(1), [args.map(str::to_owned).to_vec()]);
    assert_eq!(world.asks(), ["scruff.session.7d0c-x"]);
    client.says("UserPromptSubmit");
    assert_eq!(world.wait_for_trills(2)[1], ["resolve", "scruff/session/7d0c-x"]);
    world.wait_until_quiet();
    assert!(world.asks().is_empty());
}

#[test]
fn a_second_lane_of_the_same_name_has_a_key_of_its_own() {
    let world = World::with_trill();
    Client::in_lane(&world, "fix").says("Stop");
    world.wait_for_trills(1);
    let other = world.repo("other/shop");
    let cwd = PathBuf::from(world.call(["new", "fix"]).cwd(other.path()).run().ok().line());
    let client = Client::at(&world, &cwd, "another");
    client.says("Stop");
    let calls = world.wait_for_trills(2);
    let key = |call: &[String]| call[call.iter().position(|arg| arg == "--key").unwrap() + 1].clone();
    assert_eq!(key(&calls[0]), "scruff/shop/fix");
    let id = client.lane_id();
    assert_eq!(key(&calls[1]), format!("scruff/shop/fix~{}", &id[..4]));
    assert!(!calls[1].contains(&"--action".to_owned()), "trill would refuse that name: {calls:?}");
    world.wait_until_quiet();
}

#[test]
fn a_trill_that_fails_or_hangs_costs_only_the_banner() {
    for how in ["fails", "hangs"] {
        let world = World::with_trill();
        world.file(format!("trill/{how}"), "");
        let client = Client::in_lane(&world, "fix");
        client.says("PermissionRequest");
        world.wait_for_trills(1);
        world.wait_until_quiet();
        client.does("waiting");
        assert_eq!(world.asks(), ["scruff.shop.fix"], "{how}");
        std::fs::remove_file(world.root().join("trill").join(how)).unwrap();
        client.says("UserPromptSubmit");
        assert_eq!(world.wait_for_trills(2)[1], resolve("fix"));
        world.wait_until_quiet();
        client.does("working");
    }
}

#[test]
fn the_variable_decides_also_when_nothing_is_there() {
    let mut world = World::with_trill();
    world.set("SCRUFF_TRILL", "/no/such/trill");
    let client = Client::in_lane(&world, "fix");
    client.says("Stop");
    client.does("done");
    world.wait_until_quiet();
    assert!(world.trills().is_empty());
    let elsewhere = world
        .script("opt/trill", &format!("#!/bin/sh\nexec '{}' \"$@\"\n", world.bin().join("trill").display()));
    client.with("SCRUFF_TRILL", elsewhere.to_str().unwrap()).says("Stop");
    assert_eq!(world.wait_for_trills(1), [done("fix")]);
    world.wait_until_quiet();
}

#[test]
fn an_application_bundle_is_found() {
    let world = World::with_trill();
    let bundle = world.home().join("Applications/Trill.app/Contents/MacOS");
    std::fs::create_dir_all(&bundle).unwrap();
    world.script(bundle.join("Trill"), &format!("#!/bin/sh\nexec '{FAKE}.moved' \"$@\"\n"));
    std::fs::remove_file(world.bin().join("trill")).unwrap();
    let program = world.script("apps/bin/trill", &std::fs::read_to_string(FAKE).unwrap());
    std::fs::create_dir_all(world.root().join("apps/trill")).unwrap();
    world.script(bundle.join("Trill"), &format!("#!/bin/sh\nexec '{}' \"$@\"\n", program.display()));
    let client = Client::in_lane(&world, "fix");
    client.says("Stop");
    let called = || world.root().join("apps/trill/1/ready").exists();
    wait::until("the bundle's trill is called", called, || world.notify_report());
    world.wait_until_quiet();
}

#[test]
fn hostile_names_are_shown_harmlessly() {
    let world = World::with_trill();
    world.repo("shop");
    let long = format!("x{}", "é".repeat(90));
    let names = ["a<b>&c", &world.evil_name("x"), "rtl\u{202e}gnp", &long];
    for (number, name) in names.iter().enumerate() {
        let client = Client::in_lane(&world, name);
        client.says("Stop");
        let call = &world.wait_for_trills(number + 1)[number];
        let title = &call[call.iter().position(|arg| arg == "--title").unwrap() + 1];
        assert!(title.chars().count() <= 64, "{title}");
        assert!(!title.contains('\u{202e}') && !title.chars().any(char::is_control), "{title:?}");
        world.wait_until_quiet();
    }
    assert!(!world.canary().exists());
}

#[test]
fn nothing_of_a_conversation_is_kept_or_passed_on() {
    let world = World::with_trill();
    let client = Client::in_lane(&world, "fix");
    let said =
        json!({"prompt": "SECRET prompt", "tool_input": {"command": "SECRET"}, "tool_response": "SECRET"});
    for event in [
        "SessionStart",
        "UserPromptSubmit",
        "PermissionRequest",
        "Notification",
        "PostToolUse",
        "Stop",
        "StopFailure",
    ] {
        client.says_with(event, said.clone());
    }
    world.wait_for_trills(5);
    client.says_with("SessionEnd", said);
    world.wait_until_quiet();
    assert!(!format!("{:?}", world.trills()).contains("SECRET"));
    let ran = world.program("grep").args(["-rl", "SECRET"]).arg(world.state()).run();
    ran.exits(1).silent();
    assert!(!files(&world.state()).is_empty());
}
