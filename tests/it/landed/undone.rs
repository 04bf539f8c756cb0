//! Work that landed and was taken out of main again.

use super::{Lane, list, write};
use scruff::landed::Verdict;

fn two() -> Lane {
    let lane = Lane::new();
    lane.commit("list", &list(&[(2, "two")])).commit("new", "new\n");
    lane
}

#[test]
fn after_a_merge_the_history_holds_it() {
    let lane = two();
    lane.git("merge -q --ff-only lane").git("revert --no-edit HEAD HEAD~").yes("ancestry");
    let lane = two();
    lane.main("other", "main\n")
        .git("merge -q --no-ff -m Merge lane")
        .git("revert --no-edit -m 1 HEAD")
        .yes("ancestry");
}

#[test]
fn after_a_squash_only_the_lane_holds_it() {
    let lane = two();
    lane.squash().git("revert --no-edit HEAD");
    let landed = lane.no();
    let revert = lane.repo.git(["rev-parse", "--short=10", "HEAD"]);
    assert!(landed.reason.contains(&revert), "{landed:?}");
    lane.main("other", "main\n").no();
    // The revert reverted: there again.
    lane.git("revert --no-edit HEAD~").yes("squash-equivalence");
}

#[test]
fn after_a_squash_and_more_in_the_same_lines() {
    let lane = two();
    lane.squash().main("list", &list(&[(2, "zwei")]));
    write(&lane.repo.path().join("list"), list(&[(2, "2 again")]));
    write(&lane.repo.path().join("new"), "");
    lane.git("add .");
    // By hand, but it says so.
    let squashed = lane.repo.git(["rev-parse", "HEAD~"]);
    lane.repo.git(["commit", "-q", "-m", &format!("Back out\n\nThis reverts commit {squashed}.")]);
    lane.no();
}

#[test]
fn after_a_rebase_commit_by_commit_or_all_at_once() {
    let lane = two();
    lane.main("other", "main\n").pick("main..lane").git("revert --no-edit HEAD").no();
    let lane = two();
    lane.main("other", "main\n")
        .pick("main..lane")
        .git("revert --no-commit HEAD HEAD~")
        .git("commit -q -m Back")
        .no();
}

#[test]
fn in_part_and_without_a_word() {
    let lane = two();
    lane.squash().git("rm -q new").git("commit -q -m Gone").no();
    let lane = two();
    lane.squash().main("list", &list(&[(9, "nine")])).no();
}

#[test]
fn what_the_forge_merged_and_main_took_back() {
    use super::forge::{merged, pr};
    let lane = two();
    lane.squash();
    let tip = lane.tip();
    lane.git("revert --no-edit HEAD");
    let landed = lane.judged_with(&merged(pr(&tip)));
    assert_eq!(landed.verdict, Verdict::No, "{landed:?}");
}

#[test]
fn a_lane_that_itself_went_back_and_forth() {
    let lane = Lane::new();
    lane.commit("new", "new\n").lane_git("revert --no-edit HEAD").lane_git("revert --no-edit HEAD");
    lane.main("other", "main\n").pick("main..lane").yes("patch-equivalence");
    lane.git("revert --no-edit HEAD").no();
}
