//! The picker on a real terminal: typing narrows, Enter goes, the preview shows the lane's own screen.

use crate::world::screen::Terminal;
use crate::world::{Repo, Tmux, World};

struct Scene {
    world: World,
    repo: Repo,
}

impl Scene {
    fn new(names: &[&str]) -> Self {
        let world = World::new();
        let repo = world.repo("shop");
        for name in names {
            world.call(["new", name]).cwd(repo.path()).run().ok();
        }
        Scene { world, repo }
    }

    fn pick(&self, args: &[&str], cols: u16, rows: u16) -> Terminal {
        let args = [&["pick"], args].concat();
        self.world.call(args).cwd(self.repo.path()).on_terminal(cols, rows)
    }
}

#[test]
fn typing_narrows_and_enter_prints_the_exact_name() {
    let scene = Scene::new(&["fix-auth", "dark-mode", "faster-list"]);
    let mut terminal = scene.pick(&["--print"], 80, 24);
    terminal.wait_for("3/3");
    terminal.send("dark");
    terminal.wait_for("1/3");
    terminal.wait_until("only one lane", |screen| {
        screen.contains("shop/dark-mode") && !screen.contains("shop/fix-auth")
    });
    terminal.send("\r");
    assert_eq!(terminal.wait_for_end(), 0);
    terminal.wait_for("local/shop/dark-mode");
}

#[test]
fn escape_and_a_query_without_a_match_do_nothing() {
    let scene = Scene::new(&["fix-auth"]);
    let mut terminal = scene.pick(&["--print", "zzz"], 80, 24);
    terminal.wait_for("0/1");
    terminal.send("\r");
    terminal.send("\x15");
    terminal.wait_for("1/1");
    terminal.send("\x1b");
    assert_eq!(terminal.wait_for_end(), 0);
    assert!(!terminal.screen().contains("local/shop"), "{}", terminal.framed());
}

#[test]
fn a_parked_lane_shows_its_commits() {
    let scene = Scene::new(&["pears"]);
    let path = scene.world.base().join("local-shop/pears");
    scene.repo.commit_in(&path, "pear", "ripe\n", "a commit with 漢字 in it");
    scene.world.call(["close", "pears"]).cwd(scene.repo.path()).run().ok();
    let mut terminal = scene.pick(&[], 200, 50);
    terminal.wait_for("a commit with 漢字 in it");
    terminal.wait_for("parked");
    terminal.wait_for("pear | 1 +");
    terminal.send("\x1b");
    assert_eq!(terminal.wait_for_end(), 0);
}

#[test]
fn the_preview_is_the_lanes_own_screen_and_enter_goes_there() {
    let scene = Scene::new(&[]);
    let tmux = Tmux::start(&scene.world);
    let client = tmux.attach(tmux.session());
    for name in ["one", "two"] {
        let call = scene.world.call(["open", name, "-b", "--prompt", &format!("work on {name}")]);
        call.cwd(scene.repo.path()).in_pane(&tmux, &client.pane().id).run().ok();
    }
    let pane =
        |name: &str| tmux.panes().into_iter().find(|pane| pane.lane == format!("shop/{name}")).unwrap().id;
    let call = scene.world.call(["pick", "two"]).cwd(scene.repo.path()).in_pane(&tmux, &client.pane().id);
    let terminal = call.on_terminal(100, 30);
    terminal.wait_for("claude is here");
    terminal.send("\r");
    client.wait_for_pane(&pane("two"));
}

#[test]
fn five_hundred_lanes_scroll_and_stay_in_their_lines() {
    let world = World::new();
    let repo = world.repo("shop");
    let mut table = String::new();
    for n in 0..500 {
        let row = format!(
            "lane-{n:03}-é漢\t{}\tmain\t{}/x/{n}\t\tclaude\n",
            repo.path().display(),
            world.base().display()
        );
        table.push_str(&row);
    }
    world.file(world.base().join("registry.tsv"), table);
    for (cols, rows) in [(80, 24), (200, 50)] {
        let mut terminal = world.call(["pick", "--print"]).cwd(repo.path()).on_terminal(cols, rows);
        terminal.wait_for("500/500");
        terminal.send("499");
        terminal.wait_for("lane-499-é漢");
        terminal.send("\x15");
        terminal.wait_for("500/500");
        terminal.send("\x1b[B".repeat(60));
        terminal.wait_for("lane-060-é漢");
        let lines: Vec<String> = terminal.screen().lines().map(str::to_owned).collect();
        assert!(lines[0].starts_with('>'), "{}", terminal.framed());
        assert!(lines[usize::from(rows) - 1].contains("Esc leave"), "{}", terminal.framed());
        terminal.send("\x1b");
        assert_eq!(terminal.wait_for_end(), 0);
    }
}
