//! Ways of landing, and of not landing.

use super::{Lane, list, write};
use scruff::landed::Verdict;

/// A lane with two commits in two files.
fn two() -> Lane {
    let lane = Lane::new();
    lane.commit("list", &list(&[(2, "two")])).commit("new", "new\n");
    lane
}

#[test]
fn a_lane_without_a_commit_is_fresh() {
    let lane = Lane::new();
    lane.fresh();
    // The record alone or the log alone are enough.
    assert_eq!(lane.judged_as("lane", None, &|| panic!()).verdict, Verdict::Fresh);
    lane.main("list", &list(&[(1, "one")]));
    lane.fresh();
    assert_eq!(lane.judged_as("lane", None, &|| panic!()).verdict, Verdict::Fresh);
}

#[test]
fn fast_forward() {
    let lane = two();
    lane.no();
    lane.git("merge -q --ff-only lane");
    let landed = lane.yes("ancestry");
    assert!(landed.own_commits && landed.base.as_deref() == Some("main") && landed.confidence == "certain");
}

#[test]
fn merge_commit() {
    let lane = two();
    lane.main("other", "main\n").git("merge -q --no-ff -m Merge lane");
    lane.main("list", "quite different\n").yes("ancestry");
}

#[test]
fn squash() {
    let lane = two();
    lane.squash().yes("squash-equivalence");
    lane.main("other", "main\n").yes("squash-equivalence");
}

#[test]
fn squash_of_one_commit() {
    let lane = Lane::new();
    lane.commit("list", &list(&[(2, "two")])).main("other", "main\n").squash().yes("patch-equivalence");
}

#[test]
fn squash_onto_a_main_that_went_on() {
    let lane = Lane::new();
    lane.commit("list", &list(&[(5, "five")])).commit("new", "new\n");
    lane.main("other", "main\n").main("list", &format!("0\n00\n000\n0000\n{}", list(&[(9, "nine")])));
    lane.squash().yes("squash-equivalence");
}

#[test]
fn squash_after_which_main_changed_the_same_lines() {
    let lane = two();
    lane.squash().main("list", &list(&[(2, "zwei")])).yes("squash-equivalence");
    lane.main("new", "newer\n").yes("squash-equivalence");
}

#[test]
fn rebase_and_merge() {
    let lane = two();
    lane.main("other", "main\n").pick("main..lane").yes("patch-equivalence");
    lane.main("list", "quite different\n").yes("patch-equivalence");
}

#[test]
fn cherry_picks_of_all_in_another_order_among_others() {
    let lane = two();
    lane.pick("lane").main("other", "main\n").pick("lane~").yes("patch-equivalence");
}

#[test]
fn cherry_picks_of_some() {
    let lane = two();
    lane.pick("lane~").no();
    let lane = two();
    lane.pick("lane").no();
}

#[test]
fn the_same_by_hand() {
    let lane = two();
    lane.main("new", "new\n").main("list", &list(&[(2, "two"), (5, "five")])).contained();
}

#[test]
fn nearly_the_same_by_hand() {
    let lane = two();
    lane.main("new", "new\n").main("list", &list(&[(2, "Two")])).no();
}

#[test]
fn merged_into_a_release_branch_only() {
    let lane = two();
    lane.git("branch release").git("checkout -q release").git("merge -q --no-ff -m Merge lane").no();
    lane.git("checkout -q main").no();
}

#[test]
fn the_default_branch_is_renamed() {
    let lane = Lane::with_origin();
    lane.commit("new", "new\n").git("branch -m main trunk").git("push -q origin trunk");
    let bare = lane.repo.git(["remote", "get-url", "origin"]);
    lane.repo.git_in(bare.as_ref(), ["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    lane.git("push -q origin :main").git("remote set-head origin trunk").no();
    lane.git("merge -q --no-ff -m Merge lane");
    assert_eq!(lane.yes("ancestry").base.as_deref(), Some("trunk"));
}

#[test]
fn only_the_local_main_holds_it() {
    let lane = Lane::with_origin();
    lane.commit("list", &list(&[(2, "two")])).commit("new", "new\n").squash();
    assert_eq!(lane.yes("squash-equivalence").base.as_deref(), Some("main"));
}

#[test]
fn only_the_remote_main_holds_it() {
    let lane = Lane::with_origin();
    lane.commit("list", &list(&[(2, "two")])).commit("new", "new\n");
    lane.squash().git("push -q origin main").git("reset -q --hard HEAD~");
    assert_eq!(lane.yes("squash-equivalence").base.as_deref(), Some("origin/main"));
}

#[test]
fn both_went_their_own_way_and_one_holds_it() {
    for on_remote in [true, false] {
        let lane = Lane::with_origin();
        lane.commit("list", &list(&[(2, "two")])).commit("new", "new\n");
        lane.squash();
        if on_remote {
            lane.git("push -q origin main").git("reset -q --hard HEAD~").main("other", "local\n");
        } else {
            lane.git("branch keep").git("reset -q --hard HEAD~").main("other", "remote\n");
            lane.git("push -q origin main").git("reset -q --hard keep");
        }
        let base = if on_remote { "origin/main" } else { "main" };
        assert_eq!(lane.yes("squash-equivalence").base.as_deref(), Some(base));
    }
}

#[test]
fn a_remote_branch_that_is_gone_proves_nothing() {
    let lane = Lane::with_origin();
    lane.commit("new", "new\n").git("push -q origin lane").git("push -q origin :lane").no();
}

#[test]
fn amended_after_the_merge() {
    let lane = two();
    lane.git("merge -q --no-ff -m Merge lane");
    write(&lane.path.join("new"), "new and more\n");
    lane.lane_git("commit -q -a --amend -m Amended").no();
    let lane = two();
    lane.squash();
    write(&lane.path.join("new"), "new and more\n");
    lane.lane_git("commit -q -a --amend -m Amended").no();
}

#[test]
fn only_the_message_amended_after_the_squash() {
    let lane = two();
    lane.squash().lane_git("commit -q --amend -m Reworded").yes("squash-equivalence");
}

#[test]
fn commits_after_the_merge() {
    let lane = two();
    lane.squash().commit("later", "later\n").no();
    let lane = two();
    lane.git("merge -q --no-ff -m Merge lane").commit("later", "later\n").no();
    lane.git("merge -q --no-ff -m Again lane").yes("ancestry");
}

#[test]
fn rebased_after_the_merge() {
    let lane = two();
    lane.squash().commit("later", "later\n").lane_git("rebase -q main").no();
    // All that was left has landed, too.
    lane.squash().yes("patch-equivalence");
}

#[test]
fn rebased_to_nothing() {
    let lane = two();
    lane.pick("main..lane").lane_git("rebase -q main").yes("ancestry");
}

#[test]
fn an_empty_commit_only() {
    let lane = Lane::new();
    lane.lane_git("commit -q --allow-empty -m Empty").contained();
    // Another one on main is no proof.
    lane.git("commit -q --allow-empty -m Also").contained();
}

#[test]
fn an_empty_commit_among_others() {
    let lane = two();
    lane.lane_git("commit -q --allow-empty -m Trigger").squash().yes("squash-equivalence");
}

#[test]
fn work_that_was_taken_back_in_the_lane() {
    let lane = two();
    lane.lane_git("revert --no-edit HEAD HEAD~").contained();
    let lane = two();
    lane.lane_git("reset -q --hard main").fresh();
}

#[test]
fn a_branch_of_merges() {
    let lane = Lane::new();
    lane.git("checkout -q -b one main").main("one", "1\n").git("checkout -q -b two main").main("two", "2\n");
    lane.git("checkout -q main");
    lane.lane_git("merge -q --no-ff -m One one").lane_git("merge -q --no-ff -m Two two").no();
    lane.git("branch before").squash();
    assert_ne!(lane.judged().verdict, Verdict::Yes);
    lane.git("reset -q --hard before")
        .main("other", "main\n")
        .git("merge -q --no-ff -m Lane lane")
        .yes("ancestry");
}

#[test]
fn main_merged_into_the_lane_with_a_hand_edit() {
    let lane = two();
    lane.main("other", "main\n").lane_git("merge -q --no-commit --no-ff main");
    write(&lane.path.join("other"), "by hand\n");
    lane.lane_git("commit -q -a -m Merge");
    // Every commit but the merge is on main.
    lane.pick("main..lane~").no();
}

#[test]
fn white_space_counts() {
    for (ours, theirs) in [
        ("a line\n", "a  line\n"),
        ("a line\n", "a line \n"),
        ("a line\n", "a line"),
        ("a line\n", "a line\r\n"),
        ("\ta line\n", "        a line\n"),
        ("a line\n\n", "a line\n"),
    ] {
        let lane = Lane::new();
        lane.commit("new", ours).main("new", theirs);
        assert_ne!(lane.judged().verdict, Verdict::Yes, "{ours:?} {theirs:?}");
        // Also where it is only in the lines around.
        let around = |text: &str| format!("1\n2\n{text}3\n");
        let lane = Lane::new();
        lane.main("file", &around(theirs)).git("tag theirs").git("reset -q --hard HEAD~");
        lane.main("file", &around(ours)).lane_git("reset -q --hard main");
        lane.commit("file", &format!("0\n{}", around(ours)));
        lane.git("reset -q --hard theirs").main("file", &format!("0\n{}", around(theirs)));
        assert_ne!(lane.judged().verdict, Verdict::Yes, "{ours:?} {theirs:?} around");
    }
}

#[test]
fn modes_count() {
    let lane = Lane::new();
    lane.world.program("chmod").arg("755").arg(lane.path.join("list")).run().ok();
    lane.lane_git("commit -q -a -m Executable").no();
    let lane = Lane::new();
    write(&lane.path.join("run"), "#!/bin/sh\n");
    lane.world.program("chmod").arg("755").arg(lane.path.join("run")).run().ok();
    lane.lane_git("add run").lane_git("commit -q -m Run").main("run", "#!/bin/sh\n").no();
    lane.git("reset -q --hard HEAD~").squash().yes("patch-equivalence");
}

#[test]
fn binary_files_and_links() {
    let lane = Lane::new();
    write(&lane.path.join("image"), b"\x89PNG\0\xff\xfe");
    std::os::unix::fs::symlink("list", lane.path.join("link")).unwrap();
    lane.lane_git("add .")
        .lane_git("commit -q -m Image")
        .main("other", "main\n")
        .squash()
        .yes("patch-equivalence");
    let lane = Lane::new();
    write(&lane.path.join("image"), b"\x89PNG\0\xff\xfe");
    lane.lane_git("add .").lane_git("commit -q -m Image");
    write(&lane.repo.path().join("image"), b"\x89PNG\0\xff\xfd");
    lane.git("add .").git("commit -q -m Image").no();
}

#[test]
fn what_was_on_main_before_the_lane_is_no_proof() {
    let lane = Lane::new();
    // Once there, taken back, and done again in the lane.
    lane.main("new", "new\n").git("revert --no-edit HEAD").lane_git("reset -q --hard main");
    lane.commit("new", "new\n").no();
}
