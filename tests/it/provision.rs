//! What a new checkout gets of the files that git ignores in the main one.

use crate::crash::{Matrix, work::files_below};
use crate::world::{Ran, Repo, World};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// A repository that ignores secrets, databases and what is built.
fn orchard(world: &World) -> Repo {
    let repo = world.repo("orchard");
    repo.commit(".gitignore", ".env*\n*.db\nnode_modules/\nbuild\n/private\n", "Ignore");
    write(&repo, ".env", "KEY=1\n");
    write(&repo, "services/api/.env", "KEY=2\n");
    write(&repo, "data/fruit.db", "pears");
    write(&repo, "data/readme", "untracked, not ignored");
    write(&repo, "node_modules/left/index.js", "left");
    repo
}

fn write(repo: &Repo, path: &str, content: &str) -> PathBuf {
    let path = repo.path().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, content).unwrap();
    path
}

fn new(world: &World, repo: &Repo) -> (PathBuf, Ran) {
    let ran = world.call(["new", "pears"]).cwd(repo.path()).run();
    (PathBuf::from(ran.ok().line()), ran)
}

#[track_caller]
fn holds(lane: &Path, path: &str, content: &str) {
    let file = lane.join(path);
    let is = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    assert_eq!(is, content, "{path}");
}

#[track_caller]
fn lacks(lane: &Path, path: &str) {
    assert!(lane.join(path).symlink_metadata().is_err(), "{path} is there");
}

/// Setting up never makes a lane look as if there were work in it.
#[track_caller]
fn is_clean(repo: &Repo, lane: &Path) {
    assert_eq!(repo.git_in(lane, ["status", "--porcelain", "--untracked-files=all"]), "");
}

#[test]
fn an_include_file_copies_what_git_ignores_and_nothing_else() {
    let world = World::new();
    let repo = orchard(&world);
    write(&repo, ".worktreeinclude", "# secrets\n.env*\n!.env.off\n\ndata/\nREADME.md\n");
    write(&repo, ".env.off", "off");
    write(&repo, "other.db", "not named");
    let (lane, ran) = new(&world, &repo);
    holds(&lane, ".env", "KEY=1\n");
    holds(&lane, "services/api/.env", "KEY=2\n");
    holds(&lane, "data/fruit.db", "pears");
    lacks(&lane, "data/readme");
    lacks(&lane, ".env.off");
    lacks(&lane, "other.db");
    lacks(&lane, "node_modules");
    lacks(&lane, ".worktreeinclude");
    is_clean(&repo, &lane);
    ran.warns("3 copied");
    // The include file of the main checkout counts, whatever is committed.
    holds(repo.path(), "data/fruit.db", "pears");
}

#[test]
fn without_any_of_it_nothing_is_said() {
    let world = World::new();
    let repo = orchard(&world);
    write(&repo, ".worktreeinclude", "# nothing yet\n\n");
    let (lane, ran) = new(&world, &repo);
    lacks(&lane, ".env");
    assert!(!ran.stderr.contains("main checkout:"), "{ran}");
}

#[test]
fn modes_and_links_are_kept_and_special_files_are_not_copied() {
    let world = World::new();
    let repo = orchard(&world);
    write(&repo, ".worktreeinclude", "private\n");
    let script = write(&repo, "private/bin/run", "#!/bin/sh\n");
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o4755)).unwrap();
    let key = write(&repo, "private/key", "secret");
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o400)).unwrap();
    std::fs::set_permissions(repo.path().join("private/bin"), PermissionsExt::from_mode(0o750)).unwrap();
    symlink("/etc/hostname", repo.path().join("private/absolute")).unwrap();
    symlink("../../nowhere", repo.path().join("private/dangling")).unwrap();
    symlink("bin", repo.path().join("private/inside")).unwrap();
    world.program("mkfifo").arg(repo.path().join("private/pipe")).run().ok();
    let (lane, ran) = new(&world, &repo);
    let mode = |path: &str| lane.join(path).metadata().unwrap().mode() & 0o7777;
    assert_eq!(mode("private/bin/run"), 0o755, "never set-user-id");
    assert_eq!((mode("private/key"), mode("private/bin")), (0o400, 0o750));
    for (link, target) in [("absolute", "/etc/hostname"), ("dangling", "../../nowhere"), ("inside", "bin")] {
        assert_eq!(std::fs::read_link(lane.join("private").join(link)).unwrap(), Path::new(target));
    }
    lacks(&lane, "private/pipe");
    ran.warns("private/pipe is not set up in the new checkout: it is a socket, a pipe or a device");
    let times = |file: &Path| file.metadata().unwrap().modified().unwrap();
    assert_eq!(times(&lane.join("private/key")), times(&key));
    assert!(repo.path().join("private/pipe").metadata().unwrap().file_type().is_fifo());
}

#[test]
fn the_configuration_copies_links_and_clones() {
    let world = World::new();
    let repo = orchard(&world);
    world.file(
        world.config_file(),
        "[worktree]\ncopy = ['.env', 'build']\nlink = ['node_modules']\nreflink = ['*.db']\n",
    );
    write(&repo, "build/out", "built");
    let (lane, ran) = new(&world, &repo);
    holds(&lane, "build/out", "built");
    holds(&lane, ".env", "KEY=1\n");
    holds(&lane, "data/fruit.db", "pears");
    let link = std::fs::read_link(lane.join("node_modules")).unwrap();
    assert_eq!(link, repo.path().join("node_modules"));
    is_clean(&repo, &lane);
    ran.warns("1 linked");
    // A copy is the lane's own.
    std::fs::write(lane.join(".env"), "KEY=mine\n").unwrap();
    holds(repo.path(), ".env", "KEY=1\n");
}

#[test]
fn a_clone_that_the_file_system_cannot_make_is_a_copy_and_said_aloud() {
    let world = World::new();
    let repo = orchard(&world);
    world.file(world.config_file(), "[worktree]\nreflink = ['*.db', '.env']\n");
    let probe = world.program("cp").args(["--reflink=always", ".env", ".probe"]).cwd(repo.path()).run();
    let can_clone = probe.code() == 0;
    let (lane, ran) = new(&world, &repo);
    holds(&lane, "data/fruit.db", "pears");
    holds(&lane, ".env", "KEY=1\n");
    let said = ran.stderr.matches("the file system cannot clone").count();
    assert_eq!(said, usize::from(!can_clone), "{ran}");
}

/// `node_modules/` is about directories, and a link is none.
#[test]
fn a_link_to_a_directory_does_not_show_as_work() {
    let world = World::new();
    let repo = orchard(&world);
    world.file(world.config_file(), "[worktree]\nlink = ['node_modules/']\n");
    let (lane, ran) = new(&world, &repo);
    assert!(lane.join("node_modules").is_symlink());
    is_clean(&repo, &lane);
    ran.warns("info/exclude");
    let exclude = || std::fs::read_to_string(repo.path().join(".git/info/exclude")).unwrap();
    assert!(exclude().ends_with("/node_modules\n"), "{}", exclude());
    let before = exclude();
    world.call(["new", "plums"]).cwd(repo.path()).run().ok();
    assert_eq!(exclude(), before);
    // What goes with the lane is the link alone.
    world.call(["drop", "plums"]).cwd(repo.path()).run().ok();
    holds(repo.path(), "node_modules/left/index.js", "left");
}

#[test]
fn a_repository_can_declare_it_and_nothing_that_is_run() {
    let world = World::new();
    let repo = orchard(&world);
    let canary = world.canary();
    let declared = format!(
        "run = 'touch {0}'\n[worktree]\nrun = ['touch', '{0}']\ncopy = ['.env', 3]\nlink = ['*.db']\non_remove = 'discard'\n",
        canary.display()
    );
    write(&repo, ".scruff.toml", &declared);
    let (lane, ran) = new(&world, &repo);
    assert!(lane.join("data/fruit.db").is_symlink());
    ran.warns(".scruff.toml: copy is no list");
    lacks(&lane, ".env");
    write(&repo, ".scruff.toml", "[worktree]\ncopy = ['.env']\n= broken\n");
    let ran = world.call(["new", "plums"]).cwd(repo.path()).run();
    ran.ok().warns(".scruff.toml");
    lacks(Path::new(ran.line()), ".env");
}

#[test]
fn the_persons_configuration_decides_before_the_repositorys() {
    let world = World::new();
    let repo = orchard(&world);
    world.file(world.config_file(), "[worktree]\ncopy = ['.env']\n");
    write(&repo, ".scruff.toml", "[worktree]\nlink = ['.env', 'node_modules']\n");
    write(&repo, ".worktreeinclude", "node_modules/\n.env\n");
    let (lane, ran) = new(&world, &repo);
    assert!(!lane.join(".env").is_symlink());
    assert!(lane.join("node_modules").is_symlink());
    assert!(!ran.stderr.contains("warning"), "{ran}");
}

#[test]
fn no_pattern_leaves_the_main_checkout() {
    let world = World::new();
    let repo = orchard(&world);
    let outside = world.file(world.work().join("src/secret.db"), "outside");
    let deep = world.file(world.work().join("src/other/.env"), "outside");
    let patterns = format!(
        "['../secret.db', '{}', '/../other/.env', 'services/../../secret.db', '/etc/passwd', '~/x', \"a\\n.env\"]",
        outside.display().to_string().replace('\'', "")
    );
    write(
        &repo,
        ".scruff.toml",
        &format!("[worktree]\ncopy = {patterns}\nlink = {patterns}\n").replace("it's", "its"),
    );
    write(&repo, ".worktreeinclude", "../secret.db\n../**\n/../other/.env\n");
    let (lane, ran) = new(&world, &repo);
    ran.warns("it leaves the checkout");
    let tracked = [".git", ".gitignore", "README.md"].map(|name| lane.join(name));
    let mut files = files_below(&lane);
    files.sort();
    assert_eq!(files, tracked);
    assert!(outside.is_file() && deep.is_file());
}

#[test]
fn no_link_is_followed() {
    let world = World::new();
    let repo = orchard(&world);
    let outside = world.work().join("outside");
    world.file(outside.join("stolen.db"), "outside");
    // The patterns themselves.
    world.file(world.work().join("patterns"), ".env\n");
    symlink(world.work().join("patterns"), repo.path().join(".worktreeinclude")).unwrap();
    let (lane, ran) = new(&world, &repo);
    lacks(&lane, ".env");
    ran.warns(".worktreeinclude: it is a symbolic link");
    std::fs::remove_file(repo.path().join(".worktreeinclude")).unwrap();
    // A link in the main checkout that leads out.
    symlink(&outside, repo.path().join("build")).unwrap();
    write(&repo, ".worktreeinclude", "build/\nbuild\n*.db\n");
    let ran = world.call(["new", "plums"]).cwd(repo.path()).run();
    let lane = PathBuf::from(ran.ok().line());
    assert_eq!(std::fs::read_link(lane.join("build")).unwrap(), outside);
    assert!(files_below(&lane).iter().all(|file| !file.ends_with("stolen.db")));
}

/// The branch holds a link where the main checkout has a directory: nothing goes through it.
#[test]
fn nothing_is_written_through_a_link_of_the_branch() {
    let world = World::new();
    let repo = orchard(&world);
    let outside = world.work().join("outside");
    std::fs::create_dir(&outside).unwrap();
    repo.git(["switch", "-q", "-c", "evil"]);
    symlink(&outside, repo.path().join("conf")).unwrap();
    repo.git(["add", "conf"]);
    repo.git(["commit", "-q", "-m", "Link"]);
    repo.git(["switch", "-q", "main"]);
    write(&repo, "conf/local.db", "mine");
    write(&repo, "conf/deep/.env", "mine");
    write(&repo, ".worktreeinclude", "*.db\n.env\n");
    let ran = world.call(["new", "pears", "--from", "evil"]).cwd(repo.path()).run();
    let lane = PathBuf::from(ran.ok().line());
    ran.warns("conf is a symbolic link in the new checkout");
    assert!(files_below(&outside).is_empty());
    // One such file does not keep the others.
    holds(&lane, "data/fruit.db", "pears");
    holds(&lane, ".env", "KEY=1\n");
    is_clean(&repo, &lane);
}

/// An older branch does not ignore the file yet: it would be in the next commit.
#[test]
fn what_the_branch_does_not_ignore_is_not_copied() {
    let world = World::new();
    let repo = world.repo("orchard");
    let old = repo.git(["rev-parse", "HEAD"]);
    repo.commit(".gitignore", ".env\n", "Ignore");
    write(&repo, ".env", "KEY=1\n");
    write(&repo, ".worktreeinclude", ".env\n");
    let ran = world.call(["new", "pears", "--from", &old]).cwd(repo.path()).run();
    ran.ok().warns(".env is not set up: git does not ignore it on this branch");
    lacks(Path::new(ran.line()), ".env");
    is_clean(&repo, Path::new(ran.line()));
}

#[test]
fn what_is_there_stays() {
    let world = World::new();
    let repo = orchard(&world);
    // Tracked on the branch in spite of being ignored.
    repo.git(["add", "-f", ".env"]);
    repo.git(["commit", "-q", "-m", "Oops"]);
    write(&repo, ".env", "KEY=changed\n");
    write(&repo, ".worktreeinclude", ".env\n*.db\n");
    let (lane, _) = new(&world, &repo);
    holds(&lane, ".env", "KEY=1\n");
    holds(&lane, "data/fruit.db", "pears");
}

#[test]
fn other_lanes_and_scruffs_own_directories_are_never_copied() {
    let mut world = World::new();
    let repo = orchard(&world);
    repo.commit(".gitignore", ".lanes/\n.env\nvendor/\n", "Ignore");
    world.set("SCRUFF_BASE", repo.path().join(".lanes"));
    write(&repo, ".worktreeinclude", ".lanes/\n.env\nvendor/\n");
    // A submodule or somebody's worktree: git inside a copy would act on the original.
    repo.git(["worktree", "add", "-q", "vendor/theirs", "-b", "theirs"]);
    write(&repo, "vendor/lib/a.c", "a");
    let first = world.call(["new", "plums"]).cwd(repo.path()).run();
    first.ok();
    let (lane, _) = new(&world, &repo);
    holds(&lane, ".env", "KEY=1\n");
    holds(&lane, "vendor/lib/a.c", "a");
    lacks(&lane, ".lanes");
    lacks(&lane, "vendor/theirs");
    for link in ["lanes", "vendor/theirs"] {
        world.file(world.config_file(), format!("[worktree]\nlink = ['.lanes/*', '{link}']\n"));
        let ran = world.call(["new"]).cwd(repo.path()).run();
        lacks(Path::new(ran.ok().line()), ".lanes");
        lacks(Path::new(ran.line()), "vendor/theirs");
    }
}

#[test]
fn names_that_are_no_text_are_copied_too() {
    let world = World::new();
    let repo = orchard(&world);
    let names: [&[u8]; 6] = [b"\xff.db", b"a\nb.db", b"-x.db", b" .db", b"[x]*?.db", b":(top)x.db"];
    for name in names {
        std::fs::write(repo.path().join(OsStr::from_bytes(name)), name).unwrap();
    }
    world.file(world.config_file(), "[worktree]\ncopy = ['/*.db']\n");
    let (lane, _) = new(&world, &repo);
    for name in names {
        assert_eq!(std::fs::read(lane.join(OsStr::from_bytes(name))).unwrap(), name);
    }
    lacks(&lane, "data");
}

#[test]
fn too_much_is_not_copied_and_the_lane_is_made() {
    let world = World::new();
    let repo = orchard(&world);
    write(&repo, ".worktreeinclude", "*.db\n");
    let huge = std::fs::File::create(repo.path().join("huge.db")).unwrap();
    huge.set_len(9 << 30).unwrap();
    let (lane, ran) = new(&world, &repo);
    ran.warns("stopped at 8 GiB").warns(&repo.path().display().to_string());
    holds(&lane, "data/fruit.db", "pears");
    lacks(&lane, "huge.db");
    is_clean(&repo, &lane);
}

#[test]
fn a_lane_whose_checkout_is_made_again_is_set_up_again() {
    let world = World::new();
    let repo = orchard(&world);
    write(&repo, ".worktreeinclude", ".env\n*.db\n");
    let (lane, _) = new(&world, &repo);
    std::fs::write(lane.join(".env"), "KEY=mine\n").unwrap();
    world.call(["close", "pears"]).run().ok();
    lacks(&lane, "");
    // What was the lane's own is back before anything is copied.
    std::fs::write(repo.path().join("late.db"), "late").unwrap();
    world.call(["resume", "--here", "pears"]).run().ok();
    holds(&lane, ".env", "KEY=mine\n");
    holds(&lane, "late.db", "late");
}

#[test]
fn a_bare_repository_has_nothing_to_give() {
    let world = World::new();
    let repo = orchard(&world);
    let bare = world.work().join("src/bare.git");
    repo.git([OsStr::new("clone"), "-q".as_ref(), "--bare".as_ref(), ".".as_ref(), bare.as_ref()]);
    world.file(world.config_file(), "[worktree]\ncopy = ['*']\n");
    let ran = world.call(["new", "pears"]).cwd(&bare).run();
    assert_eq!(files_below(Path::new(ran.ok().line())).len(), 3);
    assert!(!ran.stderr.contains("warning"), "{ran}");
}

#[test]
fn killed_while_it_is_set_up_it_is_completed() {
    let steps = Matrix {
        build: &|world| {
            let repo = orchard(world);
            world.file(world.config_file(), "[worktree]\ncopy = ['.env', '*.db']\nlink = ['node_modules']\n");
            repo
        },
        command: &|world, repo: &Repo| world.call(["new", "pears"]).cwd(repo.path()),
        after_kill: &|_, repo| {
            holds(repo.path(), ".env", "KEY=1\n");
            holds(repo.path(), "node_modules/left/index.js", "left");
        },
        next: &|world, _| world.call(["list", "--json"]),
        at_last: &|world, repo, ran| {
            let lanes = ran.ok().json();
            let lanes = lanes["lanes"].as_array().unwrap();
            if let [lane] = lanes.as_slice() {
                let lane = Path::new(lane["path"].as_str().unwrap());
                holds(lane, ".env", "KEY=1\n");
                holds(lane, "services/api/.env", "KEY=2\n");
                holds(lane, "data/fruit.db", "pears");
                holds(lane, "node_modules/left/index.js", "left");
                is_clean(repo, lane);
            }
            assert!(files_below(&world.state().join("opening")).is_empty());
        },
    }
    .run();
    assert!(steps >= 10, "only {steps} steps");
}
