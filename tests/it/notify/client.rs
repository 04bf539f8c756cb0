//! A client that calls scruff's hooks, and what came of it.

use crate::world::{Call, Ran, World, wait};
use std::path::{Path, PathBuf};

/// A lane of the repository `shop`, or any other place, with a client in it.
pub struct Client<'a> {
    pub world: &'a World,
    pub session: String,
    pub cwd: PathBuf,
    env: Vec<(String, String)>,
}

impl<'a> Client<'a> {
    /// Makes a lane and puts a client in it.
    #[track_caller]
    pub fn in_lane(world: &'a World, lane: &str) -> Self {
        let main = world.work().join("src/shop");
        if !main.exists() {
            world.repo("shop");
        }
        let cwd = PathBuf::from(world.call(["new", lane]).cwd(&main).run().ok().line());
        Self::at(world, &cwd, &format!("session-of-{lane}"))
    }

    pub fn at(world: &'a World, cwd: &Path, session: &str) -> Self {
        Self { world, session: session.to_owned(), cwd: cwd.to_owned(), env: Vec::new() }
    }

    /// With a variable in the environment of its hooks.
    pub fn with(mut self, key: &str, value: &str) -> Self {
        self.env.push((key.to_owned(), value.to_owned()));
        self
    }

    /// In this pane.
    pub fn in_pane(mut self, tmux: &crate::world::Tmux, pane: &str) -> Self {
        let text = |text: std::ffi::OsString| text.into_string().unwrap();
        self.env.extend(tmux.env_of(pane).into_iter().map(|(key, value)| (text(key), text(value))));
        self
    }

    /// The payload of an event, with more members than every event has.
    pub fn payload(&self, event: &str, more: serde_json::Value) -> Vec<u8> {
        let mut payload = serde_json::json!({
            "session_id": self.session,
            "cwd": self.cwd,
            "hook_event_name": event,
            "message": "SECRET message",
            "last_assistant_message": "SECRET answer",
        });
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::to_vec(&payload).unwrap()
    }

    /// `scruff hook notify` for an event.
    pub fn call(&self, event: &str, more: serde_json::Value) -> Call {
        let call = self.world.call(["hook", "notify"]).stdin(self.payload(event, more));
        self.env.iter().fold(call, |call, (key, value)| call.env(key, value))
    }

    /// Says that something happened. A hook never fails and says nothing.
    #[track_caller]
    pub fn says_with(&self, event: &str, more: serde_json::Value) -> Ran {
        let ran = self.call(event, more).run();
        ran.ok().silent().calm();
        ran
    }

    #[track_caller]
    pub fn says(&self, event: &str) -> Ran {
        self.says_with(event, serde_json::json!({}))
    }

    #[track_caller]
    pub fn notifies(&self, kind: &str) {
        self.says_with("Notification", serde_json::json!({"notification_type": kind}));
    }

    /// What the lane does: the directory its file is in.
    #[track_caller]
    pub fn activity(&self) -> Option<String> {
        let id = self.lane_id();
        let states: Vec<String> = files(&self.world.state().join("activity"))
            .into_iter()
            .filter(|state| self.world.state().join("activity").join(state).join(&id).exists())
            .collect();
        assert!(states.len() <= 1, "one lane, several states: {states:?}");
        states.into_iter().next()
    }

    #[track_caller]
    pub fn does(&self, state: &str) {
        assert_eq!(self.activity().as_deref(), Some(state));
    }

    /// The lane's id, by its record.
    #[track_caller]
    pub fn lane_id(&self) -> String {
        let records = self.world.state().join("lanes");
        let of = |file: String| -> Option<String> {
            let id = file.strip_suffix(".json")?.to_owned();
            let text = std::fs::read(records.join(&file)).ok()?;
            let record: serde_json::Value = serde_json::from_slice(&text).ok()?;
            (record["path"].as_str().map(Path::new) == Some(&self.cwd)).then_some(id)
        };
        files(&records).into_iter().find_map(of).expect("a record of the lane")
    }
}

/// The names in a directory, sorted; none where there is no directory.
pub fn files(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

impl World {
    /// Marks that say who waits for the user.
    pub fn asks(&self) -> Vec<String> {
        files(&self.state().join("asks"))
    }

    /// The banner holders that run.
    pub fn holders(&self) -> Vec<i32> {
        let holders = self.state().join("holders");
        let pids = files(&holders).into_iter().filter(|file| file.ends_with(".pid"));
        let pid = |file: String| -> Option<i32> {
            let text = std::fs::read(holders.join(file)).ok()?;
            let process: serde_json::Value = serde_json::from_slice(&text).ok()?;
            i32::try_from(process["pid"].as_i64()?).ok()
        };
        pids.filter_map(pid).filter(|pid| is_holder(*pid)).collect()
    }

    #[track_caller]
    pub fn wait_for_holders(&self, n: usize) -> Vec<i32> {
        wait::until(&format!("{n} banner holders"), || self.holders().len() == n, || self.notify_report());
        self.holders()
    }

    /// Nothing is left of any banner: no holder, no word for one, no log.
    #[track_caller]
    pub fn wait_until_quiet(&self) {
        let quiet = || {
            files(&self.state().join("holders")).is_empty() && files(&self.state().join("logs")).is_empty()
        };
        wait::until("no banner holder", quiet, || self.notify_report());
    }

    pub fn notify_report(&self) -> String {
        let mut report = String::new();
        for directory in ["holders", "asks", "asking", "ended", "waits", "logs"] {
            for file in files(&self.state().join(directory)) {
                let text = std::fs::read(self.state().join(directory).join(&file)).unwrap_or_default();
                report.push_str(&format!("{directory}/{file}: {}\n", String::from_utf8_lossy(&text)));
            }
        }
        report + &std::fs::read_to_string(self.state().join("log")).unwrap_or_default()
    }
}

fn is_holder(pid: i32) -> bool {
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    command.split(|byte| *byte == 0).any(|word| word == b"__holder")
}

pub fn end(pid: i32) {
    if let Some(pid) = rustix::process::Pid::from_raw(pid) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
}
