//! The shim that a lane's pane runs.

use crate::stage::Stage;
use crate::world::{Conf, wait};

fn config(stage: &Stage, text: &str) {
    stage.world.file(stage.world.config_file(), text);
}

/// A pane whose client has ended says so.
fn wait_for_end(stage: &Stage, pane: &str) {
    let ended = || stage.tmux.format(pane, "#{@scruff_ended}") == "1";
    wait::until("the pane says that its client has ended", ended, || stage.tmux.report());
}

#[test]
fn the_pane_shows_the_name_of_what_runs_in_it() {
    let stage = Stage::new();
    stage.run(&["open", "x", "-b", "--cmd", "exec sleep 600"]).ok();
    let lane = stage.pane("x");
    stage.tmux.wait_until("sleep runs", |tmux| tmux.find(&lane.id).unwrap().command == "sleep");
    assert_eq!(stage.pane("x").cwd, stage.world.base().join("local-shop/x").to_str().unwrap());
}

#[test]
fn when_the_client_ends_there_is_a_login_shell_in_the_checkout() {
    let stage = Stage::of(Conf::Plain);
    stage.run(&["open", "x"]).ok();
    let launch = stage.world.wait_for_launch();
    let lane = stage.pane("x");
    stage.tmux.type_line(&lane.id, "exit 3");
    assert_eq!(launch.wait_for_end(), "exit 3");
    wait_for_end(&stage, &lane.id);
    let typed = stage.tmux.shell(&lane.id, "echo $0; pwd; echo $TMUX_PANE");
    let checkout = stage.world.base().join("local-shop/x");
    assert_eq!(typed.out, format!("-sh\n{}\n{}\n", checkout.display(), lane.id));
    assert!(stage.tmux.capture(&lane.id).contains("exit status 3"));
}

#[test]
fn a_lane_whose_client_has_ended_does_not_run() {
    let stage = Stage::new();
    let person = stage.tmux.attach(stage.tmux.session());
    stage.open(&["x"]);
    let lane = stage.pane("x");
    stage.tmux.type_line(&lane.id, "exit");
    wait_for_end(&stage, &lane.id);
    assert_eq!(stage.run(&["--json"]).ok().json()["lanes"][0]["pane"], serde_json::Value::Null);
    stage.run(&["focus", "x"]).ok();
    stage.world.wait_for_launches(2);
    let again = stage.tmux.panes_of("shop/x").into_iter().find(|pane| pane.id != lane.id).unwrap();
    person.wait_for_pane(&again.id);
}

#[test]
fn a_second_panes_end_leaves_the_first_on_record() {
    let stage = Stage::new();
    stage.open(&["x"]);
    let first = stage.pane("x");
    stage.run(&["open", "x", "-b", "--again"]).ok();
    stage.world.wait_for_launches(2);
    let second = stage.tmux.panes_of("shop/x").into_iter().find(|pane| pane.id != first.id).unwrap();
    stage.tmux.type_line(&first.id, "exit");
    wait_for_end(&stage, &first.id);
    let shown = stage.run(&["--json"]).ok().json()["lanes"][0]["pane"]["id"].clone();
    assert_eq!(shown, second.id.as_str());
}

#[test]
fn after_close_the_pane_goes() {
    let stage = Stage::new();
    config(&stage, "[mux]\nafter = 'close'\n");
    stage.open(&["x"]);
    let lane = stage.pane("x");
    stage.tmux.type_line(&lane.id, "exit");
    stage.tmux.wait_until("the pane is gone", |tmux| tmux.find(&lane.id).is_none());
}

#[test]
fn after_hold_the_screen_stays_until_enter() {
    let stage = Stage::new();
    config(&stage, "[mux]\nafter = 'hold'\n");
    stage.open(&["x"]);
    let lane = stage.pane("x");
    stage.tmux.type_line(&lane.id, "exit 3");
    wait_for_end(&stage, &lane.id);
    stage.tmux.wait_until("it says why", |tmux| tmux.capture(&lane.id).contains("press Enter"));
    assert!(stage.tmux.capture(&lane.id).contains("exit status 3"));
    stage.tmux.type_line(&lane.id, "");
    stage.tmux.wait_until("the pane is gone", |tmux| tmux.find(&lane.id).is_none());
}

#[test]
fn a_client_that_stops_itself_leaves_a_shell_and_goes_on_after_it() {
    let stage = Stage::of(Conf::Plain);
    stage.open(&["x"]);
    let lane = stage.pane("x");
    stage.tmux.wait_until("the prompt", |tmux| tmux.capture(&lane.id).contains("is here"));
    stage.tmux.run(["send-keys", "-t", &lane.id, "C-z"]);
    stage.tmux.wait_until("a shell", |tmux| tmux.capture(&lane.id).contains("is stopped"));
    stage.tmux.shell(&lane.id, "true").ok();
    stage.tmux.type_line(&lane.id, "exit");
    let launch = &stage.world.launches()[0];
    stage.tmux.type_line(&lane.id, "still there?");
    wait::until("the client reads again", || launch.lines() == ["still there?"], || stage.tmux.report());
    stage.tmux.type_line(&lane.id, "exit 5");
    assert_eq!(launch.wait_for_end(), "exit 5");
    wait_for_end(&stage, &lane.id);
}

#[test]
fn ctrl_c_reaches_only_the_client() {
    let stage = Stage::new();
    stage.open(&["x"]);
    let lane = stage.pane("x");
    stage.tmux.wait_until("the prompt", |tmux| tmux.capture(&lane.id).contains("is here"));
    stage.tmux.run(["send-keys", "-t", &lane.id, "C-c"]);
    assert_eq!(stage.world.launches()[0].wait_for_end(), "INT");
    wait_for_end(&stage, &lane.id);
}

#[test]
fn a_client_killed_in_raw_mode_leaves_a_usable_terminal() {
    let stage = Stage::of(Conf::Plain);
    let screen = "printf '\\033[?1049h\\033[?25l'; stty raw -echo; kill -KILL $$";
    stage.run(&["open", "x", "-b", "--cmd", screen]).ok();
    let lane = stage.pane("x");
    wait_for_end(&stage, &lane.id);
    stage.tmux.shell(&lane.id, "stty -a | grep -q ' icanon'").ok();
    assert_eq!(stage.tmux.format(&lane.id, "#{alternate_on} #{cursor_flag}"), "0 1");
}

#[test]
fn closing_the_pane_hangs_up_the_client() {
    let stage = Stage::new();
    stage.open(&["x"]);
    let launch = stage.world.wait_for_launch();
    stage.tmux.run(["kill-pane", "-t", &stage.pane("x").id]);
    let end = launch.wait_for_end();
    assert!(["HUP", "end of input"].contains(&end.as_str()), "{end}");
}

#[test]
fn a_stopped_client_ends_with_its_pane() {
    let stage = Stage::of(Conf::Plain);
    stage.open(&["x"]);
    let lane = stage.pane("x");
    stage.tmux.wait_until("the prompt", |tmux| tmux.capture(&lane.id).contains("is here"));
    stage.tmux.run(["send-keys", "-t", &lane.id, "C-z"]);
    stage.tmux.wait_until("a shell", |tmux| tmux.capture(&lane.id).contains("is stopped"));
    stage.tmux.run(["kill-pane", "-t", &lane.id]);
    let end = stage.world.launches()[0].wait_for_end();
    assert!(["HUP", "end of input"].contains(&end.as_str()), "{end}");
}

#[test]
fn a_pane_started_again_goes_on_with_its_lane() {
    let stage = Stage::new();
    stage.open(&["x", "x-2"]);
    let lane = stage.pane("x");
    let first = stage.world.launches().remove(0);
    stage.tmux.run(["respawn-pane", "-k", "-t", &lane.id]);
    let launches = stage.world.wait_for_launches(3);
    assert_eq!(launches[2].cwd, first.cwd);
    assert_eq!(launches[2].env("TMUX_PANE").unwrap(), lane.id.as_str());
    assert_eq!(stage.pane("x").id, lane.id);
    stage.run(&["x", "-b"]).ok();
    assert_eq!(stage.world.launches().len(), 3, "it runs in its old pane");
}

#[test]
fn a_pane_started_again_while_the_lane_runs_elsewhere_starts_no_second_client() {
    let stage = Stage::new();
    config(&stage, "[mux]\nafter = 'hold'\n");
    stage.open(&["x"]);
    let lane = stage.pane("x");
    stage.run(&["open", "x", "-b", "--again"]).ok();
    stage.world.wait_for_launches(2);
    stage.tmux.run(["respawn-pane", "-k", "-t", &lane.id]);
    stage.tmux.wait_until("it says so", |tmux| tmux.capture(&lane.id).contains("already"));
    assert_eq!(stage.world.launches().len(), 2);
}

#[test]
fn a_directory_that_is_not_there_is_shown_and_not_replaced() {
    let stage = Stage::new();
    stage.open(&["x"]);
    let lane = stage.pane("x");
    let argv = stage.tmux.format(&lane.id, "#{pane_start_command}");
    assert!(argv.contains("__pane"), "{argv}");
    let name = format!("{}-abcdefghijkm.json", lane.lane_id);
    let request = stage.world.state().join("requests").join(name);
    let body = serde_json::json!({
        "label": "shop/x", "argv": ["claude"], "cwd": "/no/such/directory", "shell": false, "after": "shell",
        "env": [["HOME", stage.world.home().to_str().unwrap()], ["PATH", "/usr/bin:/bin"]],
    });
    stage.world.file(&request, body.to_string());
    let target = format!("{}:", stage.tmux.session());
    let pane = stage.tmux.run(
        [
            "new-window",
            "-d",
            "-P",
            "-F",
            "#{pane_id}",
            "-t",
            &target,
            "--",
            env!("CARGO_BIN_EXE_scruff"),
            "__pane",
        ]
        .into_iter()
        .chain([request.to_str().unwrap()]),
    );
    stage.tmux.wait_until("it says so", |tmux| tmux.capture(&pane).contains("/no/such/directory"));
    assert!(!request.exists());
    assert_eq!(stage.world.launches().len(), 1);
}

#[test]
fn a_client_that_is_not_installed_is_shown() {
    let stage = Stage::new();
    std::fs::remove_file(stage.world.bin().join("codex")).unwrap();
    stage.run(&["open", "x", "-b", "--agent", "codex"]);
    assert!(stage.world.launches().is_empty());
}

#[test]
fn a_base_of_ones_own_is_known_to_a_pane_started_again() {
    let mut stage = Stage::new();
    let base = stage.world.work().join("my base #(touch $CANARY)");
    stage.world.set("SCRUFF_BASE", base.as_os_str());
    stage.world.set("SCRUFF_STATE", stage.world.work().join("my state").as_os_str());
    stage.open(&["x"]);
    let lane = stage.pane("x");
    assert!(stage.world.launches()[0].cwd.starts_with(&base));
    stage.tmux.run(["respawn-pane", "-k", "-t", &lane.id]);
    let launches = stage.world.wait_for_launches(2);
    assert_eq!(launches[1].cwd, launches[0].cwd);
}
