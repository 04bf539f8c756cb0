//! Keys, `scd` and completion in the real shells, at a terminal.

use crate::world::screen::Terminal;
use crate::world::{Call, Repo, Tmux, World, manual, wait};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

use Shell::{Bash, Fish, Zsh};

const ALL: [Shell; 3] = [Bash, Zsh, Fish];

/// As it is on a screen, where blanks at the end of a line are nothing.
const PROMPT: &str = "ready>";

impl Shell {
    fn name(self) -> &'static str {
        match self {
            Bash => "bash",
            Zsh => "zsh",
            Fish => "fish",
        }
    }

    /// What a person has in the start-up file besides scruff.
    fn usual(self) -> &'static str {
        match self {
            Bash => "PS1='ready> '\n",
            Zsh => "PS1='ready> '\nbindkey -e\nautoload -Uz compinit\ncompinit -u\n",
            Fish => "set -g fish_greeting\nfunction fish_prompt\n echo -n 'ready> '\nend\n",
        }
    }

    /// The line that the manual tells people to add.
    fn line(self) -> &'static str {
        match self {
            Bash => "eval \"$(scruff init bash)\"\n",
            Zsh => "eval \"$(scruff init zsh)\"\n",
            Fish => "scruff init fish | source\n",
        }
    }

    fn set(self, name: &str, value: &str) -> String {
        match self {
            Bash | Zsh => format!("{name}='{value}'\n"),
            Fish => format!("set -g {name} '{value}'\n"),
        }
    }

    /// An interactive shell with this start-up file.
    fn with(self, world: &World, rc: &str) -> Call {
        let file = match self {
            Bash => world.home().join(".bashrc"),
            Zsh => world.home().join(".zshrc"),
            Fish => world.home().join(".config/fish/config.fish"),
        };
        world.file(&file, rc);
        let call = world.program(self.name());
        let call = match self {
            Bash => call.args(["--noprofile", "--rcfile"]).arg(&file),
            Zsh => call.arg("-d"),
            Fish => call,
        };
        call.arg("-i")
    }

    /// A person's shell, with `before` in front of scruff's line, standing in `dir`.
    fn start(self, world: &World, dir: &Path, before: &str) -> Terminal {
        let rc = format!("{}{before}{}", self.usual(), self.line());
        let terminal = self.with(world, &rc).cwd(dir).on_terminal(100, 24);
        terminal.wait_for(PROMPT);
        terminal
    }

    /// The shell, strict, without anybody's files.
    fn strict(self, world: &World) -> Call {
        let call = world.program(self.name());
        match self {
            Bash => call.args(["--noprofile", "--norc", "-euo", "pipefail"]),
            Zsh => call.args(["-d", "-f", "-e", "-o", "nounset", "-o", "errreturn"]),
            Fish => call.arg("--no-config"),
        }
    }
}

/// A repository with a short name for its path.
fn shop(world: &World) -> (Repo, PathBuf) {
    let repo = world.repo("shop");
    let short = world.root().join("r");
    symlink(repo.path(), &short).unwrap();
    (repo, short)
}

fn lane(world: &World, dir: &Path, name: &str) -> PathBuf {
    world.call(["new", name]).cwd(dir).run().ok().line().into()
}

/// The line that a command typed at the terminal writes to a file.
fn said_in(terminal: &Terminal, file: &Path) -> String {
    let line = || std::fs::read_to_string(file).ok()?.strip_suffix('\n').map(str::to_owned);
    wait::until_some("a line in the file", line, || terminal.framed())
}

#[test]
fn what_is_printed_loads_strictly_silently_and_twice() {
    let world = World::new();
    for shell in ALL {
        for command in ["init", "completions"] {
            let text = world.scruff([command, shell.name()]).ok().calm().out().to_owned();
            let twice = world.file(format!("twice.{}", shell.name()), format!("{text}{text}"));
            shell.strict(&world).arg("-n").arg(&twice).run().ok().silent().calm();
            shell.strict(&world).arg(&twice).run().ok().silent().calm();
            let source = format!(". '{}'", twice.display());
            shell.strict(&world).args(["-i", "-c", &source]).run().ok().silent();
        }
    }
}

#[test]
fn a_shell_that_starts_starts_nothing_else() {
    let world = World::new();
    for shell in ALL {
        let text = world.scruff(["init", shell.name()]).ok().out().to_owned();
        let started = |rc: &str| {
            let file = world.file("started", rc);
            let log = world.root().join("trace");
            let call = shell.strict(&world).args(["-i", "-c", &format!(". '{}'", file.display())]);
            let strace =
                world.program("strace").args(["-f", "-qq", "-e", "trace=execve,fork,vfork,clone,clone3"]);
            strace.arg("-o").arg(&log).args(call.words()).run().ok();
            let log = std::fs::read_to_string(log).unwrap();
            log.lines().filter(|line| !line.contains("CLONE_THREAD") && !line.contains("resumed")).count()
        };
        assert_eq!(started(&text), started(""), "{shell:?}");
    }
}

#[test]
fn the_key_asks_for_a_task_and_the_client_has_the_terminal() {
    for shell in ALL {
        let world = World::new();
        let (_, dir) = shop(&world);
        let terminal = shell.start(&world, &dir, "");
        terminal.send("echo unfin");
        terminal.wait_for("unfin");
        terminal.send("\x1bi");
        terminal.wait_for("Its task");
        terminal.paste("it's \"$HOME\"\n#(x)");
        terminal.wait_for("#(x)");
        terminal.send("\r");
        terminal.wait_for("claude is here");
        let launch = world.wait_for_launch();
        assert!(launch.has_arg("it's \"$HOME\"\n#(x)"), "{shell:?} {:?}", launch.args);
        terminal.send("hello\x7fo\r");
        terminal.wait_for("claude heard: hello");
        terminal.send("exit\r");
        launch.wait_for_end();
        terminal.wait_until("the prompt is back", |screen| screen.trim_end().ends_with("ready> echo unfin"));
        terminal.send("ished\r");
        terminal.wait_until("the line is whole", |screen| screen.lines().any(|line| line == "unfinished"));
        terminal.send("exit\r");
    }
}

#[test]
fn a_person_may_change_their_mind() {
    for shell in ALL {
        let world = World::new();
        let (_, dir) = shop(&world);
        let terminal = shell.start(&world, &dir, "");
        terminal.send("echo one\r");
        terminal.wait_until("it runs", |screen| screen.lines().any(|line| line == "one"));
        terminal.send("echo sta");
        terminal.wait_for("echo sta");
        terminal.send("\x1bi");
        terminal.wait_for("Its task");
        terminal.send("\x1b");
        terminal.wait_until("the prompt is back", |screen| screen.trim_end().ends_with("ready> echo sta"));
        // The screen was back before the line editor was: that one clears it.
        terminal.send("\x0c");
        terminal.wait_until("a clear screen", |screen| screen.trim() == "ready> echo sta");
        // A paste is still text and no command.
        terminal.paste("ys\necho no");
        terminal.wait_for("echo no");
        assert!(!terminal.screen().lines().any(|line| line == "stays"), "{shell:?}\n{}", terminal.framed());
        terminal.send("\r");
        terminal.wait_until("it runs", |screen| screen.lines().any(|line| line == "stays"));
        assert!(world.launches().is_empty());
    }
}

#[test]
fn inside_tmux_the_lane_comes_up_in_a_window() {
    for shell in ALL {
        let world = World::new();
        let (_, dir) = shop(&world);
        let rc = format!("{}{}cd {}\n", shell.usual(), shell.line(), dir.display());
        let tmux = Tmux::start(&world);
        let words = shell.with(&world, &rc).words();
        let session = format!("{}:", tmux.session());
        let mut window: Vec<std::ffi::OsString> =
            ["new-window", "-t", &session, "--"].map(Into::into).to_vec();
        window.extend(words);
        tmux.run(window);
        let person = tmux.attach(tmux.session());
        person.wait_for(PROMPT);
        person.send("\x1bi");
        person.wait_for("Its task");
        person.send("the task\r");
        assert!(world.wait_for_launch().has_arg("the task"));
        person.wait_for("claude is here");
        assert!(person.pane().lane.starts_with("shop/"), "{:?}", person.pane());
    }
}

#[test]
fn a_key_can_be_another_or_none() {
    for shell in ALL {
        let world = World::new();
        let (_, dir) = shop(&world);
        let key = if shell == Zsh { "^[u" } else { "\\eu" };
        let key = if shell == Fish {
            shell.set("X", "").replace("set -g X ''\n", "set -g SCRUFF_KEY_NEW \\eu\n")
        } else {
            shell.set("SCRUFF_KEY_NEW", key)
        };
        let terminal = shell.start(&world, &dir, &key);
        terminal.send("\x1bi");
        terminal.send("\x15echo a'2'b\r");
        terminal.wait_for("a2b");
        assert!(!terminal.screen().contains("Its task"), "{shell:?}");
        terminal.send("\x1bu");
        terminal.wait_for("Its task");
        terminal.send("\x1b");
        drop(terminal);
        let terminal = shell.start(&world, &dir, &shell.set("SCRUFF_KEY_NEW", ""));
        for key in ["\x1bi", "\x1bu"] {
            terminal.send(key);
        }
        terminal.send("\x15echo a'2'b\r");
        terminal.wait_for("a2b");
        assert!(!terminal.screen().contains("Its task"), "{shell:?}");
    }
}

#[test]
fn in_vi_mode_only_a_key_that_was_asked_for_is_bound() {
    for shell in ALL {
        let world = World::new();
        let (_, dir) = shop(&world);
        let (vi, key) = match shell {
            Bash => ("set -o vi\n", "SCRUFF_KEY_NEW='\\C-g'\n"),
            Zsh => ("bindkey -v\n", "SCRUFF_KEY_NEW='^G'\n"),
            Fish => ("fish_vi_key_bindings\n", "set -g SCRUFF_KEY_NEW \\cg\n"),
        };
        let terminal = shell.start(&world, &dir, vi);
        terminal.send("\x1bi");
        terminal.send("\x15echo a'2'b\r");
        terminal.wait_for("a2b");
        assert!(!terminal.screen().contains("Its task"), "{shell:?}");
        drop(terminal);
        let terminal = shell.start(&world, &dir, &format!("{vi}{key}"));
        terminal.send("\x07");
        terminal.wait_for("Its task");
        terminal.send("\x1b");
    }
}

#[test]
fn scd_goes_to_a_lane() {
    for shell in ALL {
        let world = World::new();
        let (_, dir) = shop(&world);
        let path = lane(&world, &dir, "fix-auth");
        let said = world.root().join("said");
        let line = |words: &str| format!("{words} && pwd >{}\r", said.display());
        let terminal = shell.start(&world, &dir, "");
        terminal.send(line("scd fix"));
        assert_eq!(said_in(&terminal, &said), path.display().to_string(), "{shell:?}\n{}", terminal.framed());
        terminal.send("scd nope\r");
        terminal.wait_for("no lane is called \"nope\"");
        std::fs::remove_file(&said).unwrap();
        terminal.send(line("true"));
        assert_eq!(said_in(&terminal, &said), path.display().to_string(), "{shell:?}\n{}", terminal.framed());
    }
}

#[test]
fn a_parked_lane_has_no_directory_to_go_to() {
    let world = World::new();
    let (repo, dir) = shop(&world);
    let path = lane(&world, &dir, "fix-auth");
    world.scruff(["__path", "fix-auth"]).ok().calm();
    repo.git([std::ffi::OsStr::new("worktree"), "remove".as_ref(), path.as_ref()]);
    world.scruff(["__path", "fix-auth"]).exits(1).silent().warns("parked");
}

#[test]
fn words_complete_to_lanes_clients_and_flags() {
    for shell in ALL {
        let world = World::new();
        let (_, dir) = shop(&world);
        for name in ["fix-auth", "feat/pears", "mail@home"] {
            lane(&world, &dir, name);
        }
        let terminal = shell.start(&world, &dir, "");
        let becomes = |typed: &str, whole: &str| {
            terminal.send(format!("{typed}\t"));
            let line = format!("{PROMPT} {whole}");
            terminal.wait_until(&format!("{shell:?}: {whole}"), |screen| {
                screen.lines().any(|it| it.trim_end() == line)
            });
            terminal.send("\x15\x0c");
            terminal.wait_until("an empty line", |screen| screen.trim() == PROMPT);
        };
        becomes("scruff focus fi", "scruff focus fix-auth");
        becomes("scruff resume feat", "scruff resume feat/pears");
        becomes("scruff resume mail@h", "scruff resume mail@home");
        becomes("scruff fix", "scruff fix-auth");
        becomes("scruff doc", "scruff doctor");
        becomes("scruff open --agent cod", "scruff open --agent codex");
        becomes("scruff open --agent=cod", "scruff open --agent=codex");
        becomes("scruff open --prompt-f", "scruff open --prompt-file");
        becomes("scruff list --color nev", "scruff list --color never");
        becomes("scruff init fi", "scruff init fish");
        becomes("scd fi", "scd fix-auth");
        becomes("scd mail@h", "scd mail@home");
    }
}

#[test]
fn a_completed_name_is_a_word_and_no_command() {
    for shell in ALL {
        let world = World::new();
        let (_, dir) = shop(&world);
        let name = format!("x$(touch${{IFS}}{0})`touch${{IFS}}{0}`;touch&'q'\"#", world.canary().display());
        let path = lane(&world, &dir, &name);
        let said = world.root().join("said");
        let terminal = shell.start(&world, &dir, "");
        terminal.send("scd x\t");
        terminal.wait_for("IFS");
        terminal.send(format!("&& pwd >{}\r", said.display()));
        assert_eq!(said_in(&terminal, &said), path.display().to_string(), "{shell:?}");
    }
}

#[test]
fn what_cannot_be_completed_has_no_candidates_and_no_noise() {
    let world = World::new();
    for words in [&["scruff", "nope", ""][..], &["scruff", "focus", "zzz"], &["scruff", "--", "x"], &[]] {
        world.call(["__complete", "--"]).args(words).run().ok().silent().calm();
    }
    let repo = world.repo("shop");
    for n in ["a", "b"] {
        world.call(["new", n]).cwd(repo.path()).run().ok();
    }
    let other = world.repo("other");
    world.call(["new", "a"]).cwd(other.path()).run().ok();
    let ran = world.scruff(["__complete", "--", "scruff", "focus", ""]);
    let names: Vec<&str> = ran.ok().out().lines().map(|line| line.split('\t').next().unwrap()).collect();
    assert_eq!(names, ["shop/a", "b", "other/a"]);
}

#[test]
fn zsh_finds_completion_where_it_looks() {
    let world = World::new();
    let (_, dir) = shop(&world);
    lane(&world, &dir, "fix-auth");
    let text = world.scruff(["completions", "zsh"]).ok().out().to_owned();
    world.file(world.home().join(".zfunc/_scruff"), text);
    let rc = format!("fpath=(~/.zfunc $fpath)\n{}", Zsh.usual());
    let terminal = Zsh.with(&world, &rc).cwd(&dir).on_terminal(100, 24);
    terminal.wait_for(PROMPT);
    terminal.send("scruff focus fi\t");
    terminal.wait_for("scruff focus fix-auth");
}

#[test]
fn the_manual_is_true() {
    let world = World::new();
    std::fs::create_dir(world.home().join(".zfunc")).unwrap();
    for (language, code) in manual::blocks("docs/shell.md") {
        let shell = ALL.into_iter().find(|shell| shell.name() == language).unwrap();
        shell.strict(&world).args(["-c", &code]).run().ok().silent().calm();
    }
    let rows = manual::rows("docs/shell.md");
    for (row, shell) in rows.iter().zip(ALL) {
        assert!(row[0].starts_with(shell.name()) && row[2] == shell.line().trim_end(), "{row:?}");
    }
    for shell in ALL {
        let text = world.scruff(["init", shell.name()]).ok().out().to_owned();
        let bound: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("    __scruff_bind ")).collect();
        let told: Vec<(&str, bool)> = rows[3..].iter().map(|row| (row[0].as_str(), row[1] != "–")).collect();
        let bound: Vec<(&str, bool)> = bound
            .iter()
            .map(|line| line.split(' '))
            .map(|mut words| (words.next().unwrap(), words.next().unwrap() != "''"))
            .collect();
        assert_eq!(bound, told, "{shell:?}");
    }
}
