//! The forge, through a stand-in for `gh` that does all that a real one has been seen to do.

use crate::world::World;
use scruff::clock::Clock;
use scruff::ctx::Ctx;
use scruff::forge::{Asked, Checks, Forge, Place, Pr, State};
use scruff::ui::Ui;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::time::Duration;

const FAKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fakes/gh");

/// A world with a `gh` in it.
struct Forged {
    world: World,
}

impl Forged {
    fn new() -> Self {
        let world = World::new();
        std::fs::create_dir(world.root().join("gh")).unwrap();
        symlink(FAKE, world.bin().join("gh")).unwrap();
        let it = Self { world };
        it.answers("pr-list", json!([]));
        it
    }

    fn answers(&self, verb: &str, answer: Value) {
        self.world.file(format!("gh/{verb}.json"), answer.to_string());
    }

    /// Shell lines that the stand-in runs first.
    fn does(&self, lines: &str) {
        self.world.file("gh/do", lines);
    }

    fn calls(&self) -> Vec<String> {
        let calls = std::fs::read_to_string(self.world.root().join("gh/calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }

    fn ctx(&self) -> Ctx {
        let env = self.world.env().iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        Ctx::new(env, self.world.home(), Ui::default(), false).unwrap()
    }

    fn later(&self, seconds: i64) -> Ctx {
        let mut ctx = self.ctx();
        ctx.clock = Clock::fixed(ctx.clock.now() + jiff::SignedDuration::from_secs(seconds));
        ctx
    }

    fn place(&self) -> Place {
        self.place_of("https://github.com/acme/shop.git")
    }

    /// The place that a repository with this origin has.
    fn place_of(&self, url: &str) -> Place {
        let name = url.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let repo = self.world.repo(&name);
        repo.git(["remote", "add", "origin", url]);
        Place::of(&scruff::git::Repo::discover(&self.ctx(), repo.path()).unwrap())
    }
}

fn pr(number: u64, state: &str, branch: &str) -> Value {
    let closed = if state == "OPEN" { Value::Null } else { json!("2026-11-30T08:00:00Z") };
    let merged = if state == "MERGED" { closed.clone() } else { Value::Null };
    json!({
        "number": number, "state": state, "url": format!("https://github.com/acme/shop/pull/{number}"),
        "headRefName": branch, "headRefOid": "a".repeat(40), "baseRefName": "main",
        "headRepositoryOwner": {"login": "acme"}, "isCrossRepository": false,
        "statusCheckRollup": [{"status": "COMPLETED", "conclusion": "SUCCESS"}],
        "mergedAt": merged, "closedAt": closed
    })
}

#[track_caller]
fn known<T>(asked: Asked<T>) -> T {
    match asked {
        Asked::Known(answer) => answer,
        Asked::NoForge(why) | Asked::Unknown(why) => panic!("{why}"),
    }
}

#[track_caller]
fn unknown<T: std::fmt::Debug>(asked: Asked<T>) -> String {
    match asked {
        Asked::Unknown(why) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_repository_is_asked_once_in_two_minutes() {
    let it = Forged::new();
    it.answers("pr-list", json!([pr(2, "OPEN", "fix"), pr(1, "MERGED", "old")]));
    let place = it.place();
    assert_eq!((place.repo.as_str(), place.host.as_deref()), ("acme/shop", Some("github.com")));
    let ask = |ctx: &Ctx| known(Forge::new(ctx).newest(std::slice::from_ref(&place)).remove(0));
    let prs: Vec<Pr> = ask(&it.ctx());
    assert_eq!(
        prs.iter().map(|pr| (pr.number, pr.state)).collect::<Vec<_>>(),
        [(2, State::Open), (1, State::Merged)]
    );
    assert_eq!((prs[0].checks, prs[0].owner.as_deref()), (Some(Checks::Passing), Some("acme")));
    it.answers("pr-list", json!([]));
    assert_eq!(ask(&it.later(100)), prs);
    let calls = it.calls();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert!(
        calls[0].starts_with("[pr][list][--repo][acme/shop][--state][all][--limit][100][--json][number,")
    );
    // Kept answers belong to nobody else.
    let mode = it
        .world
        .program("find")
        .arg(it.world.state().join("cache"))
        .args(["-type", "f", "-perm", "600"])
        .run();
    assert_eq!(mode.out().lines().count(), 1, "{mode}");
    assert_eq!(ask(&it.later(121)), []);
    // From the future: nobody knows how old.
    it.answers("pr-list", json!([pr(3, "OPEN", "new")]));
    assert_eq!(ask(&it.later(-10)).len(), 1);
}

#[test]
fn one_branch_has_a_question_of_its_own() {
    let it = Forged::new();
    let place = it.place();
    let ctx = it.ctx();
    let forge = Forge::new(&ctx);
    let evil = it.world.evil_name("x");
    assert_eq!(known(forge.of_branch(&place, "fix")), []);
    it.answers("pr-list", json!([pr(1, "CLOSED", &evil)]));
    assert_eq!(known(forge.of_branch(&place, &evil)).len(), 1);
    assert_eq!(known(forge.of_branch(&place, "fix")), []);
    let calls = it.calls();
    assert!(calls[1].contains(&format!("[--head][{evil}]")), "{calls:?}");
    assert_eq!(calls.len(), 2);
    unknown(forge.of_branch(&place, "-x"));
    assert_eq!(it.calls().len(), 2);
}

#[test]
fn what_goes_wrong_is_said_and_not_kept() {
    let it = Forged::new();
    let place = it.place();
    for (does, said) in [
        ("echo 'HTTP 403: API rate limit exceeded for user ID 1.' >&2; echo hint >&2; exit 1", "rate limit"),
        ("echo 'To get started with GitHub CLI, please run:  gh auth login' >&2; exit 4", "gh auth login"),
        (
            "printf 'error connecting to \\033[31mapi.github.com\\n' >&2; exit 1",
            "error connecting to [31mapi.github.com",
        ),
        ("exit 3", "exit status 3"),
        ("kill -9 $$", "killed by signal 9"),
        ("echo '<html>'; exit 0", "no JSON"),
        ("exit 0", "no JSON"),
        ("echo '{}'; exit 0", "no list"),
        ("echo '[{\"number\":1}]'; exit 0", "state"),
        ("head -c 9000000 /dev/zero; exit 0", "8 MiB"),
    ] {
        it.does(does);
        let ctx = it.ctx();
        let why = unknown(Forge::new(&ctx).of_branch(&place, "fix"));
        assert!(why.starts_with("gh: ") && why.contains(said), "{does}: {why}");
    }
    it.does("");
    let ctx = it.ctx();
    assert_eq!(known(Forge::new(&ctx).of_branch(&place, "fix")), []);
}

/// It hangs, and so does its child, which has the pipe.
const HANGS: &str = "sleep 600 & sleep 600";

#[test]
fn who_has_hung_once_is_not_asked_again_in_the_same_call() {
    let it = Forged::new();
    let place = it.place();
    it.does(HANGS);
    let ctx = it.ctx();
    let forge = Forge::new(&ctx);
    let why = unknown(forge.of_branch(&place, "fix"));
    assert!(why.contains("no answer within 6s"), "{why}");
    for branch in ["a", "b", "c"] {
        assert_eq!(unknown(forge.of_branch(&place, branch)), why);
    }
    assert_eq!(it.calls().len(), 1);
    // The next call does not inherit it.
    it.does("");
    known(Forge::new(&ctx).of_branch(&place, "fix"));
}

#[test]
fn many_repositories_are_asked_at_the_same_time_and_within_one_limit() {
    let it = Forged::new();
    let place = it.place();
    let places: Vec<Place> =
        (0..20).map(|n| Place { repo: format!("acme/shop-{n}"), ..place.clone() }).collect();
    // Four of them answer, the others never do.
    it.does("case $4 in acme/shop-[0-3]) ;; *) sleep 600 & sleep 600 ;; esac");
    let ctx = it.ctx();
    let forge = Forge::within(&ctx, Duration::from_secs(6));
    let answers = forge.newest(&places);
    let (answered, others) = answers.split_at(4);
    assert!(answered.iter().all(|answer| *answer == Asked::Known(vec![])), "{answers:?}");
    assert!(others.iter().all(|answer| answer.trouble().is_some()), "{answers:?}");
    assert!(it.calls().len() < 20, "what there was no time for is not asked");
    let why = unknown(forge.of_branch(&place, "fix"));
    assert!(why.contains("no answer"), "{why}");
}

#[test]
fn time_that_is_used_up_is_used_up() {
    let it = Forged::new();
    let place = it.place();
    it.does("sleep 1; echo no >&2; exit 1");
    let ctx = it.ctx();
    let forge = Forge::within(&ctx, Duration::from_millis(900));
    unknown(forge.of_branch(&place, "a"));
    it.does("");
    unknown(forge.of_branch(&place, "b"));
    assert_eq!(it.calls().len(), 1);
}

#[test]
fn where_there_is_no_forge_nothing_is_amiss() {
    let it = Forged::new();
    let ctx = it.ctx();
    for (url, named) in [
        ("/srv/git/acme/shop.git", "acme/shop"),
        ("https://git.example.org/acme/shop", "git.example.org"),
        ("https://github.com.example.org/acme/shop", "github.com.example.org"),
    ] {
        match Forge::new(&ctx).of_branch(&it.place_of(url), "fix") {
            Asked::NoForge(why) => assert!(why.contains(named), "{why}"),
            other => panic!("{other:?}"),
        }
    }
    assert!(it.calls().is_empty());
}

const ADAPTER: &str = r#"
hosts = ["git.example.org"]
list = ["forge", "list", "{{.Repo}}"]
branch = ["forge", "of", "{{.Branch}}"]
[keys]
number = "iid"
state = "state"
url = "web"
head = "source"
tip = "diff.head"
base = "target"
"#;

#[test]
fn another_forge_is_a_file() {
    let it = Forged::new();
    let file = it.world.home().join(".config/scruff/adapters/forge/example.toml");
    it.world.file(&file, ADAPTER);
    let place = it.place_of("ssh://git@git.example.org:2222/acme/shop.git");
    let ctx = it.ctx();
    match Forge::new(&ctx).of_branch(&place, "fix") {
        Asked::NoForge(why) => assert!(why.contains("forge is not on PATH"), "{why}"),
        other => panic!("{other:?}"),
    }
    let answer =
        r#"[{"iid":7,"state":"opened","web":"w","source":"acme:fix","diff":{"head":"abc"},"target":"main"}]"#;
    it.world.script(
        it.world.bin().join("forge"),
        &format!("#!/bin/sh\n[ \"$1 $2\" = 'of fix' ] && echo '{answer}'\n"),
    );
    let prs = known(Forge::new(&ctx).of_branch(&place, "fix"));
    assert_eq!((prs[0].number, prs[0].state, prs[0].tip.as_str()), (7, State::Open, "abc"));
    assert!(matches!(Forge::new(&ctx).is_archived(&place), Asked::NoForge(_)));
    // gh still has its own.
    known(Forge::new(&ctx).of_branch(&it.place(), "fix"));
    // A file of the same id replaces what comes with scruff whole.
    it.world
        .file(file.with_file_name("github.toml"), ADAPTER.replace("git.example.org", "other.example.org"));
    assert!(matches!(Forge::new(&ctx).is_archived(&it.place_of("gh@github.com:a/b")), Asked::NoForge(_)));
}

#[test]
fn a_file_that_cannot_be_used_makes_the_answer_unknown() {
    let it = Forged::new();
    let file = it.world.home().join(".config/scruff/adapters/forge/github.toml");
    it.world.file(&file, "hosts = [\"github.com\"]\nlits = []\n");
    let ctx = it.ctx();
    let why = unknown(Forge::new(&ctx).of_branch(&it.place(), "fix"));
    assert!(why.contains("github.toml") && why.contains("lits"), "{why}");
    assert!(it.calls().is_empty());
}

#[test]
fn an_archived_repository_is_known() {
    let it = Forged::new();
    let place = it.place();
    let ctx = it.ctx();
    it.answers("repo-view", json!({"isArchived": true}));
    assert!(known(Forge::new(&ctx).is_archived(&place)));
    assert_eq!(it.calls(), ["[repo][view][acme/shop][--json][isArchived]"]);
}

#[test]
fn a_pull_request_is_opened_from_the_main_checkout() {
    let it = Forged::new();
    let place = it.place();
    it.does("printf 'in %s %s\\n' \"$(pwd -P)\" \"${GIT_DIR-none}\" >>\"$here/calls\"");
    it.world.file("gh/pr-create.json", "\nhttps://github.com/acme/shop/pull/9\n\n");
    let mut ctx = it.ctx();
    ctx.env.set("GIT_DIR", "/elsewhere");
    let url = Forge::new(&ctx).open_pr(&place, "fix", "main").unwrap();
    assert_eq!(url, "https://github.com/acme/shop/pull/9");
    let calls = it.calls();
    assert_eq!(calls[0], "[pr][create][--repo][acme/shop][--head][fix][--base][main][--fill]");
    assert_eq!(calls[1], format!("in {} none", place.main.display()));
    it.does("echo 'a pull request for branch \"fix\" already exists' >&2; exit 1");
    let error = Forge::new(&ctx).open_pr(&place, "fix", "main").unwrap_err();
    assert!(error.message().contains("already exists"), "{error}");
    assert!(error.hints().concat().contains("fix is pushed"), "{error:?}");
}
