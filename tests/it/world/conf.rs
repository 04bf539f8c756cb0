//! The two people the suite is run for.

use super::World;
use std::path::PathBuf;

/// Whether tests that can go on for long may do so: `SCRUFF_TEST_LONG=1`.
pub fn is_long() -> bool {
    std::env::var_os("SCRUFF_TEST_LONG").is_some_and(|value| value == "1")
}

/// The two people the suite is run for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conf {
    /// tmux as it comes.
    Plain,
    /// Someone who has changed everything there is to change.
    Hostile,
}

impl Conf {
    /// What `SCRUFF_TEST_CONF` says; plain where it says nothing.
    pub fn of_this_run() -> Self {
        match std::env::var("SCRUFF_TEST_CONF").as_deref() {
            Err(_) | Ok("" | "plain") => Self::Plain,
            Ok("hostile") => Self::Hostile,
            Ok(other) => panic!("SCRUFF_TEST_CONF={other}: plain or hostile"),
        }
    }

    /// The name asked for when the first session is made.
    pub fn session(self) -> &'static str {
        match self {
            Self::Plain => "main",
            Self::Hostile => "my.work",
        }
    }

    /// What tmux's prefix key sends.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Plain => "\x02",
            Self::Hostile => "\x01",
        }
    }

    /// Writes the configuration file, and what it leans on.
    pub(super) fn write(self, world: &World) -> PathBuf {
        let text = match self {
            Self::Plain => PLAIN,
            Self::Hostile => {
                world.file(world.home().join(".bash_profile"), ". ~/.bashrc\n");
                world.file(world.home().join(".bashrc"), SLOW_RC);
                HOSTILE
            }
        };
        world.file("tmux.conf", text)
    }
}

const PLAIN: &str = "\
set -g default-shell /bin/sh
";

const SLOW_RC: &str = "\
echo 'rc: welcome back, 3 updates are available'
sleep 1
PS1='\\u in \\W> '
";

/// Only names that nothing else in the world uses are fixed here.
const HOSTILE: &str = "\
set -g default-shell /bin/bash
set -g base-index 1
set -g pane-base-index 1
set -g renumber-windows on
set -g automatic-rename on
set -g allow-rename on
set -g prefix C-a
unbind C-b
bind C-a send-prefix
set -g mouse on
set -g mode-keys vi
set -g status-keys vi
set -g status-position top
set -g status 2
set -g status-left '[#S] '
set -g status-right '#{pane_title} | %H:%M'
set -g window-status-format ' #I:#W#F #{@scruff_state} '
set -g window-status-current-format ' #I:#W#F #{@scruff_lane} #{@scruff_state} '
set -g pane-border-status top
set -g pane-border-format ' #{pane_index} #{pane_title} #{@scruff_lane} '
set -g set-titles on
set -g set-titles-string '#S / #W / #T'
set -g focus-events on
set -g monitor-activity on
set -g detach-on-destroy off
set -g escape-time 0
set -g default-terminal tmux-256color
set -g history-limit 500
set -g display-time 100
set-hook -g after-new-window 'set -w @opened yes'
set-hook -g after-split-window 'select-layout tiled'
";
