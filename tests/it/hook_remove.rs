//! `scruff hook remove`: what was in the checkout is safe before it goes, and whatever is not
//! certain keeps it.

use crate::crash::{Matrix, work::Work, work::files_below};
use crate::hook_create::{create, hook, lane};
use crate::world::{Call, Ran, Repo, World, wait};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// As a client calls it: in the very checkout that goes.
fn removal(world: &World, path: &Path) -> Call {
    hook(world, "remove", &payload(path))
}

fn payload(path: &Path) -> Value {
    json!({
        "session_id": "7d0c1f52-3c1e-4b1a-9a54-0b7a6a1f9e01",
        "cwd": path,
        "hook_event_name": "WorktreeRemove",
        "worktree_path": path,
    })
}

fn remove(world: &World, path: &Path) -> Ran {
    removal(world, path).run()
}

/// It was kept, with a reason, and nothing about it has changed.
#[track_caller]
fn is_kept(world: &World, repo: &Repo, path: &Path, why: &str) {
    let state = || (world.rows(), repo.git(["for-each-ref"]), files_below(path), repo.worktrees());
    let before = state();
    let ran = remove(world, path);
    ran.exits(1).silent().warns(why);
    assert_eq!(state(), before, "{ran}");
}

#[track_caller]
fn ledger(world: &World) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(world.state().join("reaped.log")).unwrap_or_default();
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[track_caller]
fn reads(path: &Path, content: &str) {
    let is = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(is, content);
}

#[test]
fn commits_stay_on_the_branch() {
    let world = World::new();
    let repo = world.repo("orchard").with_origin("kim/orchard");
    let path = lane(&world, &repo, "pears");
    let commit = repo.commit_in(&path, "pear", "one\n", "Pear");
    let ran = remove(&world, &path);
    ran.ok().silent().warns("orchard/pears is parked on worktree-pears").warns("scruff pears");
    assert!(!path.exists());
    assert_eq!(repo.git(["rev-parse", "worktree-pears"]), commit);
    assert!(repo.worktrees().is_empty());
    assert_eq!(world.rows().len(), 1);
}

#[test]
fn uncommitted_work_becomes_a_commit_and_comes_back() {
    let world = World::new();
    let repo = world.repo("orchard");
    repo.commit("old", "old\n", "Old");
    let path = lane(&world, &repo, "pears");
    std::fs::write(path.join("README.md"), "changed\n").unwrap();
    std::fs::write(path.join("draft"), "unsaved").unwrap();
    std::fs::remove_file(path.join("old")).unwrap();
    remove(&world, &path).ok().silent().warns("3 files of uncommitted work became a commit");
    assert!(!path.exists());
    let subject = repo.git(["log", "-1", "--format=%s", "worktree-pears"]);
    assert!(subject.starts_with("wip:"), "{subject}");
    assert_eq!(lane(&world, &repo, "pears"), path);
    let status = repo.git_in(&path, ["status", "--porcelain"]);
    assert_eq!(status, " M README.md\n D old\n?? draft");
    assert_eq!(repo.git_in(&path, ["log", "-1", "--format=%s"]), "Old");
}

#[test]
fn a_branch_that_has_landed_goes_too_and_can_be_brought_back() {
    let world = World::new();
    let repo = world.repo("orchard");
    repo.commit(".gitignore", "*.db\n", "Ignore");
    let path = lane(&world, &repo, "pears");
    let commit = repo.commit_in(&path, "pear", "one\n", "Pear");
    std::fs::write(path.join("fruit.db"), "mine").unwrap();
    repo.git(["merge", "-q", "--no-ff", "-m", "Merge", "worktree-pears"]);
    let ran = remove(&world, &path);
    ran.ok().silent().warns("orchard/pears is landed").warns("scruff undo");
    assert!(!path.exists() && world.rows().is_empty());
    assert_eq!(repo.branches(), ["main"]);
    let line = &ledger(&world)[0];
    assert_eq!(
        (line[2].as_str(), line[4].as_str(), line[5].as_str()),
        ("pears", commit.as_str(), "ancestry")
    );
    repo.git(["reflog", "expire", "--expire=now", "--all"]);
    repo.git(["gc", "-q", "--prune=now"]);
    world.call(["undo", "pears"]).cwd(repo.path()).run().ok();
    assert_eq!(repo.git(["rev-parse", "worktree-pears"]), commit);
    reads(&path.join("fruit.db"), "mine");
}

#[test]
fn a_fresh_lane_is_parked() {
    let world = World::new();
    let repo = world.repo("orchard");
    let path = lane(&world, &repo, "pears");
    remove(&world, &path).ok().warns("is parked");
    assert!(!path.exists());
    assert_eq!(repo.branches(), ["main", "worktree-pears"]);
}

#[test]
fn keep_touches_nothing_and_says_how_to_remove_it() {
    let world = World::new();
    let repo = world.repo("orchard");
    world.file(world.config_file(), "[worktree]\non_remove = 'keep'\n");
    let path = lane(&world, &repo, "pears");
    std::fs::write(path.join("draft"), "unsaved").unwrap();
    let ran = remove(&world, &path);
    ran.ok().silent().warns(&format!("kept: {}", path.display()));
    reads(&path.join("draft"), "unsaved");
    let said = ran.stderr.lines().find_map(|line| line.strip_prefix("to remove it: ")).unwrap();
    world.program("sh").args(["-c", said]).run().ok();
    assert!(!path.exists() && repo.branches().contains(&"worktree-pears".to_owned()));
    // A path that no row names: the path alone.
    let ran = remove(&world, repo.path());
    ran.ok().silent().warns("kept: ");
    assert!(!ran.stderr.contains("to remove it"), "{ran}");
}

#[test]
fn discard_takes_the_branch_and_undo_brings_everything_back() {
    let world = World::new();
    let repo = world.repo("orchard");
    repo.commit(".gitignore", "*.db\n", "Ignore");
    world.file(world.config_file(), "[worktree]\non_remove = 'discard'\n");
    let path = lane(&world, &repo, "pears");
    let commit = repo.commit_in(&path, "pear", "one\n", "Pear");
    std::fs::write(path.join("draft"), "unsaved").unwrap();
    std::fs::write(path.join("fruit.db"), "mine").unwrap();
    remove(&world, &path).ok().silent().warns("discarded").warns("scruff undo");
    assert_eq!(repo.branches(), ["main"]);
    assert!(!path.exists() && world.rows().is_empty());
    assert_eq!(ledger(&world)[0][5], "discard");
    repo.git(["reflog", "expire", "--expire=now", "--all"]);
    repo.git(["gc", "-q", "--prune=now"]);
    world.call(["undo", "pears"]).cwd(repo.path()).run().ok();
    let work = Work::new().commit(commit).file(&world.work().join("ref"), "draft", "unsaved");
    let work = work.file(&world.work().join("ref"), "fruit.db", "mine");
    work.assert_safe(&world, &repo);
    assert_eq!(repo.branches(), ["main", "worktree-pears"]);
    reads(&path.join("fruit.db"), "mine");
}

#[test]
fn a_second_call_and_one_about_nothing_are_fine() {
    let world = World::new();
    let repo = world.repo("orchard");
    let path = lane(&world, &repo, "pears");
    remove(&world, &path).ok();
    remove(&world, &path).ok().silent();
    removal(&world, &path).cwd("/").run().ok().silent();
    remove(&world, Path::new("/no/such/lane")).ok().silent();
    let ran = hook(&world, "remove", &json!({"cwd": "/"})).run();
    ran.ok().silent().warns("names no checkout");
    world.call(["hook", "remove"]).stdin("{}").run().ok().silent();
    world.call(["hook", "remove"]).stdin("nonsense").run().ok().silent();
    assert_eq!(repo.branches(), ["main", "worktree-pears"]);
    // The client's own directory is gone: it calls from its home.
    let other = lane(&world, &repo, "plums");
    std::fs::remove_dir_all(&other).unwrap();
    remove(&world, &other).ok().silent();
    assert_eq!(world.rows().len(), 2);
}

#[test]
fn the_hook_is_called_from_inside_and_leaves() {
    let world = World::new();
    let repo = world.repo("orchard");
    let path = lane(&world, &repo, "pears");
    std::fs::create_dir(path.join("deep")).unwrap();
    let script = r#"cd deep && printf '%s' "$1" | scruff hook remove; echo "status $?""#;
    let call = world.program("sh").args(["-c", script, "sh"]).arg(payload(&path).to_string()).cwd(&path);
    call.run().ok().says("status 0");
    assert!(!path.exists());
}

#[test]
fn a_path_is_known_however_it_is_spelled() {
    let world = World::new();
    let repo = world.repo("orchard");
    let link = world.work().join("link");
    for (name, spelled) in
        [("one", "link/one"), ("two", "link/../lanes/local-orchard/two/"), ("three", "link/three/.")]
    {
        let path = lane(&world, &repo, name);
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(path.parent().unwrap(), &link).unwrap();
        let spelled = world.work().join(spelled.replace("lanes", "home/.local/share/scruff"));
        let spelled = if name == "two" { path.join("../two") } else { spelled };
        hook(&world, "remove", &json!({"path": spelled, "cwd": "/"})).run().ok();
        assert!(!path.exists(), "{}", spelled.display());
    }
}

// How an earlier tool of this kind lost work, case by case.

/// A branch that never had a commit counted as landed, and its new files were deleted.
#[test]
fn new_files_of_a_fresh_lane_are_saved() {
    let world = World::new();
    let repo = world.repo("orchard");
    let path = lane(&world, &repo, "pears");
    let work = Work::new().file(&path, "draft", "unsaved").file(&path, "deep/notes", "more");
    remove(&world, &path).ok().warns("became a commit");
    assert!(!path.exists());
    work.assert_safe(&world, &repo);
    assert_eq!(lane(&world, &repo, "pears"), path);
    reads(&path.join("deep/notes"), "more");
}

/// The commit failed, and the checkout was removed by force.
#[test]
fn a_hook_that_rejects_and_a_missing_identity_do_not_cost_the_work() {
    let mut world = World::new();
    let repo = world.repo("orchard");
    for name in ["pre-commit", "commit-msg", "prepare-commit-msg"] {
        repo.hook(&world, name, "#!/bin/sh\necho rejected >&2\nexit 1\n");
    }
    let path = lane(&world, &repo, "pears");
    world.file(world.home().join(".gitconfig"), "[user]\nuseConfigOnly = true\n[commit]\ngpgSign = true\n");
    world.set("EMAIL", "");
    let work = Work::new().file(&path, "draft", "unsaved").file(&path, "README.md", "changed\n");
    remove(&world, &path).ok();
    assert!(!path.exists());
    work.assert_safe(&world, &repo);
}

#[test]
fn where_the_commit_cannot_be_made_the_checkout_stays() {
    let world = World::new();
    let repo = world.repo("orchard");
    let path = lane(&world, &repo, "pears");
    std::fs::write(path.join("draft"), "unsaved").unwrap();
    let admin = PathBuf::from(repo.git_in(&path, ["rev-parse", "--absolute-git-dir"]));
    // The branch cannot be moved.
    let lock = world.file(repo.path().join(".git/refs/heads/worktree-pears.lock"), "");
    is_kept(&world, &repo, &path, "worktree-pears");
    std::fs::remove_file(lock).unwrap();
    // Nothing can be staged: a filter of the person's fails.
    world.file(path.join(".gitattributes"), "draft filter=broken\n");
    repo.git(["config", "filter.broken.clean", "false"]);
    repo.git(["config", "filter.broken.required", "true"]);
    is_kept(&world, &repo, &path, "cannot stage everything");
    repo.git(["config", "filter.broken.required", "false"]);
    // Somebody is at the index, or was killed there.
    let lock = world.file(admin.join("index.lock"), "");
    let ran = remove(&world, &path);
    assert_eq!(ran.code(), 1, "{ran}");
    reads(&path.join("draft"), "unsaved");
    std::fs::remove_file(lock).unwrap();
    remove(&world, &path).ok();
    let work = Work::new().file(&world.work().join("ref"), "draft", "unsaved");
    work.assert_safe(&world, &repo);
}

/// `git status` failed, which was read as clean.
#[test]
fn a_status_that_cannot_be_read_keeps_the_checkout() {
    let world = World::new();
    let repo = world.repo("orchard");
    let path = lane(&world, &repo, "pears");
    std::fs::write(path.join("draft"), "unsaved").unwrap();
    let admin = PathBuf::from(repo.git_in(&path, ["rev-parse", "--absolute-git-dir"]));
    std::fs::write(admin.join("index"), "corrupt").unwrap();
    is_kept(&world, &repo, &path, "not known whether it is clean");
}

/// Commits on a detached HEAD were reachable from nothing afterwards.
#[test]
fn commits_on_a_detached_head_are_kept_by_a_reference() {
    let world = World::new();
    let repo = world.repo("orchard");
    let path = lane(&world, &repo, "pears");
    repo.git_in(&path, ["checkout", "-q", "--detach"]);
    let commit = repo.commit_in(&path, "pear", "one\n", "Pear");
    remove(&world, &path).ok().warns("detached");
    assert!(!path.exists());
    repo.git(["reflog", "expire", "--expire=now", "--all"]);
    repo.git(["gc", "-q", "--prune=now"]);
    Work::new().commit(commit).assert_safe(&world, &repo);
    // With uncommitted work on top, nothing is certain.
    let path = lane(&world, &repo, "plums");
    repo.git_in(&path, ["checkout", "-q", "--detach"]);
    std::fs::write(path.join("draft"), "unsaved").unwrap();
    is_kept(&world, &repo, &path, "detached");
}

/// Commits were lost in the middle of a rebase, and a merge was concluded with its conflict
/// markers in it.
#[test]
fn an_operation_under_way_keeps_the_checkout() {
    type Begin = fn(&Repo, &Path);
    let operations: [(&str, Begin); 4] = [
        ("a rebase", |repo, path| drop(repo.try_git(path, ["rebase", "main"]))),
        ("a merge", |repo, path| drop(repo.try_git(path, ["merge", "main"]))),
        ("a cherry-pick", |repo, path| drop(repo.try_git(path, ["cherry-pick", "main"]))),
        ("a bisect", |repo, path| drop(repo.git_in(path, ["bisect", "start", "-q", "HEAD", "HEAD~1"]))),
    ];
    for (name, begin) in operations {
        let world = World::new();
        let repo = world.repo("orchard");
        let path = lane(&world, &repo, "pears");
        repo.commit_in(&path, "README.md", "one\n", "One");
        repo.commit_in(&path, "README.md", "two\n", "Two");
        repo.commit("README.md", "main\n", "Main");
        begin(&repo, &path);
        is_kept(&world, &repo, &path, &format!("{name} is under way"));
    }
}

/// The wip commit pointed at a submodule's commit that existed nowhere else.
#[test]
fn work_in_a_submodule_keeps_the_checkout() {
    let world = World::new();
    let lib = world.repo("lib");
    let repo = world.repo("orchard");
    repo.git(["submodule", "add", "-q", lib.path().to_str().unwrap(), "lib"]);
    repo.git(["commit", "-q", "-m", "Submodule"]);
    let path = lane(&world, &repo, "pears");
    repo.git_in(&path, ["submodule", "update", "-q", "--init"]);
    let inside = path.join("lib");
    std::fs::write(inside.join("draft"), "unsaved").unwrap();
    is_kept(&world, &repo, &path, "the submodule");
    repo.git_in(&inside, ["add", "draft"]);
    repo.git_in(&inside, ["commit", "-q", "-m", "Draft"]);
    is_kept(&world, &repo, &path, "the submodule");
    repo.git_in(&inside, ["push", "-q", "origin", "HEAD:refs/heads/draft"]);
    repo.git_in(&path, ["commit", "-q", "-a", "-m", "Submodule at draft"]);
    remove(&world, &path).ok();
    assert!(!path.exists());
}

/// A wip commit landed on main.
#[test]
fn the_main_checkout_is_never_touched() {
    let world = World::new();
    let repo = world.repo("orchard");
    lane(&world, &repo, "pears");
    std::fs::write(repo.path().join("draft"), "unsaved").unwrap();
    is_kept(&world, &repo, repo.path(), "it is a main checkout");
    let other = world.repo("other");
    is_kept(&world, &other, other.path(), "no lane has it");
    // Also where a row claims it.
    let registry = world.base().join("registry.tsv");
    let main = repo.path().display();
    std::fs::write(&registry, format!("pears\t{main}\tmain\t{main}\t\tclaude\n")).unwrap();
    is_kept(&world, &repo, repo.path(), "is kept");
}

#[test]
fn a_directory_in_or_around_a_lane_is_never_touched() {
    let world = World::new();
    let repo = world.repo("orchard");
    let path = lane(&world, &repo, "pears");
    std::fs::create_dir_all(path.join("src/deep")).unwrap();
    std::fs::write(path.join("src/deep/draft"), "unsaved").unwrap();
    is_kept(&world, &repo, &path.join("src/deep"), "inside the checkout of the lane pears");
    is_kept(&world, &repo, path.parent().unwrap(), "no lane has it");
    is_kept(&world, &repo, &world.home(), "no lane has it");
    assert!(path.join("src/deep/draft").is_file());
}

/// Somebody's own worktree was removed, and its branch deleted as landed.
#[test]
fn somebodys_own_worktree_is_never_touched() {
    let world = World::new();
    let repo = world.repo("orchard");
    lane(&world, &repo, "pears");
    let theirs = world.work().join("theirs");
    repo.git(["worktree", "add", "-q", "-b", "worktree-theirs", theirs.to_str().unwrap()]);
    is_kept(&world, &repo, &theirs, "no lane has it");
    assert!(theirs.join("README.md").is_file());
}

/// Ignored files went with the checkout.
#[test]
fn ignored_files_go_to_the_trash_and_come_back() {
    let world = World::new();
    let repo = world.repo("orchard");
    repo.commit(".gitignore", ".env\n*.db\nnode_modules/\n", "Ignore");
    let path = lane(&world, &repo, "pears");
    let work = Work::new().file(&path, ".env", "KEY=1\n").file(&path, "data/fruit.db", "pears");
    world.file(path.join("node_modules/x/index.js"), "again");
    remove(&world, &path).ok().warns("files that no commit holds are in");
    work.assert_safe(&world, &repo);
    assert!(files_below(&world.base().join(".trash")).iter().all(|file| !file.ends_with("index.js")));
    assert_eq!(lane(&world, &repo, "pears"), path);
    reads(&path.join(".env"), "KEY=1\n");
    reads(&path.join("data/fruit.db"), "pears");
}

/// The checkout held another branch: that one was removed, and the lane's deleted.
#[test]
fn another_branch_in_the_checkout_keeps_it() {
    let world = World::new();
    let repo = world.repo("orchard");
    let path = lane(&world, &repo, "pears");
    repo.git_in(&path, ["switch", "-q", "-c", "other"]);
    repo.commit_in(&path, "pear", "one\n", "Pear");
    is_kept(&world, &repo, &path, "other is checked out there");
}

/// git could not answer, and every row was dropped.
#[test]
fn a_repository_that_cannot_be_asked_keeps_the_lane() {
    let world = World::new();
    let repo = world.repo("orchard");
    let path = lane(&world, &repo, "pears");
    std::fs::write(path.join("draft"), "unsaved").unwrap();
    let away = world.work().join("away");
    std::fs::rename(repo.path(), &away).unwrap();
    let ran = remove(&world, &path);
    ran.exits(1).silent().warns("is kept");
    assert_eq!(world.rows().len(), 1);
    reads(&path.join("draft"), "unsaved");
    std::fs::rename(&away, repo.path()).unwrap();
    // No git at all.
    let ran = removal(&world, &path).env("PATH", world.bin()).run();
    if ran.code() != 0 {
        ran.exits(1).silent();
        reads(&path.join("draft"), "unsaved");
    }
    Work::new().file(&world.work().join("ref"), "draft", "unsaved").assert_safe(&world, &repo);
}

/// A stray moved aside still had its `.git` file: git inside it committed to the rebuilt lane.
#[test]
fn git_inside_a_stray_acts_on_no_lane() {
    let world = World::new();
    let repo = world.repo("orchard");
    let path = lane(&world, &repo, "pears");
    std::fs::write(path.join("mine"), "somebody's").unwrap();
    // git has forgotten the checkout, which is still there.
    let admin = PathBuf::from(repo.git_in(&path, ["rev-parse", "--absolute-git-dir"]));
    std::fs::remove_dir_all(&admin).unwrap();
    let ran = remove(&world, &path);
    ran.exits(1).silent().warns("is kept");
    let ran = world.call(["resume", "--here", "pears"]).run();
    let strays = std::fs::read_dir(path.parent().unwrap()).unwrap().flatten().map(|entry| entry.path());
    let strays: Vec<_> = strays.filter(|stray| stray.to_string_lossy().contains(".stray-")).collect();
    match (ran.code(), strays.as_slice()) {
        (0, [stray]) => {
            reads(&stray.join("mine"), "somebody's");
            let inside = repo.try_git(stray, ["rev-parse", "--show-toplevel"]);
            assert_ne!(inside.code(), 0, "{inside}");
        }
        (1, []) => reads(&path.join("mine"), "somebody's"),
        _ => panic!("{strays:?}\n{ran}"),
    }
}

#[test]
fn a_locked_worktree_is_kept() {
    let world = World::new();
    let repo = world.repo("orchard");
    let path = lane(&world, &repo, "pears");
    repo.git(["worktree", "lock", "--reason", "on a stick", path.to_str().unwrap()]);
    is_kept(&world, &repo, &path, "on a stick");
}

#[test]
fn a_dirty_secret_keeps_the_checkout() {
    let world = World::new();
    let repo = world.repo("orchard");
    world.file(world.config_file(), "[park]\nsecrets = ['.env']\n");
    let path = lane(&world, &repo, "pears");
    std::fs::write(path.join(".env"), "KEY=1\n").unwrap();
    is_kept(&world, &repo, &path, ".env is a secret");
}

// Who stands in it.

#[test]
fn somebody_else_in_the_checkout_keeps_it() {
    let world = World::new();
    let repo = world.repo("orchard");
    let path = lane(&world, &repo, "pears");
    let script = r#"cd "$1" && (exec sleep 300) >/dev/null 2>&1 & echo $!"#;
    let pid = world.program("sh").args(["-c", script, "sh"]).arg(&path).run();
    let pid = pid.ok().line().to_owned();
    is_kept(&world, &repo, &path, &format!("sleep (process {pid})"));
    // A variable that names somebody who did not start this excuses nobody.
    removal(&world, &path).env("CLAUDE_PID", &pid).run().exits(1).warns(&pid);
    world.program("kill").arg(&pid).run().ok();
    wait::until("it has ended", || !Path::new("/proc").join(&pid).exists(), String::new);
    remove(&world, &path).ok();
}

/// A client that calls the hook, with a server of its own that stands in the checkout.
fn client(world: &World, name: &str, path: &Path) -> Ran {
    let script = world.script(
        format!("clients/{name}"),
        "#!/bin/sh\ncd \"$1\" || exit 9\nsleep 300 >/dev/null 2>&1 &\nserver=$!\nshift\n\"$@\"\nstatus=$?\nkill $server\nexit $status\n",
    );
    let call = r#"printf '%s' "$PAYLOAD" | CLAUDE_PID=${SAID:-$PPID} scruff hook remove"#;
    let call =
        if name == "claude" { call.replace("CLAUDE_PID=${SAID:-$PPID} ", "") } else { call.to_owned() };
    world.program(script).arg(path).args(["sh", "-c", &call]).env("PAYLOAD", payload(path).to_string()).run()
}

#[test]
fn what_the_client_itself_runs_there_does_not_count() {
    let world = World::new();
    let repo = world.repo("orchard");
    // Known by what it says, or by its name.
    for name in ["said", "claude"] {
        let path = lane(&world, &repo, name);
        client(&world, name, &path).ok().silent();
        assert!(!path.exists(), "{name}");
    }
    // A program that nobody knows for a client, and that says nothing.
    let path = lane(&world, &repo, "pears");
    let script = world.script("clients/editor", "#!/bin/sh\ncd \"$1\" || exit 9\nsleep 300 >/dev/null 2>&1 &\nserver=$!\nshift\n\"$@\"\nstatus=$?\nkill $server\nexit $status\n");
    let call = r#"printf '%s' "$PAYLOAD" | scruff hook remove"#;
    let call =
        world.program(script).arg(&path).args(["sh", "-c", call]).env("PAYLOAD", payload(&path).to_string());
    call.run().exits(1).warns("sleep");
    assert!(path.is_dir());
}

// The preserve seam.

fn seam(world: &World, body: &str) {
    let program = world.script("preserve", &format!("#!/bin/sh\n{body}\n"));
    world.file(world.config_file(), format!("[hooks]\npreserve = {:?}\n", program.to_str().unwrap()));
}

struct Dirty {
    world: World,
    repo: Repo,
    path: PathBuf,
    work: Work,
}

/// A lane with a change, a new file and an ignored one.
fn dirty() -> Dirty {
    let world = World::new();
    let repo = world.repo("orchard");
    repo.commit(".gitignore", "*.db\n", "Ignore");
    let path = lane(&world, &repo, "pears");
    let work = Work::new().file(&path, "README.md", "changed\n").file(&path, "draft", "unsaved");
    let work = work.file(&path, "fruit.db", "mine");
    Dirty { world, repo, path, work }
}

fn wip(repo: &Repo) -> bool {
    repo.git(["log", "-1", "--format=%s", "worktree-pears"]).starts_with("wip:")
}

#[test]
fn whatever_the_seam_does_no_byte_is_lost() {
    let answers = [
        "exit 0",
        "exit 1",
        "exit 3",
        "exit 7",
        "kill -9 $$",
        "echo '{\"answer\": \"no\"}'; exit 1",
        "rm -rf .git; exit 1",
        "exec /no/such/program",
        "cat >/dev/null; exit 1",
    ];
    for answer in answers {
        let Dirty { world, repo, path, work } = dirty();
        seam(&world, answer);
        let ran = remove(&world, &path);
        ran.silent();
        assert_eq!(ran.code() == 0, !path.exists(), "{answer}\n{ran}");
        work.assert_safe(&world, &repo);
    }
}

#[test]
fn a_no_sends_new_files_to_the_trash_and_still_commits_changes() {
    let Dirty { world, repo, path, .. } = dirty();
    repo.git_in(&path, ["checkout", "-q", "--", "README.md"]);
    let work = Work::new().file(&path, "draft", "unsaved").file(&path, "fruit.db", "mine");
    seam(&world, "exit 1");
    remove(&world, &path).ok().warns("files that no commit holds are in");
    assert!(!path.exists() && !wip(&repo));
    work.assert_safe(&world, &repo);
    let trashed = files_below(&world.base().join(".trash"));
    assert!(trashed.iter().any(|file| file.ends_with("draft")), "{trashed:?}");
    assert_eq!(lane(&world, &repo, "pears"), path);
    reads(&path.join("draft"), "unsaved");
    // A change of a tracked file has no other place than a commit.
    std::fs::write(path.join("README.md"), "changed\n").unwrap();
    remove(&world, &path).ok();
    assert!(wip(&repo));
}

#[test]
fn a_refusal_keeps_the_checkout() {
    let Dirty { world, repo, path, .. } = dirty();
    seam(&world, "echo 'not on a Friday' >&2; exit 2");
    is_kept(&world, &repo, &path, "the preserve hook refuses");
}

#[test]
fn a_broken_seam_is_said_and_the_built_in_answers() {
    let Dirty { world, repo, path, .. } = dirty();
    seam(&world, "exit 42");
    remove(&world, &path).ok().warns("the preserve hook").warns("exit status 42");
    assert!(!path.exists() && wip(&repo));
}

#[test]
fn the_seam_is_told_the_status() {
    let Dirty { world, repo, path, .. } = dirty();
    repo.git_in(&path, ["mv", ".gitignore", "ignore me"]);
    std::fs::write(path.join("a\nb"), "x").unwrap();
    let told = world.root().join("told");
    seam(&world, &format!("cat >'{}'; exit 2", told.display()));
    let status = repo.git_in(&path, ["status", "--porcelain=v1", "-z", "--untracked-files=all"]);
    remove(&world, &path).exits(1);
    let told: Value = serde_json::from_slice(&std::fs::read(told).unwrap()).unwrap();
    assert_eq!(told["porcelain"], status);
    assert_eq!(
        (&told["hook"], &told["name"], &told["path"]),
        (&json!("preserve"), &json!("pears"), &json!(path))
    );
    // A clean tree needs no answer.
    let clean = lane(&world, &repo, "plums");
    remove(&world, &clean).ok();
}

#[test]
fn the_built_in_trashes_only_new_files_of_a_branch_that_landed_with_commits() {
    let world = World::new();
    let repo = world.repo("orchard");
    let path = lane(&world, &repo, "pears");
    repo.commit_in(&path, "pear", "one\n", "Pear");
    repo.git(["merge", "-q", "worktree-pears"]);
    let work = Work::new().file(&path, "scratch", "notes");
    remove(&world, &path).ok().warns("is landed");
    assert_eq!(repo.branches(), ["main"]);
    work.assert_safe(&world, &repo);
    world.call(["undo", "pears"]).cwd(repo.path()).run().ok();
    reads(&path.join("scratch"), "notes");
    // The same with a change of a tracked file is work.
    std::fs::write(path.join("README.md"), "changed\n").unwrap();
    remove(&world, &path).ok().warns("is parked");
    assert!(wip(&repo));
}

// Two at a time.

#[test]
fn removals_at_the_same_time_lose_nothing() {
    for other in ["remove", "close", "drop", "reap", "create"] {
        let Dirty { world, repo, path, work } = dirty();
        let second = match other {
            "remove" => removal(&world, &path),
            "create" => hook(&world, "create", &crate::hook_create::payload(&repo, "pears")),
            "reap" => world.call(["reap"]),
            verb => world.call([verb, "pears"]),
        };
        let (one, two) = (removal(&world, &path).start(), second.start());
        let (one, two) = (one.finish(), two.finish());
        for ran in [&one, &two] {
            assert!(matches!(ran.code(), 0..=2 | 5), "{other}\n{one}\n{two}");
        }
        work.assert_safe(&world, &repo);
        let path = lane(&world, &repo, "pears");
        for (file, content) in [("README.md", "changed\n"), ("draft", "unsaved"), ("fruit.db", "mine")] {
            reads(&path.join(file), content);
        }
    }
}

// Killed at every step.

struct Scene {
    repo: Repo,
    path: PathBuf,
    work: Work,
}

fn matrix(configuration: &'static str, landed: bool) -> usize {
    Matrix {
        build: &|world| {
            let repo = world.repo("orchard");
            repo.commit(".gitignore", "*.db\n", "Ignore");
            world.file(world.config_file(), configuration);
            let path = lane(world, &repo, "pears");
            let commit = repo.commit_in(&path, "pear", "one\n", "Pear");
            let work =
                Work::new().commit(commit).file(&path, "fruit.db", "mine").file(&path, "a/b.db", "own");
            let work = work.file(&path, "draft", "unsaved");
            let work = if landed {
                repo.git(["merge", "-q", "--no-ff", "-m", "Merge", "worktree-pears"]);
                work
            } else {
                work.file(&path, "README.md", "changed\n")
            };
            Scene { repo, path, work }
        },
        command: &|world, dirty: &Scene| removal(world, &dirty.path),
        after_kill: &|world, dirty| dirty.work.assert_safe(world, &dirty.repo),
        next: &|world, dirty| removal(world, &dirty.path),
        at_last: &|world, dirty, ran| {
            ran.ok().silent();
            assert!(!dirty.path.exists());
            dirty.work.assert_safe(world, &dirty.repo);
            // Parked or taken, it comes back with everything.
            if dirty.repo.branches().contains(&"worktree-pears".to_owned()) {
                create(world, &dirty.repo, "pears").ok();
            } else {
                world.call(["undo", "pears"]).cwd(dirty.repo.path()).run().ok();
            }
            dirty.work.assert_safe(world, &dirty.repo);
            reads(&dirty.path.join("fruit.db"), "mine");
            reads(&dirty.path.join("a/b.db"), "own");
            reads(&dirty.path.join("draft"), "unsaved");
        },
    }
    .run()
}

#[test]
fn killed_anywhere_while_it_parks() {
    let steps = matrix("", false);
    assert!(steps >= 6, "only {steps} steps");
}

#[test]
fn killed_anywhere_while_it_takes_what_has_landed() {
    let steps = matrix("", true);
    assert!(steps >= 7, "only {steps} steps");
}

#[test]
fn killed_anywhere_while_it_discards() {
    let steps = matrix("[worktree]\non_remove = 'discard'\n", false);
    assert!(steps >= 9, "only {steps} steps");
}
