//! Clients: the very argv of each, for every kind of prompt and every way to go on.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use scruff::client::{Launch, PROMPT_FILE, Prompt, adapter, command_line, ids, scrubbed, start};
use scruff::ctx::Ctx;
use scruff::env::Env;
use scruff::error::{Error, Kind};

use crate::seam::{ctx, situation};
use crate::world::World;

const ALL: [&str; 5] = ["claude", "codex", "gemini", "opencode", "pi"];

/// The directory that stands for the checkout's own git directory.
fn git_dir(world: &World) -> PathBuf {
    world.root().join("git dir")
}

fn begin(world: &World, id: &str, prompt: Option<&Prompt>) -> Result<Launch, Error> {
    let ctx = ctx(world);
    start(&ctx, &adapter(&ctx, id)?, &situation(world), &git_dir(world), prompt)
}

fn text(text: impl Into<Vec<u8>>) -> Prompt {
    Prompt { text: text.into(), images: Vec::new() }
}

/// The argv with the chosen id as SESSION.
#[track_caller]
fn argv(launch: &Launch) -> Vec<String> {
    let session = launch.session.clone().unwrap_or_else(|| "\0".to_owned());
    let word = |word: &OsString| word.to_str().unwrap().replace(&session, "SESSION");
    launch.argv.iter().map(word).collect()
}

/// How each client is started, as far as the prompt.
fn bare(id: &str) -> Vec<String> {
    let words: &[&str] = match id {
        "claude" => &["claude", "--session-id", "SESSION"],
        "codex" => &["codex", "--no-daemon"],
        "gemini" => &["gemini", "--session-id", "SESSION"],
        "opencode" => &["opencode"],
        "pi" => &["pi", "--session-id", "SESSION"],
        _ => unreachable!(),
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn with<S: Into<String>>(mut words: Vec<String>, more: impl IntoIterator<Item = S>) -> Vec<String> {
    words.extend(more.into_iter().map(Into::into));
    words
}

/// How each client is handed a prompt that is harmless to all of them.
fn handed(id: &str, prompt: &str) -> Vec<String> {
    match id {
        "gemini" => vec![format!("--prompt-interactive={prompt}")],
        "opencode" => vec![format!("--prompt={prompt} ")],
        _ => vec!["--".to_owned(), prompt.to_owned()],
    }
}

#[test]
fn without_a_prompt() {
    let world = World::new();
    for id in ALL {
        for prompt in [None, Some(text(""))] {
            let launch = begin(&world, id, prompt.as_ref()).unwrap();
            assert_eq!(argv(&launch), bare(id), "{id}");
            assert_eq!(launch.cwd, situation(&world).path);
            assert_eq!((launch.note, launch.prompt_file, launch.shell), (None, None, false));
        }
    }
}

#[test]
fn a_prompt_is_one_argument_and_arrives_as_it_is() {
    let world = World::new();
    let long = "äß x".repeat(10_923);
    for id in ALL {
        for prompt in
            ["fix it", "-x", "--help", "a\nb'\"$", " ", "a @b !c", "{{.Path}}", "#x", "/status", &long]
        {
            let launch = begin(&world, id, Some(&text(prompt))).unwrap();
            assert_eq!(argv(&launch), with(bare(id), handed(id, prompt)), "{id} {prompt:.20}");
            assert_eq!(launch.prompt_file, None);
        }
    }
}

#[test]
fn what_a_client_would_run_or_read_is_shielded() {
    let world = World::new();
    for (id, prompt, handed_as) in [("codex", "!ls", " !ls"), ("pi", "@f", " @f"), ("pi", "@", " @")] {
        let launch = begin(&world, id, Some(&text(prompt))).unwrap();
        assert_eq!(argv(&launch), with(bare(id), handed(id, handed_as)));
    }
    for (id, prompt) in [
        ("claude", "@f"),
        ("codex", "@f"),
        ("gemini", "@f"),
        ("opencode", "@f"),
        ("claude", "!ls"),
        ("pi", "!ls"),
    ] {
        let launch = begin(&world, id, Some(&text(prompt))).unwrap();
        assert_eq!(argv(&launch), with(bare(id), handed(id, prompt)));
    }
}

#[test]
fn bytes_that_are_no_text_arrive_and_a_nul_is_refused() {
    let world = World::new();
    for id in ALL {
        let launch = begin(&world, id, Some(&text(*b"\xff\xfe x"))).unwrap();
        let last = launch.argv.last().unwrap().as_bytes();
        assert!(last.windows(4).any(|bytes| bytes == b"\xff\xfe x"), "{id} {last:?}");
        let error = begin(&world, id, Some(&text(*b"a\0b"))).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
        assert!(error.message().contains("NUL") && !error.hints().is_empty());
    }
}

#[test]
fn a_prompt_too_long_for_a_command_is_told_by_file() {
    let world = World::new();
    // The last one is short, and long once it is quoted.
    for prompt in ["x".repeat(300_000), "x y".repeat(40_000), "'".repeat(30_000)] {
        for id in ALL {
            let launch = begin(&world, id, Some(&text(prompt.clone()))).unwrap();
            let file = launch.prompt_file.clone().unwrap();
            assert_eq!(file, git_dir(&world).join(PROMPT_FILE));
            assert_eq!(std::fs::read_to_string(&file).unwrap(), prompt);
            assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
            let words = argv(&launch);
            assert_eq!(words[..bare(id).len()], bare(id));
            assert!(words.last().unwrap().contains(file.to_str().unwrap()), "{id} {words:?}");
            assert!(command_line(&launch).len() < 2_000);
        }
    }
}

#[test]
fn the_border_is_100_000_bytes_of_the_quoted_command() {
    let world = World::new();
    let room = 100_000 - command_line(&begin(&world, "claude", Some(&text("y"))).unwrap()).len() + 1;
    let fits = begin(&world, "claude", Some(&text("y".repeat(room)))).unwrap();
    assert_eq!((command_line(&fits).len(), fits.prompt_file), (100_000, None));
    assert!(begin(&world, "claude", Some(&text("y".repeat(room + 1)))).unwrap().prompt_file.is_some());
}

#[test]
fn images() {
    let world = World::new();
    let odd = world.file("im g (1).png", "");
    let comma = world.file("a,b.png", "");
    let here = world.file(world.home().join("here.png"), "");
    let (odd_name, comma_name, here_name) =
        (odd.display().to_string(), comma.display().to_string(), here.display().to_string());
    let prompt = Prompt { text: b"look".to_vec(), images: vec![odd, comma, PathBuf::from("here.png")] };
    let listed = format!("look\nImage: {odd_name}\nImage: {comma_name}\nImage: {here_name}");
    let start = |id: &str| argv(&begin(&world, id, Some(&prompt)).unwrap());
    assert_eq!(start("claude"), with(bare("claude"), handed("claude", &listed)));
    assert_eq!(start("opencode"), with(bare("opencode"), handed("opencode", &listed)));
    let flags = ["-i", &odd_name, "-i", &here_name, "--"];
    let text = format!("look\nImage: {comma_name}");
    // A comma parts two images.
    assert_eq!(start("codex"), with(with(bare("codex"), flags), [text]));
    let files = [&odd_name, &comma_name, &here_name].map(|name| format!("@{name}"));
    assert_eq!(start("pi"), with(with(bare("pi"), files), ["--", "look"]));
    let escaped = start("gemini").pop().unwrap();
    assert!(escaped.contains("\n@") && escaped.contains("/im\\ g\\ \\(1\\).png\n@"), "{escaped}");
}

#[test]
fn images_without_a_word_and_with_a_long_prompt() {
    let world = World::new();
    let image = world.file("i.png", "");
    let alone = Prompt { text: Vec::new(), images: vec![image.clone()] };
    let name = image.display().to_string();
    let claude = begin(&world, "claude", Some(&alone)).unwrap();
    assert_eq!(argv(&claude), with(bare("claude"), ["--".to_owned(), format!("Image: {name}")]));
    let codex = begin(&world, "codex", Some(&alone)).unwrap();
    assert_eq!(argv(&codex), with(bare("codex"), ["-i", &name]));
    let long = Prompt { text: vec![b'x'; 300_000], images: vec![image] };
    let claude = begin(&world, "claude", Some(&long)).unwrap();
    assert!(argv(&claude).last().unwrap().ends_with(&format!("\nImage: {name}")));
    assert_eq!(std::fs::read(claude.prompt_file.unwrap()).unwrap(), long.text);
    let many = Prompt { text: b"x".to_vec(), images: vec![long.images[0].clone(); 20_000] };
    assert_eq!(begin(&world, "codex", Some(&many)).unwrap_err().kind(), Kind::Usage);
}

#[test]
fn an_image_that_is_not_there_is_an_error() {
    let world = World::new();
    let prompt = Prompt { text: b"look".to_vec(), images: vec![PathBuf::from("nosuch.png")] };
    let error = begin(&world, "claude", Some(&prompt)).unwrap_err();
    assert_eq!(error.kind(), Kind::Precondition);
    assert!(error.message().contains("nosuch.png"));
}

#[test]
fn a_chosen_id_is_a_fresh_uuid() {
    let world = World::new();
    let chosen = || begin(&world, "claude", None).unwrap().session.unwrap();
    let (one, other) = (chosen(), chosen());
    assert_ne!(one, other);
    let lengths: Vec<usize> = one.split('-').map(str::len).collect();
    assert_eq!(lengths, [8, 4, 4, 4, 12]);
    assert!(one.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)));
    assert_eq!(one.as_bytes()[14], b'4');
    assert!(b"89ab".contains(&one.as_bytes()[19]));
    for id in ["codex", "opencode"] {
        assert_eq!(begin(&world, id, None).unwrap().session, None);
    }
}

/// Any word a command can have, the nasty ones often.
fn word() -> impl Strategy<Value = OsString> {
    let any = prop::collection::vec(1u8..=255, 0..60).prop_map(OsString::from_vec);
    prop_oneof![any, "[-'\"\\\\$`!~=*? \n#@{}]{0,12}".prop_map(OsString::from)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_shell_reproduces_the_argv(words in prop::collection::vec(word(), 1..6), value in word()) {
        let world = World::new();
        let program = world.script("odd 'name", "#!/bin/sh\nprintf '%s\\0' \"$0\" \"$@\" \"$VALUE\"\n");
        let mut argv = vec![program.into_os_string()];
        argv.extend(words);
        let launch = Launch {
            argv: argv.clone(),
            env: vec![("VALUE".into(), value.clone())],
            ..Launch::default()
        };
        let ran = world.program("sh").arg("-c").arg(command_line(&launch)).run();
        argv.push(value);
        let wanted: Vec<u8> = argv.iter().flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect();
        prop_assert_eq!(&ran.stdout, &wanted);
    }
}

#[test]
fn a_shells_command_runs_in_the_users_shell() {
    let mut world = World::new();
    let shell = world.script("shell", "#!/bin/sh\nprintf '%s\\n' \"$@\"\n");
    world.set("SHELL", shell);
    let launch = Launch::shell("echo 'a b' | cat", "/");
    let ran = world.program("sh").arg("-c").arg(command_line(&launch)).run();
    assert_eq!(ran.out(), "-c\necho 'a b' | cat\n");
    let ran = world.program("sh").env_remove("SHELL").arg("-c").arg(command_line(&launch)).run();
    assert_eq!(ran.out(), "a b\n");
}

// Adapters of the user's own.

fn own(world: &World, id: &str, toml: &str) -> Ctx {
    world.file(world.home().join(format!(".config/scruff/adapters/agent/{id}.toml")), toml);
    ctx(world)
}

#[test]
fn a_file_of_the_users_replaces_the_built_in_whole() {
    let world = World::new();
    let ctx = own(
        &world,
        "claude",
        "new = ['my-claude', '{{.Name}} on {{.Branch}}', '{{.Main}}']\n[prompt]\nargv = ['-p', '{{.Prompt}}']\n[env]\nWHERE = 'at {{.Path}}'\n",
    );
    let mine = adapter(&ctx, "claude").unwrap();
    assert_eq!(mine.program(), "my-claude");
    assert!(mine.file.is_some());
    let launch = begin(&world, "claude", Some(&text("x"))).unwrap();
    let lane = situation(&world);
    assert_eq!(argv(&launch), ["my-claude", "fix on worktree-fix", lane.main.to_str().unwrap(), "-p", "x"]);
    assert_eq!(launch.session, None);
    let mut at = OsString::from("at ");
    at.push(&lane.path);
    assert_eq!(launch.env, [("WHERE".into(), at)]);
}

#[test]
fn a_file_of_the_users_adds_a_client() {
    let world = World::new();
    let ctx = own(&world, "my.own_1", "new = ['x']\n");
    own(&world, "-no", "new = ['x']\n");
    own(&world, "codex", "new = ['x']\n");
    world.file(world.home().join(".config/scruff/adapters/agent/notes.txt"), "");
    assert_eq!(ids(&ctx), ["claude", "codex", "gemini", "my.own_1", "opencode", "pi"]);
    assert_eq!(adapter(&ctx, "my.own_1").unwrap().id, "my.own_1");
}

#[test]
fn what_a_file_says_wrong_is_named_with_the_file() {
    let cases = [
        ("new = ['x']\nnwe = ['y']\n", "nwe"),
        ("new = ['x']\n[prompt]\nargs = []\n", "args"),
        ("new = ['x']\n[image]\nwidth = 3\n", "width"),
        ("new = ['x', '{{.Pth}}']\n", "{{.Pth}}"),
        ("new = ['x']\nresume = ['{{.Session']\n", "not closed"),
        ("new = ['x']\n[prompt]\nargv = ['{{.prompt}}']\n", "{{.prompt}}"),
        ("new = ['x']\n[image]\ntext = '{{Image}}'\n", "{{Image}}"),
        ("new = ['x']\n[env]\nX = '{{.X}}'\n", "{{.X}}"),
        ("new = ['x']\n[env]\n'A B' = ''\n", "A B"),
        ("new = []\n", "new"),
        ("new = ['']\n", "new"),
        ("resume = ['x']\n", "new"),
        ("new = 'x'\n", "line 1"),
        ("new = ['x']\nsession = 'mine'\n", "mine"),
        ("new = ['x']\nconversations = 'aider'\n", "aider"),
        ("new = ['x'\n", "line"),
        ("\u{feff}\u{0}", "line 1"),
    ];
    for (toml, named) in cases {
        let world = World::new();
        let ctx = own(&world, "pi", toml);
        let error = adapter(&ctx, "pi").unwrap_err();
        assert_eq!(error.kind(), Kind::Precondition, "{toml}");
        let message = error.message();
        assert!(message.contains(named) && message.contains("agent/pi.toml"), "{toml}: {message}");
        assert!(!message.contains('\n') && !error.hints().is_empty(), "{message}");
    }
}

#[test]
fn an_adapter_that_is_no_readable_file_is_an_error() {
    let world = World::new();
    std::fs::create_dir_all(world.home().join(".config/scruff/adapters/agent/pi.toml")).unwrap();
    assert!(adapter(&ctx(&world), "pi").unwrap_err().message().contains("agent/pi.toml"));
    let ctx = own(&world, "codex", &"#".repeat(2 << 20));
    assert!(adapter(&ctx, "codex").unwrap_err().message().contains("1 MiB"));
}

#[test]
fn an_unknown_client_is_told_which_there_are() {
    let world = World::new();
    world.file(world.home().join(".config/scruff/secret.toml"), "new = ['x']\n");
    let long = "x".repeat(65);
    for id in ["cluade", "", "../../secret", "/etc/x", "a/b", ".", "..", "-x", "a\nb", "Claude ", &long] {
        let error = adapter(&ctx(&world), id).unwrap_err();
        assert_eq!(error.kind(), Kind::Precondition);
        let hints = error.hints().join("\n");
        assert!(hints.contains("claude, codex, gemini, opencode, pi"), "{id}: {hints}");
    }
}

#[test]
fn an_adapter_without_prompt_or_image_says_so() {
    let world = World::new();
    own(&world, "mine", "new = ['x']\n");
    world.file("i.png", "");
    let error = begin(&world, "mine", Some(&text("x"))).unwrap_err();
    assert!(error.message().contains("mine") && error.message().contains("prompt"));
    let image = Prompt { text: Vec::new(), images: vec![world.root().join("i.png")] };
    let error = begin(&world, "mine", Some(&image)).unwrap_err();
    assert!(error.message().contains("mine") && error.message().contains("image"));
    assert!(begin(&world, "mine", None).is_ok());
}

// The environment of a new pane.

#[test]
fn a_new_pane_gets_nothing_of_its_callers_place() {
    let world = World::new();
    let ran = world.program("git").args(["rev-parse", "--local-env-vars"]).run();
    let git: Vec<&str> = ran.out().lines().collect();
    let gone = [
        "CLAUDECODE",
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_CODE_SESSION_ATTENDED",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_MESSAGING_SOCKET",
        "CLAUDE_CODE_MESSAGING_TOKEN",
        "CLAUDE_PID",
        "CLAUDE_PLUGIN_ROOT",
        "CLAUDE_PLUGIN_OPTION_X",
        "CLAUDE_ENV_FILE",
        "GEMINI_SESSION_ID",
        "TMUX",
        "TMUX_PANE",
        "WEZTERM_PANE",
        "WEZTERM_UNIX_SOCKET",
        "SCRUFF_AGENT",
        "SCRUFF_HOOK",
        "SCRUFF_PATH",
        "SCRUFF_COMMAND",
        "SCRUFF_EVENT",
        "SCRUFF_ASK_SOCK",
        "SCRUFF_WORKTREE",
        "SCRUFF_LANE_ID",
        "PWD",
        "OLDPWD",
    ];
    let stays = [
        "PATH",
        "HOME",
        "SCRUFF_BASE",
        "SCRUFF_STATE",
        "SCRUFF_LOG",
        "SCRUFF_OCCUPANCY",
        "SCRUFF_TRILL",
        "SCRUFF_MY_OWN",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_CODE_TMPDIR",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_FORCE_SESSION_PERSISTENCE",
        "ANTHROPIC_API_KEY",
        "CODEX_HOME",
        "GEMINI_API_KEY",
        "GIT_AUTHOR_NAME",
        "GIT_CONFIG_GLOBAL",
        "GIT_SSH_COMMAND",
        "TMUX_TMPDIR",
        "EDITOR",
    ];
    let all = git.iter().chain(&gone).chain(&stays);
    let env: Env = all.map(|name| (OsString::from(name), OsString::from("x"))).collect();
    let mut left: Vec<&str> = Vec::new();
    let scrubbed = scrubbed(&env);
    left.extend(scrubbed.iter().map(|(name, _)| name.to_str().unwrap()));
    let mut wanted = stays.to_vec();
    wanted.sort_unstable();
    assert_eq!(left, wanted);
}

#[test]
fn what_a_client_tames_its_tools_with_goes_and_ones_own_stays() {
    let env = |pairs: &[(&str, &str)]| -> Env {
        pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    };
    let cases = [
        ("CLAUDECODE", "GIT_EDITOR", "true"),
        ("CODEX_CI", "NO_COLOR", "1"),
        ("CODEX_CI", "PAGER", "cat"),
        ("GEMINI_CLI", "GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GEMINI_CLI", "GIT_PAGER", "cat"),
        ("GEMINI_CLI", "DISPLAY", ""),
        ("OPENCODE", "AGENT", "1"),
    ];
    for (mark, name, value) in cases {
        assert!(!scrubbed(&env(&[(mark, "1"), (name, value)])).has(name), "{mark} {name}");
        assert!(scrubbed(&env(&[(mark, "1"), (name, "own")])).has(name), "{mark} {name}");
        assert!(scrubbed(&env(&[(name, value)])).has(name), "{mark} {name}");
    }
}

#[test]
fn an_adapter_sets_and_takes_variables() {
    let world = World::new();
    own(&world, "mine", "new = ['x']\nscrub = ['MINE_*', 'EXACT']\n[env]\nMINE_LANE = '{{.Name}}'\n");
    let launch = begin(&world, "mine", None).unwrap();
    let given = ["MINE_A", "EXACT", "EXACTLY", "TMUX_PANE"].map(|name| (name.into(), "x".into()));
    let env = launch.environment(&given.into_iter().collect());
    let left: Vec<(&OsStr, &OsStr)> = env.iter().collect();
    assert_eq!(left, [("EXACTLY".as_ref(), "x".as_ref()), ("MINE_LANE".as_ref(), "fix".as_ref())]);
}

#[test]
fn built_in_adapters_are_named_by_their_programs() {
    let world = World::new();
    for id in ALL {
        assert_eq!(Path::new(&adapter(&ctx(&world), id).unwrap().program()), Path::new(id));
    }
}

#[test]
fn the_manuals_adapter_is_one_and_shows_every_key() {
    let manual = include_str!("../../docs/clients.md");
    let (_, rest) = manual.split_once("```toml\n").unwrap();
    let (toml, _) = rest.split_once("```").unwrap();
    let world = World::new();
    let ctx = own(&world, "aider", toml);
    assert_eq!(adapter(&ctx, "aider").unwrap().program(), "aider");
    own(&world, "aider", "new = ['x']\nnosuchkey = 1\n[prompt]\n");
    let keys = adapter(&ctx, "aider").unwrap_err().message();
    let (_, expected) = keys.split_once("expected one of ").unwrap();
    for key in expected.split(", ").map(|key| key.trim_matches('`')) {
        assert!(toml.contains(&format!("\n{key} = ")) || toml.contains(&format!("\n[{key}]\n")), "{key}");
    }
    for variable in scruff::client::template::VARIABLES {
        assert!(manual.contains(&format!("{{{{.{variable}}}}}")), "{variable}");
    }
}
