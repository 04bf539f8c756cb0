//! What clients send, whole and broken: the hook exits 0, says nothing, and does what is right.

use crate::notify::client::Client;
use crate::world::World;
use serde_json::{Value, json};
use std::time::Instant;

fn world() -> World {
    let world = World::new();
    world.file(world.config_file(), "[notify]\nbackends = []\n");
    world
}

/// Payloads as clients compose them; the lane's checkout goes where `LANE` is.
const PAYLOADS: [(&str, Option<&str>); 11] = [
    (
        r#"{"session_id":"S","transcript_path":"/t.jsonl","cwd":"LANE","hook_event_name":"SessionStart","source":"startup"}"#,
        None,
    ),
    (
        r#"{"session_id":"S","prompt_id":"p-31","cwd":"LANE","permission_mode":"acceptEdits","hook_event_name":"UserPromptSubmit","prompt":"prune the \"old\" branch\nthen stop"}"#,
        Some("working"),
    ),
    (
        r#"{"session_id":"S","cwd":"LANE/src","hook_event_name":"Notification","message":"wants to run a shell command","notification_type":"permission_prompt"}"#,
        Some("waiting"),
    ),
    (
        r#"{"session_id":"S","cwd":"LANE","permission_mode":"default","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"git status"},"tool_response":{"stdout":"","stderr":""},"tool_use_id":"toolu_01","duration_ms":48}"#,
        Some("working"),
    ),
    (
        r#"{"session_id":"S","cwd":"LANE","permission_mode":"default","hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"Started the reviewer.","background_tasks":[{"id":"t7","type":"subagent","status":"running","description":"review the diff","agent_type":"reviewer"},{"id":"t8","type":"shell","status":"running","description":"dev server","command":"npm run dev"}],"session_crons":[]}"#,
        Some("working"),
    ),
    (
        r#"{"session_id":"S","transcript_path":null,"cwd":"LANE","hook_event_name":"PermissionRequest","model":"gpt-x","permission_mode":"default","turn_id":"12","tool_name":"shell","tool_input":{"command":"cargo publish","description":"publish the crate"}}"#,
        Some("waiting"),
    ),
    (
        r#"{"session_id":"S","cwd":"LANE","hook_event_name":"AfterTool","timestamp":"2026-10-02T09:14:12.000Z"}"#,
        Some("working"),
    ),
    (
        r#"{"session_id":"S","transcript_path":null,"cwd":"LANE","hook_event_name":"Stop","model":"gpt-x","permission_mode":"default","turn_id":"12","stop_hook_active":false,"last_assistant_message":"Pruned."}"#,
        Some("done"),
    ),
    (
        r#"{"session_id":"S","cwd":"LANE","hook_event_name":"BeforeAgent","timestamp":"2026-10-02T09:14:00.000Z","prompt":"prune it"}"#,
        Some("working"),
    ),
    (
        r#"{"session_id":"S","cwd":"LANE","hook_event_name":"AfterAgent","timestamp":"2026-10-02T09:15:00.000Z","prompt":"prune it","prompt_response":"Pruned.","stop_hook_active":false}"#,
        Some("done"),
    ),
    (
        r#"{"session_id":"S","transcript_path":"/t.jsonl","cwd":"LANE","hook_event_name":"SessionEnd","reason":"prompt_input_exit"}"#,
        None,
    ),
];

#[test]
fn every_clients_payloads_have_their_effect() {
    let world = world();
    let client = Client::in_lane(&world, "pears");
    std::fs::create_dir(client.cwd.join("src")).unwrap();
    let lane = serde_json::to_string(&client.cwd).unwrap();
    for (payload, then) in PAYLOADS {
        let text = payload
            .replace("\"S\"", &format!("\"{}\"", client.session))
            .replace("LANE", lane.trim_matches('"'));
        world.call(["hook", "notify"]).stdin(text.clone()).run().ok().silent().calm();
        assert_eq!(client.activity().as_deref(), then, "{text}");
    }
}

/// A payload with one member less, empty, of another type.
fn broken(payload: &Value) -> Vec<Value> {
    let others = [json!(null), json!(3), json!(""), json!(["x"]), json!({"x": {"y": []}}), json!(true)];
    let mut all = Vec::new();
    for key in payload.as_object().unwrap().keys() {
        let mut less = payload.clone();
        less.as_object_mut().unwrap().remove(key);
        all.push(less);
        all.extend(others.iter().map(|other| {
            let mut changed = payload.clone();
            changed[key] = other.clone();
            changed
        }));
    }
    all
}

#[test]
fn a_member_that_is_missing_or_of_another_type_costs_nothing() {
    let world = world();
    let client = Client::in_lane(&world, "pears");
    let task = json!([{"type": "shell", "status": "running"}]);
    let stop =
        json!({"session_id": "s", "cwd": client.cwd, "hook_event_name": "Stop", "background_tasks": task});
    for payload in broken(&stop) {
        client.says("UserPromptSubmit");
        world.call(["hook", "notify"]).stdin(payload.to_string()).run().ok().silent().calm();
        let tells = payload["hook_event_name"] == "Stop" && payload["cwd"].as_str() == client.cwd.to_str();
        if tells {
            client.does("done");
        }
    }
}

#[test]
fn whatever_bytes_come_the_hook_is_not_in_the_way() {
    let world = world();
    let client = Client::in_lane(&world, "pears");
    let huge = format!(
        r#"{{"session_id":"{}","cwd":{},"hook_event_name":"UserPromptSubmit","prompt":"{}"}}"#,
        client.session,
        serde_json::to_string(&client.cwd).unwrap(),
        "é".repeat(450_000)
    );
    let raw: [&[u8]; 9] = [
        b"",
        b"\n",
        b"null",
        b"[]",
        b"{",
        b"not json",
        b"{\"hook_event_name\":\"Sto",
        b"{\"hook_event_name\":\"Stop\",\"cwd\":\"\xff\xfe\",\"session_id\":\"\xff\"}",
        b"{\"hook_event_name\":\"AnUnheardOfEvent\",\"session_id\":\"../../../x\"}",
    ];
    for bytes in raw {
        world.call(["hook", "notify"]).stdin(bytes).run().ok().silent().calm();
    }
    world.call(["hook", "notify"]).stdin(huge).run().ok().silent().calm();
    client.does("working");
    world
        .call(["hook", "notify"])
        .cwd("/")
        .stdin(client.payload("Stop", json!({})))
        .run()
        .ok()
        .silent()
        .calm();
    client.does("done");
    assert!(!world.state().join("sessions/by-session/../../../x.json").exists());
}

#[test]
fn an_input_that_stays_open_is_not_waited_for_long() {
    let world = world();
    for word in ["notify", "prompt", "session-start", "session-end", "Stop"] {
        let begun = Instant::now();
        world.call(["hook", word]).stdin_open().run().ok().silent();
        assert!(begun.elapsed() < crate::world::wait::LIMIT, "{word}");
    }
}

#[test]
fn only_a_wrong_word_is_an_error() {
    let world = World::new();
    world.call(["hook", "stop"]).stdin("{}").run().exits(1).silent().warns("\"stop\"").warns("notify");
    world.call(["hook"]).run().exits(1).silent();
    for word in ["Stop", "AfterAgent", "PreToolUse", "Notification", "prompt", "session-start", "session-end"]
    {
        world.call(["hook", word]).stdin("{}").run().ok().silent().calm();
    }
    world.call(["hook", "--help"]).run().ok().says("WORD");
}

#[test]
fn a_state_directory_that_cannot_be_written_is_no_reason_to_fail() {
    let mut world = world();
    let client = Client::in_lane(&world, "pears");
    let file = world.file("a-file", "");
    let (cwd, session) = (client.cwd.clone(), client.session.clone());
    world.set("SCRUFF_STATE", file.join("state"));
    let ran = Client::at(&world, &cwd, &session).call("PermissionRequest", json!({})).run();
    ran.ok().silent();
    assert_eq!(ran.stderr.lines().count(), 1, "{ran}");
}

#[test]
fn a_tool_call_with_nothing_outstanding_opens_no_file_and_starts_no_program() {
    let world = world();
    let client = Client::in_lane(&world, "pears");
    let other = Client::in_lane(&world, "plums");
    client.says("SessionStart");
    other.says("PermissionRequest");
    let trace = world.root().join("trace");
    for (word, event) in
        [("notify", "PostToolUse"), ("notify", "PostToolUseFailure"), ("PostToolUse", "PostToolUse")]
    {
        let payload = client
            .payload(event, json!({"prompt_id": "p-1", "tool_response": {"stdout": "x".repeat(10_000)}}));
        let strace =
            world.program("strace").args(["-f", "-qq", "-e", "trace=file,process", "-o"]).arg(&trace);
        strace
            .arg(env!("CARGO_BIN_EXE_scruff"))
            .args(["hook", word])
            .stdin(payload)
            .run()
            .ok()
            .silent()
            .calm();
        let text = std::fs::read_to_string(&trace).unwrap();
        let calls: Vec<&str> =
            text.lines().filter_map(|line| line.split_once(' ').map(|(_, call)| call.trim())).collect();
        let of_runtime = ["/proc/self/maps", "/proc/self/exe", "/etc/ld.so.cache", "/lib", "/usr/lib"];
        let named: Vec<&str> = calls.iter().filter_map(|call| call.split('"').nth(1)).skip(1).collect();
        let looked: Vec<&&str> = named
            .iter()
            .filter(|path| !path.is_empty() && !of_runtime.iter().any(|known| path.starts_with(known)))
            .collect();
        let expected =
            ["asking", "ended"].map(|directory| world.state().join(directory).join(&client.session));
        assert_eq!(looked.len(), 2, "{text}");
        assert!(
            looked
                .iter()
                .zip(&expected)
                .all(|(path, wanted)| strace_path(path) == wanted.as_os_str().as_encoded_bytes()),
            "{text}"
        );
        assert_eq!(calls.iter().filter(|call| call.starts_with("execve")).count(), 1, "{text}");
        assert!(
            !calls.iter().any(|call| call.starts_with("clone")
                || call.starts_with("fork")
                || call.starts_with("vfork")),
            "{text}"
        );
    }
}

/// A path as strace writes it: bytes that are not printable as octal escapes.
fn strace_path(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let digits = after.iter().take(3).take_while(|byte| byte.is_ascii_digit()).count();
        if *byte == b'\\' && digits > 0 {
            bytes.push(u8::from_str_radix(std::str::from_utf8(&after[..digits]).unwrap(), 8).unwrap());
            rest = &after[digits..];
        } else {
            bytes.push(*byte);
            rest = after;
        }
    }
    bytes
}
