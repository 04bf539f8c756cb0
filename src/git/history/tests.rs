//! Both ways of asking, held against each other and against what was done.
#![allow(clippy::disallowed_methods, reason = "tests write files as they please")]

use std::path::{Path, PathBuf};

use super::*;
use crate::git::testing::{World, write};

fn step(from: &Oid, to: &Oid) -> Step {
    Step { from: from.clone(), to: to.clone() }
}

/// The repository by libgit2 and by git.
fn both(world: &World, dir: &Path) -> [Repo; 2] {
    let repo = world.found(dir);
    let by_git = repo.by_git();
    [repo, by_git]
}

/// Commits whatever is in the working tree.
fn commit_all(world: &World, dir: &Path, message: &str) -> Oid {
    world.git(dir, &["add", "-A"]);
    world.git(dir, &["commit", "-q", "--allow-empty", "-m", message]);
    world.oid(dir, "HEAD")
}

#[test]
fn a_range_is_what_one_has_and_the_others_have_not() {
    let world = World::new();
    let dir = world.repo("r");
    let root = world.oid(&dir, "HEAD");
    world.git(&dir, &["checkout", "-q", "-b", "lane"]);
    let one = world.commit(&dir, "a", "1\n");
    let two = commit_all(&world, &dir, &format!("Two\n\nThis reverts commit {one}.\n\ncommit {root}\n"));
    world.git(&dir, &["checkout", "-q", "main"]);
    let main = world.commit(&dir, "b", "1\n");
    world.git(&dir, &["merge", "-q", "--no-ff", "-m", "merge", "lane"]);
    let merge = world.oid(&dir, "HEAD");
    for repo in both(&world, &dir) {
        let range = repo.only_in(&two, &[&main], 2).unwrap().unwrap();
        assert_eq!(
            range[0],
            Commit { oid: two.clone(), parents: vec![one.clone()], reverts: vec![one.to_string()] }
        );
        assert_eq!(range[1], Commit { oid: one.clone(), parents: vec![root.clone()], reverts: vec![] });
        assert_eq!(range.len(), 2);
        assert_eq!(repo.only_in(&two, &[&main], 1).unwrap(), None, "more than one");
        assert_eq!(repo.only_in(&two, &[&merge], 0).unwrap(), Some(vec![]));
        let merged = repo.only_in(&merge, &[&two, &main], 9).unwrap().unwrap();
        assert_eq!((merged.len(), merged[0].step()), (1, None));
        assert!(repo.is_held(&two, &merge).unwrap() && repo.is_held(&two, &two).unwrap());
        assert!(!repo.is_held(&two, &main).unwrap());
        let nowhere = Oid::parse(&"e".repeat(40)).unwrap();
        assert!(repo.knows(&two).unwrap() && !repo.knows(&nowhere).unwrap());
        assert!(repo.only_in(&nowhere, &[&main], 9).is_err() && repo.is_held(&nowhere, &main).is_err());
    }
}

#[test]
fn replacements_and_grafts_are_not_believed() {
    let world = World::new();
    let dir = world.repo("r");
    let root = world.oid(&dir, "HEAD");
    world.git(&dir, &["checkout", "-q", "-b", "lane"]);
    let lane = world.commit(&dir, "a", "1\n");
    world.git(&dir, &["checkout", "-q", "main"]);
    let main = world.commit(&dir, "b", "1\n");
    world.git(&dir, &["replace", "--graft", main.as_str(), root.as_str(), lane.as_str()]);
    let grafts = format!("{main} {root} {lane}\n");
    assert!(world.git_status(&["-C", dir.to_str().unwrap(), "merge-base", "--is-ancestor", "lane", "main"]));
    write(&dir.join(".git/info/grafts"), grafts);
    let repo = world.found(&dir).by_git();
    assert!(!repo.is_held(&lane, &main).unwrap());
    assert_eq!(repo.only_in(&lane, &[&main], 9).unwrap().unwrap().len(), 1);
}

/// Writes a file.
type Do<'a> = &'a dyn Fn(&Path);

/// A file before and after.
type Edit<'a> = (&'a str, Do<'a>, Do<'a>);

/// Makes the edit twice, on two bases that differ elsewhere, and says both patches.
fn twice(edit: Edit<'_>, other: Do<'_>) -> [Vec<Option<Patch>>; 2] {
    let (file, before, after) = edit;
    let world = World::new();
    let dir = world.repo("r");
    let place = dir.join(file);
    before(&place);
    let base = commit_all(&world, &dir, "base");
    after(&place);
    let one = commit_all(&world, &dir, "one");
    world.git(&dir, &["checkout", "-q", "-b", "other", base.as_str()]);
    write(&dir.join("unrelated"), "x\n");
    other(&place);
    let moved = commit_all(&world, &dir, "moved");
    after(&place);
    let two = commit_all(&world, &dir, "two");
    both(&world, &dir).map(|repo| {
        let steps = [step(&base, &one), step(&moved, &two)];
        let touched = repo.touched(&steps).unwrap();
        let mut patches = repo.patches(&steps).unwrap();
        if touched[0] != touched[1] {
            patches[1] = None;
        }
        patches
    })
}

fn lines(text: &'static str) -> impl Fn(&Path) {
    move |path| write(path, text)
}

fn nothing(_: &Path) {}

fn mode(mode: u32) -> impl Fn(&Path) {
    move |path| std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap()
}

fn all(steps: &'static [&'static dyn Fn(&Path)]) -> impl Fn(&Path) {
    move |path| steps.iter().for_each(|step| step(path))
}

#[test]
fn the_same_change_on_another_base_is_the_same_patch() {
    let link: &dyn Fn(&Path) = &|path| {
        let _ = std::fs::remove_file(path);
        std::os::unix::fs::symlink("target", path).unwrap();
    };
    let gone: &dyn Fn(&Path) = &|path| std::fs::remove_file(path).unwrap();
    let more_above: &dyn Fn(&Path) = &|path| {
        let text = std::fs::read_to_string(path).unwrap();
        write(path, format!("0\n00\n000\n0000\n{text}"));
    };
    let with_more: &dyn Fn(&Path) = &|path| {
        let text = std::fs::read_to_string(path).unwrap();
        write(path, text.replace("e\n", "E\n"));
    };
    let cases: [(Edit<'_>, Do<'_>); 7] = [
        (("f", &lines("a\nb\nc\nd\ne\nf\n"), with_more), more_above),
        (("new \"\u{e9}\\\t name", &nothing, &lines("a")), &nothing),
        (("empty", &nothing, &lines("")), &nothing),
        (("gone", &lines("a\n"), gone), &nothing),
        (("link", &lines("a\n"), link), &nothing),
        (("mode", &lines("a\n"), &mode(0o755)), &nothing),
        (("binary", &lines("a\0b"), &lines("a\0c\n\0")), &nothing),
    ];
    for (edit, other) in cases {
        for patches in twice(edit, other) {
            assert!(patches[0].is_some() && patches[0] == patches[1], "{}: {patches:?}", edit.0);
        }
    }
}

#[test]
fn what_differs_in_a_byte_or_a_mode_is_another_patch() {
    let base = "a\nb\nc\n";
    let edits: [(Do<'_>, Do<'_>); 8] = [
        (&lines("a\nb\nc\nd\n"), &lines("a\nb\nc\nd \n")),
        (&lines("a\nb\nc\nd\n"), &lines("a\nb\nc\nd")),
        (&lines("a\nb\nc\nd\n"), &lines("a\nb\nc\nd\r\n")),
        (&lines("a\n\tb\nc\n"), &lines("a\n    b\nc\n")),
        (&lines("x\0y"), &lines("x\0z")),
        (&mode(0o755), &all(&[&mode_755_and_more])),
        (&lines("b\n"), &lines("c\n")),
        (&lines("d\na\nb\nc\n"), &lines("a\nb\nc\nd\n")),
    ];
    for (index, (one, other)) in edits.into_iter().enumerate() {
        let world = World::new();
        let dir = world.repo("r");
        let made = |how: &dyn Fn(&Path), from: &str| {
            world.git(&dir, &["checkout", "-q", "--detach", from]);
            how(&dir.join("f"));
            commit_all(&world, &dir, "x")
        };
        let base = made(&lines(base), "main");
        let (one, other) = (made(one, base.as_str()), made(other, base.as_str()));
        for repo in both(&world, &dir) {
            let steps = [step(&base, &one), step(&base, &other)];
            let (patches, touched) = (repo.patches(&steps).unwrap(), repo.touched(&steps).unwrap());
            assert!(touched[0] != touched[1] || patches[0] != patches[1], "{index}");
            assert_eq!(repo.patches(&steps[..1]).unwrap()[0], patches[0], "{index}");
        }
    }
}

fn mode_755_and_more(path: &Path) {
    mode(0o755)(path);
    write(path, "a\nb\nc\nd\n");
}

#[test]
fn an_executable_s_change_is_not_a_plain_file_s() {
    let world = World::new();
    let dir = world.repo("r");
    let place = dir.join("f");
    write(&place, "a\n");
    let plain = commit_all(&world, &dir, "plain");
    write(&place, "b\n");
    let one = commit_all(&world, &dir, "one");
    world.git(&dir, &["checkout", "-q", "--detach", plain.as_str()]);
    mode(0o755)(&place);
    let executable = commit_all(&world, &dir, "executable");
    write(&place, "b\n");
    let two = commit_all(&world, &dir, "two");
    let steps = [step(&plain, &one), step(&executable, &two)];
    for repo in both(&world, &dir) {
        let touched = repo.touched(&steps).unwrap();
        assert_ne!(touched[0], touched[1]);
        let patches = repo.patches(&steps).unwrap();
        assert_ne!(patches[0], patches[1]);
    }
}

#[test]
fn configuration_and_attributes_do_not_change_what_is_compared() {
    let world = World::new();
    let dir = world.repo("r");
    let base = commit_all(&world, &dir, "base");
    write(&dir.join("a.txt"), "one\n\n  two\n");
    let one = commit_all(&world, &dir, "one");
    let steps = [step(&base, &one), step(&one, &base)];
    let plain = world.found(&dir).patches(&steps).unwrap();
    assert_ne!(plain[0], plain[1]);
    for (key, value) in [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.external", "false"),
        ("diff.context", "9"),
        ("diff.algorithm", "patience"),
        ("diff.ignoreSubmodules", "all"),
        ("diff.renames", "copies"),
        ("diff.orderFile", "/dev/null"),
        ("color.ui", "always"),
        ("color.diff", "always"),
        ("core.quotePath", "false"),
        ("diff.txt.textconv", "false"),
        ("diff.txt.command", "false"),
        ("log.showSignature", "true"),
        ("i18n.logOutputEncoding", "UTF-16"),
    ] {
        world.git(&dir, &["config", key, value]);
    }
    write(&dir.join(".gitattributes"), "*.txt diff=txt\n");
    assert_eq!(world.found(&dir).patches(&steps).unwrap(), plain);
    assert_eq!(world.found(&dir).only_in(&one, &[&base], 9).unwrap().unwrap().len(), 1);
    assert_eq!(world.found(&dir).by_git().only_in(&one, &[&base], 9).unwrap().unwrap().len(), 1);
}

#[test]
fn a_moved_submodule_is_a_change() {
    let world = World::new();
    let (dir, other) = (world.repo("r"), world.repo("other"));
    world.git(&dir, &["submodule", "--quiet", "add", other.to_str().unwrap(), "sub"]);
    world.git(&dir, &["config", "-f", ".gitmodules", "submodule.sub.ignore", "all"]);
    let base = commit_all(&world, &dir, "base");
    world.commit(&dir.join("sub"), "x", "1\n");
    world.git(&dir, &["add", "-f", "sub"]);
    world.git(&dir, &["-c", "submodule.sub.ignore=none", "commit", "-q", "-m", "move"]);
    let moved = world.oid(&dir, "HEAD");
    assert_ne!(base, moved);
    for repo in both(&world, &dir) {
        let steps = [step(&base, &moved)];
        assert!(!repo.touched(&steps).unwrap()[0].is_nothing());
        let back = repo.patches(&[step(&base, &base), steps[0].clone()]).unwrap();
        assert_ne!(back[0], back[1]);
    }
}

#[test]
fn nothing_is_nothing_and_many_are_answered_in_order() {
    let world = World::new();
    let dir = world.repo("r");
    let mut commits = vec![world.oid(&dir, "HEAD")];
    for n in 0..5 {
        commits.push(world.commit(&dir, "f", &format!("{n}\n\0\n\0{}\n", "0".repeat(40))));
    }
    commits.push(commit_all(&world, &dir, "empty"));
    for repo in both(&world, &dir) {
        let steps: Vec<Step> = commits.windows(2).map(|pair| step(&pair[0], &pair[1])).collect();
        let touched = repo.touched(&steps).unwrap();
        assert!(touched[5].is_nothing() && !touched[0].is_nothing() && touched[1] == touched[2]);
        let patches = repo.patches(&steps).unwrap();
        let each: Vec<Option<Patch>> =
            steps.iter().map(|step| repo.patches(std::slice::from_ref(step)).unwrap()[0]).collect();
        assert_eq!(patches, each);
        assert_eq!((repo.touched(&[]).unwrap(), repo.patches(&[]).unwrap()), (vec![], vec![]));
    }
}

struct Forked {
    world: World,
    dir: PathBuf,
}

impl Forked {
    /// `main` and `lane` with a common base; what each writes, file by file.
    fn new(main: &[(&str, &str)], lane: &[(&str, &str)]) -> Self {
        let world = World::new();
        let dir = world.repo("it's \"r\": \\");
        let base = [("f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n"), ("g", "g\n")];
        for (file, text) in base {
            world.commit(&dir, file, text);
        }
        world.git(&dir, &["checkout", "-q", "-b", "lane"]);
        for (file, text) in lane {
            world.commit(&dir, file, text);
        }
        world.git(&dir, &["checkout", "-q", "main"]);
        for (file, text) in main {
            world.commit(&dir, file, text);
        }
        Forked { world, dir }
    }

    fn merged(&self) -> Merged {
        let (main, lane) = (self.world.oid(&self.dir, "main"), self.world.oid(&self.dir, "lane"));
        let count = || self.world.git(&self.dir, &["count-objects"]);
        let before = count();
        let [lib, git] = both(&self.world, &self.dir).map(|repo| repo.merged(&main, &lane).unwrap());
        assert_eq!(lib, git);
        assert_eq!(before, count(), "a question writes nothing");
        git
    }
}

#[test]
fn a_merge_in_memory_says_what_it_would_come_to() {
    let lane = [("f", "1\n2\nlane\n4\n5\n6\n7\n8\n9\n"), ("g", "lane\n")];
    assert_eq!(Forked::new(&[], &lane).merged(), Merged::Changes);
    assert_eq!(Forked::new(&lane, &lane).merged(), Merged::Same);
    assert_eq!(Forked::new(&[("h", "h\n")], &lane).merged(), Merged::Changes);
    let also = [("f", "1\n2\nlane\n4\n5\n6\n7\n8\nmain\n"), ("g", "lane\n")];
    assert_eq!(Forked::new(&also, &lane).merged(), Merged::Same);
    let conflict = ("f", "1\n2\nmain\n4\n5\n6\n7\n8\n9\n");
    assert_eq!(Forked::new(&[conflict], &lane).merged(), Merged::Conflicts { beyond: true });
    assert_eq!(Forked::new(&[conflict, lane[1]], &lane).merged(), Merged::Conflicts { beyond: false });
}
