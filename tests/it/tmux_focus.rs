//! Lanes come to the front in a real tmux: the right pane, before the right person.

use std::time::Instant;

use crate::stage::Stage;
use crate::world::{Conf, Tmux, wait};

fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid as i32).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

#[test]
fn from_another_window_of_the_same_session() {
    let stage = Stage::new();
    let person = stage.tmux.attach(stage.tmux.session());
    stage.open(&["one", "two"]);
    for name in ["one", "two", "one"] {
        stage.run(&["focus", name]).ok().calm();
        person.wait_for_pane(&stage.pane(name).id);
    }
}

#[test]
fn a_name_moves_nobody_but_to_its_own_lane() {
    let stage = Stage::of(Conf::Hostile);
    let person = stage.tmux.attach(stage.tmux.session());
    stage.open(&["quest", "quest-two", "2026"]);
    for name in ["2026", "quest", "quest-two"] {
        stage.run(&["focus", name]).ok();
        person.wait_for_pane(&stage.pane(name).id);
    }
    // With `quest` gone its name must not reach `quest-two`.
    let (gone, stays) = (stage.pane("quest"), stage.pane("quest-two"));
    stage.tmux.run(["kill-window", "-t", &gone.window]);
    stage.run(&["focus", "quest"]).ok();
    let launches = stage.world.wait_for_launches(4);
    assert_eq!(launches[3].cwd, launches[0].cwd, "the conversation goes on in its own checkout");
    assert_eq!(stage.pane("quest-two"), stage.tmux.find(&stays.id).unwrap());
    person.wait_for_pane(&stage.pane("quest").id);
}

#[test]
fn only_the_client_of_the_callers_session_moves() {
    let stage = Stage::new();
    let other = stage.tmux.new_session("elsewhere");
    let (left, right) = (stage.tmux.attach(stage.tmux.session()), stage.tmux.attach(&other));
    let from_right = right.pane().id;
    stage.run(&["open", "x", "-b", "--session"]).ok();
    stage.world.wait_for_launch();
    // The left one has typed last; the call comes from the right.
    left.send_line("true");
    stage.call_from(&from_right, &["focus", "x"]).run().ok().calm();
    right.wait_for_pane(&stage.pane("x").id);
    assert_eq!(left.pane().id, stage.tmux.pane());
}

#[test]
fn the_named_client_moves_whoever_typed_last() {
    let stage = Stage::new();
    let other = stage.tmux.new_session("elsewhere");
    let (left, right) = (stage.tmux.attach(stage.tmux.session()), stage.tmux.attach(&other));
    stage.run(&["open", "x", "-b", "--session"]).ok();
    stage.world.wait_for_launch();
    left.send_line("true");
    let name = right.name().to_owned();
    stage.call(&["focus", "x", "--client", &name]).run().ok().calm();
    right.wait_for_pane(&stage.pane("x").id);
    assert_eq!(left.pane().id, stage.tmux.pane());
    stage.run(&["focus", "x", "--client", "/dev/nowhere"]).exits(1).warns("/dev/nowhere");
}

#[test]
fn of_two_clients_of_the_callers_session_the_one_used_last() {
    let stage = Stage::new();
    let (first, second) = (stage.tmux.attach(stage.tmux.session()), stage.tmux.attach(stage.tmux.session()));
    stage.run(&["open", "x", "-b", "--session"]).ok();
    stage.world.wait_for_launch();
    for (used, idle) in [(&first, &second), (&second, &first)] {
        used.send("\r");
        let latest = || stage.tmux.format(stage.tmux.pane(), "#{client_name}") == used.name();
        wait::until("the key press is noticed", latest, || stage.tmux.report());
        stage.run(&["focus", "x"]).ok().calm();
        used.wait_for_pane(&stage.pane("x").id);
        assert_eq!(idle.pane().id, stage.tmux.pane());
        stage.tmux.run(["switch-client", "-c", used.name(), "-t", stage.tmux.pane()]);
    }
}

#[test]
fn from_a_click_a_client_that_shows_the_session_before_the_one_used_last() {
    let stage = Stage::new();
    let other = stage.tmux.new_session("elsewhere");
    let (left, right) = (stage.tmux.attach(stage.tmux.session()), stage.tmux.attach(&other));
    stage.open(&["x"]);
    stage.tmux.run(["select-window", "-t", stage.tmux.pane()]);
    right.send_line("true");
    stage.click(&["focus", "x"]).run().ok().calm();
    left.wait_for_pane(&stage.pane("x").id);
    assert_eq!(right.session(), other);
}

#[test]
fn from_a_click_the_client_used_last_where_none_shows_the_session() {
    let stage = Stage::new();
    let other = stage.tmux.new_session("elsewhere");
    stage.open(&["x"]);
    let (left, right) = (stage.tmux.attach(&other), stage.tmux.attach(&other));
    right.send("\r");
    let latest = || stage.tmux.format(&right.pane().id, "#{client_name}") == right.name();
    wait::until("the key press is noticed", latest, || stage.tmux.report());
    stage.click(&["focus", "x"]).run().ok().calm();
    right.wait_for_pane(&stage.pane("x").id);
    assert_eq!(left.session(), other);
}

#[test]
fn with_no_client_at_all_a_click_says_what_to_type() {
    let stage = Stage::new();
    stage.open(&["x"]);
    let ran = stage.click(&["focus", "x"]).run();
    ran.exits(3).warns("attach-session");
    let lane = stage.pane("x");
    assert_eq!(stage.tmux.current(&lane.session).id, lane.id, "it is selected all the same");
    let command = ran.stderr.split("to see it: ").nth(1).unwrap().trim().to_owned();
    let mut call = stage.world.program("sh").args(["-c", &command]);
    call = call.cwd(stage.repo.path());
    let terminal = call.on_terminal(100, 30);
    terminal.wait_for("claude is here");
}

#[test]
fn inside_a_session_nobody_looks_at_a_selection_will_do() {
    let stage = Stage::new();
    let other = stage.tmux.new_session("elsewhere");
    let person = stage.tmux.attach(&other);
    stage.open(&["x"]);
    let lane = stage.pane("x");
    let before = person.pane().id;
    stage.run(&["focus", "x"]).ok().warns("not raised");
    assert_eq!(stage.tmux.current(&lane.session).id, lane.id);
    assert_eq!(person.pane().id, before, "someone else's screen stays as it is");
}

#[test]
fn from_a_terminal_outside_that_terminal_attaches() {
    let stage = Stage::new();
    let person = stage.tmux.attach(stage.tmux.session());
    stage.open(&["x"]);
    let before = person.session();
    let mut terminal = stage.click(&["focus", "x"]).on_terminal(100, 30);
    terminal.wait_for("claude is here");
    let clients = stage.tmux.clients();
    assert!(clients.iter().any(|client| client.pid == terminal.pid()), "{clients:?}");
    assert_eq!(person.session(), before);
    terminal.send(stage.tmux.conf().prefix());
    terminal.send("d");
    assert_eq!(terminal.wait_for_end(), 0);
}

#[test]
fn from_a_popup_the_one_who_opened_it() {
    let stage = Stage::new();
    let other = stage.tmux.new_session("elsewhere");
    let (left, right) = (stage.tmux.attach(stage.tmux.session()), stage.tmux.attach(&other));
    stage.run(&["open", "x", "-b", "--session"]).ok();
    stage.world.wait_for_launch();
    left.send_line("true");
    let line = format!("cd '{}' && scruff focus x", quoted(stage.repo.path()));
    stage.tmux.run(["bind-key", "-n", "F5", "display-popup", "-E", &line]);
    right.send("\x1b[15~");
    right.wait_for_pane(&stage.pane("x").id);
    assert_eq!(left.pane().id, stage.tmux.pane());
}

fn quoted(path: &std::path::Path) -> String {
    path.to_str().unwrap().replace('\'', r"'\''")
}

#[test]
fn a_pane_inherited_from_another_server_is_not_believed() {
    // A server started from a pane hands that pane's id to all that has no pane of its own.
    let mut world = crate::world::World::new();
    world.set("TMUX_PANE", "%0");
    let repo = world.repo("shop");
    let tmux = Tmux::start(&world);
    let other = tmux.new_session("elsewhere");
    let (left, right) = (tmux.attach(tmux.session()), tmux.attach(&other));
    world.call(["open", "x", "-b", "--session"]).cwd(repo.path()).in_pane(&tmux, tmux.pane()).run().ok();
    world.wait_for_launch();
    let line = format!("cd '{}' && scruff focus x", quoted(repo.path()));
    tmux.run(["bind-key", "-n", "F5", "display-popup", "-E", &line]);
    right.send("\x1b[15~");
    right.wait_for_pane(&tmux.panes_of("shop/x")[0].id);
    assert_eq!(left.pane().id, tmux.pane());
}

#[test]
fn from_inside_another_server_in_a_window_there_and_only_one() {
    let stage = Stage::new();
    stage.open(&["x", "y"]);
    let outer = Tmux::start_as(&stage.world, "outer", Conf::Plain);
    let person = outer.attach(outer.session());
    let windows = || outer.panes().len();
    let before = windows();
    let call = |name: &str| {
        stage.world.call(["focus", name]).cwd(stage.repo.path()).in_pane(&outer, outer.pane()).run().ok();
    };
    call("x");
    person.wait_for("claude is here, launch 1");
    assert_eq!(windows(), before + 1);
    outer.run(["select-window", "-t", outer.pane()]);
    call("y");
    person.wait_for("claude is here, launch 2");
    assert_eq!(windows(), before + 1, "{}", outer.report());
}

#[test]
fn a_zoomed_window_stays_zoomed() {
    let stage = Stage::new();
    let person = stage.tmux.attach(stage.tmux.session());
    stage.run(&["open", "x", "-b", "--pane", "right"]).ok();
    stage.world.wait_for_launch();
    let caller = stage.tmux.find(stage.tmux.pane()).unwrap();
    stage.tmux.run(["resize-pane", "-Z", "-t", &caller.id]);
    assert!(stage.tmux.find(&caller.id).unwrap().zoomed);
    stage.run(&["focus", "x"]).ok();
    person.wait_for_pane(&stage.pane("x").id);
    assert!(stage.pane("x").zoomed);
}

#[test]
fn a_window_linked_into_the_callers_session_is_shown_there() {
    let stage = Stage::new();
    let other = stage.tmux.new_session("elsewhere");
    let person = stage.tmux.attach(&other);
    stage.open(&["x"]);
    let lane = stage.pane("x");
    stage.tmux.run(["link-window", "-d", "-s", &lane.window, "-t", &format!("{other}:")]);
    let from = person.pane().id;
    stage.call_from(&from, &["focus", "x"]).run().ok().calm();
    person.wait_for_pane(&lane.id);
    assert_eq!(person.session(), other, "nobody had to change sessions");
}

#[test]
fn a_moved_pane_is_found_and_a_renamed_window_changes_nothing() {
    let stage = Stage::new();
    let person = stage.tmux.attach(stage.tmux.session());
    stage.open(&["x"]);
    let lane = stage.pane("x");
    let other = stage.tmux.new_session("elsewhere");
    stage.tmux.run(["rename-window", "-t", &lane.window, "quest"]);
    stage.tmux.run(["move-window", "-d", "-s", &lane.window, "-t", &format!("{other}:")]);
    stage.run(&["focus", "x"]).ok();
    person.wait_for_pane(&lane.id);
}

#[test]
fn without_its_record_a_lane_is_found_by_its_tag() {
    let stage = Stage::new();
    let person = stage.tmux.attach(stage.tmux.session());
    stage.open(&["x", "x-2"]);
    std::fs::remove_file(stage.record("x")).unwrap();
    stage.run(&["focus", "x"]).ok();
    person.wait_for_pane(&stage.pane("x").id);
    assert_eq!(stage.world.launches().len(), 2);
}

#[test]
fn after_a_restart_the_reused_id_of_a_stranger_is_not_believed() {
    let stage = Stage::new();
    stage.open(&["x"]);
    let lane = stage.pane("x");
    let record = stage.record("x");
    stage.tmux.run(["kill-server"]);
    let running = std::path::PathBuf::from(format!("/proc/{}", stage.tmux.pid()));
    wait::until("the old server has ended", || !running.exists(), String::new);
    let again = Tmux::start(&stage.world);
    while again.find(&lane.id).is_none() {
        again.new_window(again.session());
    }
    assert!(record.exists());
    let person = again.attach(again.session());
    let call = stage.world.call(["focus", "x"]).cwd(stage.repo.path()).in_pane(&again, again.pane());
    call.run().ok();
    stage.world.wait_for_launches(2);
    let now = again.panes_of("shop/x");
    assert_eq!(now.len(), 1);
    assert_ne!(now[0].id, lane.id);
    person.wait_for_pane(&now[0].id);
    assert_eq!(again.find(&lane.id).unwrap().lane, "");
}

#[test]
fn a_server_that_hangs_is_an_error_and_the_lane_keeps_its_state() {
    let stage = Stage::new();
    stage.open(&["x"]);
    let record = std::fs::read(stage.record("x")).unwrap();
    let file = stage.record("x");
    let pane = stage.tmux.env_of(stage.tmux.pane());
    signal(stage.tmux.pid(), rustix::process::Signal::STOP);
    let begun = Instant::now();
    let mut call = stage.click(&["focus", "x"]);
    for (key, value) in pane {
        call = call.env(key, value);
    }
    let ran = call.run();
    let took = begun.elapsed();
    signal(stage.tmux.pid(), rustix::process::Signal::CONT);
    ran.exits(1).warns("did not answer within 2 s");
    assert!(took.as_secs() < 15, "{took:?}");
    assert_eq!(std::fs::read(file).unwrap(), record);
    assert_eq!(stage.world.launches().len(), 1);
    stage.run(&["focus", "x"]).ok();
}

#[test]
fn a_hanging_server_that_has_nothing_to_do_with_it_is_not_waited_for_twice() {
    let stage = Stage::new();
    let hanging = Tmux::start_as(&stage.world, "hanging", Conf::Plain);
    stage.open(&["x"]);
    signal(hanging.pid(), rustix::process::Signal::STOP);
    let opened = stage.call(&["open", "y", "-b"]).run();
    signal(hanging.pid(), rustix::process::Signal::CONT);
    opened.ok();
    stage.world.wait_for_launches(2);
}

#[test]
fn killing_one_lanes_window_touches_no_other() {
    let stage = Stage::new();
    stage.open(&["x", "x-2", "x-2-3"]);
    let stays: Vec<_> = ["x-2", "x-2-3"].map(|name| stage.pane(name)).into();
    stage.tmux.run(["kill-window", "-t", &stage.pane("x").window]);
    stage.run(&["x", "-b"]).ok();
    let launches = stage.world.wait_for_launches(4);
    assert_eq!(launches[3].cwd, launches[0].cwd);
    for pane in stays {
        assert!(stage.tmux.find(&pane.id).is_some());
    }
}

#[test]
fn a_pane_that_dies_between_the_look_and_the_deed_is_not_replaced_by_a_neighbour() {
    // tmux that kills the pane just before it is selected.
    let stage = Stage::new();
    let person = stage.tmux.attach(stage.tmux.session());
    stage.open(&["x"]);
    let lane = stage.pane("x");
    let real = which::which("tmux").unwrap();
    let socket = stage.tmux.socket().display();
    stage.world.script(
        "bin/tmux",
        &format!(
            "#!/bin/sh\ncase \" $* \" in *' select-pane '*|*' switch-client '*) {real} -S {socket} kill-pane -t {id} 2>/dev/null ;; esac\nexec {real} \"$@\"\n",
            real = real.display(),
            id = lane.id,
        ),
    );
    stage.run(&["focus", "x"]).ok();
    stage.world.wait_for_launches(2);
    let now = stage.pane("x");
    assert_ne!(now.id, lane.id);
    person.wait_until("the reopened lane", |screen| screen.contains("launch 2"));
}

#[test]
fn the_lane_of_a_pane_is_its_tag_never_its_directory() {
    let stage = Stage::new();
    stage.open(&["x"]);
    let listed = stage.run(&["--json"]).ok().json();
    let lane = &listed["lanes"][0];
    assert_eq!(lane["pane"]["id"], stage.pane("x").id.as_str());
    assert_eq!(lane["pane"]["mux"], "tmux");
    assert_eq!(lane["pane"]["visible"], false);
    let person = stage.tmux.attach(stage.tmux.session());
    stage.run(&["focus", "x"]).ok();
    person.wait_for_pane(&stage.pane("x").id);
    assert_eq!(stage.run(&["--json"]).ok().json()["lanes"][0]["pane"]["visible"], true);
}

#[test]
fn closing_a_session_in_front_of_someone_does_not_detach_them() {
    let stage = Stage::of(Conf::Plain);
    let person = stage.tmux.attach(stage.tmux.session());
    stage.run(&["open", "x", "--session"]).ok();
    stage.world.wait_for_launch();
    let lane = stage.pane("x");
    person.wait_for_pane(&lane.id);
    // As the key binding does: the lane meant is that of the pane, wherever it is called.
    let log = stage.world.root().join("closed");
    let line = format!("cd / && scruff close --pane-id '#{{pane_id}}' >{} 2>&1", log.display());
    stage.tmux.run(["bind-key", "-n", "F5", "run-shell", "-b", &line]);
    person.send("\x1b[15~");
    let gone = || stage.tmux.find(&lane.id).is_none();
    wait::until("the pane is gone", gone, || std::fs::read_to_string(&log).unwrap_or_default());
    person.wait_for_pane(stage.tmux.pane());
}

#[test]
fn closing_one_lane_ends_no_other_pane() {
    let stage = Stage::new();
    stage.open(&["x", "x-2"]);
    let (gone, stays) = (stage.pane("x"), stage.pane("x-2"));
    let others = stage.tmux.panes().len();
    stage.run(&["close", "x"]).ok();
    assert!(stage.tmux.find(&gone.id).is_none());
    assert!(stage.tmux.find(&stays.id).is_some());
    assert_eq!(stage.tmux.panes().len(), others - 1);
}

#[test]
fn a_client_started_by_hand_in_the_checkout_is_a_guess_good_enough_to_look_at() {
    let stage = Stage::new();
    let person = stage.tmux.attach(stage.tmux.session());
    let checkout = stage.run(&["new", "x"]).ok().line().to_owned();
    let sleep = which::which("sleep").unwrap();
    std::fs::copy(sleep, stage.world.root().join("claude")).unwrap();
    let by_hand = || {
        let pane = stage.tmux.new_window(stage.tmux.session());
        let line = format!(
            "cd '{}' && exec {}/claude 600",
            checkout.replace('\'', r"'\''"),
            stage.world.root().display()
        );
        stage.tmux.type_line(&pane, &line);
        stage.tmux.wait_until("it runs", |tmux| tmux.find(&pane).unwrap().command == "claude");
        pane
    };
    let first = by_hand();
    stage.run(&["focus", "x"]).ok();
    person.wait_for_pane(&first);
    let second = by_hand();
    stage.run(&["focus", "x"]).exits(1).warns(&first).warns(&second);
    // A guess is never ended.
    stage.run(&["close", "x"]).exits(2);
    assert!(stage.tmux.find(&first).is_some() && stage.tmux.find(&second).is_some());
    assert!(stage.world.launches().is_empty());
}

#[test]
fn a_terminal_that_was_started_from_a_pane_is_not_in_that_pane() {
    let stage = Stage::new();
    stage.open(&["x"]);
    let mut terminal = stage.call(&["focus", "x"]).on_terminal(100, 30);
    terminal.wait_for("claude is here");
    assert!(stage.tmux.clients().iter().any(|client| client.pid == terminal.pid()));
    terminal.send(stage.tmux.conf().prefix());
    terminal.send("d");
    assert_eq!(terminal.wait_for_end(), 0);
}

#[test]
fn a_stale_variable_does_not_hide_a_lane_on_a_server_that_runs() {
    let stage = Stage::new();
    stage.open(&["x"]);
    let person = stage.tmux.attach(stage.tmux.session());
    stage.click(&["focus", "x"]).env("TMUX", "/tmp/no-such-socket,1,0").run().ok();
    person.wait_for_pane(&stage.pane("x").id);
}

#[test]
fn the_listing_of_lanes_on_a_server_that_hangs_knows_no_panes_and_says_so() {
    let stage = Stage::new();
    stage.open(&["x", "y"]);
    signal(stage.tmux.pid(), rustix::process::Signal::STOP);
    let begun = Instant::now();
    let ran = stage.click(&["--json"]).run();
    let took = begun.elapsed();
    signal(stage.tmux.pid(), rustix::process::Signal::CONT);
    let lanes = ran.ok().json();
    assert_eq!(lanes["lanes"][0]["pane"], serde_json::Value::Null);
    assert!(lanes["warnings"].to_string().contains("did not answer"), "{ran}");
    assert!(took.as_secs() < 15, "{took:?}");
}
