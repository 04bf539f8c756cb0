//! A person's terminal: a program in a pty, its output drawn by a terminal model.

use super::{Call, wait};
use portable_pty::{Child, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use wezterm_term::color::ColorPalette;
use wezterm_term::{Terminal as Model, TerminalConfiguration, TerminalSize};

#[derive(Debug)]
struct Settings;

impl TerminalConfiguration for Settings {
    fn color_palette(&self) -> ColorPalette {
        ColorPalette::default()
    }
}

type Writer = Arc<Mutex<Box<dyn Write + Send>>>;

/// What the model has to answer (what are you? where is the cursor?) goes the way of the keys.
struct Answers(Writer);

impl Write for Answers {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.lock().unwrap().flush()
    }
}

pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    writer: Writer,
    model: Arc<Mutex<Model>>,
}

impl Terminal {
    pub fn start(call: &Call, cols: u16, rows: u16) -> Self {
        let pair = native_pty_system().openpty(pty_size(cols, rows)).unwrap();
        let child = pair.slave.spawn_command(call.for_pty()).unwrap();
        drop(pair.slave);
        let writer: Writer = Arc::new(Mutex::new(pair.master.take_writer().unwrap()));
        let model = new_model(cols, rows, Answers(Arc::clone(&writer)));
        draw(pair.master.try_clone_reader().unwrap(), Arc::clone(&model));
        Self { child, master: pair.master, writer, model }
    }

    pub fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    pub fn tty(&self) -> PathBuf {
        self.master.tty_name().unwrap()
    }

    /// What the person sees, a line each, without trailing blanks.
    pub fn screen(&self) -> String {
        text_of(&self.model.lock().unwrap())
    }

    /// Column and row of the cursor, from 0.
    pub fn cursor(&self) -> (usize, i64) {
        let at = self.model.lock().unwrap().cursor_pos();
        (at.x, at.y)
    }

    pub fn title(&self) -> String {
        self.model.lock().unwrap().get_title().to_owned()
    }

    /// Types bytes as they are.
    pub fn send(&self, keys: impl AsRef<[u8]>) {
        let mut writer = self.writer.lock().unwrap();
        writer.write_all(keys.as_ref()).unwrap();
        writer.flush().unwrap();
    }

    /// Pastes, marked as a paste where the program asked for that. Another thread does it: wait
    /// for the text before typing on.
    pub fn paste(&self, text: &str) {
        self.model.lock().unwrap().send_paste(text).unwrap();
    }

    /// Types a line and Enter.
    pub fn send_line(&self, line: &str) {
        self.send(format!("{line}\r"));
    }

    pub fn resize(&self, cols: u16, rows: u16) {
        self.master.resize(pty_size(cols, rows)).unwrap();
        self.model.lock().unwrap().resize(model_size(cols, rows));
    }

    #[track_caller]
    pub fn wait_for(&self, text: &str) {
        self.wait_until(&format!("{text:?} on the screen"), |screen| screen.contains(text));
    }

    #[track_caller]
    pub fn wait_until(&self, what: &str, met: impl Fn(&str) -> bool) {
        wait::until(what, || met(&self.screen()), || self.framed());
    }

    /// Waits until the program has ended by itself; its exit code.
    #[track_caller]
    pub fn wait_for_end(&mut self) -> u32 {
        let Self { child, model, .. } = self;
        let last = || frame(&text_of(&model.lock().unwrap()));
        wait::until_some("the program's end", || child.try_wait().unwrap(), last).exit_code()
    }

    /// The screen between two rules, for reports.
    pub fn framed(&self) -> String {
        frame(&self.screen())
    }
}

/// The raw output of a program on a terminal of 80 by 24.
#[track_caller]
pub fn typescript(call: &Call) -> Vec<u8> {
    let pair = native_pty_system().openpty(pty_size(80, 24)).unwrap();
    let mut reader = pair.master.try_clone_reader().unwrap();
    let mut child = pair.slave.spawn_command(call.for_pty()).unwrap();
    drop(pair.slave);
    let script = std::thread::spawn(move || {
        let (mut script, mut bytes) = (Vec::new(), [0; 4096]);
        while let Ok(n @ 1..) = reader.read(&mut bytes) {
            script.extend_from_slice(&bytes[..n]);
        }
        script
    });
    wait::until(&format!("the end of {call}"), || child.try_wait().unwrap().is_some(), String::new);
    script.join().unwrap()
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text_of(model: &Model) -> String {
    let screen = model.screen();
    let visible = screen.phys_range(&(0..screen.physical_rows as i64));
    let lines = screen.lines_in_phys_range(visible);
    let lines: Vec<String> = lines.iter().map(|line| line.as_str().trim_end().to_owned()).collect();
    lines.join("\n")
}

fn frame(screen: &str) -> String {
    format!("--- the last screen\n{}\n---", screen.trim_end())
}

/// The thread ends with the pty.
fn draw(mut reader: Box<dyn Read + Send>, model: Arc<Mutex<Model>>) {
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(n @ 1..) = reader.read(&mut bytes) {
            model.lock().unwrap().advance_bytes(&bytes[..n]);
        }
    });
}

fn new_model(cols: u16, rows: u16, answers: Answers) -> Arc<Mutex<Model>> {
    let model = Model::new(model_size(cols, rows), Arc::new(Settings), "model", "1", Box::new(answers));
    Arc::new(Mutex::new(model))
}

fn pty_size(cols: u16, rows: u16) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

fn model_size(cols: u16, rows: u16) -> TerminalSize {
    let (cols, rows) = (cols.into(), rows.into());
    TerminalSize { rows, cols, pixel_width: cols * 8, pixel_height: rows * 16, dpi: 0 }
}
