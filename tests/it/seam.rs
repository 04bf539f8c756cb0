//! Seams, against real programs: every row of the exit table, everything that can be wrong with
//! a program, and each thing it is told.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use scruff::ctx::Ctx;
use scruff::lane::{Situation, State};
use scruff::seam::{Acted, Answer, LIMIT, Said, Seam, VARIABLES, act, ask, ask_within};
use scruff::ui::Ui;
use serde_json::{Value, json};

use crate::world::{World, wait};

/// What scruff knows when it is called in this world.
pub fn ctx(world: &World) -> Ctx {
    let env = world.env().clone().into_iter().collect();
    Ctx::new(env, world.home(), Ui::default(), false).unwrap()
}

/// A lane whose every fact is told apart from the others.
pub fn situation(world: &World) -> Situation {
    Situation {
        path: world.root().join("base/acme-shop/fix"),
        main: world.root().join("src/shop"),
        repo: "acme/shop".to_owned(),
        name: "fix".to_owned(),
        branch: "worktree-fix".to_owned(),
        base: "trunk".to_owned(),
        parent: PathBuf::new(),
        cwd: world.home(),
        agent: "claude".to_owned(),
        state: State::Live,
        chat: world.root().join("chat"),
    }
}

/// A world whose configuration gives `seam` this argv.
fn configured<S: AsRef<OsStr>>(seam: Seam, argv: &[S]) -> World {
    let world = World::new();
    configure(&world, seam, argv);
    world
}

fn configure<S: AsRef<OsStr>>(world: &World, seam: Seam, argv: &[S]) {
    let words = argv.iter().map(|word| toml::Value::from(word.as_ref().to_str().unwrap()));
    let argv = toml::Value::Array(words.collect());
    world.file(world.config_file(), format!("[hooks]\n{} = {argv}\n", seam.name()));
}

/// A world in which `seam` is a shell script.
fn scripted(seam: Seam, body: &str) -> World {
    let world = World::new();
    let script = world.script("hook", &format!("#!/bin/sh\n{body}\n"));
    configure(&world, seam, &[script]);
    world
}

/// Asks, or lets act; what came out, in the words of a question.
fn outcome(ctx: &Ctx, world: &World, seam: Seam) -> &'static str {
    if seam.is_action() {
        return match act(ctx, seam, &situation(world), OsStr::new("claude")) {
            Acted::Handled => "yes",
            Acted::Failed => "no",
            Acted::Refused => "refused",
            Acted::Declined => "built-in",
        };
    }
    match ask(ctx, seam, &situation(world), &[]) {
        Answer::Yes(_) => "yes",
        Answer::No(_) => "no",
        Answer::Refused(_) => "refused",
        Answer::NoOpinion | Answer::Broken => "built-in",
    }
}

#[test]
fn every_row_of_the_exit_table() {
    for seam in Seam::ALL {
        let world = World::new();
        let script = world.script("hook", "#!/bin/sh\nexit $1\n");
        let rows = [(0, "yes"), (1, "no"), (2, "refused"), (3, "built-in")];
        for (code, wanted) in rows {
            configure(&world, seam, &[script.as_os_str(), OsStr::new(&code.to_string())]);
            let ctx = ctx(&world);
            assert_eq!(outcome(&ctx, &world, seam), wanted, "{seam:?} exit {code}");
            assert_eq!(ctx.ui.warnings(), Vec::<String>::new(), "{seam:?} exit {code}");
        }
        for code in [4, 5, 101, 126, 127, 255] {
            configure(&world, seam, &[script.as_os_str(), OsStr::new(&code.to_string())]);
            let ctx = ctx(&world);
            assert_eq!(outcome(&ctx, &world, seam), "built-in", "{seam:?} exit {code}");
            one_warning(&ctx, seam, &[&format!("exit status {code}"), script.to_str().unwrap()]);
        }
    }
}

#[track_caller]
fn one_warning(ctx: &Ctx, seam: Seam, parts: &[&str]) {
    let warnings = ctx.ui.warnings();
    let all = |text: &String| parts.iter().all(|part| text.contains(part)) && text.contains(seam.name());
    assert!(warnings.len() == 1 && warnings.iter().all(all), "{seam:?} {parts:?}: {warnings:#?}");
}

#[test]
fn no_program_is_no_opinion_and_no_warning() {
    for text in ["", "[hooks]\nlanded = []\nfocus = []\n", "[hooks]\nlanded = ''\nfocus = ''\n"] {
        let world = World::new();
        world.file(world.config_file(), text);
        let ctx = ctx(&world);
        assert_eq!(ask(&ctx, Seam::Landed, &situation(&world), &[]), Answer::NoOpinion);
        assert_eq!(act(&ctx, Seam::Focus, &situation(&world), OsStr::new("x")), Acted::Declined);
        assert_eq!(ctx.ui.warnings(), Vec::<String>::new());
    }
}

#[test]
fn one_seams_program_is_not_anothers() {
    for seam in Seam::ALL {
        let world = configured(seam, &["/bin/false"]);
        let ctx = ctx(&world);
        for other in Seam::ALL {
            assert_eq!(other.configured(&ctx).is_some(), other == seam, "{seam:?} {other:?}");
        }
    }
}

#[test]
fn a_program_killed_by_a_signal_is_broken() {
    for seam in [Seam::Landed, Seam::Open] {
        let world = scripted(seam, "kill -TERM $$; sleep 60");
        let ctx = ctx(&world);
        assert_eq!(outcome(&ctx, &world, seam), "built-in");
        one_warning(&ctx, seam, &["killed by signal 15"]);
    }
}

#[test]
fn what_cannot_be_executed_is_broken() {
    for seam in [Seam::Agent, Seam::Resume] {
        let world = World::new();
        let plain = world.file("plain", "#!/bin/sh\nexit 0\n");
        let lost = world.script("lost", "#!/no/such/interpreter\n");
        let rubbish = world.script("rubbish", "\u{1}\u{2}");
        world.script("home/relative", "#!/bin/sh\nexit 0\n");
        let cases: [(&Path, &str); 7] = [
            (Path::new("/no/such/program"), "no such program"),
            (Path::new("nosuchprogram"), "no such program on PATH"),
            (world.root(), "ermission denied"),
            (&plain, "ermission denied"),
            (&lost, "interpreter"),
            (&rubbish, "exit status 127"),
            (Path::new("./relative"), "relative"),
        ];
        for (program, why) in cases {
            configure(&world, seam, &[program]);
            let ctx = ctx(&world);
            assert_eq!(outcome(&ctx, &world, seam), "built-in", "{program:?}");
            one_warning(&ctx, seam, &[why, program.to_str().unwrap()]);
        }
    }
}

#[test]
fn a_bare_name_is_found_on_the_path() {
    let world = World::new();
    world.script("bin/my-hook", "#!/bin/sh\nexit 2\n");
    configure(&world, Seam::Landed, &["my-hook"]);
    assert_eq!(outcome(&ctx(&world), &world, Seam::Landed), "refused");
}

#[test]
fn arguments_arrive_as_they_are() {
    let world = World::new();
    let script = world.script("hook", "#!/bin/sh\nfor arg; do printf '%s\\0' \"$arg\"; done >\"$0.args\"\n");
    let args = ["a b", "", "$HOME", "{{.Path}}", "it's", "*"];
    let argv: Vec<&str> = std::iter::once(script.to_str().unwrap()).chain(args).collect();
    configure(&world, Seam::Landed, &argv);
    assert_eq!(outcome(&ctx(&world), &world, Seam::Landed), "yes");
    let got = std::fs::read(world.root().join("hook.args")).unwrap();
    assert_eq!(String::from_utf8(got).unwrap(), args.map(|arg| format!("{arg}\0")).concat());
}

#[test]
fn a_program_that_never_reads_is_fine() {
    let world = scripted(Seam::Preserve, "exit 1");
    let ctx = ctx(&world);
    let porcelain = OsString::from("x".repeat(1 << 20));
    let answer = ask(&ctx, Seam::Preserve, &situation(&world), &[("porcelain", porcelain)]);
    assert_eq!(answer, Answer::No(Said::Nothing));
    let world = scripted(Seam::Open, "exec <&-; exit 1");
    let command = OsString::from("x".repeat(100_000));
    assert_eq!(act(&self::ctx(&world), Seam::Open, &situation(&world), &command), Acted::Failed);
}

#[test]
fn a_mebibyte_of_output_is_read_and_more_is_not_kept() {
    for size in [1 << 20, 5 << 20] {
        let world = scripted(Seam::Landed, &format!("head -c {size} /dev/zero | tr '\\0' ' '; exit 1"));
        let answer = ask(&ctx(&world), Seam::Landed, &situation(&world), &[]);
        assert_eq!(answer, Answer::No(Said::Nothing));
    }
    let object = "printf '{\"via\":\"train\",\"pad\":\"'; head -c 1000000 /dev/zero | tr '\\0' x; echo '\"}'";
    let world = scripted(Seam::Landed, object);
    let Answer::Yes(said) = ask(&ctx(&world), Seam::Landed, &situation(&world), &[]) else { panic!() };
    assert_eq!(said.field("via"), Some("train"));
}

#[test]
fn what_it_prints_enriches_the_answer() {
    let world = scripted(Seam::Agent, "echo codex");
    let Answer::Yes(said) = ask(&ctx(&world), Seam::Agent, &situation(&world), &[]) else { panic!() };
    assert_eq!(said.word(), Some("codex"));
    let world = scripted(Seam::Landed, "echo '{\"via\": \"pr\", \"confidence\": \"certain\"}'; exit 0");
    let Answer::Yes(said) = ask(&ctx(&world), Seam::Landed, &situation(&world), &[]) else { panic!() };
    assert_eq!((said.field("via"), said.field("confidence")), (Some("pr"), Some("certain")));
}

#[test]
fn a_question_that_hangs_is_killed_with_all_it_started() {
    assert_eq!(LIMIT, Duration::from_secs(10));
    let world = scripted(Seam::Landed, "sleep 60 & echo $! >\"$0.pid\"; wait");
    let ctx = ctx(&world);
    let begun = Instant::now();
    let answer = ask_within(&ctx, Seam::Landed, &situation(&world), &[], Duration::from_secs(3));
    assert_eq!(answer, Answer::Broken);
    assert!(begun.elapsed() < Duration::from_secs(18), "{:?}", begun.elapsed());
    one_warning(&ctx, Seam::Landed, &["no answer within"]);
    let pid = std::fs::read_to_string(world.root().join("hook.pid")).unwrap();
    let gone = || !is_alive(pid.trim());
    wait::until("the end of what the program started", gone, || pid.clone());
}

/// A zombie that nobody has collected yet is dead.
fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| state != Some('Z'))
}

#[test]
fn what_it_leaves_running_does_not_hold_the_answer_up() {
    let world = scripted(Seam::Landed, "sleep 20 & echo $! >\"$0.pid\"; exit 1");
    let begun = Instant::now();
    assert_eq!(outcome(&ctx(&world), &world, Seam::Landed), "no");
    assert!(begun.elapsed() < Duration::from_secs(18), "{:?}", begun.elapsed());
    let pid = std::fs::read_to_string(world.root().join("hook.pid")).unwrap();
    world.program("kill").arg(pid.trim()).run().ok();
}

/// What a program that writes it all down was told.
struct Told {
    env: Vec<(OsString, OsString)>,
    stdin: Vec<u8>,
}

const WRITES_IT_DOWN: &str = "#!/bin/sh\ncat >\"$0.in\"\nenv -0 >\"$0.env\"\n";

impl Told {
    fn read(world: &World) -> Self {
        let bytes = std::fs::read(world.root().join("hook.env")).unwrap();
        let pair = |line: &[u8]| {
            let at = line.iter().position(|byte| *byte == b'=')?;
            Some((OsStr::from_bytes(&line[..at]).to_owned(), OsStr::from_bytes(&line[at + 1..]).to_owned()))
        };
        let env = bytes.split(|byte| *byte == 0).filter_map(pair).collect();
        Told { env, stdin: std::fs::read(world.root().join("hook.in")).unwrap() }
    }

    fn env(&self, name: &str) -> Option<&OsStr> {
        self.env.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str())
    }

    /// The one line of standard input.
    fn object(&self) -> Value {
        let line = self.stdin.strip_suffix(b"\n").unwrap();
        assert!(!line.contains(&b'\n'));
        serde_json::from_slice(line).unwrap()
    }
}

#[test]
fn a_question_is_told_each_fact_twice() {
    for seam in [Seam::Agent, Seam::Landed, Seam::Preserve] {
        let world = World::new();
        let hook = world.script("hook", WRITES_IT_DOWN);
        configure(&world, seam, &[hook]);
        let lane = situation(&world);
        let porcelain = OsString::from("?? a\0 M b\0");
        let extra: &[_] = if seam == Seam::Preserve { &[("porcelain", porcelain)] } else { &[] };
        assert_eq!(ask(&ctx(&world), seam, &lane, extra), Answer::Yes(Said::Nothing));
        let told = Told::read(&world);
        let mut wanted = json!({
            "hook": seam.name(), "path": lane.path, "main": lane.main, "repo": "acme/shop", "name": "fix",
            "branch": "worktree-fix", "base": "trunk", "parent": "", "cwd": world.home(), "agent": "claude",
        });
        for (variable, key) in VARIABLES {
            let value = wanted.get(key).map(|value| OsStr::new(value.as_str().unwrap()));
            assert_eq!(told.env(variable), value, "{seam:?} {variable}");
        }
        if seam == Seam::Preserve {
            wanted["porcelain"] = json!("?? a\0 M b\0");
        }
        assert_eq!(told.object(), wanted, "{seam:?}");
    }
}

#[test]
fn an_action_is_told_state_chat_and_command_too() {
    for seam in [Seam::Open, Seam::Resume, Seam::Focus] {
        let world = World::new();
        let hook = world.script("hook", WRITES_IT_DOWN);
        configure(&world, seam, &[hook]);
        let lane = Situation { state: State::Parked, parent: "/p".into(), ..situation(&world) };
        assert_eq!(act(&ctx(&world), seam, &lane, OsStr::new("claude -- 'a b'")), Acted::Handled);
        let told = Told::read(&world);
        let wanted = json!({
            "hook": seam.name(), "path": lane.path, "main": lane.main, "repo": "acme/shop", "name": "fix",
            "branch": "worktree-fix", "base": "trunk", "parent": "/p", "cwd": world.home(), "agent": "claude",
            "state": "parked", "chat": lane.chat, "command": "claude -- 'a b'",
        });
        for (variable, key) in VARIABLES {
            assert_eq!(told.env(variable), wanted[key].as_str().map(OsStr::new), "{seam:?} {variable}");
        }
        // A person who runs the tests at a terminal gives it to the program instead.
        if !std::io::IsTerminal::is_terminal(&std::io::stdin()) {
            assert_eq!(told.object(), wanted, "{seam:?}");
        }
    }
}

#[test]
fn bytes_are_exact_in_variables_and_replaced_in_the_object() {
    let world = World::new();
    let hook = world.script("hook", WRITES_IT_DOWN);
    configure(&world, Seam::Landed, &[hook]);
    let path = PathBuf::from(OsString::from_vec(b"/lanes/\xff\"\n".to_vec()));
    let lane = Situation { path: path.clone(), ..situation(&world) };
    ask(&ctx(&world), Seam::Landed, &lane, &[]);
    let told = Told::read(&world);
    assert_eq!(told.env("SCRUFF_PATH"), Some(path.as_os_str()));
    assert_eq!(told.object()["path"], "/lanes/\u{fffd}\"\n");
}

#[test]
fn another_lanes_facts_are_taken_out_and_everything_else_passes() {
    let mut world = World::new();
    for (variable, _) in VARIABLES {
        world.set(variable, "another lane's");
    }
    world.set("MY_OWN", "kept");
    world.set("SCRUFF_MY_OWN", "kept");
    world.set("SCRUFF_AGENT", "codex");
    let hook = world.script("hook", WRITES_IT_DOWN);
    configure(&world, Seam::Landed, &[hook]);
    ask(&ctx(&world), Seam::Landed, &situation(&world), &[]);
    let told = Told::read(&world);
    assert!(told.env.iter().all(|(_, value)| value != "another lane's"), "{:?}", told.env);
    for name in ["SCRUFF_COMMAND", "SCRUFF_CHAT", "SCRUFF_LANE_STATE"] {
        assert_eq!(told.env(name), None, "{name}");
    }
    assert_eq!(told.env("MY_OWN"), Some(OsStr::new("kept")));
    assert_eq!(told.env("SCRUFF_MY_OWN"), Some(OsStr::new("kept")));
    assert_eq!(told.env("SCRUFF_AGENT"), Some(OsStr::new("codex")));
    assert_eq!(told.env("PATH"), world.env().get(OsStr::new("PATH")).map(OsString::as_os_str));
}

#[test]
fn it_runs_where_scruff_was_called() {
    let world = scripted(Seam::Landed, "pwd -P >\"$0.cwd\"");
    assert_eq!(outcome(&ctx(&world), &world, Seam::Landed), "yes");
    let cwd = std::fs::read_to_string(world.root().join("hook.cwd")).unwrap();
    assert_eq!(Path::new(cwd.strip_suffix('\n').unwrap()), world.home());
}

#[test]
fn the_manual_names_each_hook_variable_and_key() {
    let manual = include_str!("../../docs/hooks.md");
    for (variable, key) in VARIABLES {
        assert!(manual.contains(&format!("| `{variable}` | `{key}` |")), "{variable}");
    }
    for seam in Seam::ALL {
        let kind = if seam.is_action() { "action" } else { "question" };
        assert!(manual.contains(&format!("| `{}` | {kind} |", seam.name())), "{seam:?}");
    }
}
