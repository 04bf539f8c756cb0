//! What a lane's pane is told, and whether somebody looks at it.

use super::client::{Client, files};
use super::desk::{Bus, FakeService};
use crate::world::{Conf, Tmux, World, wait};
use serde_json::json;

const BOTH: [Conf; 2] = [Conf::Plain, Conf::Hostile];

/// Counts calls of tmux from here on.
fn count_calls(world: &World) {
    let real = which::which("tmux").unwrap();
    let log = world.root().join("tmux.calls");
    let script = format!("#!/bin/sh\necho x >>'{}'\nexec '{}' \"$@\"\n", log.display(), real.display());
    world.script(world.bin().join("tmux"), &script);
}

fn calls(world: &World) -> usize {
    std::fs::read_to_string(world.root().join("tmux.calls")).unwrap_or_default().lines().count()
}

#[test]
fn a_pane_shows_what_its_lane_does_by_one_call_a_change() {
    for conf in BOTH {
        let world = World::of(conf);
        world.file(world.config_file(), "[notify]\nbackends = []\n");
        let tmux = Tmux::start(&world);
        let name = world.evil_name("it's");
        let client = Client::in_lane(&world, &name).in_pane(&tmux, tmux.pane());
        count_calls(&world);
        let state_after = |event: &str, most: usize| {
            let before = calls(&world);
            client.says(event);
            let made = calls(&world) - before;
            assert!(made <= most, "{event}: {made} calls of tmux");
            tmux.find(tmux.pane()).unwrap().state
        };
        assert_eq!(state_after("UserPromptSubmit", 1), "working");
        assert_eq!(state_after("UserPromptSubmit", 0), "working");
        assert_eq!(state_after("PermissionRequest", 1), "waiting");
        assert_eq!(state_after("PostToolUse", 1), "working");
        assert_eq!(state_after("PostToolUse", 0), "working");
        assert_eq!(state_after("Stop", 1), "done");
        assert_eq!(state_after("SessionEnd", 1), "");
        let pane = tmux.find(tmux.pane()).unwrap();
        assert_eq!(pane.lane_id, client.lane_id());
        // Doubled, so that no status line takes it for a format.
        assert_eq!(pane.lane, format!("shop/{}", name.replace('#', "##")));
    }
}

#[test]
fn a_lane_that_runs_in_a_pane_of_the_users_own_can_be_focused() {
    for conf in BOTH {
        let world = World::of(conf);
        let tmux = Tmux::start(&world);
        let own = tmux.new_window(tmux.session());
        let client = Client::in_lane(&world, "fix").in_pane(&tmux, &own);
        client.says("SessionStart");
        let person = tmux.attach(tmux.session());
        assert_ne!(person.pane().id, own);
        world.call(["focus", "fix"]).in_pane(&tmux, tmux.pane()).run().ok();
        person.wait_for_pane(&own);
    }
}

#[test]
fn no_pane_is_guessed_and_none_is_taken_from_another_lane() {
    let world = World::new();
    world.file(world.config_file(), "[notify]\nbackends = []\n");
    let tmux = Tmux::start(&world);
    let first = Client::in_lane(&world, "first").in_pane(&tmux, tmux.pane());
    first.says("UserPromptSubmit");
    // The same pane by an inherited variable, a pane that is gone, a server that is gone.
    let second = Client::in_lane(&world, "second");
    let gone = tmux.new_window(tmux.session());
    let stale = Client::at(&world, &second.cwd, "a").in_pane(&tmux, &gone);
    tmux.run(["kill-pane", "-t", &gone]);
    let foreign = Client::at(&world, &second.cwd, "b").in_pane(&tmux, tmux.pane());
    let nowhere =
        Client::at(&world, &second.cwd, "c").with("TMUX", "/no/such/socket,1,0").with("TMUX_PANE", "%0");
    for client in [stale, foreign, nowhere, Client::at(&world, &second.cwd, "d")] {
        client.says("PermissionRequest");
        client.does("waiting");
    }
    let panes: Vec<String> =
        tmux.panes().into_iter().map(|pane| pane.lane).filter(|lane| !lane.is_empty()).collect();
    assert_eq!(panes, ["shop/first"]);
    assert_eq!(tmux.find(tmux.pane()).unwrap().state, "working");
    assert_eq!(files(&world.state().join("panes")), [format!("{}.json", first.lane_id())]);
}

#[test]
fn no_banner_for_a_pane_that_somebody_looks_at() {
    let mut world = World::new();
    let bus = Bus::start(&mut world);
    let service = FakeService::on(&bus, &["actions", "body"]);
    let tmux = Tmux::start(&world);
    tmux.run(["set-option", "-g", "focus-events", "on"]);
    let client = Client::in_lane(&world, "fix").in_pane(&tmux, tmux.pane());
    let person = tmux.attach(tmux.session());
    let focused = |wanted: bool| {
        let flag = || person.client().unwrap().flags.split(',').any(|flag| flag == "focused") == wanted;
        wait::until("tmux knows of the focus", flag, || tmux.report());
    };
    let mut count = 0;
    let mut asks = |shown: bool, why: &str| {
        client.says("PermissionRequest");
        client.does("waiting");
        count += usize::from(shown);
        if shown {
            service.wait_for_banners(&world, count);
        }
        client.says("UserPromptSubmit");
        world.wait_until_quiet();
        assert_eq!(service.banners().len(), count, "{why}");
    };
    asks(true, "a terminal that never said anything about its focus may be anywhere");
    person.send("\x1b[O");
    focused(false);
    asks(true, "the person is elsewhere");
    person.send("\x1b[I");
    focused(true);
    asks(false, "the person looks at it");
    let other = tmux.new_window(tmux.session());
    tmux.run(["select-window", "-t", &other]);
    asks(true, "another window");
    tmux.run(["select-window", "-t", tmux.pane()]);
    asks(false, "back again");
    world.file(world.config_file(), "[notify]\nwhen_visible = 'show'\n");
    asks(true, "wanted all the same");
    tmux.run(["set-option", "-g", "focus-events", "off"]);
    world.file(world.config_file(), "");
    asks(true, "nothing is reported any more");
}

#[test]
fn where_there_is_no_desktop_the_multiplexer_says_it() {
    let mut world = World::new();
    world.unset("DBUS_SESSION_BUS_ADDRESS");
    let tmux = Tmux::start(&world);
    tmux.run(["set-option", "-g", "display-time", "60000"]);
    let name = format!("{}50%H", world.evil_name("x"));
    let client = Client::in_lane(&world, &name).in_pane(&tmux, tmux.pane());
    let other = tmux.new_session("other");
    let people = [tmux.attach(tmux.session()), tmux.attach(&other)];
    client.says("PermissionRequest");
    for person in &people {
        person.wait_for("(shop): waiting on you");
        person
            .wait_until("the name as it is", |screen| screen.contains("x#(touch") && screen.contains("50%H"));
    }
    world.wait_until_quiet();
    client.says_with("SessionEnd", json!({}));
}

#[test]
fn a_question_that_was_waved_away_is_found_out_by_asking_the_client() {
    for (status, then) in [("idle", "done"), ("busy", "working")] {
        let mut world = World::new();
        let bus = Bus::start(&mut world);
        let service = FakeService::on(&bus, &["actions", "body"]);
        let tmux = Tmux::start(&world);
        let client = Client::in_lane(&world, "fix").in_pane(&tmux, tmux.pane());
        let agents = |status: &str| {
            let list = json!([{"pid": 1, "sessionId": client.session, "status": status, "name": "SECRET"}]);
            world.script(
                world.bin().join("claude"),
                &format!("#!/bin/sh\n[ \"$*\" = 'agents --json' ] && echo '{list}'\n"),
            );
        };
        std::fs::remove_file(world.bin().join("claude")).unwrap();
        agents("waiting");
        client.says("UserPromptSubmit");
        client.says("PermissionRequest");
        service.wait_for_banners(&world, 1);
        let asked = || world.state().join("cache/status-claude.json").exists();
        wait::until("the client is asked", asked, || world.notify_report());
        client.does("waiting");
        agents(status);
        world.wait_until_quiet();
        client.does(then);
        assert_eq!((service.closed().len(), world.asks().len()), (1, 0));
        assert_eq!(tmux.find(tmux.pane()).unwrap().state, then);
        world.program("grep").args(["-rl", "SECRET"]).arg(world.state()).run().exits(1);
    }
}
