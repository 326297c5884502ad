// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A headless Chromium that a test clicks in, by the DevTools protocol over two pipes.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{json, Value};

/// A browser with one page.
pub struct Browser {
    child: Child,
    to: File,
    from: BufReader<File>,
    session: Option<String>,
    last: u64,
}

impl Browser {
    /// Shows the page in the file, in the dark, `width` pixels wide.
    pub fn open(profile: &Path, page: &Path, width: u32) -> Browser {
        let (child_reads, we_write) = pipe();
        let (we_read, child_writes) = pipe();
        let mut command = Command::new("chromium-headless-shell");
        command
            .args(["--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let (reads, writes) = (child_reads.as_raw_fd(), child_writes.as_raw_fd());
        // SAFETY: only system calls. Both are first moved away from the numbers 3 and 4, which
        // the browser wants and one of them may have.
        unsafe {
            command.pre_exec(move || {
                let high = |fd| libc::fcntl(fd, libc::F_DUPFD, 10);
                let (reads, writes) = (high(reads), high(writes));
                match libc::dup2(reads, 3) < 0 || libc::dup2(writes, 4) < 0 {
                    true => Err(std::io::Error::last_os_error()),
                    false => Ok(()),
                }
            });
        }
        let child = command.spawn().expect("the browser starts");
        let mut browser = Browser {
            child,
            to: we_write.into(),
            from: BufReader::new(we_read.into()),
            session: None,
            last: 0,
        };
        drop((child_reads, child_writes));
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let target = json!({"targetId": target["targetId"], "flatten": true});
        let session = browser.call("Target.attachToTarget", target);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        let dark = json!([{"name": "prefers-color-scheme", "value": "dark"}]);
        browser.call("Emulation.setEmulatedMedia", json!({"features": dark}));
        browser.call(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": true}),
        );
        browser.call("Page.enable", json!({}));
        let url = format!("file://{}", page.display());
        browser.call("Page.navigate", json!({"url": url}));
        while browser.read()["method"] != "Page.loadEventFired" {}
        browser
    }

    /// The answer to a call of the protocol.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let text = format!("{message}\0");
        self.to
            .write_all(text.as_bytes())
            .expect("the browser listens");
        loop {
            let answer = self.read();
            if answer["id"] == self.last {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    fn read(&mut self) -> Value {
        let mut text = Vec::new();
        self.from
            .read_until(0, &mut text)
            .expect("the browser speaks");
        assert_eq!(text.pop(), Some(0), "the browser ended");
        serde_json::from_slice(&text).expect("JSON")
    }

    /// The value of an expression in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true});
        let result = self.call("Runtime.evaluate", params);
        let failed = &result["exceptionDetails"];
        assert!(failed.is_null(), "{expression}: {failed}");
        result["result"]["value"].clone()
    }

    /// Presses the mouse in the middle of an element, wherever that is on the page.
    pub fn click(&mut self, element: &str) {
        let middle = self.value(&format!(
            "(() => {{ const e = {element}; e.scrollIntoView({{block: 'center'}}); \
             const b = e.getBoundingClientRect(); \
             return [b.x + b.width / 2, b.y + b.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let params = json!({
                "type": kind, "x": middle[0], "y": middle[1], "button": "left", "clickCount": 1,
            });
            self.call("Input.dispatchMouseEvent", params);
        }
    }

    /// Presses a key.
    pub fn key(&mut self, key: &str) {
        // What the browser does itself at a key, it does by the number.
        let number = if key == "Tab" { 9 } else { 0 };
        for kind in ["keyDown", "keyUp"] {
            let params = json!({"type": kind, "key": key, "windowsVirtualKeyCode": number});
            self.call("Input.dispatchKeyEvent", params);
        }
    }

    /// The picture of the whole page, as PNG in base64. Its file is left in the folder
    /// `LOCKWORK_SCREENSHOTS`, as base64 too, if that is set.
    pub fn screenshot(&mut self, name: &str) -> String {
        let params = json!({"captureBeyondViewport": true});
        let shot = self.call("Page.captureScreenshot", params);
        let shot = shot["data"].as_str().expect("a picture").to_owned();
        if let Some(folder) = std::env::var_os("LOCKWORK_SCREENSHOTS") {
            let path = Path::new(&folder).join(format!("{name}.png.base64"));
            std::fs::write(path, &shot).expect("the picture is kept");
        }
        shot
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Its reading and its writing end.
fn pipe() -> (OwnedFd, OwnedFd) {
    let mut ends = [0; 2];
    // SAFETY: fills the two numbers, which are nobody's but ours then.
    unsafe {
        assert_eq!(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC), 0);
        (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))
    }
}
