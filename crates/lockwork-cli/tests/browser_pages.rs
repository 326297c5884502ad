// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The pages of `report --html` and `compare --html` in a browser: in the dark, at the width of
//! a phone, by mouse and by keys.

#[path = "common/browser.rs"]
mod browser;
mod common;

use browser::Browser;
use common::Room;

/// Two threads that wait for each other, and the wait of a third.
const DEADLOCK: &str = "#include <pthread.h>\n\
    pthread_mutex_t a_mutex = PTHREAD_MUTEX_INITIALIZER, b_mutex = PTHREAD_MUTEX_INITIALIZER;\n\
    static pthread_barrier_t both;\n\
    static void *other(void *x) { pthread_mutex_lock(&b_mutex); pthread_barrier_wait(&both);\n\
    pthread_mutex_lock(&a_mutex); return x; }\n\
    int main(void) { pthread_t t; pthread_barrier_init(&both, 0, 2);\n\
    pthread_mutex_lock(&a_mutex); pthread_create(&t, 0, other, 0); pthread_barrier_wait(&both);\n\
    pthread_mutex_lock(&b_mutex); return 0; }\n";

/// Four threads that find the mutex held: main gives it up once each of them sleeps. They
/// then hold it one after the other.
const CONTENDED: &str = "#define _GNU_SOURCE\n#include <pthread.h>\n#include <stdio.h>\n\
    #include <unistd.h>\npthread_mutex_t hot_mutex = PTHREAD_MUTEX_INITIALIZER;\n\
    static int tids[4];\n\
    static void *work(void *x) { __atomic_store_n((int *)x, gettid(), __ATOMIC_RELEASE);\n\
    pthread_mutex_lock(&hot_mutex); usleep(20000); pthread_mutex_unlock(&hot_mutex); return x; }\n\
    static int sleeps(int *at) { char name[64], state = 0; int tid; FILE *f;\n\
    while (!(tid = __atomic_load_n(at, __ATOMIC_ACQUIRE))) usleep(1000);\n\
    snprintf(name, 64, \"/proc/self/task/%d/stat\", tid); f = fopen(name, \"r\");\n\
    if (!f || fscanf(f, \"%*d %*s %c\", &state) != 1) return 0; fclose(f); return state == 'S'; }\n\
    int main(void) { pthread_t t[4]; pthread_mutex_lock(&hot_mutex);\n\
    for (int i = 0; i < 4; i++) pthread_create(t + i, 0, work, tids + i);\n\
    for (int i = 0; i < 4; i++) while (!sleeps(tids + i)) usleep(1000);\n\
    usleep(50000); pthread_mutex_unlock(&hot_mutex);\n\
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0); return 0; }\n";

const WIDTH: u32 = 390;

fn fits_and_is_dark(browser: &mut Browser) {
    let width = browser.value("document.documentElement.scrollWidth");
    assert!(
        width.as_u64().expect("a width") <= u64::from(WIDTH),
        "{width}"
    );
    let color = browser.value("getComputedStyle(document.body).color");
    assert_eq!(color, "rgb(255, 255, 255)", "letters on a dark page");
}

fn is_png(base64: &str) -> bool {
    base64.starts_with("iVBORw0KGgo")
}

#[test]
#[cfg_attr(
    not(has_chromium),
    ignore = "chromium-headless-shell is missing: pages are not tested in a browser; scripts/install-deps installs it"
)]
fn the_timeline_is_clicked_and_zoomed() {
    let room = Room::new();
    let program = room.compile("contended", CONTENDED, &["-g", "-pthread"]);
    let (file, page) = (room.path("p.prof"), room.path("p.html"));
    let [file_name, page_name] = [&file, &page].map(|path| path.to_str().expect("UTF-8"));
    let output = room.run(&["profile", "--quiet", "-o", file_name, "--", &program]);
    assert!(output.status.success());
    let output = room.run(&["report", file_name, "--html", page_name]);
    assert!(output.status.success());
    let mut browser = Browser::open(&room.path("browser"), &page, WIDTH);
    fits_and_is_dark(&mut browser);

    let section = "document.querySelector('.timeline')";
    let said = format!("{section}.querySelector('.said').textContent");
    assert_eq!(browser.value(&said), "");
    browser.click(&format!("{section}.querySelector('[data-do=\".\"]')"));
    let first = browser.value(&said);
    let first = first.as_str().expect("text");
    assert!(
        first.starts_with("thread ") && first.contains("(contended.c:"),
        "{first}"
    );
    assert_eq!(
        browser.value("document.querySelectorAll('rect.on').length"),
        1
    );

    let shown = format!("{section}.querySelector('.view:not([hidden]) svg').viewBox.baseVal.width");
    let whole = browser.value(&shown).as_f64().expect("a width");
    browser.click(&format!("{section}.querySelector('[data-do=\"+\"]')"));
    assert_eq!(browser.value(&shown).as_f64(), Some(whole / 2.0));
    browser.value(&format!("{section}.querySelector('.view').focus()"));
    browser.key("+");
    assert_eq!(browser.value(&shown).as_f64(), Some(whole / 4.0));
    browser.key("Home");
    assert_eq!(browser.value(&shown).as_f64(), Some(whole));
    browser.key(".");
    browser.key(".");
    assert_ne!(browser.value(&said), first, "the next bars");

    // The longest hold is wide enough to be hit.
    let widest = "[...document.querySelectorAll('rect.h')].reduce((a, b) => \
        a.width.baseVal.value > b.width.baseVal.value ? a : b)";
    browser.click(widest);
    let text = browser.value(&said);
    assert!(
        text.as_str().is_some_and(|t| t.starts_with("thread ")),
        "{text}"
    );

    let table = format!("{section}.querySelector('details')");
    assert_eq!(browser.value(&format!("{table}.open")), false);
    browser.click(&format!("{table}.querySelector('summary')"));
    assert_eq!(browser.value(&format!("{table}.open")), true);
    let rows = browser.value("document.querySelectorAll('.timeline tbody tr').length");
    assert!(
        rows.as_u64() >= Some(2),
        "main and who waited for it: {rows}"
    );
    assert!(is_png(&browser.screenshot("timeline")));
}

#[test]
#[cfg_attr(
    not(has_chromium),
    ignore = "chromium-headless-shell is missing: pages are not tested in a browser; scripts/install-deps installs it"
)]
fn a_deadlock_is_a_cycle() {
    let room = Room::new();
    let program = room.compile("hangs", DEADLOCK, &["-g", "-pthread"]);
    let (file, page) = (room.path("p.prof"), room.path("p.html"));
    let [file_name, page_name] = [&file, &page].map(|path| path.to_str().expect("UTF-8"));
    let mut command = room.lockwork(&["profile", "--quiet", "-o", file_name, "--", &program]);
    let mut running = command.spawn().expect("lockwork starts");
    loop {
        let output = room.run(&["report", "--deadlock", file_name]);
        if String::from_utf8_lossy(&output.stdout).contains("deadlock of 2 threads") {
            break;
        }
        std::thread::yield_now();
    }
    let output = room.run(&["report", file_name, "--html", page_name]);
    // SAFETY: the child has not been waited for.
    unsafe { libc::kill(running.id() as libc::pid_t, libc::SIGTERM) };
    running.wait().expect("it ends");
    assert!(output.status.success());

    let mut browser = Browser::open(&room.path("browser"), &page, WIDTH);
    fits_and_is_dark(&mut browser);
    assert_eq!(
        browser.value("document.querySelectorAll('.graph path.waits.cycle').length"),
        2
    );
    assert_eq!(
        browser.value("document.querySelectorAll('.graph path.held.cycle').length"),
        2
    );
    let text = browser.value("document.body.innerText");
    assert!(text
        .as_str()
        .is_some_and(|t| t.contains("Deadlock of 2 threads")));
    assert!(is_png(&browser.screenshot("deadlock")));
}

#[test]
#[cfg_attr(
    not(has_chromium),
    ignore = "chromium-headless-shell is missing: pages are not tested in a browser; scripts/install-deps installs it"
)]
fn a_comparison_has_its_charts() {
    let room = Room::new();
    let page = room.path("c.html");
    let output = room.run(&[
        "compare",
        "-n",
        "4",
        "--warmup",
        "0",
        "--locks",
        "mutex",
        "--html",
        page.to_str().expect("UTF-8"),
        "--",
        "true",
    ]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut browser = Browser::open(&room.path("browser"), &page, WIDTH);
    fits_and_is_dark(&mut browser);
    assert_eq!(
        browser.value("document.querySelectorAll('figure.chart svg').length"),
        2
    );
    // Each run of glibc, of the control and of the mutex is a dot.
    assert_eq!(
        browser.value("document.querySelectorAll('figure.chart circle').length"),
        12
    );
    assert_eq!(
        browser.value("document.querySelector('details').open"),
        false
    );
    browser.click("document.querySelector('details summary')");
    assert_eq!(
        browser.value("document.querySelector('details').open"),
        true
    );
    assert!(is_png(&browser.screenshot("compare")));
}

#[test]
fn a_page_that_cannot_be_written_is_found_before_the_program_runs() {
    let room = Room::new();
    let ran = room.path("ran");
    let program = room.script("program", &format!("touch {}", ran.display()));
    let output = room.run(&[
        "compare",
        "-n",
        "1",
        "--html",
        "/nowhere/c.html",
        "--",
        &program,
    ]);
    assert_eq!(output.status.code(), Some(125));
    assert!(String::from_utf8_lossy(&output.stderr).contains("/nowhere/c.html"));
    assert!(!ran.exists());
}
