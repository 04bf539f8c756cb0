//! Seams and clients through the binary, in a world without a multiplexer: a program of the
//! user's takes over, and where it does not the client starts in place of scruff.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use scruff::client::PROMPT_FILE;

use crate::world::{Ran, Repo, World};

/// A world with a repository, and these programs as hooks.
fn hooked(hooks: &[(&str, &str)]) -> (World, Repo) {
    let world = World::new();
    let repo = world.repo("shop");
    let mut config = String::from("[hooks]\n");
    for (name, body) in hooks {
        let program = world.script(format!("hooks/{name}"), &format!("#!/bin/sh\n{body}\n"));
        config += &format!("{name} = '{}'\n", program.display());
    }
    world.file(world.config_file(), config);
    (world, repo)
}

fn scruff<const N: usize>(world: &World, repo: &Repo, args: [&str; N]) -> Ran {
    world.call(args).cwd(repo.path()).run()
}

fn row_of(world: &World, name: &str) -> Option<serde_json::Value> {
    let list = world.scruff(["list", "--json"]).json();
    list["lanes"].as_array().unwrap().iter().find(|lane| lane["name"] == name).cloned()
}

#[test]
fn what_an_action_prints_is_scruffs_talk() {
    let hooks = [("open", "echo from-open"), ("resume", "echo from-resume"), ("focus", "echo from-focus")];
    let (world, repo) = hooked(&hooks);
    for (verb, wanted) in [("open", "from-open"), ("resume", "from-resume"), ("focus", "from-focus")] {
        let ran = scruff(&world, &repo, [verb, "fix"]);
        ran.ok().silent().warns(wanted);
        assert_eq!(ran.stderr.matches("from-").count(), 1, "{ran}");
    }
    assert!(world.launches().is_empty());
}

#[test]
fn an_actions_exit_status_is_scruffs() {
    for (code, wanted) in [(0, 0), (1, 1), (2, 2)] {
        let (world, repo) = hooked(&[("open", &format!("exit {code}"))]);
        scruff(&world, &repo, ["open", "fix"]).exits(wanted).silent();
        assert!(world.launches().is_empty());
        assert!(row_of(&world, "fix").is_some(), "the lane stays: only its session was refused");
    }
}

#[test]
fn a_declined_action_is_scruffs_and_a_broken_one_with_a_warning() {
    for (body, warning) in
        [("exit 3", None), ("exit 9", Some("exit status 9")), ("kill -KILL $$", Some("signal 9"))]
    {
        for verb in ["open", "resume", "focus"] {
            let (world, repo) = hooked(&[(verb, body)]);
            if verb != "open" {
                scruff(&world, &repo, ["new", "fix"]).ok();
            }
            let ran = scruff(&world, &repo, [verb, "fix"]);
            world.wait_for_launch();
            match warning {
                Some(why) => ran.ok().warns(why).warns(&format!("the {verb} hook")),
                None => ran.ok(),
            };
            assert_eq!(ran.stderr.contains("warning"), warning.is_some(), "{ran}");
        }
    }
}

#[test]
fn without_a_terminal_an_action_reads_the_object_and_with_one_the_keys() {
    let (world, repo) = hooked(&[("open", "cat >\"$0.in\""), ("resume", "read line; echo \"typed $line.\"")]);
    world.call(["open", "fix"]).cwd(repo.path()).stdin("not for the hook").run().ok();
    let told = std::fs::read(world.root().join("hooks/open.in")).unwrap();
    let told: serde_json::Value = serde_json::from_slice(&told).unwrap();
    assert_eq!(
        (&told["hook"], &told["name"], &told["state"]),
        (&"open".into(), &"fix".into(), &"live".into())
    );
    let lane = row_of(&world, "fix").unwrap();
    for key in ["path", "main", "repo", "branch", "base", "parent", "chat", "agent"] {
        assert_eq!(told[key], lane[key], "{key}");
    }
    assert_eq!(told["cwd"].as_str().unwrap(), repo.path().to_str().unwrap());
    let terminal = world.call(["resume", "fix"]).cwd(repo.path()).on_terminal(80, 24);
    terminal.send("hello\r");
    terminal.wait_for("typed hello.");
}

#[test]
fn the_command_is_what_scruff_would_run() {
    let prompt = b"it's\n-x \"$HOME\" `touch $CANARY` $(touch $CANARY) \xff \xc3\xa9";
    let (world, repo) = hooked(&[("open", "cd \"$SCRUFF_CHAT\" && exec sh -c \"$SCRUFF_COMMAND\"")]);
    let call = world.call(["open", "fix", "--prompt-file", "-"]).cwd(repo.path());
    call.stdin(*prompt).run().ok().silent();
    let launch = world.wait_for_launch();
    assert_eq!(launch.program, "claude");
    assert_eq!(launch.args.last().unwrap(), OsStr::from_bytes(prompt));
    assert_eq!(launch.args[2], "--");
    let lane = row_of(&world, "fix").unwrap();
    assert_eq!(launch.cwd, Path::new(lane["path"].as_str().unwrap()));
}

#[test]
fn the_command_to_resume_has_the_recorded_id() {
    let (world, repo) = hooked(&[("resume", "printf %s \"$SCRUFF_COMMAND\" >\"$0.command\"")]);
    scruff(&world, &repo, ["open", "fix"]).ok();
    let begun = world.wait_for_launch();
    scruff(&world, &repo, ["resume", "fix"]).ok();
    let command = std::fs::read_to_string(world.root().join("hooks/resume.command")).unwrap();
    assert_eq!(begun.args[0], "--session-id");
    assert_eq!(command, format!("claude --resume {}", begun.args[1].to_str().unwrap()));
}

#[test]
fn a_hook_of_another_lane_cannot_say_which_lane_this_is() {
    let (mut world, repo) = hooked(&[("open", "printf %s \"$SCRUFF_NAME\" >\"$0.name\"")]);
    for name in ["NAME", "PATH", "MAIN", "REPO", "BRANCH", "CHAT", "COMMAND", "LANE_AGENT", "LANE_STATE"] {
        world.set(format!("SCRUFF_{name}"), "other");
    }
    scruff(&world, &repo, ["open", "fix"]).ok();
    assert_eq!(std::fs::read_to_string(world.root().join("hooks/open.name")).unwrap(), "fix");
    assert_eq!(row_of(&world, "fix").unwrap()["agent"], "claude");
}

#[test]
fn the_agent_hook_names_the_client_after_scruff_agent_and_before_the_configuration() {
    let (world, repo) = hooked(&[("agent", "echo codex")]);
    let agent_of = |name: &str, env: &str| {
        world.call(["new", name]).cwd(repo.path()).env("SCRUFF_AGENT", env).run().ok().line();
        row_of(&world, name).unwrap()["agent"].as_str().unwrap().to_owned()
    };
    assert_eq!(agent_of("a", "pi"), "pi");
    assert_eq!(agent_of("b", ""), "codex");
    let config = std::fs::read_to_string(world.config_file()).unwrap();
    world.file(world.config_file(), format!("agent = 'gemini'\n{config}"));
    assert_eq!(agent_of("c", ""), "codex");
    world.script("hooks/agent", "#!/bin/sh\necho '{\"agent\": \"opencode\"}'\n");
    assert_eq!(agent_of("d", ""), "opencode");
    for silent in ["exit 3", "true", "echo two words", "echo '{}'"] {
        world.script("hooks/agent", &format!("#!/bin/sh\n{silent}\n"));
        assert_eq!(agent_of(&format!("e-{}", silent.len()), ""), "gemini", "{silent}");
    }
}

#[test]
fn an_agent_hook_that_says_no_leaves_nothing() {
    for code in [1, 2] {
        let (world, repo) = hooked(&[("agent", &format!("exit {code}"))]);
        scruff(&world, &repo, ["new", "fix"]).exits(code).silent();
        assert!(row_of(&world, "fix").is_none());
        assert_eq!(repo.git(["branch", "--list", "worktree-*"]), "");
        assert_eq!(repo.git(["worktree", "list"]).lines().count(), 1);
    }
}

#[test]
fn an_unknown_client_is_an_error_that_leaves_nothing() {
    let (world, repo) = hooked(&[("agent", "echo cluade")]);
    let ran = scruff(&world, &repo, ["new", "fix"]);
    ran.exits(1).silent().warns("cluade").warns("claude, codex, gemini, opencode, pi");
    assert!(row_of(&world, "fix").is_none());
    assert_eq!(repo.git(["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_broken_agent_hook_is_warned_of_and_scruff_goes_on() {
    let (world, repo) = hooked(&[("agent", "exit 77")]);
    let ran = scruff(&world, &repo, ["new", "fix"]);
    ran.ok().warns("exit status 77");
    ran.line();
    assert_eq!(row_of(&world, "fix").unwrap()["agent"], "claude");
}

#[test]
fn each_client_starts_in_place_with_its_prompt() {
    let world = World::new();
    let repo = world.repo("shop");
    let prompt = OsString::from_vec(b"-x it's \"$HOME\"\n$(touch $CANARY) \xff".to_vec());
    for (number, client) in ["claude", "codex", "gemini", "opencode", "pi"].iter().enumerate() {
        let call = world.call(["open", client, "--agent", client, "--here", "--prompt-file", "-"]);
        call.cwd(repo.path()).stdin(prompt.as_bytes()).run();
        let launch = world.wait_for_launches(number + 1).pop().unwrap();
        assert_eq!(launch.program, *client);
        let last = launch.args.last().unwrap().as_bytes();
        assert!(last.windows(prompt.len()).any(|part| part == prompt.as_bytes()), "{client} {last:?}");
        assert_eq!(launch.env("SCRUFF_NAME"), None);
    }
}

#[test]
fn a_prompt_of_300_kilobytes_is_kept_in_the_checkouts_git_directory() {
    let world = World::new();
    let repo = world.repo("shop");
    let prompt = "ä b'c\n".repeat(50_000);
    let call = world.call(["open", "fix", "--here", "--prompt-file", "-"]).cwd(repo.path());
    call.stdin(prompt.as_bytes()).run();
    let launch = world.wait_for_launch();
    let file = repo.path().join(".git/worktrees/fix").join(PROMPT_FILE);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), prompt);
    let told = launch.args.last().unwrap().to_str().unwrap();
    assert!(told.contains(file.to_str().unwrap()), "{told}");
    assert_eq!(repo.git_in(&launch.cwd, ["status", "--porcelain"]), "");
}

#[test]
fn a_prompt_with_a_nul_leaves_nothing() {
    let world = World::new();
    let repo = world.repo("shop");
    let call = world.call(["open", "fix", "--here", "--prompt-file", "-"]).cwd(repo.path());
    let ran = call.stdin(*b"a\0b").run();
    ran.exits(1).silent().warns("NUL");
    assert!(world.launches().is_empty());
    assert!(row_of(&world, "fix").is_none(), "{ran}");
}

#[test]
fn a_client_that_takes_no_prompt_leaves_nothing() {
    let world = World::new();
    let repo = world.repo("shop");
    world.file(world.home().join(".config/scruff/adapters/agent/mute.toml"), "new = ['claude']\n");
    let ran = scruff(&world, &repo, ["open", "fix", "--here", "--agent", "mute", "--prompt", "x"]);
    ran.exits(1).silent().warns("mute").warns("[prompt]");
    assert!(row_of(&world, "fix").is_none(), "{ran}");
    assert!(world.launches().is_empty());
}
