//! A desktop of a test's own: a message bus, and on it either dunst on a screen that nobody sees,
//! or a service that behaves as a test wants it to.

use crate::world::call::Running;
use crate::world::{World, wait};
use std::collections::HashMap;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use zbus::blocking::Connection;
use zbus::blocking::connection::Builder;
use zbus::zvariant::OwnedValue;

const DUNST: &str = "\
[global]
notification_limit = 0
idle_threshold = 0
show_indicators = no
sticky_history = no
";

/// A message bus, and what runs on it.
pub struct Bus {
    address: String,
    programs: Vec<Running>,
}

impl Bus {
    /// A bus with nothing on it. From here on everything in the world is told of it.
    pub fn start(world: &mut World) -> Self {
        let socket = world.root().join("bus");
        let address = format!("unix:path={}", socket.display());
        let config = world.file("bus.conf", bus_config(&address));
        let daemon = world.program("dbus-daemon").args(["--nofork", "--nopidfile", "--nosyslog"]);
        let daemon = daemon.arg(format!("--config-file={}", config.display())).start();
        wait::until("the message bus listens", || UnixStream::connect(&socket).is_ok(), String::new);
        world.set("DBUS_SESSION_BUS_ADDRESS", &address);
        Self { address, programs: vec![daemon] }
    }

    /// Puts dunst on it.
    pub fn with_dunst(mut self, world: &mut World) -> Self {
        let display = world.root().join("display");
        let script = r#"exec Xvfb -displayfd 3 -screen 0 1280x1024x24 -nolisten tcp 3>"$1""#;
        self.programs.push(world.program("sh").args(["-c", script, "sh"]).arg(&display).start());
        let number = || std::fs::read_to_string(&display).ok().filter(|text| text.ends_with('\n'));
        let number = wait::until_some("the screen is there", number, String::new);
        world.set("DISPLAY", format!(":{}", number.trim()));
        let config = world.file("dunstrc", DUNST);
        self.programs.push(world.program("dunst").arg("-config").arg(config).start());
        wait::until("dunst answers", || try_dunstctl(world, &["count"]).is_some(), String::new);
        self
    }

    pub fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        while let Some(mut program) = self.programs.pop() {
            super::client::end(program.pid() as i32);
            let _ = wait::within(std::time::Duration::from_secs(20), || program.ended().then_some(()));
            if !program.ended() {
                program.kill();
            }
        }
    }
}

fn bus_config(address: &str) -> String {
    format!(
        "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\"
 \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">
<busconfig><type>session</type><listen>{address}</listen>
<policy context=\"default\"><allow send_destination=\"*\" eavesdrop=\"true\"/>
<allow eavesdrop=\"true\"/><allow own=\"*\"/></policy></busconfig>\n"
    )
}

/// dunst's remote control.
#[track_caller]
pub fn dunstctl(world: &World, args: &[&str]) -> String {
    try_dunstctl(world, args).unwrap_or_else(|| panic!("dunstctl {args:?} fails"))
}

fn try_dunstctl(world: &World, args: &[&str]) -> Option<String> {
    let ran = world.program("dunstctl").args(args).run();
    (ran.code() == 0).then(|| ran.out().trim().to_owned())
}

/// How many banners dunst shows, and how many wait for room; `None` while it has no time to say.
pub fn shown(world: &World) -> Option<usize> {
    let count = |what: &str| try_dunstctl(world, &["count", what])?.parse::<usize>().ok();
    Some(count("displayed")? + count("waiting")?)
}

#[track_caller]
pub fn wait_for_shown(world: &World, n: usize) {
    let last = || format!("{:?} are shown\n{}", shown(world), world.notify_report());
    wait::until(&format!("{n} banners"), || shown(world) == Some(n), last);
}

/// A banner as a service was asked for it.
#[derive(Debug, Clone)]
pub struct Banner {
    pub id: u32,
    pub replaces: u32,
    pub summary: String,
    pub body: String,
    pub actions: Vec<String>,
    pub time: i32,
}

#[derive(Default)]
struct State {
    banners: Vec<Banner>,
    closed: Vec<u32>,
    next: u32,
}

struct Service {
    state: Arc<Mutex<State>>,
    abilities: Vec<String>,
    answers: bool,
}

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl Service {
    async fn get_capabilities(&self) -> Vec<String> {
        self.abilities.clone()
    }

    #[allow(clippy::too_many_arguments, reason = "the standard's")]
    async fn notify(
        &self,
        _app: String,
        replaces: u32,
        _icon: String,
        summary: String,
        body: String,
        actions: Vec<String>,
        _hints: HashMap<String, OwnedValue>,
        time: i32,
    ) -> u32 {
        let id = {
            let mut state = self.state.lock().unwrap();
            if replaces == 0 {
                state.next += 1;
            }
            let id = if replaces == 0 { state.next } else { replaces };
            state.banners.push(Banner { id, replaces, summary, body, actions, time });
            id
        };
        if !self.answers {
            std::future::pending::<()>().await;
        }
        id
    }

    async fn close_notification(&self, id: u32) {
        self.state.lock().unwrap().closed.push(id);
    }
}

/// A notification service that writes down what it is asked for.
pub struct FakeService {
    connection: Connection,
    state: Arc<Mutex<State>>,
}

impl FakeService {
    pub fn on(bus: &Bus, abilities: &[&str]) -> Self {
        Self::start(bus, abilities, true)
    }

    /// One that takes a banner and never says a word.
    pub fn silent_on(bus: &Bus) -> Self {
        Self::start(bus, &["body", "actions"], false)
    }

    fn start(bus: &Bus, abilities: &[&str], answers: bool) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let abilities = abilities.iter().map(|ability| (*ability).to_owned()).collect();
        let service = Service { state: Arc::clone(&state), abilities, answers };
        let builder = Builder::address(bus.address()).unwrap();
        let builder = builder.serve_at("/org/freedesktop/Notifications", service).unwrap();
        let connection = builder.name("org.freedesktop.Notifications").unwrap().build().unwrap();
        Self { connection, state }
    }

    pub fn banners(&self) -> Vec<Banner> {
        self.state.lock().unwrap().banners.clone()
    }

    pub fn closed(&self) -> Vec<u32> {
        self.state.lock().unwrap().closed.clone()
    }

    #[track_caller]
    pub fn wait_for_banners(&self, world: &World, n: usize) -> Vec<Banner> {
        let last = || format!("{:#?}\n{}", self.banners(), world.notify_report());
        wait::until(&format!("{n} calls for a banner"), || self.banners().len() >= n, last);
        self.banners()
    }

    /// The person clicks a banner; the desktop hands over a token where there is one.
    pub fn click(&self, id: u32, token: Option<&str>) {
        if let Some(token) = token {
            self.emit("ActivationToken", &(id, token));
        }
        self.emit("ActionInvoked", &(id, "default"));
    }

    /// The person waves a banner away.
    pub fn dismiss(&self, id: u32) {
        self.emit("NotificationClosed", &(id, 2u32));
    }

    fn emit(&self, signal: &str, body: &(impl serde::Serialize + zbus::zvariant::DynamicType)) {
        let (path, interface) = ("/org/freedesktop/Notifications", "org.freedesktop.Notifications");
        self.connection.emit_signal(None::<&str>, path, interface, signal, body).unwrap();
    }

    /// The service ends.
    pub fn die(self) {
        self.connection.close().unwrap();
    }
}

/// A program that writes down the environment it was started with.
pub fn env_recorder(world: &World, name: &str) -> (PathBuf, PathBuf) {
    let record = world.root().join(format!("{name}.env"));
    let script = format!("#!/bin/sh\nenv >'{0}.new'; mv '{0}.new' '{0}'\n", record.display());
    (world.script(Path::new("opt").join(name), &script), record)
}
