//! Lanes open in a real tmux.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::stage::Stage;
use crate::world::{Conf, wait};

#[test]
fn a_window_after_the_current_one_with_the_client_on_its_brief() {
    let stage = Stage::new();
    let person = stage.tmux.attach(stage.tmux.session());
    let last = stage.tmux.new_window(stage.tmux.session());
    stage.run(&["open", "fix-auth", "--prompt", "retry on 503"]).ok().silent();
    let launch = stage.world.wait_for_launch();
    assert_eq!(launch.program, "claude");
    assert!(launch.has_arg("retry on 503"), "{launch:?}");
    let lane = stage.pane("fix-auth");
    assert_eq!(launch.cwd, stage.world.base().join("local-shop/fix-auth"));
    assert_eq!(lane.window_name, "fix-auth");
    person.wait_for_pane(&lane.id);
    let index = |id: &str| stage.tmux.find(id).unwrap().window_index.parse::<u32>().unwrap();
    assert_eq!(index(&lane.id), index(stage.tmux.pane()) + 1, "{}", stage.tmux.report());
    assert!(index(&lane.id) < index(&last));
    person.wait_for("claude is here");
}

#[test]
fn the_background_takes_no_screen() {
    let stage = Stage::new();
    let person = stage.tmux.attach(stage.tmux.session());
    let before = person.pane();
    stage.run(&["open", "other", "-b"]).ok().silent();
    stage.world.wait_for_launch();
    assert_eq!(person.pane().id, before.id);
    assert_ne!(stage.pane("other").id, before.id);
}

#[test]
fn the_record_and_the_tags_are_there_when_open_returns() {
    let stage = Stage::new();
    stage.run(&["open", "x", "-b"]).ok();
    let lane = stage.pane("x");
    let record: serde_json::Value =
        serde_json::from_slice(&std::fs::read(stage.record("x")).unwrap()).unwrap();
    assert_eq!(record["id"], lane.id.as_str());
    let ident = stage.tmux.format(&lane.id, "#{pid}:#{start_time}");
    assert_eq!(record["ident"], ident.as_str());
    assert_eq!(record["socket"], stage.tmux.socket().to_str().unwrap());
    assert!(std::fs::read_dir(stage.world.state().join("requests")).unwrap().next().is_none());
    stage.world.wait_for_launch();
}

#[test]
fn splits_of_the_callers_pane() {
    let stage = Stage::new();
    let caller = stage.tmux.new_window(stage.tmux.session());
    for (side, name, edge) in [("right", "r", "#{pane_at_right}"), ("below", "b", "#{pane_at_bottom}")] {
        stage.call_from(&caller, &["open", name, "-b", "--pane", side]).run().ok();
        let lane = stage.pane(name);
        assert_eq!(lane.window, stage.tmux.find(&caller).unwrap().window, "{}", stage.tmux.report());
        if stage.tmux.conf() == Conf::Plain {
            assert_eq!(stage.tmux.format(&lane.id, edge), "1");
        }
    }
    assert!(stage.tmux.find(&caller).unwrap().active, "a split in the background takes the cursor");
    stage.world.wait_for_launches(2);
}

#[test]
fn without_room_for_a_split_there_is_a_window() {
    let stage = Stage::of(Conf::Plain);
    let caller = stage.tmux.new_window(stage.tmux.session());
    let window = stage.tmux.find(&caller).unwrap().window;
    stage.tmux.run(["resize-window", "-t", &window, "-x", "1", "-y", "1"]);
    stage
        .call_from(&caller, &["open", "x", "-b", "--pane", "right"])
        .run()
        .ok()
        .warns("opened a window instead");
    stage.world.wait_for_launch();
    assert_ne!(stage.pane("x").window, window);
}

#[test]
fn a_session_of_its_own_as_large_as_the_screen() {
    let stage = Stage::new();
    let person = stage.tmux.attach(stage.tmux.session());
    stage.run(&["open", "v1.2", "--session"]).ok();
    stage.world.wait_for_launch();
    let lane = stage.pane("v1.2");
    assert!(lane.session_name.starts_with("v1_2-"), "{}", lane.session_name);
    person.wait_for_pane(&lane.id);
    assert_eq!(person.session(), lane.session);
    assert_eq!(stage.tmux.format(&lane.id, "#{window_width}"), "100");
}

#[test]
fn a_session_whose_name_is_taken_gets_another() {
    let stage = Stage::new();
    let taken = stage.tmux.new_session("fix");
    stage.run(&["open", "fix", "-b", "--session"]).ok();
    stage.world.wait_for_launch();
    let lane = stage.pane("fix");
    assert_ne!(lane.session, taken);
    assert_eq!(lane.session_name, "fix-2");
}

#[test]
fn a_window_of_the_desktop_is_shown_by_the_configured_terminal() {
    let stage = Stage::new();
    let target = stage.world.root().join("target");
    let at = target.display();
    stage.world.script(
        "bin/my-terminal",
        &format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >{at}.new\nmv {at}.new {at}\n"),
    );
    stage
        .world
        .file(stage.world.config_file(), "[mux]\nterminal = ['my-terminal', '{{.Socket}}', '{{.Target}}']\n");
    let opening = stage.call(&["open", "x", "--os-window"]).start();
    wait::until("the terminal is started", || target.exists(), || stage.tmux.report());
    let words = std::fs::read_to_string(&target).unwrap();
    let (socket, window) = words.trim_end().split_once('\n').unwrap();
    assert_eq!(socket, stage.tmux.socket().to_str().unwrap());
    let person = stage.tmux.attach(window.split(':').next().unwrap());
    let ran = opening.finish();
    assert!(!ran.ok().stderr.contains("not raised"), "{ran}");
    stage.world.wait_for_launch();
    assert_eq!(person.pane().id, stage.pane("x").id);
}

#[test]
fn without_a_terminal_configured_a_window_of_the_desktop_is_refused() {
    let stage = Stage::new();
    stage.run(&["open", "x", "--os-window"]).exits(1).warns("[mux] terminal");
    assert!(stage.tmux.panes_of("shop/x").is_empty());
    assert!(stage.world.launches().is_empty());
}

#[test]
fn a_lane_that_runs_comes_to_the_front_instead() {
    let stage = Stage::new();
    let person = stage.tmux.attach(stage.tmux.session());
    stage.open(&["x", "x-2"]);
    stage.run(&["open", "x"]).ok();
    person.wait_for_pane(&stage.pane("x").id);
    stage.run(&["x-2"]).ok();
    person.wait_for_pane(&stage.pane("x-2").id);
    assert_eq!(stage.world.launches().len(), 2);
}

#[test]
fn a_second_pane_only_when_asked_for() {
    let stage = Stage::new();
    stage.open(&["x"]);
    stage.run(&["open", "x", "-b", "--again"]).ok();
    stage.world.wait_for_launches(2);
    assert_eq!(stage.tmux.panes_of("shop/x").len(), 2);
}

#[test]
fn every_placement_twice_in_a_row_by_two_people() {
    let stage = Stage::new();
    let other = stage.tmux.new_session("elsewhere");
    let (left, right) = (stage.tmux.attach(stage.tmux.session()), stage.tmux.attach(&other));
    let (from_left, from_right) = (left.pane().id, right.pane().id);
    stage.call_from(&from_right, &["open", "r"]).run().ok();
    right.wait_for_pane(&stage.pane("r").id);
    assert_eq!(stage.pane("r").session, other);
    assert_eq!(left.pane().id, from_left);
    stage.call_from(&from_left, &["open", "l", "--session"]).run().ok();
    left.wait_for_pane(&stage.pane("l").id);
    assert_eq!(right.pane().id, stage.pane("r").id);
    stage.world.wait_for_launches(2);
}

#[test]
fn a_key_press_says_where_it_was_made() {
    let stage = Stage::new();
    let other = stage.tmux.new_session("elsewhere");
    let (left, right) = (stage.tmux.attach(stage.tmux.session()), stage.tmux.attach(&other));
    let before = left.pane().id;
    let (pane, client) = (right.pane().id, right.name().to_owned());
    // A binding's program has the server's environment and no pane.
    let args = ["open", "x", "--pane", "right", "--pane-id", &pane, "--client", &client];
    stage.call(&args).env_remove("TMUX_PANE").run().ok();
    right.wait_for_pane(&stage.pane("x").id);
    assert_eq!(stage.pane("x").session, other);
    assert_eq!(left.pane().id, before);
    stage.world.wait_for_launch();
}

#[test]
fn a_pane_or_client_that_is_not_there_makes_nothing() {
    let stage = Stage::new();
    stage.run(&["open", "x", "--pane-id", "%999"]).exits(1).warns("%999");
    stage.run(&["open", "x", "--client", "/dev/nowhere"]).exits(1).warns("/dev/nowhere");
    assert!(stage.tmux.panes_of("shop/x").is_empty());
    assert!(stage.world.launches().is_empty());
}

#[test]
fn a_name_that_would_run_is_only_a_name() {
    let stage = Stage::of(Conf::Hostile);
    let person = stage.tmux.attach(stage.tmux.session());
    let name = stage.world.evil_name("x");
    for (place, name) in [("--window", name.clone()), ("--session", format!("y{name}"))] {
        stage.run(&["open", &name, place]).ok();
        let lane = stage.tmux.current(&person.session());
        let stem = name.split("canary").next().unwrap().replace('.', "_");
        assert!(lane.window_name.starts_with(&stem), "{lane:?}");
        person.wait_until("its window is shown", |screen| screen.contains("is here"));
    }
    stage.world.wait_for_launches(2);
    assert!(!stage.world.canary().exists());
}

#[test]
fn the_prompt_and_the_secrets_are_in_no_argument_list_but_the_clients() {
    let stage = Stage::new();
    let prompt = format!("-x\n'\"$HOME `date` #(touch $CANARY) é \u{1b}[1m; {} ;", "qy".repeat(32 << 10));
    let stop = AtomicBool::new(false);
    let (launch, seen) = std::thread::scope(|scope| {
        let watching = scope.spawn(|| watch_arguments(&stop, &[b"hunter2-secret", b"qyqyqyqyqyqy"]));
        let call = stage.call(&["open", "x", "--prompt-file", "-"]).env("API_KEY", "hunter2-secret");
        call.stdin(prompt.clone()).run().ok();
        let launch = stage.world.wait_for_launch();
        stage.run(&["focus", "x"]).ok();
        stop.store(true, Ordering::Relaxed);
        (launch, watching.join().unwrap())
    });
    let arg = launch.args.iter().find(|arg| arg.as_bytes().ends_with(b"qy ;")).expect("the prompt");
    assert_eq!(arg.as_bytes(), prompt.as_bytes());
    assert_eq!(launch.env("API_KEY").unwrap(), "hunter2-secret");
    assert!(seen.iter().any(|(pid, _)| *pid == launch.pid), "the watch sees arguments: {seen:?}");
    // What the stand-in itself forks looks like it until it executes something.
    let others = seen.iter().filter(|(pid, parent)| ![*pid, *parent].contains(&launch.pid));
    assert_eq!(others.count(), 0, "only the client's: {seen:?}");
}

/// The processes, with their parents, in whose arguments one of these words is at any time until
/// `stop`.
fn watch_arguments(stop: &AtomicBool, words: &[&[u8]]) -> BTreeSet<(i32, i32)> {
    let mut seen = BTreeSet::new();
    let mut last = false;
    while !last {
        last = stop.load(Ordering::Relaxed);
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let arguments = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let holds = |word: &&[u8]| arguments.windows(word.len()).any(|part| part == *word);
            if words.iter().any(holds) {
                let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
                let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
                seen.insert((pid, parent.and_then(|parent| parent.parse().ok()).unwrap_or(0)));
            }
        }
    }
    seen
}

#[test]
fn a_prompt_longer_than_an_argument_can_be() {
    let stage = Stage::new();
    let prompt = "z".repeat(300 << 10);
    stage.call(&["open", "x", "-b", "--prompt-file", "-"]).stdin(prompt.clone()).run().ok();
    let launch = stage.world.wait_for_launch();
    assert!(launch.args.iter().all(|arg| arg.len() < 100 << 10));
    let kept = std::fs::read_dir(stage.repo.path().join(".git/worktrees/x")).unwrap().flatten();
    let mut kept = kept.filter(|file| file.path().is_file());
    let file =
        kept.find(|file| std::fs::read(file.path()).unwrap() == prompt.as_bytes()).expect("the prompt");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let named = |arg: &std::ffi::OsString| {
        arg.to_str().is_some_and(|arg| arg.contains(file.path().to_str().unwrap()))
    };
    assert!(launch.args.iter().any(named), "{launch:?}");
}

#[test]
fn the_client_has_the_callers_environment_and_the_panes_place() {
    let stage = Stage::new();
    let call = stage.call(&["open", "x", "-b"]).env("FOO", "a b\n\"").env("CLAUDECODE", "1");
    call.env("GIT_DIR", "/nowhere")
        .env("KITTY_WINDOW_ID", "3")
        .cwd(stage.repo.path())
        .env_remove("GIT_DIR")
        .run()
        .ok();
    let launch = stage.world.wait_for_launch();
    let lane = stage.pane("x");
    assert_eq!(launch.env("FOO").unwrap(), "a b\n\"");
    assert_eq!(launch.env("TMUX_PANE").unwrap(), lane.id.as_str());
    assert_eq!(launch.env("TERM_PROGRAM").unwrap(), "tmux");
    assert_eq!(launch.env("PWD").unwrap(), launch.cwd.as_os_str());
    for name in ["CLAUDECODE", "KITTY_WINDOW_ID"] {
        assert_eq!(launch.env(name), None, "{name}");
    }
}

#[test]
fn without_any_multiplexer_the_client_starts_in_place() {
    let world = crate::world::World::new();
    let repo = world.repo("shop");
    let call = world.call(["open", "x", "--prompt", "go"]).cwd(repo.path());
    let mut terminal = call.on_terminal(80, 24);
    let launch = world.wait_for_launch();
    assert!(launch.has_arg("go"));
    assert_eq!(launch.pid as u32, terminal.pid());
    terminal.send_line("exit");
    terminal.wait_for_end();
}

#[test]
fn a_server_of_the_users_is_used_from_outside_and_attached_to() {
    let stage = Stage::new();
    let terminal = stage.click(&["open", "x"]).on_terminal(100, 30);
    let launch = stage.world.wait_for_launch();
    terminal.wait_for("claude is here");
    let clients = stage.tmux.clients();
    assert_eq!(clients.len(), 1, "{clients:?}");
    assert_eq!(clients[0].pid, terminal.pid());
    assert_eq!(launch.env("TMUX_PANE").unwrap(), stage.pane("x").id.as_str());
}

#[test]
fn a_stale_tmux_variable_is_named_and_starts_no_second_server() {
    let world = crate::world::World::new();
    let repo = world.repo("shop");
    let call = |args: &[&str]| world.call(args).cwd(repo.path()).env("TMUX", "/tmp/no-such-socket,1,0");
    let ran = call(&["open", "x"]).run();
    ran.exits(1).warns("/tmp/no-such-socket").warns("tmux new-session").warns("--mux none");
    assert!(world.launches().is_empty());
    call(&["open", "x", "--mux", "none"]).run().ok();
    world.wait_for_launch();
}

#[test]
fn a_removed_socket_of_a_living_server_is_not_a_dead_server() {
    let stage = Stage::new();
    stage.open(&["x"]);
    std::fs::remove_file(stage.tmux.socket()).unwrap();
    let env = stage.world.call(["focus", "x"]).cwd(stage.repo.path());
    let ran = env.env("TMUX", format!("{},{},0", stage.tmux.socket().display(), stage.tmux.pid())).run();
    let hint = format!("kill -USR1 {}", stage.tmux.pid());
    ran.exits(1).warns(&hint);
    let pid = rustix::process::Pid::from_raw(stage.tmux.pid() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::USR1).unwrap();
    wait::until("the socket is back", || stage.tmux.socket().exists(), String::new);
    stage.run(&["focus", "x"]).ok();
    assert_eq!(stage.world.launches().len(), 1);
}
