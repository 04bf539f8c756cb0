//! The tmux plugin, with its keys pressed by people at terminals.

use crate::world::screen::Terminal;
use crate::world::{Repo, Tmux, World, manual, wait};
use std::os::unix::fs::symlink;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const PLUGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/integrations/tmux/scruff.tmux");

/// Key, and the action it stands for.
const DEFAULTS: [(&str, &str); 5] =
    [("S", "pick"), ("N", "new"), ("V", "beside"), ("P", "close"), ("G", "overview")];

fn load(tmux: &Tmux) {
    tmux.run(["run-shell", PLUGIN]);
}

/// What is bound, a line for each key.
fn keys(tmux: &Tmux) -> Vec<String> {
    tmux.run(["list-keys"])
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

fn binding(tmux: &Tmux, table: &str, key: &str) -> Option<String> {
    let ran = tmux.call(["list-keys", "-T", table, key]).run();
    (ran.code() == 0).then(|| ran.out().trim_end().to_owned())
}

fn option(tmux: &Tmux, name: &str) -> String {
    tmux.run(["show-options", "-gqv", name])
}

/// A shell in this pane goes to the repository, whatever its path is made of.
fn go_to(world: &World, tmux: &Tmux, pane: &str, repo: &Repo) {
    let short = world.root().join("r");
    let _ = symlink(repo.path(), &short);
    tmux.type_line(pane, &format!("cd {}", short.display()));
    let there = repo.path().display().to_string();
    tmux.wait_until("the shell is in the repository", |tmux| tmux.find(pane).unwrap().cwd == there);
}

/// A server with the plugin, whose first pane is in a repository.
fn at_work() -> (World, Tmux) {
    let world = World::new();
    let repo = world.repo("shop");
    let tmux = Tmux::start(&world);
    load(&tmux);
    go_to(&world, &tmux, tmux.pane(), &repo);
    (world, tmux)
}

/// What a popup shows goes before the popup itself does; keys would still be its.
fn wait_for_no_popup(person: &Terminal) {
    person.wait_until("the popup goes", |screen| !screen.contains('┌'));
}

#[test]
fn every_action_has_its_key_and_no_other_key_changes() {
    let world = World::new();
    let tmux = Tmux::start(&world);
    let before = keys(&tmux);
    load(&tmux);
    let after = keys(&tmux);
    let lost: Vec<&String> = before.iter().filter(|line| !after.contains(line)).collect();
    assert!(lost.is_empty(), "displaced: {lost:#?}");
    assert_eq!(after.len(), before.len() + DEFAULTS.len());
    for (key, action) in DEFAULTS {
        let bound = binding(&tmux, "prefix", key).unwrap();
        assert!(bound.contains(&format!("__key {action} ")), "{bound}");
    }
    assert_eq!(option(&tmux, "@scruff_notes"), "");
}

#[test]
fn loading_it_again_changes_nothing() {
    let world = World::new();
    let tmux = Tmux::start(&world);
    load(&tmux);
    let (before, options) = (keys(&tmux), tmux.run(["show-options", "-g"]));
    load(&tmux);
    assert_eq!((keys(&tmux), tmux.run(["show-options", "-g"])), (before, options));
}

#[test]
fn a_key_that_is_taken_is_left_alone_unless_it_was_asked_for() {
    let world = World::new();
    let tmux = Tmux::start(&world);
    tmux.run(["bind-key", "N", "display-message", "mine"]);
    load(&tmux);
    assert!(binding(&tmux, "prefix", "N").unwrap().contains("mine"));
    assert!(option(&tmux, "@scruff_notes").contains("new has no key: N is bound to something else"));
    tmux.run(["set-option", "-g", "@scruff-key-new", "N"]);
    load(&tmux);
    assert!(binding(&tmux, "prefix", "N").unwrap().contains("__key new "));
    assert_eq!(option(&tmux, "@scruff_notes"), "");
}

#[test]
fn an_option_moves_a_key_and_an_empty_one_takes_it_away() {
    let world = World::new();
    let tmux = Tmux::start(&world);
    load(&tmux);
    tmux.run(["set-option", "-g", "@scruff-key-new", "-n M-n"]);
    tmux.run(["set-option", "-g", "@scruff-key-beside", ""]);
    tmux.run(["set-option", "-g", "@scruff-key-pick", ""]);
    tmux.run(["set-option", "-g", "@scruff-key-close", ""]);
    tmux.run(["set-option", "-g", "@scruff-key-overview", "M-\\;"]);
    load(&tmux);
    for (key, _) in DEFAULTS {
        assert_eq!(binding(&tmux, "prefix", key), None);
    }
    assert!(binding(&tmux, "root", "M-n").unwrap().contains("__key new "));
    assert!(binding(&tmux, "prefix", "M-\\;").unwrap().contains("__key overview "));
    for (_, action) in DEFAULTS {
        tmux.run(["set-option", "-gu", &format!("@scruff-key-{action}")]);
    }
    load(&tmux);
    assert_eq!((binding(&tmux, "root", "M-n"), binding(&tmux, "prefix", "M-\\;")), (None, None));
    for (key, action) in DEFAULTS {
        assert!(binding(&tmux, "prefix", key).unwrap().contains(&format!("__key {action} ")));
    }
}

#[test]
fn a_key_that_got_another_meaning_since_is_not_taken_back() {
    let world = World::new();
    let tmux = Tmux::start(&world);
    load(&tmux);
    tmux.run(["bind-key", "G", "display-message", "mine"]);
    tmux.run(["set-option", "-g", "@scruff-key-overview", ""]);
    load(&tmux);
    assert!(binding(&tmux, "prefix", "G").unwrap().contains("mine"));
}

#[test]
fn a_key_that_tmux_does_not_know_is_told() {
    let world = World::new();
    let tmux = Tmux::start(&world);
    tmux.run(["set-option", "-g", "@scruff-key-new", "no such key"]);
    load(&tmux);
    assert_eq!(option(&tmux, "@scruff_notes"), "tmux knows no key no such key");
}

#[test]
fn it_loads_the_way_tpm_does_it_and_out_of_the_program() {
    let world = World::new();
    let tmux = Tmux::start(&world);
    let scripts = std::fs::read_dir(ROOT).unwrap().map(|entry| entry.unwrap().path());
    let scripts: Vec<_> = scripts.filter(|path| path.extension().is_some_and(|it| it == "tmux")).collect();
    assert_eq!(scripts.len(), 1);
    world.program(&scripts[0]).in_pane(&tmux, tmux.pane()).run().ok().silent().calm();
    let bound = keys(&tmux);
    assert!(binding(&tmux, "prefix", "N").is_some());
    for (key, _) in DEFAULTS {
        tmux.run(["unbind-key", key]);
    }
    tmux.run(["run-shell", "scruff init tmux | sh"]);
    assert_eq!(keys(&tmux), bound);
}

#[test]
fn it_says_what_it_needs() {
    let world = World::new();
    let tmux = Tmux::start(&world);
    world.program(PLUGIN).run().exits(1).warns("inside tmux");
    let old = world.script("old/tmux", "#!/bin/sh\ncase $1 in display-message) echo 3.1c ;; esac\n");
    let path = format!("{}:/usr/bin:/bin", old.parent().unwrap().display());
    world.program(PLUGIN).in_pane(&tmux, tmux.pane()).env("PATH", path).run().exits(1).warns("3.2");
}

#[test]
fn without_the_program_a_key_says_so() {
    let world = World::new();
    let tmux = Tmux::start(&world);
    tmux.run(["set-option", "-g", "@scruff-bin", "/nowhere/scruff"]);
    tmux.run(["set-option", "-g", "display-time", "0"]);
    load(&tmux);
    let person = tmux.attach(tmux.session());
    person.prefix("N");
    person.wait_for("put it on PATH or set @scruff-bin");
    assert!(option(&tmux, "@scruff_notes").contains("@scruff-bin"));
    tmux.run(["set-option", "-gu", "@scruff-bin"]);
    load(&tmux);
    assert!(binding(&tmux, "prefix", "N").unwrap().contains("__key new "));
}

#[test]
fn a_program_at_an_odd_place_is_run() {
    let world = World::new();
    let odd = world.root().join("it's #(touch $CANARY) $(touch $CANARY); 50%H");
    std::fs::create_dir(&odd).unwrap();
    symlink(env!("CARGO_BIN_EXE_scruff"), odd.join("scruff")).unwrap();
    let tmux = Tmux::start(&world);
    tmux.run(["set-option", "-g", "@scruff-bin", &odd.join("scruff").display().to_string()]);
    tmux.run(["set-option", "-g", "status-right", "[#{scruff_status}]"]);
    world.file(world.state().join("activity/waiting/aaaaaaaaaaaa"), "");
    load(&tmux);
    let person = tmux.attach(tmux.session());
    person.wait_for("[!1]");
    person.prefix("G");
    person.wait_for("any other key leaves");
}

#[test]
fn a_task_typed_into_the_popup_reaches_the_client_byte_for_byte() {
    let (world, tmux) = at_work();
    let person = tmux.attach(tmux.session());
    let task = format!(
        "fix it's \"q\" $HOME $(touch {0}) `touch {0}`; #(touch {0}) #{{pane_id}} %H %% \\n \u{e9}\u{6f22}\ttwo\n\nthree; {1}",
        world.canary().display(),
        "long ".repeat(400),
    );
    person.prefix("N");
    person.wait_for("New lane in local/shop");
    person.paste(&task);
    person.wait_for("long long");
    person.send("\r");
    let launch = world.wait_for_launch();
    assert!(launch.has_arg(&task), "{:#?}", launch.args);
    let lane = tmux.panes().into_iter().find(|pane| pane.lane.starts_with("shop/")).unwrap();
    person.wait_for_pane(&lane.id);
    person.wait_for("claude is here");
}

#[test]
fn the_person_who_pressed_the_key_is_the_one_who_is_moved() {
    let (world, tmux) = at_work();
    let other = tmux.new_session("other");
    let (left, right) = (tmux.attach(tmux.session()), tmux.attach(&other));
    let seen = right.pane().id;
    // The other one was busy last: it is the one that tmux itself would take.
    right.send_line("echo busy");
    right.wait_for("busy");
    left.prefix("N");
    left.wait_for("Its task");
    assert!(!right.screen().contains("Its task"), "{}", right.framed());
    left.send("the task\r");
    let launch = world.wait_for_launch();
    assert!(launch.has_arg("the task"), "{launch:#?}");
    left.wait_for("claude is here");
    assert_eq!((right.session(), right.pane().id), (other, seen));
    assert_eq!(left.session(), tmux.session());
}

#[test]
fn a_lane_is_picked_in_a_popup_and_comes_to_whoever_picked_it() {
    let (world, tmux) = at_work();
    let other = tmux.new_session("other");
    for name in ["fix-auth", "feat-pears"] {
        let call = world.call(["open", "--background", name]).cwd(world.root().join("r"));
        call.in_pane(&tmux, tmux.pane()).run().ok();
    }
    let (left, right) = (tmux.attach(tmux.session()), tmux.attach(&other));
    let seen = left.pane().id;
    // The other one was busy last: it is the one that tmux itself would take.
    left.send_line("echo busy");
    left.wait_for("busy");
    right.prefix("S");
    right.wait_for("Esc leave");
    right.send("pears\r");
    let lane = tmux.panes_of("shop/feat-pears").remove(0);
    right.wait_for_pane(&lane.id);
    wait_for_no_popup(&right);
    assert_eq!(left.session(), tmux.session());
    // A lane's window was opened in the session that both now look at.
    assert!(left.pane().id == lane.id || left.pane().id == seen);
}

#[test]
fn the_picker_parks_also_the_lane_it_was_called_in() {
    let (world, tmux) = at_work();
    let call = world.call(["open", "--session", "fix-auth"]).cwd(world.root().join("r"));
    call.in_pane(&tmux, tmux.pane()).run().ok();
    let lane = tmux.panes_of("shop/fix-auth").remove(0);
    let person = tmux.attach(&lane.session);
    person.prefix("S");
    person.wait_for("Esc leave");
    person.send("\x18");
    wait::until("the pane ends", || tmux.find(&lane.id).is_none(), || person.framed());
    let parked = || world.scruff(["list", "--json"]).ok().json()["lanes"][0]["state"] == "parked";
    wait::until("the lane is parked", parked, || person.framed());
}

#[test]
fn a_person_may_change_their_mind() {
    let (world, tmux) = at_work();
    let person = tmux.attach(tmux.session());
    for leave in ["\x1b", "\x03", "\x04"] {
        person.prefix("N");
        person.wait_for("Its task");
        person.send(leave);
        wait_for_no_popup(&person);
    }
    assert!(world.launches().is_empty());
    world.scruff(["list", "--json"]).ok().says("\"lanes\":[]");
}

#[test]
fn a_task_that_came_to_nothing_is_kept() {
    let (world, tmux) = at_work();
    world.file(world.config_file(), "[lane]\nbranch = \"no template\"\n");
    let person = tmux.attach(tmux.session());
    person.prefix("N");
    person.wait_for("Its task");
    person.send("long to type\r");
    person.wait_for("the task is kept");
    assert_eq!(std::fs::read_to_string(world.state().join("task")).unwrap(), "long to type");
    person.send("\x1b");
    wait_for_no_popup(&person);
    assert!(world.launches().is_empty());
}

#[test]
fn a_lane_without_a_task_has_no_first_turn() {
    let (world, tmux) = at_work();
    let person = tmux.attach(tmux.session());
    person.prefix("N");
    person.wait_for("Its task");
    person.send("\r");
    let with = world.wait_for_launch();
    person.wait_for("claude is here");
    assert!(with.args.iter().all(|arg| !arg.is_empty()), "{with:#?}");
}

#[test]
fn a_lane_comes_up_beside_the_pane() {
    let (world, tmux) = at_work();
    let person = tmux.attach(tmux.session());
    person.prefix("V");
    world.wait_for_launch();
    person.wait_for("claude is here");
    let (new, old) = (person.pane(), tmux.find(tmux.pane()).unwrap());
    assert!(new.lane.starts_with("shop/"), "{new:?}");
    assert_eq!(new.window, old.window);
}

#[test]
fn the_lane_of_the_pane_is_parked() {
    let (world, tmux) = at_work();
    let repo = world.root().join("r");
    let person = tmux.attach(tmux.session());
    for (name, place) in [("in-a-window", "--window"), ("in-a-session", "--session")] {
        let call = world.call(["open", place, name]).cwd(&repo).in_pane(&tmux, tmux.pane());
        call.run().ok();
        let lane = tmux.panes_of(&format!("shop/{name}")).remove(0);
        person.wait_for_pane(&lane.id);
        person.prefix("P");
        person.wait_for(&format!("{name} is parked on worktree-{name}"));
        assert_eq!(tmux.find(&lane.id), None);
        let listed = world.scruff(["list", "--json"]).ok().json();
        let parked = |lane: &&serde_json::Value| lane["name"] == name && lane["state"] == "parked";
        assert!(listed["lanes"].as_array().unwrap().iter().any(|lane| parked(&lane)), "{listed:#}");
    }
}

#[test]
fn a_pane_that_is_no_lanes_is_left_alone() {
    let (world, tmux) = at_work();
    let lane = world.call(["new", "quiet"]).cwd(world.root().join("r")).run().ok().line().to_owned();
    // Standing in a checkout makes no pane a lane's.
    let short = world.root().join("c");
    symlink(&lane, &short).unwrap();
    tmux.type_line(tmux.pane(), &format!("cd {}", short.display()));
    tmux.wait_until("the shell is in the checkout", |tmux| tmux.find(tmux.pane()).unwrap().cwd == lane);
    let person = tmux.attach(tmux.session());
    person.prefix("P");
    person.wait_for("this pane is no lane's");
    assert!(tmux.find(tmux.pane()).is_some());
    assert!(std::path::Path::new(&lane).is_dir());
}

#[test]
fn the_overview_shows_the_lanes_until_a_key_is_pressed() {
    let (world, tmux) = at_work();
    for n in 1..=40 {
        world.call(["new", &format!("lane-{n:02}")]).cwd(world.root().join("r")).run().ok();
    }
    let person = tmux.attach(tmux.session());
    person.prefix("G");
    person.wait_for("lane-01");
    assert!(!person.screen().contains("lane-40"), "{}", person.framed());
    person.send("G");
    person.wait_for("lane-40");
    person.send("k");
    person.wait_until("one up", |screen| !screen.contains("lane-40"));
    person.send("g");
    person.wait_for("lane-01");
    person.send("q");
    wait_for_no_popup(&person);
}

#[test]
fn what_goes_wrong_is_said_where_the_key_was_pressed() {
    let world = World::new();
    let tmux = Tmux::start(&world);
    load(&tmux);
    let other = tmux.new_session("other");
    let (left, right) = (tmux.attach(tmux.session()), tmux.attach(&other));
    left.prefix("V");
    left.wait_for("scruff: ");
    left.wait_for("git");
    assert!(!right.screen().contains("scruff: "), "{}", right.framed());
    assert_eq!(tmux.format(tmux.pane(), "#{pane_in_mode}"), "0");
    right.prefix("N");
    right.wait_for("scruff: ");
    right.send("\x1b");
    wait_for_no_popup(&right);
}

#[test]
fn the_status_line_has_the_counts_where_they_were_asked_for() {
    let world = World::new();
    let tmux = Tmux::start(&world);
    tmux.run(["set-option", "-g", "status-left", "<#{scruff_status}> "]);
    tmux.run(["set-option", "-g", "status-right", "#{E:@scruff_status}|#{scruff_status}\\;"]);
    world.file(world.state().join("activity/waiting/aaaaaaaaaaaa"), "");
    world.file(world.state().join("activity/done/bbbbbbbbbbbb"), "");
    load(&tmux);
    load(&tmux);
    assert_eq!(option(&tmux, "status-left"), "<#{E:@scruff_status}> ");
    assert_eq!(option(&tmux, "status-right"), "#{E:@scruff_status}|#{E:@scruff_status};");
    let person = tmux.attach(tmux.session());
    person.wait_for("<!1 +1>");
    person.wait_for("!1 +1|!1 +1;");
}

#[test]
fn a_status_line_that_did_not_ask_stays_as_it_is() {
    let world = World::new();
    let tmux = Tmux::start(&world);
    let before = (option(&tmux, "status-left"), option(&tmux, "status-right"));
    let format = option(&tmux, "window-status-format");
    load(&tmux);
    assert_eq!((option(&tmux, "status-left"), option(&tmux, "status-right")), before);
    assert_eq!(option(&tmux, "window-status-format"), format);
}

#[test]
fn the_badge_of_a_window_is_what_its_panes_do() {
    let world = World::new();
    let tmux = Tmux::start(&world);
    load(&tmux);
    for format in ["window-status-format", "window-status-current-format"] {
        tmux.run(["set-option", "-g", format, "(#W#{E:@scruff_badge})"]);
    }
    tmux.run(["rename-window", "-t", tmux.pane(), "work"]);
    let second = tmux.run(["split-window", "-d", "-P", "-F", "#{pane_id}", "-t", tmux.pane()]);
    let person = tmux.attach(tmux.session());
    let says = |pane: &str, state: &str, shown: &str| {
        tmux.run(["set-option", "-p", "-t", pane, "@scruff_state", state]);
        person.wait_for(shown);
    };
    person.wait_for("(work)");
    says(&second, "done", "(work+)");
    says(tmux.pane(), "working", "(work~)");
    says(&second, "waiting", "(work!)");
    says(&second, "done", "(work~)");
    says(tmux.pane(), "", "(work+)");
}

#[test]
fn names_are_shown_and_never_run() {
    let (world, tmux) = at_work();
    for format in ["window-status-format", "window-status-current-format"] {
        tmux.run(["set-option", "-g", format, "#W #{@scruff_lane}#{E:@scruff_badge}"]);
    }
    tmux.run(["set-option", "-g", "set-titles", "on"]);
    tmux.run(["set-option", "-g", "set-titles-string", "#W #{@scruff_lane}"]);
    let person = tmux.attach(tmux.session());
    person.resize(200, 30);
    let evil = [
        (world.evil_name("run"), "run#(touch${IFS}"),
        ("mark#{pane_id}up<b>&amp;%H".to_owned(), "mark#{pane_id}up<b>&amp;%H"),
        ("turn\u{202e}around".to_owned(), "shop/turnaround"),
        (format!("{}/{}", "long".repeat(40), "er".repeat(80)), "longlong"),
    ];
    for (name, shown) in &evil {
        let call = world.call(["open", name]).cwd(world.root().join("r")).in_pane(&tmux, tmux.pane());
        call.run().ok();
        let lane = format!("shop/{}", name.replace('\u{202e}', ""));
        let its = |pane: &crate::world::tmux::Pane| pane.lane.replace("##", "#") == lane;
        let pane = tmux.panes().into_iter().find(its).unwrap_or_else(|| panic!("{}", tmux.report()));
        person.wait_for_pane(&pane.id);
        person.wait_for(shown);
        assert!(pane.window_name.len() <= 90, "{}", pane.window_name);
        assert!(!pane.window_name.contains('\u{202e}'), "{}", pane.window_name);
    }
    world.wait_for_launches(evil.len());
    // A status line is drawn every time something changes; a job would have run by now.
    let drawn = || tmux.run(["refresh-client", "-t", person.name()]).is_empty();
    wait::until("it is drawn again", drawn, || person.framed());
}

#[test]
fn the_manual_is_true() {
    let world = World::new();
    let tmux = Tmux::start(&world);
    for (language, code) in manual::blocks("docs/tmux.md") {
        match language.as_str() {
            "tmux" => drop(tmux.run(["source-file".as_ref(), world.file("block.conf", code).as_os_str()])),
            "sh" => drop(world.program("sh").args(["-ec", &code]).in_pane(&tmux, tmux.pane()).run().ok()),
            other => panic!("nothing here runs {other:?}"),
        }
    }
    let rows = manual::rows("docs/tmux.md");
    let keys: Vec<(&str, &str)> = rows.iter().map(|row| (row[1].as_str(), row[0].as_str())).collect();
    assert_eq!(keys, DEFAULTS);
}
