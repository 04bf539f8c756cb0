//! Odd repositories: without logs, without history in common, with names that mean two things.

use super::{Lane, judge, list, write};
use crate::world::World;
use scruff::forge::Asked;
use scruff::git::Repo;
use scruff::landed::{Landed, Verdict};
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn without_a_log_the_record_tells_and_without_both_nothing_does() {
    let lane = Lane::new();
    lane.commit("new", "new\n").git("merge -q --ff-only lane");
    let log = lane.repo.path().join(".git/logs/refs/heads/lane");
    let without = |start: Option<&str>| lane.judged_as("lane", start, &|| panic!());
    for prepare in [|log: &_| write(log, ""), |log: &_| std::fs::remove_file(log).unwrap()] {
        prepare(&log);
        let by_record = without(lane.start.as_deref());
        assert_eq!((by_record.verdict, by_record.via.as_deref()), (Verdict::Yes, Some("ancestry")));
        assert!(!by_record.own_commits, "nothing shows that they were its own");
        assert_eq!(without(None).verdict, Verdict::Fresh);
    }
    write(&log, "no log at all\n");
    assert_eq!(without(None).verdict, Verdict::Fresh);
    assert_eq!(without(lane.start.as_deref()).verdict, Verdict::Yes);
}

#[test]
fn a_branch_that_followed_main_without_work_of_its_own() {
    for follow in ["merge -q --ff-only main", "reset -q --hard main", "rebase -q main"] {
        let lane = Lane::new();
        lane.main("other", "main\n").lane_git(follow);
        let landed = lane.yes("ancestry");
        assert_eq!(landed.own_commits, follow.starts_with("merge"), "{follow}");
    }
}

#[test]
fn a_bare_layout_writes_no_log() {
    let world = World::new();
    let source = world.repo("source");
    let project = world.work().join("project");
    let bare = project.join(".bare");
    std::fs::create_dir(&project).unwrap();
    source.git([
        "clone".as_ref(),
        "-q".as_ref(),
        "--bare".as_ref(),
        source.path().as_os_str(),
        bare.as_os_str(),
    ]);
    write(&project.join(".git"), "gitdir: ./.bare\n");
    for checkout in ["main", "lane"] {
        let branch: &[&str] = if checkout == "main" { &[] } else { &["-b", "lane"] };
        let path = project.join(checkout);
        let args: Vec<&std::ffi::OsStr> = ["worktree", "add", "-q"]
            .iter()
            .chain(branch)
            .map(|word| word.as_ref())
            .chain([path.as_os_str()])
            .collect();
        let args = if checkout == "main" { [args, vec!["main".as_ref()]].concat() } else { args };
        source.git_in(&project, args);
    }
    let start = source.git_in(&project, ["rev-parse", "lane"]);
    let env = world.env().iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    let ctx = scruff::ctx::Ctx::new(env, world.home(), scruff::ui::Ui::default(), false).unwrap();
    let repo = Repo::discover(&ctx, &project).unwrap();
    let judged =
        |start: Option<&str>| -> Landed { judge(&repo, "lane", start, &|| Asked::NoForge(String::new())) };
    assert_eq!(judged(Some(&start)).verdict, Verdict::Fresh);
    source.commit_in(&project.join("lane"), "new", "new\n", "New");
    assert_eq!(judged(Some(&start)).verdict, Verdict::No);
    source.git_in(&project.join("main"), ["merge", "-q", "--ff-only", "lane"]);
    let landed = judged(Some(&start));
    assert_eq!((landed.verdict, landed.via.as_deref()), (Verdict::Yes, Some("ancestry")), "{landed:?}");
    let logged = bare.join("logs/refs/heads/lane").exists();
    assert_eq!(judged(None).verdict, if logged { Verdict::Yes } else { Verdict::Fresh });
}

#[test]
fn histories_with_nothing_in_common() {
    let lane = Lane::new();
    lane.lane_git("checkout -q --orphan fresh-start").lane_git("rm -q -r -f .").commit("new", "new\n");
    lane.lane_git("checkout -q -B lane").no();
    lane.main("new", "new\n").no();
}

#[test]
fn a_tag_of_the_same_name_does_not_answer() {
    let lane = Lane::new();
    lane.commit("new", "new\n")
        .git("tag lane main")
        .git("tag main lane~0")
        .git("tag refs/heads/lane main")
        .no();
    let log = lane.repo.git(["log", "-1", "--format=%s", "refs/tags/main"]);
    assert_eq!(log, "Other", "the tag `lane` won, as it does in git");
}

#[test]
fn the_default_branch_never_lands_in_itself() {
    let lane = Lane::new();
    let landed = lane.judged_as("main", None, &|| panic!());
    assert_eq!(landed.verdict, Verdict::No);
    assert!(landed.reason.contains("default branch"), "{landed:?}");
    let gone = lane.judged_as("gone", None, &|| panic!());
    assert_eq!((gone.verdict, gone.confidence.as_str()), (Verdict::No, "certain"));
}

#[test]
fn it_is_never_measured_against_what_happens_to_be_checked_out() {
    let lane = Lane::new();
    lane.commit("new", "new\n").git("checkout -q -b elsewhere").git("merge -q --ff-only lane").no();
}

#[test]
fn a_replaced_history_is_not_believed() {
    let lane = Lane::new();
    lane.commit("new", "new\n");
    let (main, tip) = (lane.repo.git(["rev-parse", "main"]), lane.tip());
    lane.git(&format!("replace --graft {main} {tip}"));
    assert_eq!(lane.judged().verdict, Verdict::No);
}

#[test]
fn history_that_cannot_be_read_is_no_proof_and_is_said() {
    let lane = Lane::new();
    lane.commit("list", &list(&[(2, "two")])).commit("new", "new\n").squash();
    // The lane's first commit is gone from the disk.
    let lost = lane.repo.git(["rev-parse", "lane~"]);
    let file = lane.repo.path().join(".git/objects").join(&lost[..2]).join(&lost[2..]);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::remove_file(&file).unwrap();
    let landed = super::landed::landed(&super::Question {
        repo: &lane.found().by_git(),
        branch: "lane",
        start: lane.start.as_deref(),
        requests: &|| Asked::NoForge(String::new()),
        owners: &[],
    });
    assert_eq!((landed.verdict, landed.confidence.as_str()), (Verdict::No, "unsure"), "{landed:?}");
    assert!(landed.missing().next().is_some());
}

#[test]
fn a_submodule_that_moved() {
    let lane = Lane::of(|repo| repo);
    let library = lane.world.repo("library");
    let add = [
        "submodule".as_ref(),
        "--quiet".as_ref(),
        "add".as_ref(),
        library.path().as_os_str(),
        "lib".as_ref(),
    ];
    lane.repo.git_in(&lane.path, add);
    lane.lane_git("commit -q -m Library");
    lane.repo.commit_in(&lane.path.join("lib"), "x", "1\n", "Further");
    lane.lane_git("add lib").lane_git("commit -q -m Move").main("other", "main\n");
    lane.no();
    lane.squash().yes("squash-equivalence");
}
