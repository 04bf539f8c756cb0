//! Setting uncommitted work aside as a commit on its branch, and taking it back.
//!
//! Made of git's small tools, not of `git commit`: no hook can change the message or refuse, and
//! nothing that is under way is concluded. git's stash is never touched: all checkouts share it.

use std::path::Path;

use super::checkout::Checkout;
use super::command::{ask, line, run, waiting};
use super::operation::operation;
use super::shadow::{Marks, Shadow};
use super::status::{self, Change, Dirt};
use super::{Oid, Repo, admin, submodule};
use crate::ctx::Ctx;
use crate::env::Env;
use crate::error::{Error, Result};
use crate::proc::Cmd;

/// How the subject of such a commit begins.
pub const MARK: &str = "wip:";

/// Where what was staged is kept, by the name of the `wip:` commit: a file may be staged one way
/// and lie there another.
pub const STAGED: &str = "refs/scruff/staged/";

/// What a branch's log says of a move that setting work aside, or taking it back, made.
const MOVED: &str = "scruff: wip";

/// A label is cut here, in characters.
const MAX_LABEL: usize = 200;

/// Work that was set aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The `wip:` commit.
    pub oid: Oid,
    /// The branch it is on.
    pub branch: String,
    /// How many paths it holds.
    pub files: usize,
}

/// Work that was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Back {
    /// What the `wip:` commit was.
    pub oid: Oid,
    /// Its label.
    pub label: String,
    /// How many paths came back.
    pub files: usize,
}

/// Sets everything aside that is not committed, tracked or not, deletions too, ignored files not.
/// `None`: there is nothing. Refuses on a detached HEAD, in the middle of an operation, and where
/// a commit cannot hold what is there. What submodules have committed and not pushed is not its
/// business: whoever removes the checkout asks [`submodule::work`].
pub fn save(ctx: &Ctx, repo: &Repo, place: &Path, label: &str) -> Result<Option<Saved>> {
    let checkout = Checkout::at(ctx, place)?;
    if !admin::same(&admin::common_of(&checkout.git_dir), repo.common()) {
        return Err(Error::refused(checkout.what("another repository is checked out")));
    }
    refuse_busy(ctx, &checkout)?;
    let branch = branch_of(&checkout)?;
    let changes = changes(ctx, &checkout)?;
    if changes.is_empty() {
        return Ok(None);
    }
    refuse_unholdable(ctx, &checkout, &changes)?;
    let head = Head::of(&checkout)?;
    let staged = tree_of(&checkout, checkout.read()?)?;
    let shadow = Shadow::new(&checkout)?;
    stage_all(&checkout, &shadow)?;
    let tree = tree_of(&checkout, shadow.used_by(checkout.read()?))?;
    let files = changes.len();
    if let Some(oid) = interrupted(&checkout, &head, &staged, &tree)? {
        settle(&checkout)?;
        return Ok(Some(Saved { oid, branch, files }));
    }
    if head.tree.as_ref() == Some(&tree) && staged == tree {
        return Ok(None);
    }
    let parents: Vec<&Oid> = head.oid.iter().collect();
    let oid = commit(ctx, &checkout, &tree, &parents, &subject(label))?;
    let index = if head.tree.as_ref() == Some(&staged) || staged == tree {
        None
    } else {
        Some(commit(ctx, &checkout, &staged, &parents, &format!("staged with {oid}"))?)
    };
    ctx.step("wip made");
    index.iter().try_for_each(|index| keep_staged(&checkout, &oid, index))?;
    move_branch(&checkout, &branch, &oid, head.oid.as_ref()).inspect_err(|_| {
        let _ = index.as_ref().map(|index| drop_staged(&checkout, &oid, index));
    })?;
    ctx.step("wip on its branch");
    settle(&checkout)?;
    Ok(Some(Saved { oid, branch, files }))
}

/// The newest commit of a checkout if it is a `wip:` commit, and its label.
pub fn newest(ctx: &Ctx, place: &Path) -> Result<Option<(Oid, String)>> {
    let head = Head::of(&Checkout::at(ctx, place)?)?;
    Ok(head.oid.zip(label_of(&head.subject)))
}

/// Takes the newest `wip:` commit back: its changes are uncommitted again, new files untracked or
/// staged as they were. Nothing in the working tree is written.
pub fn take_back(ctx: &Ctx, place: &Path) -> Result<Back> {
    let checkout = Checkout::at(ctx, place)?;
    refuse_busy(ctx, &checkout)?;
    let branch = branch_of(&checkout)?;
    let head = Head::of(&checkout)?;
    if let Some(back) = finish_taking_back(&checkout, &branch, head.oid.as_ref())? {
        return Ok(back);
    }
    let (oid, label, parent) = head.wip()?;
    refuse_pushed(&checkout, &oid)?;
    refuse_lossy(&changes(ctx, &checkout)?)?;
    let files = count(&checkout, &oid)?;
    let staged = oid_of(&checkout, &format!("{STAGED}{oid}"))?;
    move_branch(&checkout, &branch, &parent, Some(&oid))?;
    ctx.step("wip off its branch");
    settle(&checkout)?;
    if let Some(staged) = staged {
        stage(&checkout, &oid, &staged)?;
    }
    Ok(Back { oid, label, files })
}

fn stage(checkout: &Checkout<'_>, wip: &Oid, staged: &Oid) -> Result<()> {
    let cmd = checkout.acting()?.args(["reset", "--quiet", staged.as_str(), "--", "."]);
    run(&cmd, || checkout.what("git cannot stage what was staged"))?;
    drop_staged(checkout, wip, staged)
}

/// A taking back that was killed after the branch had moved: the branch's last move says so, and
/// what was staged still waits under its own reference.
fn finish_taking_back(checkout: &Checkout<'_>, branch: &str, head: Option<&Oid>) -> Result<Option<Back>> {
    let Some(head) = head else { return Ok(None) };
    let args = ["log", "-g", "-2", "--format=%H %gs", &format!("refs/heads/{branch}"), "--"];
    let Some(log) = ask(&checkout.read()?.args(args), || checkout.what("git cannot read the branch's log"))?
    else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&log.stdout);
    let mut moves = text.lines().filter_map(|line| line.split_once(' '));
    let (Some((now, MOVED)), Some((before, _))) = (moves.next(), moves.next()) else { return Ok(None) };
    let Some(oid) = Oid::parse(before).filter(|_| now == head.as_str()) else { return Ok(None) };
    let Some(staged) = oid_of(checkout, &format!("{STAGED}{oid}"))? else { return Ok(None) };
    if oid_of(checkout, &format!("{oid}^"))?.as_ref() != Some(head) {
        return Ok(None);
    }
    let files = count(checkout, &oid)?;
    settle(checkout)?;
    stage(checkout, &oid, &staged)?;
    Ok(Some(Back { oid, label: "what was being taken back".to_owned(), files }))
}

fn branch_of(checkout: &Checkout<'_>) -> Result<String> {
    let cmd = checkout.read()?.args(["symbolic-ref", "--quiet", "HEAD"]);
    let full = ask(&cmd, || checkout.what("git cannot tell the branch"))?.map(|output| line(&output));
    let branch = full.as_deref().and_then(|full| full.strip_prefix("refs/heads/")).map(str::to_owned);
    branch.ok_or_else(|| {
        Error::refused(format!("{} is on no branch", checkout.root.display()))
            .hint("make one first: git switch -c <name>")
    })
}

fn refuse_busy(ctx: &Ctx, checkout: &Checkout<'_>) -> Result<()> {
    let lock = checkout.git_dir.join("index.lock");
    if lock.exists() {
        return Err(Error::refused(checkout.what("another git is at work, or was killed"))
            .hint(format!("if none is running, remove {}", lock.display())));
    }
    match operation(ctx, &checkout.git_dir) {
        None => Ok(()),
        Some(operation) => Err(Error::refused(checkout.what(&format!("{operation} is under way")))
            .hint("conclude it or abort it first")),
    }
}

fn changes(ctx: &Ctx, checkout: &Checkout<'_>) -> Result<Vec<Change>> {
    match status::of(ctx, &checkout.root) {
        Dirt::Clean => Ok(Vec::new()),
        Dirt::Dirty(changes) => Ok(changes),
        Dirt::Unknown(why) => Err(Error::refused(why)),
    }
}

/// A conflict in a commit would look resolved; a repository inside, and what is uncommitted in a
/// submodule, would be left out of it.
fn refuse_unholdable(ctx: &Ctx, checkout: &Checkout<'_>, changes: &[Change]) -> Result<()> {
    let named = |paths: Vec<String>, what: &str, hint: &str| {
        let error = || Error::refused(format!("{what}: {}", paths.join(", "))).hint(hint);
        if paths.is_empty() { Ok(()) } else { Err(error()) }
    };
    let those = |pick: fn(&Change) -> bool| {
        changes.iter().filter(|change| pick(change)).map(|change| change.path.display().to_string()).collect()
    };
    named(those(Change::is_unmerged), "conflicts are not resolved", "resolve them, then `git add` each")?;
    named(
        those(Change::is_repository),
        "a commit cannot hold a repository of its own",
        "move it elsewhere, or have git ignore it",
    )?;
    let mut dirty = Vec::new();
    for path in submodule::present(ctx, &checkout.root)? {
        if status::of(ctx, &checkout.root.join(&path)) != Dirt::Clean {
            dirty.push(path.display().to_string());
        }
    }
    named(dirty, "a submodule has uncommitted work", "commit it inside the submodule and push it")
}

/// What a mixed reset would overwrite: a file that is staged one way and lies there another.
fn refuse_lossy(changes: &[Change]) -> Result<()> {
    let lossy = |change: &&Change| !change.is_untracked() && change.code.iter().all(|letter| *letter != b' ');
    match changes.iter().find(lossy) {
        None => Ok(()),
        Some(change) => {
            let path = change.path.display();
            Err(Error::refused(format!("{path} is staged one way and lies there another"))
                .hint("commit or unstage it first"))
        }
    }
}

fn refuse_pushed(checkout: &Checkout<'_>, oid: &Oid) -> Result<()> {
    let args =
        ["for-each-ref", "--count=1", "--format=%(refname)", "--contains", oid.as_str(), "refs/remotes/"];
    let output = run(&checkout.read()?.args(args), || checkout.what("git cannot tell what is pushed"))?;
    match line(&output).as_str() {
        "" => Ok(()),
        full => {
            Err(Error::refused(format!("the wip: commit {} is on a remote already ({full})", oid.short()))
                .hint("undo it with a commit of its own: git revert"))
        }
    }
}

/// Where a checkout is.
struct Head {
    oid: Option<Oid>,
    tree: Option<Oid>,
    parents: Vec<Oid>,
    subject: String,
}

impl Head {
    fn of(checkout: &Checkout<'_>) -> Result<Self> {
        let Some(oid) = oid_of(checkout, "HEAD")? else {
            return Ok(Head { oid: None, tree: None, parents: Vec::new(), subject: String::new() });
        };
        let args = ["show", "-s", "--no-show-signature", "--format=%T%x00%P%x00%s", oid.as_str(), "--"];
        let output =
            run(&checkout.read()?.args(args), || checkout.what("git cannot read the newest commit"))?;
        let text = line(&output);
        let mut parts = text.splitn(3, '\0');
        let mut next = || parts.next().unwrap_or_default();
        let tree = Oid::parse(next());
        let parents = next().split(' ').filter_map(Oid::parse).collect();
        Ok(Head { oid: Some(oid), tree, parents, subject: next().to_owned() })
    }

    /// The commit, its label and its parent, if it can be taken back.
    fn wip(&self) -> Result<(Oid, String, Oid)> {
        let refused = |why: &str| Error::refused(format!("there is nothing to take back: {why}"));
        let Some(oid) = &self.oid else { return Err(refused("there is no commit")) };
        let Some(label) = label_of(&self.subject) else {
            return Err(refused(&format!("the newest commit is no wip: commit but {:?}", self.subject)));
        };
        match self.parents.as_slice() {
            [parent] => Ok((oid.clone(), label, parent.clone())),
            [] => Err(refused("the wip: commit is the first of its branch")),
            _ => Err(refused("the wip: commit is a merge")),
        }
    }
}

fn label_of(subject: &str) -> Option<String> {
    subject.strip_prefix(MARK).map(|label| label.trim().to_owned())
}

fn subject(label: &str) -> String {
    let words: String = label.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let label: String = words.chars().take(MAX_LABEL).collect();
    let label = if label.is_empty() { "set aside" } else { label.as_str() };
    format!("{MARK} {label}")
}

fn oid_of(checkout: &Checkout<'_>, name: &str) -> Result<Option<Oid>> {
    let what = || checkout.what(&format!("git cannot read {name}"));
    let output = ask(&checkout.read()?.args(["rev-parse", "--verify", "--quiet", name]), what)?;
    let Some(output) = output else { return Ok(None) };
    Oid::parse(&line(&output)).map(Some).ok_or_else(|| Error::failed(what()))
}

fn tree_of(checkout: &Checkout<'_>, cmd: Cmd) -> Result<Oid> {
    let what = || checkout.what("git cannot write the tree of the index");
    let output = run(&cmd.args(["-c", "core.fsync=all", "write-tree"]), what)?;
    Oid::parse(&line(&output)).ok_or_else(|| Error::failed(what()))
}

/// Stages everything in the copy of the index. What must survive a power cut is flushed: the
/// checkout may go right after.
fn stage_all(checkout: &Checkout<'_>, shadow: &Shadow) -> Result<()> {
    let cmd = shadow.used_by(checkout.seeing_all(checkout.acting()?));
    let cmd = cmd.args(["-c", "core.fsync=all", "-c", "core.safecrlf=false", "-c", "add.ignoreErrors=false"]);
    let cmd = cmd.args(["add", "--all"]);
    let sparse = checkout.git_dir.join("info/sparse-checkout").is_file();
    let cmd = if sparse { cmd.arg("--sparse") } else { cmd };
    run(&cmd.args(["--", "."]), || checkout.what("git cannot stage everything")).map(drop)
}

/// A commit without hooks and without a signature.
fn commit(ctx: &Ctx, checkout: &Checkout<'_>, tree: &Oid, parents: &[&Oid], subject: &str) -> Result<Oid> {
    let what = || checkout.what("git cannot make the wip: commit");
    let cmd = checkout.acting()?.args(["-c", "core.fsync=all", "-c", "i18n.commitEncoding=UTF-8"]);
    let cmd = cmd.args(["commit-tree", tree.as_str()]);
    let cmd = parents.iter().fold(cmd, |cmd, parent| cmd.arg("-p").arg(parent.as_str()));
    let cmd = cmd.args(["-F", "-"]).input(format!("{subject}\n"));
    let cmd = if has_identity(checkout)? { cmd } else { with_identity(ctx, checkout, cmd)? };
    Oid::parse(&line(&run(&cmd, what)?)).ok_or_else(|| Error::failed(what()))
}

fn has_identity(checkout: &Checkout<'_>) -> Result<bool> {
    for variable in ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"] {
        if !checkout.read()?.args(["var", variable]).run().is_ok_and(|output| output.ok()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What is set of name and mail stays; the rest is scruff's.
fn with_identity(ctx: &Ctx, checkout: &Checkout<'_>, cmd: Cmd) -> Result<Cmd> {
    let config = |key: &str| -> Result<Option<String>> {
        let cmd = checkout.read()?.args(["config", "--get", key]);
        Ok(ask(&cmd, || checkout.what("git cannot read its configuration"))?.map(|output| line(&output)))
    };
    let given = |env: &Env, name: &str| env.text(name).map(str::to_owned);
    let mut cmd = cmd;
    for (key, end, fallback) in [("user.name", "NAME", "scruff"), ("user.email", "EMAIL", "scruff@localhost")]
    {
        let set = config(key)?.filter(|value| !value.trim().is_empty());
        for role in ["AUTHOR", "COMMITTER"] {
            let name = format!("GIT_{role}_{end}");
            let value = given(&ctx.env, &name).or_else(|| set.clone());
            cmd = cmd.env(name, value.unwrap_or_else(|| fallback.to_owned()));
        }
    }
    Ok(cmd)
}

/// Moves the branch from exactly `old`.
fn move_branch(checkout: &Checkout<'_>, branch: &str, new: &Oid, old: Option<&Oid>) -> Result<()> {
    let full = format!("refs/heads/{branch}");
    let old = old.map_or("", Oid::as_str);
    let cmd = waiting(checkout.acting()?).args(["-c", "core.fsync=all", "update-ref", "--no-deref"]);
    let cmd = cmd.args(["-m", MOVED, &full, new.as_str(), old]);
    run(&cmd, || checkout.what(&format!("git cannot move {branch}"))).map(drop)
}

fn keep_staged(checkout: &Checkout<'_>, wip: &Oid, index: &Oid) -> Result<()> {
    let cmd = waiting(checkout.acting()?).args(["-c", "core.fsync=all", "update-ref", "--no-deref"]);
    let cmd = cmd.args([&format!("{STAGED}{wip}"), index.as_str(), ""]);
    run(&cmd, || checkout.what("git cannot keep what is staged")).map(drop)
}

fn drop_staged(checkout: &Checkout<'_>, wip: &Oid, index: &Oid) -> Result<()> {
    let cmd = waiting(checkout.acting()?).args(["update-ref", "--no-deref", "-d"]);
    let cmd = cmd.args([&format!("{STAGED}{wip}"), index.as_str()]);
    run(&cmd, || checkout.what("git cannot let go what was staged")).map(drop)
}

/// Brings the index to where the branch is now, and marks again what was marked not to be looked
/// at. The working tree is not touched.
fn settle(checkout: &Checkout<'_>) -> Result<()> {
    let marks = Marks::of(checkout)?;
    let cmd = checkout.acting()?.args(["reset", "--quiet", "--mixed"]);
    run(&cmd, || checkout.what("git cannot bring the index to its branch"))?;
    marks.set_again(checkout)
}

/// A save that was killed after the branch had moved: everything is in the `wip:` commit, and the
/// index is still where it was. Nothing more is to be committed.
fn interrupted(checkout: &Checkout<'_>, head: &Head, staged: &Oid, tree: &Oid) -> Result<Option<Oid>> {
    let Ok((oid, _, parent)) = head.wip() else { return Ok(None) };
    if head.tree.as_ref() != Some(tree) {
        return Ok(None);
    }
    let kept = oid_of(checkout, &format!("{STAGED}{oid}"))?;
    let before = oid_of(checkout, &format!("{}^{{tree}}", kept.as_ref().unwrap_or(&parent)))?;
    Ok((before.as_ref() == Some(staged)).then_some(oid))
}

fn count(checkout: &Checkout<'_>, oid: &Oid) -> Result<usize> {
    let args = ["diff-tree", "--no-commit-id", "--name-only", "--no-renames", "-r", "-z", oid.as_str(), "--"];
    let output = run(&checkout.read()?.args(args), || checkout.what("git cannot list what was set aside"))?;
    Ok(output.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty()).count())
}
