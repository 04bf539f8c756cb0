//! Banners of the desktop: with dunst, with services of every kind, and with none.

use super::client::{Client, end, files};
use super::desk::{Bus, FakeService, dunstctl, env_recorder, shown, wait_for_shown};
use crate::world::{Conf, Tmux, World, wait};
use serde_json::json;
use std::os::unix::net::UnixListener;

const ALL: [&str; 4] = ["actions", "body", "body-markup", "persistence"];

/// Opens a lane in a window; the client that calls hooks from there.
#[track_caller]
fn open<'a>(world: &'a World, tmux: &Tmux, lane: &str) -> (Client<'a>, String) {
    let main = world.work().join("src/shop");
    if !main.exists() {
        world.repo("shop");
    }
    world.call(["open", lane, "-b"]).cwd(&main).in_pane(tmux, tmux.pane()).run().ok();
    let label = format!("shop/{lane}");
    let pane = wait::until_some("the lane's pane", || tmux.panes_of(&label).pop(), || tmux.report());
    let cwd = world.base().join(format!("local-shop/{lane}"));
    (Client::at(world, &cwd, &format!("session-of-{lane}")).in_pane(tmux, &pane.id), pane.id)
}

#[test]
fn a_banner_goes_up_is_replaced_and_comes_down_with_its_holder() {
    let mut world = World::new();
    let _bus = Bus::start(&mut world).with_dunst(&mut world);
    let client = Client::in_lane(&world, "fix");
    client.says("PermissionRequest");
    wait_for_shown(&world, 1);
    let holders = world.wait_for_holders(1);
    client.notifies("permission_prompt");
    client.says("PermissionRequest");
    wait_for_shown(&world, 1);
    assert_eq!(world.holders(), holders, "one holder a lane");
    client.says("UserPromptSubmit");
    wait_for_shown(&world, 0);
    world.wait_until_quiet();
    client.says("PermissionRequest");
    wait_for_shown(&world, 1);
    client.says("Stop");
    wait::until(
        "the end of the turn in its place",
        || dunstctl(&world, &["count", "history"]) == "1",
        || world.notify_report(),
    );
    assert_eq!(shown(&world), Some(1));
    assert_eq!(world.holders().len(), 1);
    dunstctl(&world, &["close"]);
    world.wait_until_quiet();
}

#[test]
fn a_click_brings_the_lane_in_front_of_the_client_that_shows_its_session() {
    for conf in [Conf::Plain, Conf::Hostile] {
        let mut world = World::of(conf);
        let _bus = Bus::start(&mut world).with_dunst(&mut world);
        let tmux = Tmux::start(&world);
        let other = tmux.new_session("other");
        let (client, pane) = open(&world, &tmux, "fix");
        let (left, right) = (tmux.attach(tmux.session()), tmux.attach(&other));
        let (before, elsewhere) = (left.pane().id, right.pane().id);
        assert_ne!(before, pane);
        // The last to be used is the one that must stay where it is.
        right.send_line("true");
        client.says("PermissionRequest");
        wait_for_shown(&world, 1);
        assert_eq!(left.pane().id, before, "a banner alone moves nobody");
        dunstctl(&world, &["action", "0"]);
        left.wait_for_pane(&pane);
        assert_eq!(right.pane().id, elsewhere);
        wait_for_shown(&world, 0);
        world.wait_until_quiet();
        assert_eq!(tmux.find(&pane).unwrap().state, "waiting", "a look is no answer");
    }
}

#[test]
fn fifty_lanes_ask_at_once() {
    let mut world = World::new();
    let _bus = Bus::start(&mut world).with_dunst(&mut world);
    let lanes: Vec<Client> =
        (0..50).map(|number| Client::in_lane(&world, &format!("lane-{number}"))).collect();
    let say = |event: &str| {
        let running: Vec<_> = lanes.iter().map(|client| client.call(event, json!({})).start()).collect();
        for hook in running {
            hook.finish().ok().silent().calm();
        }
    };
    say("PermissionRequest");
    wait_for_shown(&world, 50);
    assert_eq!(world.wait_for_holders(50).len(), 50);
    assert_eq!(world.asks().len(), 50);
    say("PostToolUse");
    wait_for_shown(&world, 0);
    world.wait_until_quiet();
    assert!(world.asks().is_empty());
}

#[test]
fn a_banner_says_who_and_what_and_can_be_clicked() {
    let mut world = World::new();
    let bus = Bus::start(&mut world);
    let service = FakeService::on(&bus, &ALL);
    let client = Client::in_lane(&world, "fix");
    client.says("PermissionRequest");
    let banner = &service.wait_for_banners(&world, 1)[0];
    assert_eq!((banner.summary.as_str(), banner.body.as_str()), ("fix", "shop: waiting on you"));
    assert_eq!((banner.replaces, banner.time), (0, 0));
    assert_eq!(banner.actions[0], "default");
    client.says("Stop");
    let next = &service.wait_for_banners(&world, 2)[1];
    assert_eq!((next.replaces, next.body.as_str()), (banner.id, "shop: finished its turn"));
    client.says("UserPromptSubmit");
    wait::until("it is closed", || service.closed() == [banner.id], || world.notify_report());
    world.wait_until_quiet();
}

#[test]
fn hostile_names_are_shown_harmlessly_whatever_the_service_reads() {
    for (abilities, shows) in
        [(&ALL[..], "a&amp;b&lt;i&gt;: waiting on you"), (&["body"], "a&b<i>: waiting on you")]
    {
        let mut world = World::new();
        let bus = Bus::start(&mut world);
        let service = FakeService::on(&bus, abilities);
        let repo = world.repo("a&b<i>");
        let name = format!("x<b>&{}\u{202e}{}", world.evil_name("x"), "é".repeat(40));
        let cwd = world.call(["new", &name]).cwd(repo.path()).run().ok().line().to_owned();
        let client = Client::at(&world, cwd.as_ref(), "s");
        client.says("PermissionRequest");
        let banner = &service.wait_for_banners(&world, 1)[0];
        assert_eq!(banner.body, shows);
        assert!(
            banner.summary.starts_with("x<b>&x#(touch") && !banner.summary.contains('\u{202e}'),
            "{banner:?}"
        );
        assert!(banner.summary.chars().count() <= 64);
        assert_eq!(banner.actions.is_empty(), !abilities.contains(&"actions"));
        client.says("PostToolUse");
        world.wait_until_quiet();
    }
}

#[test]
fn a_click_hands_the_desktops_token_to_whoever_raises_the_window() {
    let mut world = World::new();
    let bus = Bus::start(&mut world);
    let service = FakeService::on(&bus, &ALL);
    let (hook, record) = env_recorder(&world, "focus");
    world.file(world.config_file(), format!("[hooks]\nfocus = ['{}']\n", hook.display()));
    let client = Client::in_lane(&world, "fix")
        .with("XDG_ACTIVATION_TOKEN", "stale")
        .with("ANTHROPIC_API_KEY", "SECRET");
    client.says("PermissionRequest");
    let id = service.wait_for_banners(&world, 1)[0].id;
    service.click(id + 1, Some("not-ours"));
    service.click(id, Some("token-7"));
    let text = wait::until_some(
        "the focus hook runs",
        || std::fs::read_to_string(&record).ok(),
        || world.notify_report(),
    );
    let says = |line: &str| text.lines().any(|it| it == line);
    assert!(says("XDG_ACTIVATION_TOKEN=token-7"), "{text}");
    assert!(!text.contains("SECRET"), "{text}");
    world.wait_until_quiet();
    assert_eq!(service.closed(), [id]);
}

#[test]
fn a_banner_that_is_waved_away_is_not_held_and_the_lane_still_waits() {
    let mut world = World::new();
    let bus = Bus::start(&mut world);
    let service = FakeService::on(&bus, &ALL);
    let client = Client::in_lane(&world, "fix");
    client.says("PermissionRequest");
    let id = service.wait_for_banners(&world, 1)[0].id;
    world.wait_for_holders(1);
    service.dismiss(id + 1);
    service.dismiss(id);
    world.wait_until_quiet();
    client.does("waiting");
    client.says("PermissionRequest");
    assert_eq!(service.wait_for_banners(&world, 2)[1].replaces, 0);
    client.says("SessionEnd");
    world.wait_until_quiet();
}

#[test]
fn a_service_that_dies_takes_its_holders_along() {
    let mut world = World::new();
    let bus = Bus::start(&mut world);
    let service = FakeService::on(&bus, &ALL);
    let client = Client::in_lane(&world, "fix");
    client.says("PermissionRequest");
    service.wait_for_banners(&world, 1);
    world.wait_for_holders(1);
    service.die();
    world.wait_until_quiet();
    client.does("waiting");
    let service = FakeService::on(&bus, &ALL);
    client.notifies("permission_prompt");
    service.wait_for_banners(&world, 1);
    world.wait_for_holders(1);
    drop(bus);
    world.wait_until_quiet();
}

#[test]
fn a_service_that_never_answers_is_given_up() {
    let mut world = World::new();
    let bus = Bus::start(&mut world);
    let service = FakeService::silent_on(&bus);
    let client = Client::in_lane(&world, "fix");
    client.says("PermissionRequest");
    service.wait_for_banners(&world, 1);
    world.wait_until_quiet();
    client.does("waiting");
    client.says("UserPromptSubmit");
    client.does("working");
    world.wait_until_quiet();
}

#[test]
fn without_a_bus_or_a_service_there_is_silence() {
    let mut world = World::new();
    let client = Client::in_lane(&world, "fix");
    client.says("PermissionRequest");
    world.wait_until_quiet();
    client.does("waiting");
    let cwd = client.cwd.clone();
    world.set("DBUS_SESSION_BUS_ADDRESS", "nonsense:x=y");
    Client::at(&world, &cwd, "s").says("PermissionRequest");
    world.wait_until_quiet();
    let _bus = Bus::start(&mut world);
    Client::at(&world, &cwd, "s").says("PermissionRequest");
    world.wait_until_quiet();
}

#[test]
fn a_bus_that_accepts_and_says_nothing_is_given_up() {
    let mut world = World::new();
    let socket = world.root().join("mute");
    let _listener = UnixListener::bind(&socket).unwrap();
    world.set("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", socket.display()));
    let client = Client::in_lane(&world, "fix");
    client.says("PermissionRequest");
    world.wait_for_holders(1);
    world.wait_until_quiet();
    client.does("waiting");
}

#[test]
fn a_holder_that_was_killed_is_replaced_at_the_lanes_next_event() {
    let mut world = World::new();
    let bus = Bus::start(&mut world);
    let service = FakeService::on(&bus, &ALL);
    let client = Client::in_lane(&world, "fix");
    client.says("PermissionRequest");
    service.wait_for_banners(&world, 1);
    let first = world.wait_for_holders(1);
    end(first[0]);
    wait::until("it is gone", || world.holders().is_empty(), || world.notify_report());
    client.says("UserPromptSubmit");
    client.says("PermissionRequest");
    wait::until("another banner", || service.banners().len() > 1, || world.notify_report());
    assert_ne!(world.wait_for_holders(1), first);
    client.says("SessionEnd");
    world.wait_until_quiet();
}

#[test]
fn a_delayed_banner_does_not_come_when_the_answer_was_faster() {
    let mut world = World::new();
    let bus = Bus::start(&mut world);
    let service = FakeService::on(&bus, &ALL);
    world.file(world.config_file(), "[notify]\ndelay = '600s'\n");
    let client = Client::in_lane(&world, "fix");
    client.says("PermissionRequest");
    world.wait_for_holders(1);
    client.says("UserPromptSubmit");
    world.wait_until_quiet();
    assert!(service.banners().is_empty());
    world.file(world.config_file(), "[notify]\ndelay = '100ms'\n");
    client.says("PermissionRequest");
    service.wait_for_banners(&world, 1);
    client.says("SessionEnd");
    world.wait_until_quiet();
}

#[test]
fn a_holder_stands_apart_from_its_hook() {
    let mut world = World::new();
    let bus = Bus::start(&mut world);
    let service = FakeService::on(&bus, &ALL);
    let client = Client::in_lane(&world, "fix").with("ANTHROPIC_API_KEY", "SECRET");
    client.says("PermissionRequest");
    service.wait_for_banners(&world, 1);
    let pid = world.wait_for_holders(1)[0];
    let link = |what: &str| std::fs::read_link(format!("/proc/{pid}/{what}")).unwrap();
    assert_eq!(link("cwd"), world.home());
    assert_eq!(link("fd/0"), std::path::Path::new("/dev/null"));
    for fd in ["fd/1", "fd/2"] {
        assert_eq!(link(fd).parent().unwrap(), world.state().join("logs"));
    }
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let session: i32 = stat.rsplit(')').next().unwrap().split_whitespace().nth(3).unwrap().parse().unwrap();
    assert_eq!(session, pid, "a session of its own");
    let env = String::from_utf8_lossy(&std::fs::read(format!("/proc/{pid}/environ")).unwrap()).into_owned();
    assert!(!env.contains("SECRET") && env.contains("DBUS_SESSION_BUS_ADDRESS="), "{env}");
    let argv = String::from_utf8_lossy(&std::fs::read(format!("/proc/{pid}/cmdline")).unwrap()).into_owned();
    assert_eq!(argv.split('\0').skip(1).take(2).collect::<Vec<_>>(), ["__holder", &client.lane_id()]);
    client.says("SessionEnd");
    world.wait_until_quiet();
    assert!(files(&world.state().join("logs")).is_empty());
}
