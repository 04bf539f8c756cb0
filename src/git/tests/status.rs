//! What is uncommitted, whatever the configuration hides.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{change_within_a_tick, kinds};
use crate::git::status::{Dirt, Operation, glance, ignored, of, operation};
use crate::git::submodule;
use crate::git::testing::{World, write};

fn lane(world: &World, main: &Path, name: &str) -> PathBuf {
    let path = world.path(name);
    world.git(main, &["worktree", "add", "-q", "-b", name, path.to_str().unwrap()]);
    path
}

/// The changes as `XY path`.
fn seen(world: &World, path: &Path) -> Vec<String> {
    let dirt = of(&world.ctx, path);
    assert_eq!(glance(&world.ctx, path), dirt);
    match dirt {
        Dirt::Clean => Vec::new(),
        Dirt::Dirty(changes) => {
            let text = |code: [u8; 2]| String::from_utf8_lossy(&code).into_owned();
            changes.iter().map(|change| format!("{} {}", text(change.code), change.path.display())).collect()
        }
        Dirt::Unknown(why) => panic!("{why}"),
    }
}

fn unknown(world: &World, path: &Path) -> String {
    match of(&world.ctx, path) {
        Dirt::Unknown(why) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_change_is_seen_in_every_kind_of_repository() {
    let world = World::new();
    for (at, args) in kinds(&world).iter().enumerate() {
        let main = world.repo_of(format!("r{at}"), args);
        for file in ["gone", "moved", "mode", "link"] {
            world.commit(&main, file, &format!("{file} with some text that is long enough\n"));
        }
        let path = lane(&world, &main, &format!("lane{at}"));
        assert_eq!(of(&world.ctx, &path), Dirt::Clean);
        write(&path.join("README"), "changed\n");
        write(&path.join("deep/new\nline é"), "");
        write(&path.join(OsStr::from_bytes(b"\xff")), "");
        std::fs::remove_file(path.join("gone")).unwrap();
        std::fs::set_permissions(path.join("mode"), PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::remove_file(path.join("link")).unwrap();
        std::os::unix::fs::symlink("README", path.join("link")).unwrap();
        world.git(&path, &["mv", "moved", "there"]);
        let Dirt::Dirty(changes) = of(&world.ctx, &path) else { panic!() };
        let find = |name: &[u8]| changes.iter().find(|change| change.path.as_os_str().as_bytes() == name);
        let code = |name: &[u8]| find(name).map(|change| change.code);
        assert_eq!(code(b"README"), Some(*b" M"));
        assert_eq!(code("deep/new\nline é".as_bytes()), Some(*b"??"));
        assert_eq!(code(b"\xff"), Some(*b"??"));
        assert_eq!((code(b"gone"), code(b"mode"), code(b"link")), (Some(*b" D"), Some(*b" M"), Some(*b" T")));
        assert_eq!(find(b"there").unwrap().from.as_deref(), Some(Path::new("moved")));
        assert_eq!(changes.len(), 7, "{changes:?}");
    }
}

#[test]
fn no_configuration_hides_anything() {
    let world = World::new();
    let main = world.repo("main");
    world.commit(&main, "tracked", "x\n");
    let settings = [
        ("status.showUntrackedFiles", "no", true),
        ("status.showUntrackedFiles", "normal", true),
        ("core.ignoreStat", "true", true),
        ("core.fsmonitor", "printf 'token\\0' #", true),
        ("core.fileMode", "false", true),
        ("core.ignoreCase", "true", true),
        ("core.untrackedCache", "true", false),
        ("core.checkStat", "minimal", false),
        ("core.trustctime", "false", false),
        ("status.relativePaths", "false", false),
        ("status.renames", "copies", false),
        ("status.branch", "true", false),
        ("status.short", "true", false),
        ("core.quotePath", "true", false),
    ];
    for (at, (key, value, hides)) in settings.iter().enumerate() {
        world.git(&main, &["config", key, value]);
        let path = lane(&world, &main, &format!("lane{at}"));
        assert_eq!(seen(&world, &path), [""; 0], "{key}");
        world.git(&path, &["status"]);
        write(&path.join("new/file"), "");
        write(&path.join("readme"), "");
        write(&path.join("README"), "two\n");
        std::fs::set_permissions(path.join("tracked"), PermissionsExt::from_mode(0o755)).unwrap();
        let expected = [" M README", " M tracked", "?? new/file", "?? readme"];
        assert_eq!(seen(&world, &path), expected, "{key}={value}");
        let plain = ["-c", "status.branch=false", "status", "--porcelain", "-uall"];
        let plain = world.git(&path, if key.contains("show") { &plain[2..4] } else { &plain });
        assert_eq!(plain.trim() != expected.join("\n").trim(), *hides, "{key}={value}: {plain}");
        world.git(&main, &["config", "--unset", key]);
    }
}

#[test]
fn marks_on_files_hide_nothing() {
    let world = World::new();
    let main = world.repo("main");
    for file in ["assumed", "skipped", "same", "new\nline"] {
        world.commit(&main, file, "x\n");
    }
    let path = lane(&world, &main, "lane");
    world.git(&path, &["update-index", "--assume-unchanged", "assumed", "same", "new\nline"]);
    world.git(&path, &["update-index", "--skip-worktree", "skipped"]);
    assert_eq!(seen(&world, &path), [""; 0]);
    for file in ["assumed", "skipped", "new\nline"] {
        write(&path.join(file), "y\n");
    }
    assert_eq!(world.git(&path, &["status", "--porcelain"]), "", "git itself sees nothing");
    assert_eq!(seen(&world, &path), [" M assumed", " M new\nline", " M skipped"]);
    assert_eq!(world.git(&path, &["ls-files", "-v", "assumed", "skipped"]), "h assumed\nS skipped");
    let admin = main.join(".git/worktrees/lane");
    let left = std::fs::read_dir(&admin).unwrap().flatten();
    assert!(!left.into_iter().any(|entry| entry.file_name().as_bytes().starts_with(b"scruff")));
}

#[test]
fn a_change_within_a_tick_is_seen_through_marks_too() {
    let world = World::new();
    let main = world.repo("main");
    world.commit(&main, "marked", "x\n");
    world.commit(&main, "file", "old\n");
    let path = lane(&world, &main, "lane");
    world.git(&path, &["update-index", "--assume-unchanged", "marked"]);
    change_within_a_tick(&world, &main.join(".git/worktrees/lane/index"), &path, "file", "new\n");
    assert_eq!(seen(&world, &path), [" M file"]);
}

#[test]
fn a_sparse_checkout_is_clean_until_something_is_there() {
    let world = World::new();
    let main = world.repo("main");
    for file in ["in/a", "out/b", "out/c"] {
        world.commit(&main, file, "x\n");
    }
    world.git(&main, &["sparse-checkout", "set", "--sparse-index", "in"]);
    let path = lane(&world, &main, "lane");
    assert!(!path.join("out").exists());
    assert_eq!(seen(&world, &path), [""; 0]);
    write(&path.join("out/b"), "y\n");
    write(&path.join("out/new"), "y\n");
    for hide in ["false", "true"] {
        world.git(&main, &["config", "sparse.expectFilesOutsideOfPatterns", hide]);
        assert_eq!(seen(&world, &path), [" M out/b", "?? out/new"], "{hide}");
    }
}

#[test]
fn a_filter_that_gives_the_same_is_clean() {
    let world = World::new();
    let main = world.repo("main");
    world.git(&main, &["config", "filter.up.clean", "tr a-z A-Z"]);
    world.git(&main, &["config", "filter.up.smudge", "tr A-Z a-z"]);
    write(&main.join(".gitattributes"), "*.up filter=up\n");
    world.git(&main, &["add", "."]);
    world.commit(&main, "a.up", "text\n");
    let path = lane(&world, &main, "lane");
    world.git(&path, &["update-index", "--assume-unchanged", "a.up"]);
    std::fs::File::open(path.join("a.up")).unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(seen(&world, &path), [""; 0]);
    write(&path.join("a.up"), "other\n");
    assert_eq!(seen(&world, &path), [" M a.up"]);
}

#[test]
fn submodules_hide_nothing() {
    let world = World::new();
    let (main, sub) = (world.repo("main"), world.repo("sub"));
    world.git(&main, &["submodule", "--quiet", "add", sub.to_str().unwrap(), "sub"]);
    world.git(&main, &["config", "-f", ".gitmodules", "submodule.sub.ignore", "all"]);
    world.git(&main, &["commit", "-q", "-a", "-m", "sub"]);
    world.git(&main, &["config", "submodule.sub.ignore", "all"]);
    world.git(&main, &["config", "--global", "diff.ignoreSubmodules", "all"]);
    world.git(&main, &["config", "--global", "status.showUntrackedFiles", "no"]);
    let path = lane(&world, &main, "lane");
    let work = |path: &Path| submodule::work(&world.ctx, path).unwrap();
    assert_eq!((seen(&world, &path).len(), work(&path).len()), (0, 0));
    world.git(&path, &["submodule", "--quiet", "update", "--init"]);
    assert_eq!((seen(&world, &path).len(), work(&path).len()), (0, 0));
    write(&path.join("sub/new"), "");
    assert_eq!(seen(&world, &path), [" M sub"]);
    assert!(work(&path)[0].path == Path::new("sub") && work(&path)[0].why.contains("uncommitted"));
    world.git(&path.join("sub"), &["add", "new"]);
    world.git(&path.join("sub"), &["commit", "-q", "-m", "only here"]);
    assert_eq!(seen(&world, &path), [" M sub"]);
    assert!(work(&path)[0].why.contains("1 commits that no remote"), "{:?}", work(&path));
    let record = [
        "-c",
        "submodule.sub.ignore=none",
        "-c",
        "diff.ignoreSubmodules=none",
        "commit",
        "-q",
        "-m",
        "recorded",
        "-a",
    ];
    world.git(&path, &record);
    assert_eq!(seen(&world, &path), [""; 0]);
    assert_eq!(work(&path).len(), 1, "recorded, and still nowhere else");
    world.git(&path, &["submodule", "--quiet", "deinit", "-f", "sub"]);
    assert_eq!(work(&path).len(), 1, "not filled, and still nowhere else");
    world.git(&path, &["submodule", "--quiet", "update", "--init"]);
    world.git(&path.join("sub"), &["push", "-q", "origin", "HEAD:refs/heads/saved"]);
    assert_eq!(work(&path), []);
}

#[test]
fn marks_inside_a_submodule_are_seen_through() {
    let world = World::new();
    let (main, sub) = (world.repo("main"), world.repo("sub"));
    world.git(&main, &["submodule", "--quiet", "add", sub.to_str().unwrap(), "a b/sub"]);
    world.git(&main, &["commit", "-q", "-m", "sub"]);
    let path = lane(&world, &main, "lane");
    world.git(&path, &["submodule", "--quiet", "update", "--init"]);
    world.git(&path.join("a b/sub"), &["update-index", "--assume-unchanged", "README"]);
    write(&path.join("a b/sub/README"), "changed");
    let work = submodule::work(&world.ctx, &path).unwrap();
    assert!(work.len() == 1 && work[0].path == Path::new("a b/sub"), "{work:?}");
}

#[test]
fn nested_repositories_are_told_apart() {
    let world = World::new();
    let main = world.repo("main");
    let path = lane(&world, &main, "lane");
    world.repo("lane/inner");
    std::fs::create_dir(path.join("empty")).unwrap();
    world.git(&path, &["init", "-q", "unborn"]);
    write(&path.join("unborn/file"), "");
    let Dirt::Dirty(changes) = of(&world.ctx, &path) else { panic!() };
    let repositories: Vec<_> = changes
        .iter()
        .filter(|change| change.is_repository())
        .map(|change| change.path.display().to_string())
        .collect();
    assert_eq!(repositories, ["inner/", "unborn/"], "{changes:?}");
}

#[test]
fn ignored_files_are_listed_not_dirty() {
    let world = World::new();
    let (main, sub) = (world.repo("main"), world.repo("sub"));
    write(&main.join(".gitignore"), "node_modules/\n*.db\n.env\n");
    world.git(&main, &["submodule", "--quiet", "add", sub.to_str().unwrap(), "sub"]);
    world.git(&main, &["add", "."]);
    world.git(&main, &["commit", "-q", "-m", "ignore"]);
    let path = lane(&world, &main, "lane");
    world.git(&path, &["submodule", "--quiet", "update", "--init"]);
    for file in [".env", "node_modules/a/b", "data/x.db", "data/new\nline.db"] {
        write(&path.join(file), "");
    }
    write(&path.join("sub/kept.log"), "");
    write(&main.join(".git/worktrees/lane/modules/sub/info/exclude"), "*.log\n");
    assert_eq!(seen(&world, &path), [""; 0]);
    let mut files = ignored(&world.ctx, &path).unwrap();
    files.sort();
    let expected = [".env", "data/new\nline.db", "data/x.db", "node_modules/", "sub/kept.log"];
    assert_eq!(files, expected.map(PathBuf::from));
}

#[test]
fn what_cannot_be_told_is_never_clean() {
    let world = World::new();
    let main = world.repo("main");
    let broken = lane(&world, &main, "broken");
    write(&main.join(".git/worktrees/broken/index"), "garbage");
    assert!(unknown(&world, &broken).contains("index file"), "{}", unknown(&world, &broken));
    assert!(unknown(&world, &world.path("nothing")).contains("no checkout"));
    let inside = main.join("inside");
    world.git(&main, &["worktree", "add", "-q", inside.to_str().unwrap()]);
    write(&inside.join("work"), "");
    std::fs::remove_file(inside.join(".git")).unwrap();
    unknown(&world, &inside);
    write(&inside.join(".git"), "gitdir: /no/where\n");
    unknown(&world, &inside);
}

#[test]
fn a_directory_that_cannot_be_read_is_not_clean() {
    let line = b"warning: could not open directory 'x/': Permission denied\n".to_vec();
    let status = crate::proc::Cmd::new("true").run().unwrap().status;
    let output = crate::proc::Output { status, stdout: Vec::new(), stderr: line };
    assert!(crate::git::status::blind_spot(&output).unwrap_err().message().contains("'x/'"));
    if rustix::process::geteuid().is_root() {
        return; // who may read everything
    }
    let world = World::new();
    let path = world.repo("main");
    write(&path.join("x/work"), "");
    std::fs::set_permissions(path.join("x"), PermissionsExt::from_mode(0o000)).unwrap();
    assert!(unknown(&world, &path).contains("'x/'"));
    std::fs::set_permissions(path.join("x"), PermissionsExt::from_mode(0o700)).unwrap();
}

#[test]
fn the_environment_does_not_reach_it() {
    let world = World::new();
    let main = world.repo("main");
    let path = lane(&world, &main, "lane");
    write(&path.join("new"), "");
    let git_dir = main.join(".git");
    let ctx = world.with_env(&[
        ("GIT_DIR", git_dir.as_os_str()),
        ("GIT_WORK_TREE", main.as_os_str()),
        ("GIT_INDEX_FILE", OsStr::new("/dev/null")),
        ("GIT_CONFIG_PARAMETERS", OsStr::new("'status.showuntrackedfiles'='no'")),
        ("GIT_LITERAL_PATHSPECS", OsStr::new("1")),
    ]);
    assert!(matches!(of(&ctx, &path), Dirt::Dirty(changes) if changes.len() == 1));
}

#[test]
fn looking_changes_nothing() {
    let world = World::new();
    let main = world.repo("main");
    let path = lane(&world, &main, "lane");
    let index = main.join(".git/worktrees/lane/index");
    std::fs::File::open(path.join("README"))
        .unwrap()
        .set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    let before = std::fs::read(&index).unwrap();
    write(&main.join(".git/worktrees/lane/index.lock"), "");
    assert_eq!(seen(&world, &path), [""; 0]);
    assert_eq!(std::fs::read(&index).unwrap(), before);
}

#[test]
fn what_is_under_way_is_named() {
    let world = World::new();
    for (at, args) in kinds(&world).iter().enumerate() {
        let main = world.repo_of(format!("r{at}"), args);
        let paths: Vec<PathBuf> = ["rebase", "apply", "merge", "pick", "revert", "bisect", "sequence", "am"]
            .iter()
            .map(|name| lane(&world, &main, &format!("{name}{at}")))
            .collect();
        let one = world.commit(&main, "clash", "1\n");
        world.commit(&main, "clash", "2\n");
        world.commit(&main, "clash", "3\n");
        for path in &paths {
            world.commit(path, "clash", "mine\n");
            assert_eq!(operation(&world.ctx, path), None);
        }
        let fails = |path: usize, args: &[&str]| assert!(!world.try_git(&paths[path], args).ok(), "{args:?}");
        let is = |path: usize, wanted: Operation| {
            assert_eq!(operation(&world.ctx, &paths[path]), Some(wanted), "{args:?}");
        };
        fails(0, &["rebase", "-q", "main"]);
        is(0, Operation::Rebase { branch: Some(format!("rebase{at}")) });
        fails(1, &["rebase", "-q", "--apply", "main"]);
        is(1, Operation::Rebase { branch: Some(format!("apply{at}")) });
        fails(2, &["merge", "-q", "main"]);
        is(2, Operation::Merge);
        fails(3, &["cherry-pick", "main"]);
        is(3, Operation::CherryPick);
        fails(4, &["revert", "--no-edit", one.as_str()]);
        is(4, Operation::Revert);
        world.git(&paths[5], &["bisect", "start", "HEAD", "HEAD^"]);
        is(5, Operation::Bisect { branch: Some(format!("bisect{at}")) });
        fails(6, &["cherry-pick", "main~1", "main"]);
        world.git(&paths[6], &["reset", "-q", "--merge"]);
        world.git(&paths[6], &["update-ref", "--no-deref", "-d", "CHERRY_PICK_HEAD"]);
        is(6, Operation::Sequence);
        let patch = world.git(&main, &["format-patch", "-1", "--stdout"]) + "\n";
        write(&world.path("patch"), patch);
        fails(7, &["am", "-q", world.path("patch").to_str().unwrap()]);
        is(7, Operation::Am);
        world.git(&paths[0], &["rebase", "--abort"]);
        world.git(&paths[0], &["update-ref", "REBASE_HEAD", "HEAD"]);
        assert_eq!(operation(&world.ctx, &paths[0]), None);
    }
}
