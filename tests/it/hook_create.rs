//! `scruff hook create`: one line with the path, whatever else happens; the same name is the same lane.

use crate::crash::{Matrix, work::Work, work::files_below};
use crate::world::{Call, Ran, Repo, World, wait};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The hook, as a client calls it: its event on standard input, in the directory it names.
pub fn hook(world: &World, word: &str, payload: &Value) -> Call {
    let cwd = payload["cwd"].as_str().map_or(world.home(), PathBuf::from);
    let cwd = if cwd.is_dir() { cwd } else { world.home() };
    world.call(["hook", word]).cwd(cwd).stdin(format!("{payload}\n"))
}

pub fn payload(repo: &Repo, name: &str) -> Value {
    json!({
        "session_id": "7d0c1f52-3c1e-4b1a-9a54-0b7a6a1f9e01",
        "transcript_path": "/nowhere/7d0c.jsonl",
        "cwd": repo.path(),
        "hook_event_name": "WorktreeCreate",
        "name": name,
    })
}

pub fn create(world: &World, repo: &Repo, name: &str) -> Ran {
    hook(world, "create", &payload(repo, name)).run()
}

/// Makes a lane as a client does. The answer is its checkout.
#[track_caller]
pub fn lane(world: &World, repo: &Repo, name: &str) -> PathBuf {
    path_of(&create(world, repo, name))
}

/// The one line of the answer, which is an absolute path without dots, to a directory.
#[track_caller]
fn path_of(ran: &Ran) -> PathBuf {
    let line = ran.ok().line();
    assert!(line.starts_with('/') && !line.contains("/../") && !line.contains("/./"), "{ran}");
    let path = PathBuf::from(line);
    assert!(path.is_dir(), "{ran}");
    path
}

#[track_caller]
fn nothing_is_left(world: &World, repo: &Repo) {
    assert_eq!(repo.branches(), ["main"]);
    assert!(repo.worktrees().is_empty(), "{:?}", repo.worktrees());
    assert!(world.rows().is_empty());
    for directory in [world.base(), world.state().join("lanes"), world.state().join("opening")] {
        let files = files_below(&directory);
        let left: Vec<_> =
            files.iter().filter(|file| !file.to_string_lossy().contains("registry.tsv")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// It failed, said why, printed nothing, and left nothing.
#[track_caller]
fn fails_cleanly(world: &World, repo: &Repo, ran: &Ran, why: &str) {
    ran.exits(1).silent().warns(why);
    nothing_is_left(world, repo);
}

#[test]
fn a_lane_is_cut_from_the_head_of_the_main_checkout() {
    let world = World::new();
    let repo = world.repo("orchard").with_origin("kim/orchard");
    repo.git(["switch", "-q", "-c", "season"]);
    repo.commit("pears", "ripe\n", "Pears");
    let path = lane(&world, &repo, "pears");
    assert_eq!(path, world.base().canonicalize().unwrap().join("kim-orchard/pears"));
    assert_eq!(repo.git_in(&path, ["branch", "--show-current"]), "worktree-pears");
    assert_eq!(repo.git_in(&path, ["rev-parse", "HEAD"]), repo.git(["rev-parse", "season"]));
    let main = repo.path().to_str().unwrap();
    assert_eq!(world.rows()[0], ["pears", main, "worktree-pears", path.to_str().unwrap(), "", "claude"]);
    let record =
        files_below(&world.state().join("lanes")).into_iter().find(|file| file.extension().is_some());
    let record: Value = serde_json::from_slice(&std::fs::read(record.unwrap()).unwrap()).unwrap();
    assert_eq!(record["by_hook"], true);
    assert_eq!(record["asked_in"], "7d0c1f52-3c1e-4b1a-9a54-0b7a6a1f9e01");
}

#[test]
fn nothing_else_is_ever_on_stdout() {
    let noises = [
        "#!/bin/sh\necho to stdout\necho to stderr >&2\nprintf 'no newline'\n",
        "#!/bin/sh\nset -x\necho /etc\npwd\nexit 1\n",
        "#!/bin/sh\nhead -c 200000 /dev/zero\nhead -c 200000 /dev/zero >&2\nkill -9 $$\n",
        "#!/bin/sh\n(sleep 1; echo late) &\necho /tmp\n",
    ];
    for noise in noises {
        let world = World::new();
        let repo = world.repo("orchard");
        world.script(repo.path().join(".git/filter"), "#!/bin/sh\necho filtering >&2\nexec cat\n");
        repo.git(["config", "filter.loud.smudge", ".git/filter"]);
        repo.commit(".gitattributes", "*.loud filter=loud\n", "Attributes");
        repo.commit("a.loud", "a\n", "Loud");
        repo.hook(&world, "post-checkout", noise);
        repo.hook(&world, "reference-transaction", "#!/bin/sh\necho reference\n");
        world.file(repo.path().join(".worktreeinclude"), "*.env\n");
        let call = hook(&world, "create", &payload(&repo, "pears"));
        let ran = call.env("GIT_TRACE", "1").env("GIT_TRACE2", "1").env("SCRUFF_LOG", "trace").run();
        assert_eq!(path_of(&ran), repo.worktrees()[0], "{noise}");
    }
}

#[test]
fn a_broken_hook_costs_a_line_and_not_the_lane() {
    let world = World::new();
    let repo = world.repo("orchard");
    repo.hook(&world, "post-checkout", "#!/bin/sh\necho no database >&2\nexit 3\n");
    let ran = create(&world, &repo, "pears");
    path_of(&ran);
    ran.warns("post-checkout hook failed").warns("no database");
}

#[test]
fn the_repository_is_found_from_anywhere_in_it() {
    let world = World::new();
    let repo = world.repo("orchard");
    let deep = repo.path().join("src/deep");
    std::fs::create_dir_all(&deep).unwrap();
    let link = world.work().join("link");
    symlink(repo.path(), &link).unwrap();
    let from = |cwd: &Path, name: &str| {
        let payload = json!({"cwd": cwd, "name": name, "hook_event_name": "WorktreeCreate"});
        path_of(&hook(&world, "WorktreeCreate", &payload).run())
    };
    let first = from(&deep, "one");
    from(&link, "two");
    // A sub-agent asks from inside a lane: its lane is the repository's, not the lane's.
    let third = from(&first, "agent-ab220ea2bea2c82be");
    assert_eq!(third.parent(), first.parent());
    let mains: Vec<_> = world.rows().into_iter().map(|row| row[1].clone()).collect();
    assert_eq!(mains, vec![repo.path().to_str().unwrap(); 3]);
}

#[test]
fn names_from_clients_are_taken_as_they_are() {
    let world = World::new();
    let repo = world.repo("orchard");
    let names =
        ["feat/pears", "feat-pears", "-x", "--force", "Feat_X.1", "agent-ab220ea2bea2c82be", "2026", "_"];
    let mut paths = Vec::new();
    for name in names {
        let path = lane(&world, &repo, name);
        assert_eq!(repo.git_in(&path, ["symbolic-ref", "HEAD"]), format!("refs/heads/worktree-{name}"));
        assert_eq!(path.parent(), Some(world.base().canonicalize().unwrap().join("local-orchard").as_path()));
        assert_eq!(lane(&world, &repo, name), path, "the same name is the same lane");
        paths.push(path);
    }
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), names.len());
    world.call(["drop", "--", "-x"]).cwd(repo.path()).run().ok();
    assert!(!repo.branches().contains(&"worktree--x".to_owned()));
}

#[test]
fn names_that_could_lead_elsewhere_are_refused() {
    let world = World::new();
    let repo = world.repo("orchard");
    let long = "x".repeat(300);
    for name in
        ["..", ".", "../../etc", "a/../b", "/etc", "a//b", "a b", "a\nb", "a\tb", "a:b", "x.lock", &long]
    {
        fails_cleanly(&world, &repo, &create(&world, &repo, name), "name");
    }
}

#[test]
fn a_payload_that_lacks_something_is_told_what_it_has() {
    let world = World::new();
    let repo = world.repo("orchard");
    let ran =
        hook(&world, "create", &json!({"cwd": repo.path(), "title": "x", "name": null, "worktree_name": ""}))
            .run();
    fails_cleanly(&world, &repo, &ran, "does not name the checkout");
    ran.warns("title");
    let ran = world.call(["hook", "create"]).cwd(repo.path()).stdin("not json").run();
    fails_cleanly(&world, &repo, &ran, "does not name the checkout");
    // Clients have called the fields by other names, and without a directory the hook's own counts.
    let drifted = json!({"worktree_name": "pears", "base_path": repo.path(), "cwd": world.home()});
    let path = path_of(&hook(&world, "create", &drifted).run());
    let ran = world.call(["hook", "create"]).cwd(repo.path()).stdin(r#"{"name": "pears"}"#).run();
    assert_eq!(path_of(&ran), path);
}

#[test]
fn outside_a_repository_it_fails() {
    let world = World::new();
    let ran = hook(&world, "create", &json!({"cwd": world.home(), "name": "pears"})).run();
    ran.exits(1).silent().warns("not inside a git repository");
    let ran = hook(&world, "create", &json!({"cwd": "/no/such/directory", "name": "pears"})).run();
    ran.exits(1).silent().warns("/no/such/directory");
}

#[test]
fn the_client_is_what_is_said_and_never_a_guess() {
    let mut world = World::new();
    let repo = world.repo("orchard");
    let asked = world.root().join("asked");
    let seam = world.script("agent-seam", &format!("#!/bin/sh\ntouch '{}'\necho codex\n", asked.display()));
    world.file(world.config_file(), format!("agent = 'pi'\n[hooks]\nagent = {:?}\n", seam.to_str().unwrap()));
    for (name, value) in [
        ("SCRUFF_AGENT", "gemini"),
        ("SCRUFF_NAME", "other"),
        ("SCRUFF_PATH", "/other"),
        ("SCRUFF_MAIN", "/other"),
        ("SCRUFF_BRANCH", "worktree-other"),
        ("SCRUFF_LANE_AGENT", "opencode"),
        ("SCRUFF_PARENT", "/other"),
        ("SCRUFF_CWD", "/other"),
    ] {
        world.set(name, value);
    }
    let by = |name: &str, payload: Value, client: Option<&str>| {
        let mut payload = payload;
        payload["name"] = name.into();
        payload["cwd"] = repo.path().to_str().into();
        let args: Vec<&str> = client.into_iter().flat_map(|id| ["--client", id]).collect();
        path_of(&hook(&world, "create", &payload).args(args).run());
        world.rows().pop().unwrap()[5].clone()
    };
    assert_eq!(by("one", json!({}), None), "claude");
    assert_eq!(by("two", json!({}), Some("codex")), "codex");
    assert_eq!(by("three", json!({"client": "opencode"}), Some("codex")), "opencode");
    assert_eq!(by("four", json!({"agent": "mine"}), None), "mine");
    assert_eq!(by("five", json!({"client": "a\tb\nc"}), None), "claude");
    assert!(!asked.exists(), "the agent seam was asked");
    assert!(world.rows().iter().all(|row| row[4].is_empty()));
}

#[test]
fn the_same_name_again_is_the_same_lane() {
    let world = World::new();
    let repo = world.repo("orchard");
    repo.commit(".gitignore", ".env\n", "Ignore");
    let path = lane(&world, &repo, "pears");
    repo.commit_in(&path, "pear", "one\n", "Pear");
    std::fs::write(path.join("draft"), "unsaved").unwrap();
    world.file(repo.path().join(".env"), "KEY=1\n");
    world.file(repo.path().join(".worktreeinclude"), ".env\n");
    let before = repo.git_in(&path, ["rev-parse", "HEAD"]);
    repo.commit("later", "x\n", "Main goes on");
    assert_eq!(lane(&world, &repo, "pears"), path);
    assert_eq!(repo.git_in(&path, ["rev-parse", "HEAD"]), before);
    assert_eq!(std::fs::read_to_string(path.join("draft")).unwrap(), "unsaved");
    assert_eq!(std::fs::read_to_string(path.join(".env")).unwrap(), "KEY=1\n", "what was missing is set up");
    assert_eq!(world.rows().len(), 1);
    assert_eq!(repo.branches(), ["main", "worktree-pears"]);
}

#[test]
fn a_lane_whose_checkout_vanished_comes_back() {
    let world = World::new();
    let repo = world.repo("orchard");
    let path = lane(&world, &repo, "pears");
    let commit = repo.commit_in(&path, "pear", "one\n", "Pear");
    std::fs::remove_dir_all(&path).unwrap();
    assert_eq!(lane(&world, &repo, "pears"), path);
    assert_eq!(repo.git_in(&path, ["rev-parse", "HEAD"]), commit);
    assert_eq!(repo.git_in(&path, ["status", "--porcelain"]), "");
    assert_eq!(repo.worktrees(), [path]);
}

#[test]
fn a_lane_that_was_parked_comes_back_with_its_work() {
    let world = World::new();
    let repo = world.repo("orchard");
    repo.commit(".gitignore", "*.db\n", "Ignore");
    let path = lane(&world, &repo, "pears");
    std::fs::write(path.join("draft"), "unsaved").unwrap();
    std::fs::write(path.join("fruit.db"), "mine").unwrap();
    std::fs::write(path.join("README.md"), "changed\n").unwrap();
    // The main checkout has another one, and it must not get in the way.
    world.file(repo.path().join("fruit.db"), "main's");
    world.file(repo.path().join(".worktreeinclude"), "*.db\n");
    world.call(["close", "pears"]).run().ok();
    assert!(!path.exists());
    assert_eq!(lane(&world, &repo, "pears"), path);
    assert_eq!(repo.git_in(&path, ["status", "--porcelain"]), " M README.md\n?? draft");
    assert_eq!(std::fs::read_to_string(path.join("fruit.db")).unwrap(), "mine");
}

/// Nothing changes where row, branch and checkout do not go together, and it is said how.
#[track_caller]
fn disagrees(world: &World, repo: &Repo, path: &Path, why: &str) {
    let state = || (world.rows(), repo.branches(), files_below(path), repo.worktrees());
    let before = state();
    create(world, repo, "pears").exits(1).silent().warns(why);
    assert_eq!(state(), before);
}

#[test]
fn another_branch_in_the_checkout_is_a_disagreement() {
    let world = World::new();
    let repo = world.repo("orchard");
    let path = lane(&world, &repo, "pears");
    repo.git_in(&path, ["switch", "-q", "-c", "other"]);
    disagrees(&world, &repo, &path, "is on the branch other, not on worktree-pears");
    repo.git_in(&path, ["checkout", "-q", "--detach"]);
    disagrees(&world, &repo, &path, "is on no branch");
    repo.git_in(&path, ["switch", "-q", "worktree-pears"]);
    assert_eq!(lane(&world, &repo, "pears"), path);
}

/// A rebase under way takes HEAD off its branch and gives it back: that is the lane's own.
#[test]
fn a_rebase_in_the_checkout_is_none() {
    let world = World::new();
    let repo = world.repo("orchard");
    let path = lane(&world, &repo, "pears");
    repo.commit_in(&path, "README.md", "lane\n", "Lane");
    repo.commit("README.md", "main\n", "Main");
    assert_ne!(repo.try_git(&path, ["rebase", "main"]).code(), 0);
    assert_eq!(lane(&world, &repo, "pears"), path);
    repo.git_in(&path, ["rebase", "--abort"]);
}

#[test]
fn something_else_in_its_place_is_a_disagreement() {
    let world = World::new();
    let repo = world.repo("orchard");
    let path = lane(&world, &repo, "pears");
    std::fs::remove_dir_all(&path).unwrap();
    world.file(path.join("mine"), "somebody's");
    disagrees(&world, &repo, &path, "what stands at");
    std::fs::remove_dir_all(&path).unwrap();
    symlink(world.home(), &path).unwrap();
    disagrees(&world, &repo, Path::new("/nowhere"), "symbolic link");
    std::fs::remove_file(&path).unwrap();
    // Its branch has gone elsewhere.
    let other = world.work().join("elsewhere");
    repo.git(["worktree", "prune"]);
    repo.git(["worktree", "add", "-q", other.to_str().unwrap(), "worktree-pears"]);
    disagrees(&world, &repo, &path, "is checked out in");
}

#[test]
fn a_branch_without_a_lane_is_somebodys() {
    let world = World::new();
    let repo = world.repo("orchard");
    repo.git(["branch", "worktree-pears"]);
    let ran = create(&world, &repo, "pears");
    ran.exits(1).silent().warns("has a branch worktree-pears already").warns("adopt");
    assert_eq!(repo.branches(), ["main", "worktree-pears"]);
    assert!(world.rows().is_empty());
}

#[test]
fn a_lane_of_which_nothing_is_left_is_made_anew() {
    let world = World::new();
    let repo = world.repo("orchard");
    let path = lane(&world, &repo, "pears");
    repo.git(["worktree", "remove", path.to_str().unwrap()]);
    repo.git(["branch", "-D", "worktree-pears"]);
    repo.commit("later", "x\n", "Main goes on");
    assert_eq!(lane(&world, &repo, "pears"), path);
    assert_eq!(repo.git_in(&path, ["rev-parse", "HEAD"]), repo.git(["rev-parse", "HEAD"]));
    assert_eq!(world.rows().len(), 1);
}

#[test]
fn a_repository_without_commits_gets_a_branch_without_commits() {
    let world = World::new();
    let repo = Repo::uncommitted(&world, "orchard");
    let path = lane(&world, &repo, "pears");
    assert_eq!(repo.git_in(&path, ["symbolic-ref", "HEAD"]), "refs/heads/worktree-pears");
    assert_ne!(repo.try_git(&path, ["rev-parse", "--verify", "HEAD"]).code(), 0);
    assert_eq!(lane(&world, &repo, "pears"), path);
    std::fs::remove_dir_all(&path).unwrap();
    assert_eq!(lane(&world, &repo, "pears"), path);
    assert_eq!(repo.commit_in(&path, "first", "1\n", "First"), repo.git(["rev-parse", "worktree-pears"]));
}

#[test]
fn failure_leaves_nothing() {
    let world = World::new();
    let repo = world.repo("orchard");
    repo.commit(".gitattributes", "*.x filter=broken\n", "Attributes");
    repo.commit("a.x", "a\n", "File");
    repo.git(["config", "filter.broken.smudge", "false"]);
    repo.git(["config", "filter.broken.required", "true"]);
    fails_cleanly(&world, &repo, &create(&world, &repo, "pears"), "git cannot make the checkout");
    repo.git(["config", "filter.broken.required", "false"]);
    lane(&world, &repo, "pears");
}

#[test]
fn something_in_the_way_of_the_bucket_leaves_nothing() {
    let world = World::new();
    let repo = world.repo("orchard");
    let blocker = world.file(world.base().join("local-orchard"), "a file");
    create(&world, &repo, "pears").exits(1).silent();
    std::fs::remove_file(blocker).unwrap();
    nothing_is_left(&world, &repo);
}

#[test]
fn the_path_has_no_dots_and_no_links() {
    let mut world = World::new();
    let repo = world.repo("orchard");
    let real = world.work().join("lanes");
    std::fs::create_dir_all(real.join("x")).unwrap();
    symlink(&real, world.work().join("link")).unwrap();
    for base in ["lanes/x/../new", "link/./deep", "link/"] {
        world.set("SCRUFF_BASE", world.work().join(base));
        let path = lane(&world, &repo, &format!("l{}", base.len()));
        assert_eq!(path, path.canonicalize().unwrap());
        assert!(path.starts_with(&real), "{}", path.display());
    }
}

/// `[worktree] claude_base = "repo"`.
fn inside(world: &World) -> Repo {
    world.file(world.config_file(), "[worktree]\nclaude_base = 'repo'\n");
    world.repo("orchard")
}

#[test]
fn checkouts_can_be_inside_the_repository() {
    let world = World::new();
    let repo = inside(&world);
    let path = lane(&world, &repo, "pears");
    assert_eq!(path, repo.path().join(".claude/worktrees/pears"));
    let other = lane(&world, &repo, "feat/pears");
    assert_eq!(other.parent(), path.parent());
    assert_eq!(repo.git(["status", "--porcelain", "--untracked-files=all"]), "");
    let exclude = std::fs::read_to_string(repo.path().join(".git/info/exclude")).unwrap();
    assert_eq!(exclude.matches("/.claude/worktrees/\n").count(), 1, "{exclude}");
    assert_eq!(lane(&world, &repo, "pears"), path);
    // A lane that scruff opens itself goes where all lanes are.
    let ran = world.call(["new", "plums"]).cwd(repo.path()).run();
    assert!(Path::new(ran.ok().line()).starts_with(world.base()));
    // Taking it takes only it.
    world.call(["drop", "pears"]).run().ok();
    assert!(!path.exists() && other.is_dir());
}

#[test]
fn what_is_ignored_already_needs_no_exclude() {
    let world = World::new();
    let repo = inside(&world);
    repo.commit(".gitignore", ".claude/\n", "Ignore");
    let before = std::fs::read(repo.path().join(".git/info/exclude")).unwrap_or_default();
    lane(&world, &repo, "pears");
    assert_eq!(std::fs::read(repo.path().join(".git/info/exclude")).unwrap_or_default(), before);
}

#[test]
fn no_checkout_goes_through_a_link_of_the_repository() {
    for link in [".claude", ".claude/worktrees"] {
        let world = World::new();
        let repo = inside(&world);
        let outside = world.work().join("outside");
        std::fs::create_dir(&outside).unwrap();
        let link = repo.path().join(link);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&outside, &link).unwrap();
        repo.git(["add", "-A"]);
        repo.git(["commit", "-q", "-m", "Link"]);
        fails_cleanly(&world, &repo, &create(&world, &repo, "pears"), "is a symbolic link");
        assert!(std::fs::read_dir(&outside).unwrap().next().is_none());
    }
}

#[test]
fn failure_inside_the_repository_leaves_nothing_there() {
    let world = World::new();
    let repo = inside(&world);
    repo.git(["branch", "worktree-pears/x"]);
    create(&world, &repo, "pears").exits(1).silent();
    assert!(!repo.path().join(".claude").exists());
}

#[test]
fn many_at_once_with_one_name_are_one_lane() {
    let world = World::new();
    let repo = world.repo("orchard").with_origin("kim/orchard");
    let calls: Vec<_> = (0..6).map(|_| hook(&world, "create", &payload(&repo, "pears")).start()).collect();
    let paths: Vec<PathBuf> = calls.into_iter().map(|call| path_of(&call.finish())).collect();
    assert!(paths.iter().all(|path| *path == paths[0]), "{paths:?}");
    assert_eq!(world.rows().len(), 1);
    assert_eq!(repo.branches(), ["main", "worktree-pears"]);
}

#[test]
fn an_operation_on_the_lane_is_waited_for() {
    let world = World::new();
    let repo = world.repo("orchard");
    let path = lane(&world, &repo, "pears");
    let locks = files_below(&world.state().join("locks"));
    let lock = locks.iter().find(|lock| lock.to_string_lossy().contains("lane-")).unwrap();
    let held = world.program("flock").arg(lock).args(["sh", "-c", "echo held; sleep 1"]).start();
    let is_held = || world.program("flock").arg("-n").arg(lock).arg("true").run().code() != 0;
    wait::until("the lock is held", is_held, String::new);
    let ran = create(&world, &repo, "pears");
    assert_eq!(path_of(&ran), path);
    ran.warns("waiting for");
    held.finish().ok();
}

struct Scene {
    repo: Repo,
    work: Work,
}

fn scene(world: &World) -> Scene {
    let repo = world.repo("orchard").with_origin("kim/orchard");
    repo.commit(".gitignore", "*.db\n", "Ignore");
    world.file(repo.path().join("fruit.db"), "main's");
    world.file(repo.path().join(".worktreeinclude"), "*.db\n");
    Scene { repo, work: Work::new() }
}

/// The lane is there once, whole, and set up.
#[track_caller]
fn is_whole(world: &World, scene: &Scene, path: &Path) {
    assert_eq!(world.rows().len(), 1);
    assert_eq!(scene.repo.branches(), ["main", "worktree-pears"]);
    assert_eq!(scene.repo.worktrees(), [path]);
    assert_eq!(scene.repo.git_in(path, ["symbolic-ref", "HEAD"]), "refs/heads/worktree-pears");
    assert!(path.join("README.md").is_file() && path.join("fruit.db").is_file());
    assert!(files_below(&world.state().join("opening")).is_empty());
}

#[test]
fn killed_anywhere_the_client_asks_again_and_gets_it() {
    let steps = Matrix {
        build: &scene,
        command: &|world, scene: &Scene| hook(world, "create", &payload(&scene.repo, "pears")),
        after_kill: &|_, scene| assert_eq!(scene.repo.git(["status", "--porcelain"]), "?? .worktreeinclude"),
        next: &|world, scene| hook(world, "create", &payload(&scene.repo, "pears")),
        at_last: &|world, scene, ran| {
            is_whole(world, scene, &path_of(ran));
            assert_eq!(scene.repo.git_in(&path_of(ran), ["status", "--porcelain"]), "");
        },
    }
    .run();
    assert!(steps >= 7, "only {steps} steps");
}

#[test]
fn killed_inside_the_repository_the_client_gets_it_too() {
    Matrix {
        build: &|world| {
            world.file(world.config_file(), "[worktree]\nclaude_base = 'repo'\n");
            scene(world)
        },
        command: &|world, scene: &Scene| hook(world, "create", &payload(&scene.repo, "pears")),
        after_kill: &|_, scene| assert_eq!(scene.repo.git(["status", "--porcelain"]), "?? .worktreeinclude"),
        next: &|world, scene| hook(world, "create", &payload(&scene.repo, "pears")),
        at_last: &|world, scene, ran| is_whole(world, scene, &path_of(ran)),
    }
    .run();
}

#[test]
fn killed_while_a_parked_lane_comes_back_nothing_is_lost() {
    let steps = Matrix {
        build: &|world| {
            let scene = scene(world);
            let path = lane(world, &scene.repo, "pears");
            let commit = scene.repo.commit_in(&path, "pear", "one\n", "Pear");
            let work = Work::new().file(&path, "draft", "unsaved").file(&path, "README.md", "changed\n");
            let work = work.file(&path, "fruit.db", "mine").file(&path, "deep/own.db", "own").commit(commit);
            world.call(["close", "pears"]).run().ok();
            Scene { work, ..scene }
        },
        command: &|world, scene: &Scene| hook(world, "create", &payload(&scene.repo, "pears")),
        after_kill: &|world, scene| scene.work.assert_safe(world, &scene.repo),
        next: &|world, scene| hook(world, "create", &payload(&scene.repo, "pears")),
        at_last: &|world, scene, ran| {
            let path = path_of(ran);
            is_whole(world, scene, &path);
            scene.work.assert_safe(world, &scene.repo);
            // Uncommitted again; killed in between, it may be staged.
            let status = scene.repo.git_in(&path, ["status", "--porcelain"]);
            let files: Vec<_> = status.lines().map(|line| &line[3..]).collect();
            assert_eq!(files, ["README.md", "draft"], "{status}");
            for (file, content) in [("fruit.db", "mine"), ("deep/own.db", "own")] {
                assert_eq!(std::fs::read_to_string(path.join(file)).unwrap(), content);
            }
        },
    }
    .run();
    assert!(steps >= 2, "only {steps} steps");
}

/// git itself was stopped in the middle (a power cut): what it made lacks files, which must not
/// come to look as if somebody had deleted them.
#[test]
fn a_checkout_that_git_had_only_half_made_is_made_again() {
    let world = World::new();
    let repo = world.repo("orchard");
    let path = lane(&world, &repo, "pears");
    repo.commit_in(&path, "pear", "one\n", "Pear");
    let admin = PathBuf::from(repo.git_in(&path, ["rev-parse", "--absolute-git-dir"]));
    std::fs::write(admin.join("locked"), "initializing").unwrap();
    std::fs::remove_file(admin.join("index")).unwrap();
    std::fs::remove_file(path.join("README.md")).unwrap();
    std::fs::write(path.join("mine"), "somebody's").unwrap();
    let ran = create(&world, &repo, "pears");
    assert_eq!(path_of(&ran), path);
    assert_eq!(repo.git_in(&path, ["status", "--porcelain"]), "");
    assert!(path.join("README.md").is_file());
    let bucket = path.parent().unwrap();
    assert!(files_below(bucket).iter().any(|file| file.ends_with("mine")), "{ran}");
}
