//! `scruff init`

use super::Outcome;

/// What a shell or tmux runs when it starts: keys, `scd`, completion. Always that of this program.
///
/// bash: `eval "$(scruff init bash)"` at the end of ~/.bashrc; zsh the same in ~/.zshrc; fish:
/// `scruff init fish | source` in config.fish; tmux: `run-shell 'scruff init tmux | sh'` at the end
/// of tmux.conf.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// For which one
    #[arg(value_enum)]
    pub place: Place,
}

/// What can be given keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Place {
    /// bash.
    Bash,
    /// zsh.
    Zsh,
    /// fish.
    Fish,
    /// tmux.
    Tmux,
}

/// Runs it.
pub fn run(args: &Args) -> Outcome {
    Outcome::text(match args.place {
        Place::Bash => {
            concat!(include_str!("../../shell/scruff.bash"), "\n", include_str!("../../shell/complete.bash"))
        }
        Place::Zsh => {
            concat!(include_str!("../../shell/scruff.zsh"), "\n", include_str!("../../shell/complete.zsh"))
        }
        Place::Fish => {
            concat!(include_str!("../../shell/scruff.fish"), "\n", include_str!("../../shell/complete.fish"))
        }
        Place::Tmux => include_str!("../../integrations/tmux/scruff.tmux"),
    })
}
