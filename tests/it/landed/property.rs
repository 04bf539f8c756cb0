//! Random histories in which the lane holds one line that no commit reachable from main or its
//! remote ever added: whatever else happened, that lane has not landed.

use super::{Lane, write};
use scruff::forge::Asked;
use scruff::landed::Verdict;
use std::path::Path;

/// A small generator: a seed is a history, on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.roll(list.len() as u64) as usize]
    }
}

const FILES: [&str; 4] = ["list", "other", "dir/deep", "new"];
const LINES: [&str; 6] = ["red", "green ", "\tblue", "red ", "", "yellow"];

/// What only the lane holds.
const SECRET: &str = "the line that only the lane holds";

/// What is nearly it.
const NEARLY: [&str; 5] = [
    "the line that only the lane holds ",
    " the line that only the lane holds",
    "the line that only the lane  holds",
    "The line that only the lane holds",
    "the line that only the lane holds\r",
];

struct History {
    lane: Lane,
    dice: Dice,
    done: Vec<String>,
}

impl History {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let lane = if dice.roll(3) == 0 { Lane::new() } else { Lane::with_origin() };
        Self { lane, dice, done: Vec::new() }
    }

    fn main(&self) -> &Path {
        self.lane.repo.path()
    }

    /// Tries git in a checkout; where it conflicts, the attempt is taken back.
    fn attempt(&mut self, place: &Path, line: &str, abort: &str) {
        let ran = self.lane.repo.try_git(place, line.split(' '));
        self.done.push(format!("{} git {line}: {}", place.file_name().unwrap().display(), ran.code()));
        if ran.code() != 0 {
            self.lane.repo.try_git(place, abort.split(' '));
            self.lane.repo.try_git(place, ["reset", "-q", "--hard"]);
        }
    }

    fn commit(&mut self, place: &Path, message: &str) {
        self.lane.repo.git_in(place, ["add", "-A"]);
        self.attempt(place, &format!("commit -q -m {message}"), "status");
    }

    /// Puts a line somewhere into a file, or takes one out.
    fn edit(&mut self, place: &Path, line: &str) {
        let path = place.join(self.dice.pick(&FILES));
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let mut lines: Vec<&str> = text.split('\n').collect();
        let at = self.dice.roll(lines.len() as u64) as usize;
        if self.dice.roll(4) == 0 && lines[at] != SECRET {
            lines.remove(at);
        }
        lines.insert(at.min(lines.len()), line);
        write(&path, lines.join("\n"));
        self.done.push(format!("edit {} at {at}: {line:?}", path.display()));
    }

    /// Something that does not put the secret on main.
    fn step(&mut self) {
        let (main, lane) = (self.main().to_owned(), self.lane.path.clone());
        let line = *self.dice.pick(&LINES);
        match self.dice.roll(11) {
            0 | 1 => {
                self.edit(&main, line);
                self.commit(&main, "main");
            }
            2 | 3 => {
                self.edit(&lane, line);
                self.commit(&lane, "lane");
            }
            4 => self.attempt(&lane, "merge -q --no-edit main", "merge --abort"),
            5 => self.attempt(&lane, "rebase -q main", "rebase --abort"),
            6 => self.attempt(&main, "revert --no-edit HEAD", "revert --abort"),
            7 => self.attempt(&lane, "commit -q --allow-empty -m empty", "status"),
            8 => self.attempt(&main, "push -q --force origin main", "status"),
            9 => {
                let file = *self.dice.pick(&FILES);
                self.lane.repo.try_git(&lane, ["update-index", "--chmod=+x", file]);
                self.attempt(&lane, "commit -q -m mode", "status");
            }
            _ => self.land_all_but_the_secret(),
        }
    }

    /// The lane's whole diff on main, in one commit or picked one by one, but for the secret: that
    /// is left out, or turned into something like it.
    fn land_all_but_the_secret(&mut self) {
        let main = self.main().to_owned();
        let instead = if self.dice.roll(2) == 0 { None } else { Some(*self.dice.pick(&NEARLY)) };
        if self.dice.roll(2) == 0 {
            self.attempt(&main, "merge -q --squash lane", "status");
            self.without_secret(&main, instead);
            self.commit(&main, "squash");
            return;
        }
        for commit in self.lane.repo.git(["rev-list", "--reverse", "--no-merges", "main..lane"]).lines() {
            self.attempt(&main, &format!("cherry-pick --no-commit {commit}"), "cherry-pick --abort");
            self.without_secret(&main, instead);
            self.commit(&main, "pick");
        }
    }

    fn without_secret(&mut self, place: &Path, instead: Option<&str>) {
        for file in FILES {
            let path = place.join(file);
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let lines = text.split('\n').filter_map(|line| if line == SECRET { instead } else { Some(line) });
            write(&path, lines.collect::<Vec<_>>().join("\n"));
        }
        self.done.push(format!("the secret becomes {instead:?}"));
    }

    fn lane_holds_it(&self) -> bool {
        let whole = format!("^{SECRET}$");
        let held = self.lane.repo.try_git(self.main(), ["grep", "-q", "-e", &whole, "refs/heads/lane"]);
        held.code() == 0
    }

    /// By another way than the ladder's: every line that any commit there adds against any parent.
    fn main_ever_added_it(&self) -> bool {
        let log = ["log", "-p", "-m", "--text", "--no-color", "--format=", "refs/heads/main", "--remotes"];
        let added = format!("+{SECRET}");
        self.lane.repo.git(log).split('\n').any(|line| line == added)
    }
}

/// Whether the history was one to judge.
fn holds(seed: u64) -> bool {
    let mut history = History::new(seed);
    let lane = history.lane.path.clone();
    let steps = 3 + history.dice.roll(8);
    let secret = history.dice.roll(steps);
    for step in 0..steps {
        if step == secret {
            history.edit(&lane, SECRET);
            if history.dice.roll(2) == 0 {
                history.edit(&lane, "beside it");
            }
            history.commit(&lane, "secret");
        }
        history.step();
    }
    let (holds, added) = (history.lane_holds_it(), history.main_ever_added_it());
    if !holds || added {
        return false;
    }
    let tip = history.lane.tip();
    let before = history.lane.repo.git(["rev-parse", "lane~"]);
    let start = if history.dice.roll(2) == 0 { history.lane.start.clone() } else { None };
    let repo = history.lane.found();
    for repo in [&repo, &repo.by_git()] {
        let requests = || Asked::Known(vec![super::forge::pr(&before)]);
        let owners = ["acme".to_owned()];
        let question = super::Question {
            repo,
            branch: "lane",
            start: start.as_deref(),
            requests: &requests,
            owners: &owners,
        };
        let landed = super::landed::landed(&question);
        assert!(
            landed.verdict != Verdict::Yes,
            "seed {seed}: {landed:#?}\ntip {tip}\n{}\n{}",
            history.done.join("\n"),
            history.lane.repo.git(["log", "--graph", "--oneline", "--all"]),
        );
    }
    true
}

fn long() -> bool {
    std::env::var_os("SCRUFF_TEST_LONG").is_some()
}

/// Two tests, so that two run at the same time.
fn judge_many(first: u64) {
    let count = if long() { 1500 } else { 16 };
    let judged = (0..count).filter(|n| holds(first + 2 * n)).count();
    assert!(judged * 2 > count as usize, "only {judged} of {count} histories were worth judging");
}

#[test]
fn an_unlanded_line_is_never_landed_even() {
    judge_many(0);
}

#[test]
fn an_unlanded_line_is_never_landed_odd() {
    judge_many(1);
}
