//! `scruff focus --next` and `--previous`.

use super::client::Client;
use crate::world::{Conf, Tmux, World};
use std::time::Duration;

const BOTH: [Conf; 2] = [Conf::Plain, Conf::Hostile];

/// Three lanes in windows of their own, all of them waiting, the second one longest.
fn three<'a>(world: &'a World, tmux: &Tmux) -> Vec<(Client<'a>, String)> {
    world.file(world.config_file(), "[notify]\nbackends = []\n");
    let lane = |name: &str| {
        let pane = tmux.new_window(tmux.session());
        let client = Client::in_lane(world, name).in_pane(tmux, &pane);
        client.says("SessionStart");
        client.says("PermissionRequest");
        (client, pane)
    };
    let lanes: Vec<_> = ["one", "two", "three"].map(lane).into();
    for (minutes, number) in [(10, 0), (30, 1), (20, 2)] {
        let file = world.state().join("activity/waiting").join(lanes[number].0.lane_id());
        let time = std::time::SystemTime::now() - Duration::from_secs(minutes * 60);
        std::fs::File::open(file).unwrap().set_modified(time).unwrap();
    }
    lanes
}

#[test]
fn next_goes_through_all_that_wait_the_longest_first() {
    for conf in BOTH {
        let world = World::of(conf);
        let tmux = Tmux::start(&world);
        let lanes = three(&world, &tmux);
        let person = tmux.attach(tmux.session());
        let next = || {
            let (pane, client) = (person.pane().id, person.name().to_owned());
            world.call(["focus", "--next", "--pane-id", &pane, "--client", &client]).run().ok().silent();
        };
        for number in [1, 2, 0, 1] {
            next();
            person.wait_for_pane(&lanes[number].1);
        }
        lanes[2].0.says("PostToolUse");
        next();
        person.wait_for_pane(&lanes[0].1);
    }
}

#[test]
fn where_nobody_waits_next_says_so_and_moves_nobody() {
    let world = World::new();
    let tmux = Tmux::start(&world);
    let person = tmux.attach(tmux.session());
    let client = Client::in_lane(&world, "fix").in_pane(&tmux, tmux.pane());
    client.says("Stop");
    world.wait_until_quiet();
    let before = person.pane();
    world.call(["focus", "--next"]).in_pane(&tmux, tmux.pane()).run().ok().silent().warns("no lane waits");
    assert_eq!(person.pane(), before);
}

#[test]
fn a_question_that_was_waved_away_is_not_gone_to() {
    let world = World::new();
    let tmux = Tmux::start(&world);
    let lanes = three(&world, &tmux);
    let old = std::time::SystemTime::now() - Duration::from_secs(60);
    for (client, _) in &lanes {
        let file = world.state().join("asking").join(&client.session);
        std::fs::File::open(file).unwrap().set_modified(old).unwrap();
    }
    let list = serde_json::json!([{"sessionId": "session-of-two", "status": "idle"}, {"sessionId": "session-of-three", "status": "busy"}]);
    std::fs::remove_file(world.bin().join("claude")).unwrap();
    world.script(world.bin().join("claude"), &format!("#!/bin/sh\necho '{list}'\n"));
    let person = tmux.attach(tmux.session());
    world.call(["focus", "--next", "--client", person.name()]).in_pane(&tmux, tmux.pane()).run().ok();
    person.wait_for_pane(&lanes[0].1);
    lanes[1].0.does("done");
    lanes[2].0.does("working");
    assert_eq!(world.asks(), ["scruff.shop.one"]);
}

#[test]
fn previous_goes_back_and_forth_for_the_client_that_asks() {
    for conf in BOTH {
        let world = World::of(conf);
        let tmux = Tmux::start(&world);
        let lanes = three(&world, &tmux);
        let other = tmux.new_session("other");
        let (left, right) = (tmux.attach(tmux.session()), tmux.attach(&other));
        let (home, elsewhere) = (left.pane().id, right.pane().id);
        let focus = |args: &[&str], person: &str| {
            world.call(["focus", "--client", person]).args(args).in_pane(&tmux, tmux.pane()).run().ok();
        };
        focus(&["one"], left.name());
        left.wait_for_pane(&lanes[0].1);
        for place in [&home, &lanes[0].1, &home] {
            focus(&["--previous"], left.name());
            left.wait_for_pane(place);
        }
        focus(&["two"], right.name());
        right.wait_for_pane(&lanes[1].1);
        focus(&["--previous"], right.name());
        right.wait_for_pane(&elsewhere);
        assert_eq!(left.pane().id, lanes[1].1, "right was a guest in left's session");
        focus(&["--previous"], left.name());
        left.wait_for_pane(&lanes[0].1);
    }
}

#[test]
fn previous_says_when_there_is_no_way_back() {
    let world = World::new();
    let tmux = Tmux::start(&world);
    let previous = || world.call(["focus", "--previous"]).in_pane(&tmux, tmux.pane()).run();
    previous().exits(1).silent().warns("nothing was focused");
    let lanes = three(&world, &tmux);
    let person = tmux.attach(tmux.session());
    let place = tmux.new_window(tmux.session());
    tmux.run(["select-window", "-t", &place]);
    world.call(["focus", "one"]).in_pane(&tmux, &place).run().ok();
    person.wait_for_pane(&lanes[0].1);
    tmux.run(["kill-pane", "-t", &place]);
    previous().exits(1).silent().warns("is gone");
    person.wait_for_pane(&lanes[0].1);
}

#[test]
fn a_program_that_names_a_lane_means_that_one() {
    let world = World::new();
    let client = Client::in_lane(&world, "fix-two");
    world.call(["focus", "--exact", "shop/fix"]).cwd(&client.cwd).run().exits(1).silent().warns("no lane");
}
