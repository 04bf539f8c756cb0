//! What only the forge knows, and what comes after the merge.

use super::{Lane, list};
use scruff::forge::{Asked, Pr, State};
use scruff::landed::{PostMerge, Verdict, post_merge};

pub fn pr(tip: &str) -> Pr {
    Pr {
        number: 7,
        state: State::Merged,
        url: "https://github.com/acme/shop/pull/7".into(),
        head: "lane".into(),
        tip: tip.into(),
        base: "main".into(),
        owner: Some("acme".into()),
        fork: false,
        checks: None,
        merged: None,
        closed: None,
    }
}

pub fn merged(pr: Pr) -> impl Fn() -> Asked<Vec<Pr>> {
    move || Asked::Known(vec![pr.clone()])
}

/// A lane whose work is on main in a form that no rung of git's recognises.
fn unrecognised() -> Lane {
    let lane = Lane::new();
    lane.commit("list", &list(&[(2, "two")])).commit("list", &list(&[(2, "zwei")]));
    lane.main("list", &list(&[(2, "deux")]));
    lane.no();
    lane
}

#[test]
fn a_merged_request_with_exactly_this_commit_is_proof() {
    let lane = unrecognised();
    let landed = lane.judged_with(&merged(pr(&lane.tip())));
    assert_eq!(
        (landed.verdict, landed.via.as_deref(), landed.pr),
        (Verdict::Yes, Some("pr-head-oid"), Some(7))
    );
    assert!(landed.reason.contains("#7"), "{landed:?}");
    assert_eq!(landed.base.as_deref(), Some("main"));
}

#[test]
fn a_fork_of_one_of_the_remotes_counts() {
    let lane = unrecognised();
    let fork = |owner: Option<&str>| Pr { owner: owner.map(Into::into), fork: true, ..pr(&lane.tip()) };
    assert_eq!(lane.judged_with(&merged(fork(Some("kim")))).verdict, Verdict::Yes);
    assert_eq!(lane.judged_with(&merged(fork(Some("eve")))).verdict, Verdict::No);
    assert_eq!(lane.judged_with(&merged(fork(None))).verdict, Verdict::No);
}

#[test]
fn anything_else_the_forge_says_is_not() {
    let lane = unrecognised();
    let tip = lane.tip();
    for request in [
        pr(&lane.repo.git(["rev-parse", "lane~"])),
        Pr { state: State::Closed, ..pr(&tip) },
        Pr { state: State::Open, ..pr(&tip) },
        Pr { base: "release".into(), ..pr(&tip) },
        Pr { head: "lane-2".into(), ..pr(&tip) },
    ] {
        let landed = lane.judged_with(&merged(request.clone()));
        assert_eq!((landed.verdict, landed.confidence.as_str()), (Verdict::No, "certain"), "{request:?}");
    }
}

#[test]
fn a_reused_name_does_not_inherit_the_merge() {
    let lane = Lane::new();
    lane.commit("new", "old work\n");
    let old = lane.tip();
    lane.squash().lane_git("reset -q --hard main").commit("new", "new work\n");
    assert_eq!(lane.judged_with(&merged(pr(&old))).verdict, Verdict::No);
}

#[test]
fn a_forge_that_does_not_answer_makes_a_no_unsure() {
    let lane = unrecognised();
    let landed = lane.judged_with(&|| Asked::Unknown("gh: not signed in".to_owned()));
    assert_eq!((landed.verdict, landed.confidence.as_str()), (Verdict::No, "unsure"));
    assert_eq!(landed.missing().collect::<Vec<_>>(), ["gh: not signed in"]);
    assert!(landed.reason.contains("not signed in"), "{landed:?}");
    let landed = lane.judged();
    assert_eq!((landed.confidence.as_str(), landed.missing().count()), ("certain", 0));
    assert!(landed.reason.contains("2 commits"), "{landed:?}");
}

#[test]
fn the_forge_is_not_asked_where_git_knows() {
    let lane = Lane::new();
    lane.commit("list", &list(&[(2, "two")])).commit("new", "new\n").squash();
    let asked = || -> Asked<Vec<Pr>> { panic!("asked") };
    assert_eq!(lane.judged_with(&asked).verdict, Verdict::Yes);
    let fresh = Lane::new();
    assert_eq!(fresh.judged_with(&asked).verdict, Verdict::Fresh);
}

#[test]
fn a_branch_of_merges_may_be_known_to_the_forge() {
    let lane = Lane::new();
    lane.git("checkout -q -b one main").main("one", "1\n").git("checkout -q main");
    lane.lane_git("merge -q --no-ff -m One one").squash().main("one", "uno\n");
    assert_eq!(lane.judged().verdict, Verdict::No);
    assert_eq!(lane.judged_with(&merged(pr(&lane.tip()))).verdict, Verdict::Yes);
}

/// What came after, by libgit2 and by git, which must agree.
#[track_caller]
fn after(lane: &Lane, own: &[Pr]) -> PostMerge {
    let repo = lane.found();
    let own: Vec<&Pr> = own.iter().collect();
    let [shown, confirmed] = [&repo, &repo.by_git()].map(|repo| post_merge(repo, "lane", &own).unwrap());
    assert_eq!(shown, confirmed);
    confirmed
}

const NOTHING: PostMerge = PostMerge { commits: 0, pr: 0, diverged: false };

#[test]
fn nothing_comes_after_what_was_not_merged_or_not_gone_on_with() {
    let lane = unrecognised();
    assert_eq!(after(&lane, &[]), NOTHING);
    assert_eq!(after(&lane, &[pr(&lane.tip())]), NOTHING);
    let before = lane.repo.git(["rev-parse", "lane~"]);
    assert_eq!(after(&lane, &[Pr { state: State::Closed, ..pr(&before) }]), NOTHING);
    assert_eq!(after(&lane, &[Pr { base: "release".into(), ..pr(&before) }]), NOTHING);
}

#[test]
fn commits_on_top_of_what_was_merged_are_counted() {
    let lane = Lane::new();
    lane.commit("list", &list(&[(2, "two")]));
    let head = lane.tip();
    lane.squash().commit("later", "1\n").commit("later", "2\n");
    let expected = PostMerge { commits: 2, pr: 7, diverged: false };
    assert_eq!(after(&lane, &[pr(&head)]), expected);
    // The newest of several merged ones counts.
    let older = Pr { number: 3, ..pr(&lane.repo.git(["rev-parse", "main~"])) };
    assert_eq!(after(&lane, &[pr(&head), older]), expected);
    // Rebased onto main: builds on what merged, whatever became of its commit.
    lane.lane_git("rebase -q main");
    assert_eq!(after(&lane, &[pr(&head)]), expected);
    // What lands meanwhile is not counted.
    lane.git("merge -q --ff-only lane~");
    assert_eq!(after(&lane, &[pr(&head)]), PostMerge { commits: 1, ..expected.clone() });
    lane.git("merge -q --ff-only lane");
    assert_eq!(after(&lane, &[pr(&head)]), NOTHING);
}

#[test]
fn an_open_request_for_the_tip_covers_everything() {
    let lane = Lane::new();
    lane.commit("list", &list(&[(2, "two")]));
    let head = lane.tip();
    lane.squash().commit("later", "1\n");
    let open = Pr { number: 8, state: State::Open, ..pr(&lane.tip()) };
    assert_eq!(after(&lane, &[pr(&head), open.clone()]), NOTHING);
    lane.commit("later", "2\n");
    assert_eq!(after(&lane, &[pr(&head), open]).commits, 2);
}

#[test]
fn a_tip_that_does_not_build_on_what_merged_has_diverged() {
    let lane = Lane::new();
    lane.commit("list", &list(&[(2, "two")]));
    let head = lane.tip();
    lane.squash().main("other", "main\n").lane_git("commit -q --amend -m Amended");
    assert_eq!(after(&lane, &[pr(&head)]), PostMerge { commits: 1, pr: 7, diverged: true });
    // What was merged may never have been here.
    assert_eq!(after(&lane, &[pr(&"e".repeat(40))]), PostMerge { commits: 1, pr: 7, diverged: true });
}
