//! What every command has in common: help, usage errors, streams, exit codes.

use crate::world::{Ran, World};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;

/// The commands the binary itself says it has.
fn verbs(world: &World) -> Vec<String> {
    let help = world.scruff(["--help"]);
    let listed = help.ok().out().lines().skip_while(|line| *line != "Commands:").skip(1);
    let verbs =
        listed.take_while(|line| line.starts_with("  ")).filter_map(|line| line.split_whitespace().next());
    let verbs: Vec<String> = verbs.map(str::to_owned).collect();
    assert!(verbs.len() >= 6, "{verbs:?}\n{help}");
    verbs
}

/// Everything below the home directory but what the world itself has put there.
fn written(world: &World) -> BTreeSet<OsString> {
    let listed = world.program("find").arg(world.home()).args(["-mindepth", "1"]).run();
    listed.ok().stdout.split(|byte| *byte == b'\n').map(|path| OsString::from_vec(path.to_vec())).collect()
}

/// An error as the contract has it: the first line says what, a later one what to do.
#[track_caller]
fn complains(ran: &Ran, code: i32) {
    ran.exits(code).silent();
    let mut lines = ran.stderr.lines();
    assert!(lines.next().is_some_and(|line| line.starts_with("scruff: ")), "{ran}");
    assert!(lines.next().is_some_and(|line| !line.trim().is_empty()), "no next step\n{ran}");
    assert!(!ran.stderr.contains("panicked"), "{ran}");
}

#[test]
fn help_is_an_answer_and_nothing_is_done() {
    let world = World::new();
    let before = written(&world);
    for flag in ["-h", "--help"] {
        world.scruff([flag]).ok().calm().says("Usage: scruff");
        for verb in verbs(&world) {
            world.scruff([verb.as_str(), flag]).ok().calm().says(&format!("Usage: scruff {verb}"));
        }
    }
    assert_eq!(written(&world), before);
}

#[test]
fn help_after_a_name_makes_no_lane() {
    let world = World::new();
    let repo = world.repo("shop");
    for verb in ["new", "open", "resume", "focus"] {
        world.call([verb, "one", "--help"]).cwd(repo.path()).run().ok().calm().says("Usage");
    }
    assert_eq!(repo.branches(), ["main"]);
}

#[test]
fn an_unknown_argument_is_an_error_and_never_ignored() {
    let world = World::new();
    let repo = world.repo("shop");
    for verb in verbs(&world) {
        let ran = world.call([&verb, "--no-such-flag"]).cwd(repo.path()).run();
        complains(&ran, 1);
        ran.warns("--no-such-flag");
    }
    complains(&world.call(["--no-such-flag"]).cwd(repo.path()).run(), 1);
    assert_eq!(repo.branches(), ["main"]);
    assert!(repo.worktrees().is_empty());
}

#[test]
fn too_many_words_are_an_error() {
    let world = World::new();
    let repo = world.repo("shop");
    for verb in ["list", "doctor"] {
        complains(&world.call([verb, "extra"]).cwd(repo.path()).run(), 1);
    }
    for verb in ["new", "open", "resume", "focus"] {
        complains(&world.call([verb, "one", "extra"]).cwd(repo.path()).run(), 1);
    }
    assert_eq!(repo.branches(), ["main"]);
}

#[test]
fn a_name_that_is_nothing_is_an_error_with_the_next_step() {
    let world = World::new();
    let repo = world.repo("shop");
    for args in [&["nosuch"][..], &["resume", "nosuch"], &["focus", "nosuch"], &["nosuch", "--pick"]] {
        let ran = world.call(args).cwd(repo.path()).run();
        complains(&ran, 1);
        ran.warns("nosuch").warns("scruff list");
    }
    for args in [&[""][..], &["resume", ""], &["focus", ""], &["new", ""], &["open", ""]] {
        complains(&world.call(args).cwd(repo.path()).run(), 1);
    }
    assert_eq!(repo.branches(), ["main"]);
}

#[test]
fn errors_in_json_have_the_same_status_and_one_shape() {
    let world = World::new();
    let cases: [&[&str]; 5] = [
        &["--json", "nosuch"],
        &["focus", "nosuch", "--json"],
        &["--json", "list", "--no-such-flag"],
        &["new", "--json"],
        &["-C", "/no/such/place", "--json"],
    ];
    for args in cases {
        let ran = world.scruff(args);
        ran.exits(1);
        assert!(ran.line().starts_with('{'), "{ran}");
        let answer = ran.json();
        let error = &answer["error"];
        assert_eq!(answer.as_object().unwrap().len(), 1, "{ran}");
        assert_eq!(error["code"], 1, "{ran}");
        for key in ["message", "hint"] {
            assert!(error[key].as_str().is_some_and(|text| !text.is_empty()), "{key}\n{ran}");
        }
    }
}

#[test]
fn the_version_is_one_line() {
    let world = World::new();
    let version = concat!("scruff ", env!("CARGO_PKG_VERSION"));
    for flag in ["--version", "-V"] {
        assert_eq!(world.scruff([flag]).ok().calm().line(), version);
    }
    assert_eq!(world.call(["--version"]).cwd("/").env_remove("HOME").run().ok().line(), version);
}

#[test]
fn it_starts_from_where_it_is_told() {
    let world = World::new();
    let repo = world.repo("shop");
    let path = repo.path().to_str().unwrap();
    let ran = world.scruff(["-C", path, "new", "one"]);
    assert!(ran.ok().line().ends_with("/one"));
    // Also after the command, and relative.
    world.call(["new", "two", "-C", "shop"]).cwd(repo.path().parent().unwrap()).run().ok();
    assert_eq!(repo.worktrees().len(), 2);
    complains(&world.scruff(["-C", "/no/such/place", "list"]), 1);
    complains(&world.scruff(["-C", "/etc/passwd", "list"]), 1);
}

#[test]
fn a_directory_that_is_gone_is_named_or_does_not_matter() {
    let world = World::new();
    let gone = world.root().join("gone");
    std::fs::create_dir(&gone).unwrap();
    let run = |verb: &str| {
        let line = r#"cd "$1" && rmdir "$1" && scruff "$2"; code=$?; mkdir "$1"; exit $code"#;
        world.program("sh").args(["-c", line, "sh"]).arg(&gone).arg(verb).run()
    };
    complains(&run("new"), 1);
    run("doctor").ok();
}

#[test]
fn without_lanes_the_listing_is_empty_and_done() {
    let world = World::new();
    let bare = world.scruff(["--json"]);
    let answer = bare.ok().calm().json();
    assert_eq!(answer["schema"], 2);
    assert_eq!(answer["scruff"], env!("CARGO_PKG_VERSION"));
    assert_eq!(answer["warnings"].as_array().unwrap().len(), 0);
    assert_eq!(answer["lanes"].as_array().unwrap().len(), 0);
    assert_eq!(bare.stdout, world.scruff(["list", "--json"]).ok().stdout);
    let no_args: [&str; 0] = [];
    world.scruff(no_args).ok();
}

#[test]
fn bare_scruff_and_list_are_one() {
    let world = World::new();
    let repo = world.repo("shop").with_origin("acme/shop");
    for name in ["one", "two"] {
        world.call(["new", name]).cwd(repo.path()).run().ok();
    }
    let bare = world.scruff(["--json"]);
    assert_eq!(bare.ok().json()["lanes"].as_array().unwrap().len(), 2);
    assert_eq!(bare.stdout, world.scruff(["list", "--json"]).ok().stdout);
    let no_args: [&str; 0] = [];
    assert_eq!(world.scruff(no_args).ok().stdout, world.scruff(["list"]).ok().stdout);
}

#[test]
fn colour_is_for_terminals_that_want_it() {
    let world = World::new();
    let repo = world.repo("shop");
    world.call(["new", "one"]).cwd(repo.path()).run().ok();
    let has_colour = |bytes: &[u8]| bytes.contains(&0x1b);
    assert!(!has_colour(&world.scruff(["list"]).ok().stdout));
    assert!(has_colour(&world.scruff(["list", "--color", "always"]).ok().stdout));
    assert!(!has_colour(&world.scruff(["list", "--color", "never"]).ok().stdout));
    complains(&world.scruff(["list", "--color", "sometimes"]), 1);

    let on_terminal = |args: &[&str], no_color: Option<&str>| {
        let call = no_color.into_iter().fold(world.call(args), |call, value| call.env("NO_COLOR", value));
        has_colour(&call.typescript())
    };
    assert!(on_terminal(&["list"], None));
    assert!(on_terminal(&["list"], Some("")), "an empty NO_COLOR is as good as none");
    assert!(!on_terminal(&["list"], Some("1")));
    assert!(!on_terminal(&["list", "--color", "never"], None));
    assert!(on_terminal(&["list", "--color", "always"], Some("1")));
}

#[test]
fn a_reader_that_leaves_is_no_reason_to_make_a_scene() {
    let world = World::new();
    let repo = world.repo("shop");
    world.call(["new", "one"]).cwd(repo.path()).run().ok();
    for line in
        ["scruff list --json | true", "scruff --help | true", "scruff list >&-", "scruff doctor >&- 2>&-"]
    {
        let ran = world.program("sh").args(["-c", line]).run();
        assert!(!ran.stderr.contains("panicked"), "{ran}");
    }
    world.program("sh").args(["-c", "scruff --version >/dev/full"]).run().exits(1);
    world.program("sh").args(["-c", "scruff list --json >/dev/full"]).run().exits(1);
}

#[test]
fn arguments_that_are_not_utf_8_are_answered() {
    let world = World::new();
    let repo = world.repo("shop");
    let odd = || OsString::from_vec(b"a\xff\xfeb".to_vec());
    for verb in ["new", "open", "resume", "focus"] {
        let ran = world.call([OsStr::new(verb), &odd()]).cwd(repo.path()).run();
        complains(&ran, 1);
    }
    complains(&world.call([odd()]).cwd(repo.path()).run(), 1);
    assert_eq!(repo.branches(), ["main"]);
}

#[test]
fn an_empty_environment_is_no_reason_to_break() {
    let world = World::new();
    let run = |args: &[&str]| {
        let bare = world.program("env").arg("-i").arg(env!("CARGO_BIN_EXE_scruff")).args(args).run();
        assert!(!bare.stderr.contains("panicked"), "{bare}");
        bare
    };
    run(&["--version"]).ok();
    run(&["--help"]).ok();
    assert!(run(&["list", "--json"]).code() <= 1);
}

#[test]
fn a_relative_state_directory_is_refused_and_the_default_used() {
    let world = World::new();
    let repo = world.repo("shop");
    let ran = world.call(["new", "one"]).cwd(repo.path()).env("SCRUFF_STATE", "some/where").run();
    ran.ok().warns("SCRUFF_STATE");
    assert!(world.state().join("lanes").is_dir());
    assert!(!repo.path().join("some").exists());
}

#[test]
fn state_and_base_go_where_they_are_told() {
    let mut world = World::new();
    world.set("SCRUFF_BASE", world.work().join("my base"));
    world.set("SCRUFF_STATE", world.work().join("my state"));
    let repo = world.repo("shop");
    let ran = world.call(["new", "one"]).cwd(repo.path()).run();
    assert!(ran.ok().line().starts_with(world.base().to_str().unwrap()), "{ran}");
    assert!(world.base().join("registry.tsv").is_file());
    assert!(world.state().join("lanes").is_dir());
    assert!(!world.home().join(".local").exists());
    let loose = world.program("find").arg(world.state()).args(["-perm", "/077"]).run();
    assert_eq!(loose.ok().out(), "", "open to others");
}

#[test]
fn a_typing_error_in_the_configuration_warns_and_goes_on() {
    let world = World::new();
    let repo = world.repo("shop");
    world.file(world.config_file(), "colour = true\n[lane\n[mux]\nopne = 'window'\n");
    world.call(["new", "one"]).cwd(repo.path()).run().ok().warns("config.toml");
}

#[test]
fn doctor_finds_without_touching() {
    let world = World::new();
    let repo = world.repo("shop").with_origin("acme/shop");
    let before = written(&world);
    world.scruff(["doctor"]).ok().says("git").says("tmux").says("claude");
    let here = world.call(["doctor", "--json"]).cwd(repo.path()).run();
    assert!(here.ok().json().is_object());
    here.says("acme/shop");
    assert_eq!(written(&world), before);
}

#[test]
fn quiet_is_quiet_and_verbose_is_not() {
    let world = World::new();
    let repo = world.repo("shop");
    world.call(["-q", "new", "one"]).cwd(repo.path()).run().ok().calm();
    let ran = world.call(["-v", "new", "two"]).cwd(repo.path()).run();
    ran.ok().warns("git");
    ran.line();
    complains(&world.call(["-q", "new", "one"]).cwd(repo.path()).run(), 1);
}
