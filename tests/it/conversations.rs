//! Going on with a lane's conversation: the files are laid out as the clients leave them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use scruff::client::{Launch, adapter, resume};
use scruff::lane::Situation;
use serde_json::{Value, json};

use crate::seam::{ctx, situation};
use crate::world::World;

const ID: &str = "0b5c2f7e-96d1-4c7e-8a3f-2f64c1d0a9e1";
const OTHER: &str = "7d0c1f52-3c1e-4b1a-9a54-0b7a6a1f9e01";
const THIRD: &str = "c3a1e4d2-0000-4111-8222-93f4a5b6c7d8";

/// A lane with a checkout, in a world.
struct Lane {
    world: World,
    situation: Situation,
}

impl Lane {
    fn new() -> Self {
        let world = World::new();
        let situation = Situation { path: world.work().join("base/acme_shop/fix.1"), ..situation(&world) };
        std::fs::create_dir_all(&situation.path).unwrap();
        Lane { world, situation }
    }

    fn path(&self) -> &str {
        self.situation.path.to_str().unwrap()
    }

    #[track_caller]
    fn resume(&self, id: &str, session: Option<&str>) -> Launch {
        let ctx = ctx(&self.world);
        resume(&ctx, &adapter(&ctx, id).unwrap(), &self.situation, session, false).unwrap()
    }

    /// A file below the home directory, written this long ago.
    fn file(&self, path: impl AsRef<Path>, lines: &[Value], minutes_ago: u64) {
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let file = self.world.file(self.world.home().join(path), lines);
        let when = SystemTime::now() - Duration::from_secs(minutes_ago * 60);
        std::fs::File::options().write(true).open(file).unwrap().set_modified(when).unwrap();
    }
}

#[track_caller]
fn goes_on(launch: &Launch, argv: &[&str], session: &str) {
    let wanted: Vec<OsString> = argv.iter().map(OsString::from).collect();
    assert_eq!(launch.argv, wanted, "{:?}", launch.note);
    assert_eq!(launch.session.as_deref(), Some(session));
}

#[track_caller]
fn begins_anew(launch: &Launch, first: &str, why: &str) {
    assert_eq!(launch.argv[0], first);
    assert!(!launch.argv.iter().any(|word| word == "--resume" || word == "resume"), "{:?}", launch.argv);
    let note = launch.note.as_deref().unwrap_or_default();
    assert!(note.contains(why) && note.contains("fresh session"), "{note}");
}

// Claude.

/// The folder's name, as a naive reader of the rule would make it.
fn claude_folder(directory: &Path) -> String {
    let text = directory.to_str().unwrap();
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

fn claude_lines(cwd: &str, entrypoint: &str) -> Vec<Value> {
    let blob = "x".repeat(200_000);
    vec![
        json!({"type": "mode"}),
        json!({"type": "api-request-blob", "message": blob}),
        json!({"type": "user", "cwd": cwd, "entrypoint": entrypoint, "isSidechain": false}),
        json!({"type": "assistant", "cwd": format!("{cwd}/sub"), "entrypoint": entrypoint}),
    ]
}

impl Lane {
    fn claude(&self, folder: &Path, id: &str, cwd: &str, entrypoint: &str, minutes_ago: u64) {
        let file = format!(".claude/projects/{}/{id}.jsonl", claude_folder(folder));
        self.file(file, &claude_lines(cwd, entrypoint), minutes_ago);
    }
}

#[test]
fn claude_goes_on_with_the_recorded_id_wherever_its_file_is() {
    for folder in ["lane", "main", "/somewhere/else"] {
        let lane = Lane::new();
        let folder = match folder {
            "lane" => lane.situation.path.clone(),
            "main" => lane.situation.main.clone(),
            other => PathBuf::from(other),
        };
        lane.claude(&folder, ID, lane.path(), "cli", 5);
        lane.claude(&lane.situation.path, OTHER, lane.path(), "cli", 1);
        let launch = lane.resume("claude", Some(ID));
        goes_on(&launch, &["claude", "--resume", ID], ID);
        assert_eq!((launch.cwd, launch.note), (lane.situation.path.clone(), None));
    }
}

#[test]
fn claude_takes_the_newest_of_the_lanes_own_directory() {
    let lane = Lane::new();
    let here = lane.situation.path.clone();
    lane.claude(&here, OTHER, lane.path(), "cli", 9);
    lane.claude(&here, ID, lane.path(), "cli", 5);
    // Another directory with the same slug, a run of `claude -p`, a sub-agent, and no transcript.
    lane.claude(&here, THIRD, &lane.path().replace("fix.1", "fix-1"), "cli", 1);
    lane.claude(&here, "c3a1e4d2-0000-4111-8222-93f4a5b6c7d9", lane.path(), "sdk-cli", 1);
    lane.claude(&here, "agent-7", lane.path(), "cli", 1);
    lane.file(format!(".claude/projects/{}/x.jsonl", claude_folder(&here)), &[json!("?")], 0);
    goes_on(&lane.resume("claude", None), &["claude", "--resume", ID], ID);
}

#[test]
fn claude_says_that_the_recorded_conversation_is_gone() {
    let lane = Lane::new();
    lane.claude(&lane.situation.path, ID, lane.path(), "cli", 5);
    let launch = lane.resume("claude", Some(OTHER));
    goes_on(&launch, &["claude", "--resume", ID], ID);
    assert!(launch.note.unwrap().contains(OTHER));
}

#[test]
fn claude_begins_anew_when_nothing_was_ever_said() {
    let lane = Lane::new();
    std::fs::create_dir_all(lane.world.home().join(".claude/projects")).unwrap();
    let launch = lane.resume("claude", Some(ID));
    begins_anew(&launch, "claude", "no conversation");
    let session = launch.session.unwrap();
    assert_ne!(session, ID);
    assert_eq!(launch.argv[1..], ["--session-id", session.as_str()]);
}

#[test]
fn claude_is_trusted_with_the_id_where_it_keeps_nothing_yet() {
    let lane = Lane::new();
    goes_on(&lane.resume("claude", Some(ID)), &["claude", "--resume", ID], ID);
}

#[test]
fn claude_may_be_configured_elsewhere() {
    let mut lane = Lane::new();
    let elsewhere = lane.world.root().join("claude-config");
    lane.world.set("CLAUDE_CONFIG_DIR", &elsewhere);
    lane.world.set("CLAUDE_CODE_PROJECT_DIR_NAME", "all");
    let text: String = claude_lines(lane.path(), "cli").iter().map(|line| format!("{line}\n")).collect();
    lane.world.file(elsewhere.join(format!("projects/all/{ID}.jsonl")), text);
    goes_on(&lane.resume("claude", None), &["claude", "--resume", ID], ID);
}

#[test]
fn a_lane_reached_through_a_link_is_the_directory_behind_it() {
    let mut lane = Lane::new();
    lane.claude(&lane.situation.path, ID, lane.path(), "cli", 5);
    let link = lane.world.root().join("link");
    std::os::unix::fs::symlink(&lane.situation.path, &link).unwrap();
    lane.situation.path = link.clone();
    let launch = lane.resume("claude", None);
    goes_on(&launch, &["claude", "--resume", ID], ID);
    assert_eq!(launch.cwd, link);
}

#[test]
fn an_id_that_could_be_an_option_or_a_path_is_not_used() {
    let lane = Lane::new();
    let long = "x".repeat(201);
    for id in ["-x", "--resume=x", "../../x", "", "a b", "a\n", &long] {
        begins_anew(&lane.resume("claude", Some(id)), "claude", "no conversation");
    }
}

// Codex.

impl Lane {
    fn codex(&self, id: &str, cwd: &str, payload: &Value, minutes_ago: u64) {
        let mut meta = json!({"id": id, "cwd": cwd, "base_instructions": "x".repeat(100_000)});
        meta.as_object_mut().unwrap().extend(payload.as_object().unwrap().clone());
        let file = format!(".codex/sessions/2026/11/30/rollout-2026-11-30T10-00-00-{id}.jsonl");
        self.file(
            file,
            &[json!({"type": "session_meta", "payload": meta}), json!({"type": "x"})],
            minutes_ago,
        );
    }
}

#[test]
fn codex_by_id_by_directory_and_anew() {
    let lane = Lane::new();
    let by_id = |id| ["codex", "--no-daemon", "resume", "-C", lane.path(), id];
    goes_on(&lane.resume("codex", Some(ID)), &by_id(ID), ID);
    let person = json!({"source": "cli", "thread_source": "user"});
    lane.codex(OTHER, "/elsewhere", &person, 0);
    begins_anew(&lane.resume("codex", None), "codex", "no conversation");
    begins_anew(&lane.resume("codex", Some(ID)), "codex", "no conversation");
    lane.codex(ID, lane.path(), &person, 9);
    goes_on(&lane.resume("codex", None), &by_id(ID), ID);
    goes_on(&lane.resume("codex", Some(OTHER)), &by_id(OTHER), OTHER);
}

#[test]
fn codex_skips_what_cannot_be_gone_on_with() {
    let lane = Lane::new();
    lane.codex(ID, lane.path(), &json!({}), 9);
    let sources = [
        json!({"source": "exec"}),
        json!({"source": {"subagent": {"thread_spawn": {}}}}),
        json!({"source": "cli", "thread_source": "subagent"}),
    ];
    for (number, source) in sources.iter().enumerate() {
        lane.codex(&format!("{}{number}", &OTHER[..35]), lane.path(), source, 1);
    }
    let argv = ["codex", "--no-daemon", "resume", "-C", lane.path(), ID];
    goes_on(&lane.resume("codex", None), &argv, ID);
}

#[test]
fn codex_may_have_its_home_elsewhere() {
    let mut lane = Lane::new();
    lane.codex(ID, lane.path(), &json!({}), 9);
    std::fs::rename(lane.world.home().join(".codex"), lane.world.root().join("codex-home")).unwrap();
    begins_anew(&lane.resume("codex", None), "codex", "no conversation");
    lane.world.set("CODEX_HOME", lane.world.root().join("codex-home"));
    assert_eq!(lane.resume("codex", None).session.as_deref(), Some(ID));
}

// Gemini.

#[test]
fn gemini_by_the_table_of_directories() {
    let lane = Lane::new();
    goes_on(&lane.resume("gemini", Some(ID)), &["gemini", "--resume", ID], ID);
    lane.file(".gemini/projects.json", &[json!({"projects": {"/elsewhere": "fix"}})], 0);
    begins_anew(&lane.resume("gemini", Some(ID)), "gemini", "no conversation");
    let table = json!({"projects": {"/elsewhere": "fix", lane.path(): "fix-1"}});
    lane.file(".gemini/projects.json", &[table], 0);
    begins_anew(&lane.resume("gemini", None), "gemini", "no conversation");
    let chat = |id: &str, kind: &str| {
        [json!({"sessionId": id, "kind": kind}), json!({"type": "user", "content": [{"text": "x"}]})]
    };
    lane.file(".gemini/tmp/fix/chats/session-2026-11-30T10-00-7d0c1f52.jsonl", &chat(OTHER, "main"), 0);
    lane.file(".gemini/tmp/fix-1/chats/session-2026-11-30T10-00-0b5c2f7e.jsonl", &chat(ID, "main"), 9);
    lane.file(".gemini/tmp/fix-1/chats/session-2026-11-30T10-01-c3a1e4d2.jsonl", &chat(THIRD, "subagent"), 1);
    goes_on(&lane.resume("gemini", None), &["gemini", "--resume", ID], ID);
    goes_on(&lane.resume("gemini", Some(ID)), &["gemini", "--resume", ID], ID);
    let launch = lane.resume("gemini", Some(OTHER));
    goes_on(&launch, &["gemini", "--resume", ID], ID);
    assert!(launch.note.unwrap().contains(OTHER));
}

#[test]
fn gemini_has_older_chats_in_one_object() {
    let lane = Lane::new();
    lane.file(".gemini/projects.json", &[json!({"projects": {lane.path(): "fix-1"}})], 0);
    let chat = json!({"sessionId": ID, "messages": [{"type": "user"}]});
    lane.file(".gemini/tmp/fix-1/chats/session-2026-11-30T10-00-0b5c2f7e.json", &[chat], 9);
    goes_on(&lane.resume("gemini", None), &["gemini", "--resume", ID], ID);
}

// pi.

#[test]
fn pi_by_folder_and_header() {
    let lane = Lane::new();
    let argv = ["pi", "--session-id", ID];
    goes_on(&lane.resume("pi", Some(ID)), &argv, ID);
    let dashes = lane.path()[1..].replace(['/', '\\', ':'], "-");
    let file = |id: &str| format!(".pi/agent/sessions/--{dashes}--/2026-11-30T10-00-00-000Z_{id}.jsonl");
    let header = |id: &str, cwd: &str| [json!({"type": "session", "version": 3, "id": id, "cwd": cwd})];
    lane.file(file(OTHER), &header(OTHER, "/elsewhere"), 0);
    begins_anew(&lane.resume("pi", None), "pi", "no conversation");
    lane.file(file(ID), &header(ID, lane.path()), 9);
    goes_on(&lane.resume("pi", None), &argv, ID);
    assert_eq!(lane.resume("pi", Some(ID)).note, None);
    assert!(lane.resume("pi", Some(THIRD)).note.unwrap().contains(THIRD));
}

// OpenCode.

impl Lane {
    fn opencode(&self, body: &str) {
        std::fs::remove_file(self.world.bin().join("opencode")).unwrap();
        self.world.script(
            "bin/opencode",
            &format!("#!/bin/sh\necho \"$*\" >\"$0.args\"\npwd -P >\"$0.cwd\"\n{body}\n"),
        );
    }
}

#[test]
fn opencode_by_its_own_list_filtered_on_the_directory() {
    let lane = Lane::new();
    let list = json!([
        {"id": "ses_main", "directory": "/elsewhere", "updated": 9_796_070_329_832_u64},
        {"id": "ses_old", "directory": lane.path(), "updated": 1_796_070_329_831_u64},
        {"id": "ses_new", "directory": lane.path(), "updated": 1_796_070_329_832_u64, "title": "x"},
    ]);
    let file = lane.world.file("list.json", list.to_string());
    lane.opencode(&format!("cat '{}'", file.display()));
    goes_on(&lane.resume("opencode", None), &["opencode", "--session", "ses_new"], "ses_new");
    let read = |name: &str| std::fs::read_to_string(lane.world.bin().join(name)).unwrap();
    assert_eq!(read("opencode.args"), "session list --format json --max-count 2000\n");
    assert_eq!(read("opencode.cwd"), format!("{}\n", lane.path()));
}

#[test]
fn opencode_is_not_started_for_an_id_that_is_recorded() {
    let lane = Lane::new();
    lane.opencode("exit 1");
    goes_on(&lane.resume("opencode", Some("ses_1")), &["opencode", "--session", "ses_1"], "ses_1");
    assert!(!lane.world.bin().join("opencode.args").exists());
}

#[test]
fn opencode_never_continues_what_may_be_another_lanes() {
    let answers = [
        ("exit 0", "no conversation"),
        ("echo '[]'", "no conversation"),
        ("echo nonsense", "not understood"),
        ("echo no database >&2; exit 1", "no database"),
    ];
    for (body, why) in answers {
        let lane = Lane::new();
        lane.opencode(body);
        let launch = lane.resume("opencode", None);
        begins_anew(&launch, "opencode", why);
        assert_eq!(launch.argv.len(), 1);
    }
    let lane = Lane::new();
    std::fs::remove_file(lane.world.bin().join("opencode")).unwrap();
    begins_anew(&lane.resume("opencode", None), "opencode", "not on PATH");
}

// Pickers, child lanes, adapters of the user's own.

#[test]
fn pick_opens_the_clients_own_picker() {
    let lane = Lane::new();
    let ctx = ctx(&lane.world);
    let pickers: [(&str, &[&str]); 3] = [
        ("claude", &["claude", "--resume"]),
        ("codex", &["codex", "--no-daemon", "resume"]),
        ("pi", &["pi", "--resume"]),
    ];
    for (id, argv) in pickers {
        let launch = resume(&ctx, &adapter(&ctx, id).unwrap(), &lane.situation, Some(ID), true).unwrap();
        assert_eq!(launch.argv, argv.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!((launch.cwd, launch.session, launch.note), (lane.situation.path.clone(), None, None));
    }
    for id in ["gemini", "opencode"] {
        let launch = resume(&ctx, &adapter(&ctx, id).unwrap(), &lane.situation, None, true).unwrap();
        begins_anew(&launch, id, "no picker");
    }
}

#[test]
fn a_child_lane_gets_the_picker_where_its_parent_works() {
    let mut lane = Lane::new();
    lane.claude(&lane.situation.path, ID, lane.path(), "cli", 5);
    let parent = lane.world.work().join("parent");
    lane.situation.parent = parent.clone();
    lane.situation.chat = parent.clone();
    let launch = lane.resume("claude", Some(ID));
    assert_eq!(
        (launch.argv.as_slice(), &launch.cwd),
        (&["claude".into(), "--resume".into()][..], &lane.situation.path)
    );
    std::fs::create_dir_all(&parent).unwrap();
    let launch = lane.resume("claude", Some(ID));
    assert_eq!((launch.argv.as_slice(), launch.cwd), (&["claude".into(), "--resume".into()][..], parent));
}

#[test]
fn an_adapter_without_a_finder_trusts_ids_and_the_clients_newest() {
    let lane = Lane::new();
    let file = lane.world.home().join(".config/scruff/adapters/agent/mine.toml");
    let resume_line = "resume = ['mine', '-s', '{{.Session}}']";
    lane.world.file(&file, format!("new = ['mine']\n{resume_line}\n"));
    goes_on(&lane.resume("mine", Some(ID)), &["mine", "-s", ID], ID);
    begins_anew(&lane.resume("mine", None), "mine", "cannot tell");
    lane.world.file(&file, format!("new = ['mine']\nnewest = ['mine', '-c']\n{resume_line}\n"));
    let launch = lane.resume("mine", None);
    assert_eq!(launch.argv, ["mine", "-c"]);
    assert!(launch.note.unwrap().contains("newest"));
    lane.world.file(&file, "new = ['mine']\n");
    begins_anew(&lane.resume("mine", Some(ID)), "mine", "cannot tell");
}

#[test]
fn an_adapter_that_takes_no_ids_may_have_the_newest() {
    let lane = Lane::new();
    let file = lane.world.home().join(".config/scruff/adapters/agent/claude.toml");
    lane.world.file(file, "new = ['claude']\nnewest = ['claude', '-c']\nconversations = 'claude'\n");
    begins_anew(&lane.resume("claude", None), "claude", "no conversation");
    lane.claude(&lane.situation.path, ID, lane.path(), "cli", 5);
    let launch = lane.resume("claude", None);
    assert_eq!((launch.argv, launch.note), (vec!["claude".into(), "-c".into()], None));
}
