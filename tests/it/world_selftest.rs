//! The world is what it says it is.

use crate::world::{Conf, Tmux, World};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

const BOTH: [Conf; 2] = [Conf::Plain, Conf::Hostile];

#[test]
fn a_client_writes_down_its_arguments_byte_for_byte() {
    let world = World::new();
    let args: Vec<OsString> = vec![
        "-p".into(),
        "".into(),
        "two\nlines\n".into(),
        "it's \"quoted\" $HOME `x` \\ 100% #{pane_id}".into(),
        OsString::from_vec(vec![0xff, 0xfe, b'\n', 0x1b]),
        "x".repeat(60 * 1024).into(),
    ];
    let ran = world.program("claude").args(&args).cwd(world.work()).run();
    ran.ok().says("claude is here");
    let launch = world.wait_for_launch();
    assert_eq!(launch.program, "claude");
    assert_eq!(launch.args, args);
    assert_eq!(launch.cwd, world.work());
    assert_eq!(launch.env("USER").unwrap(), "kim");
    assert_eq!(launch.env("NO_SUCH_VARIABLE"), None);
    assert_eq!(launch.end().unwrap(), "end of input");
}

#[test]
fn clients_are_counted_in_order_and_can_be_told_to_end() {
    let world = World::new();
    world.program("codex").stdin("hello\nexit 3\n").run().exits(3).says("codex heard: hello");
    world.program("pi").stdin("exit\n").run().ok();
    let launches = world.wait_for_launches(2);
    assert_eq!((launches[0].program.as_str(), launches[1].program.as_str()), ("codex", "pi"));
    assert_eq!(launches[0].lines(), ["hello", "exit 3"]);
    assert_eq!(launches[0].end().unwrap(), "exit 3");
}

#[test]
fn a_killed_client_says_by_what() {
    let world = World::new();
    let running = world.program("gemini").stdin_open().start();
    let launch = world.wait_for_launch();
    assert_eq!(launch.pid, running.pid() as i32);
    let pid = rustix::process::Pid::from_raw(launch.pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(launch.wait_for_end(), "TERM");
    running.finish().exits(143);
}

#[test]
fn no_client_of_the_developers_is_in_reach() {
    let world = World::new();
    for client in crate::world::fakes::CLIENTS {
        world.program(client).arg("--version").run().ok().says("stand-in");
    }
    assert!(world.launches().is_empty());
}

#[test]
fn git_is_private_and_its_remotes_are_named() {
    for conf in BOTH {
        let world = World::of(conf);
        let repo = world.repo("shop").with_origin("acme/shop");
        assert_eq!(repo.branches(), ["main"]);
        assert_eq!(repo.git(["log", "--format=%an %s"]), "Kim Doe Start");
        assert_eq!(repo.git(["rev-parse", "origin/HEAD"]), repo.git(["rev-parse", "HEAD"]));
        assert!(repo.git(["remote", "get-url", "origin"]).ends_with("/acme/shop.git"));
        assert!(repo.worktrees().is_empty());
    }
}

#[test]
fn an_evil_name_is_a_branch_and_touches_only_where_it_is_run() {
    let world = World::new();
    let repo = world.repo("shop");
    let name = world.evil_name("x");
    repo.git(["branch", &name]);
    assert!(repo.branches().contains(&name));
    assert!(!world.canary().exists());
    // A status line is drawn again and again; a window's name is a format only once, and its job
    // may be ended before it has done anything.
    let tmux = Tmux::start(&world);
    tmux.run(["set-option", "-g", "status-right", &name]);
    let client = tmux.attach(tmux.session());
    client.wait_until("the canary is touched", |_| world.canary().exists());
    drop(client);
    drop(tmux);
    std::fs::remove_file(world.canary()).unwrap();
}

#[test]
fn tmux_starts_under_either_configuration() {
    for conf in BOTH {
        let world = World::of(conf);
        let tmux = Tmux::start(&world);
        let first = tmux.find(tmux.pane()).unwrap();
        let (session, index) = match conf {
            Conf::Plain => ("main", "0"),
            Conf::Hostile => ("my_work", "1"),
        };
        assert_eq!((first.session_name.as_str(), first.window_index.as_str()), (session, index));
        let typed = tmux.shell(tmux.pane(), "echo $TMUX_PANE; exit 7");
        assert_eq!((typed.code, typed.out.trim()), (7, tmux.pane()), "{typed:?}");
    }
}

#[test]
fn a_pane_env_is_what_a_program_in_that_pane_has() {
    let world = World::new();
    let tmux = Tmux::start(&world);
    let pane = tmux.new_window(tmux.session());
    let typed = tmux.shell(&pane, "env").ok();
    for (key, value) in tmux.env_of(&pane) {
        let line = format!("{}={}", key.to_str().unwrap(), value.to_str().unwrap());
        assert!(typed.out.lines().any(|it| it == line), "{line} is not in\n{}", typed.out);
    }
}

#[test]
fn clients_in_terminals_see_what_their_sessions_show() {
    let world = World::new();
    let tmux = Tmux::start(&world);
    let other = tmux.new_session("other");
    let (left, right) = (tmux.attach(tmux.session()), tmux.attach(&other));
    assert_ne!(left.name(), right.name());
    left.send_line("echo l$((6*7))ft");
    left.wait_for("l42ft");
    assert!(!right.screen().contains("l42ft"), "{}", right.framed());
    tmux.run(["switch-client", "-c", right.name(), "-t", tmux.pane()]);
    right.wait_for_pane(tmux.pane());
    right.wait_for("l42ft");
    left.prefix("d");
    left.wait_until("it detaches", |_| left.client().is_none());
}

#[test]
fn a_resized_terminal_is_drawn_at_its_size() {
    let world = World::new();
    let tmux = Tmux::start(&world);
    let client = tmux.attach(tmux.session());
    client.resize(60, 12);
    tmux.wait_until("the window is 60 wide", |tmux| tmux.format(tmux.pane(), "#{window_width}") == "60");
    assert_eq!(client.screen().split('\n').count(), 12, "{}", client.framed());
}

#[test]
#[should_panic(expected = "left running")]
fn a_process_left_behind_is_a_failure() {
    let world = World::new();
    world.program("sh").args(["-c", "sleep 60 </dev/null >/dev/null 2>&1 &"]).run().ok();
}

#[test]
#[should_panic(expected = "canary")]
fn an_executed_name_is_a_failure() {
    let world = World::new();
    world.program("sh").args(["-c", "touch $CANARY"]).run().ok();
}

#[test]
fn a_world_leaves_no_files_even_read_only_ones() {
    let world = World::new();
    let root = world.root().to_owned();
    world.file("locked/in/file", "x");
    world.program("chmod").args(["-R", "a-w"]).arg(root.join("locked")).run().ok();
    drop(world);
    assert!(!root.exists());
}
