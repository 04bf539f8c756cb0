//! Containers and other roots, in which a checkout has another name or none.

use super::{Bystander, ask, assert_seen, lane};
use crate::world::World;
use scruff::occupancy::Occupied;
use std::ffi::{OsStr, OsString};

/// How a namespace of one's own is entered on this machine; `None` where it cannot be.
fn unshare(world: &World) -> Option<&'static str> {
    let ways = ["unshare -m", "unshare -Urm"];
    let works = |way: &&&str| {
        let probe = format!("{way} mount --bind \"$1\" \"$1\"");
        world.program("sh").args(["-c", &probe, "sh"]).arg(world.home()).run().code() == 0
    };
    let way = ways.iter().find(works).copied();
    if way.is_none() {
        eprintln!("skipped: no mount namespaces here");
    }
    way
}

#[test]
fn a_container_with_the_checkout_mounted_elsewhere_is_seen() {
    let world = World::new();
    let Some(unshare) = unshare(&world) else { return };
    let (lane, other) = (lane(&world, "fix"), lane(&world, "fix-2"));
    let mount = world.root().join("app");
    std::fs::create_dir(&mount).unwrap();
    let inside = r#"mount --bind "$1" "$2" && cd "$2/$3" && exec sleep 600"#;
    let script = format!("exec {unshare} sh -c '{inside}' sh \"$@\"");
    // The whole of it, and a part of it only.
    for (part, below) in [("", "src/deep"), ("src", ""), ("src", "deep")] {
        let args = [lane.join(part).into_os_string(), mount.clone().into(), below.into()];
        let args: Vec<&OsStr> = args.iter().map(OsString::as_os_str).collect();
        let contained = Bystander::of(&world, &script, &args);
        assert_seen(&ask(&world, &lane), &contained);
        assert_eq!(ask(&world, &other), Occupied::No);
    }
}

#[test]
fn a_container_that_hides_the_checkouts_name_is_seen() {
    let world = World::new();
    let Some(unshare) = unshare(&world) else { return };
    let lane = lane(&world, "fix");
    let root = world.root().join("rootfs");
    std::fs::create_dir(&root).unwrap();
    // Its own root, in which the world's directory is called something else.
    let inside = r#"mount --rbind / "$2" && mkdir -p "$1" && mount --bind "$1" "$2/mnt" \
        && cd "$2" && exec chroot "$2" sh -c "cd /mnt/src && exec sleep 600""#;
    let script = format!("exec {unshare} sh -c '{inside}' sh \"$@\"");
    let contained = Bystander::of(&world, &script, &[lane.as_os_str(), root.as_os_str()]);
    assert_seen(&ask(&world, &lane), &contained);
}

#[test]
fn a_chroot_is_seen() {
    let world = World::new();
    let lane = lane(&world, "fix");
    let fill = r#"mkdir -p "$1" && cp -L --parents $(command -v sleep) $(ldd "$(command -v sleep)" | grep -o '/[^ ]*') "$1""#;
    let filled = world.program("sh").args(["-c", fill, "sh"]).arg(lane.join("jail")).run();
    if filled.code() != 0 || rustix::process::geteuid().as_raw() != 0 {
        return eprintln!("skipped: no chroot here");
    }
    let script = r#"exec chroot "$1" "$(command -v sleep)" 600"#;
    let jailed = Bystander::of(&world, script, &[lane.join("jail").as_os_str()]);
    assert_seen(&ask(&world, &lane), &jailed);
    // In the jail the lane has no name at all: its root is above.
    let rooted = Bystander::of(
        &world,
        r#"cd "$1" && exec chroot "$1" "$(command -v sleep)" 600"#,
        &[lane.join("jail").as_os_str()],
    );
    let Occupied::Yes(both) = ask(&world, &lane) else { panic!() };
    assert!(both.iter().any(|occupant| occupant.pid == rooted.pid), "{both:?}");
}
