//! A repository and a tmux server, and `scruff` called from a pane of it.

use crate::world::{Call, Conf, Ran, Repo, Tmux, World, tmux::Pane};

pub struct Stage {
    pub tmux: Tmux,
    pub repo: Repo,
    pub world: World,
}

impl Stage {
    pub fn new() -> Self {
        Self::of(Conf::of_this_run())
    }

    pub fn of(conf: Conf) -> Self {
        let world = World::of(conf);
        let repo = world.repo("shop");
        Self { tmux: Tmux::start(&world), repo, world }
    }

    /// `scruff` in the repository, called from the server's first pane.
    pub fn call(&self, args: &[&str]) -> Call {
        self.call_from(self.tmux.pane(), args)
    }

    /// The same, from another pane.
    pub fn call_from(&self, pane: &str, args: &[&str]) -> Call {
        self.world.call(args).cwd(self.repo.path()).in_pane(&self.tmux, pane)
    }

    /// The same, from outside of any multiplexer and without a terminal, as a click is.
    pub fn click(&self, args: &[&str]) -> Call {
        self.world.call(args).cwd(self.repo.path())
    }

    #[track_caller]
    pub fn run(&self, args: &[&str]) -> Ran {
        self.call(args).run()
    }

    /// Opens lanes in the background.
    #[track_caller]
    pub fn open(&self, names: &[&str]) {
        for name in names {
            self.run(&["open", name, "-b"]).ok();
        }
        self.world.wait_for_launches(names.len());
    }

    /// The one pane of a lane.
    #[track_caller]
    pub fn pane(&self, name: &str) -> Pane {
        let mut panes = self.tmux.panes_of(&format!("shop/{name}"));
        panes.dedup_by_key(|pane| pane.id.clone());
        assert!(panes.len() == 1, "{name} has {} panes\n{}", panes.len(), self.tmux.report());
        panes.remove(0)
    }

    /// A lane's record of its pane.
    pub fn record(&self, name: &str) -> std::path::PathBuf {
        self.world.state().join("panes").join(format!("{}.json", self.pane(name).lane_id))
    }
}
