// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The pages of `report --html` and `compare --html` in a browser: in the dark, at the width of
//! a phone, by mouse and by keys.

#[path = "common/browser.rs"]
mod browser;
mod common;

use browser::Browser;
use common::{stderr, stdout, text, Room, Started};

/// Two threads that wait for each other, and the wait of a third.
const DEADLOCK: &str = "#include <pthread.h>\n\
    pthread_mutex_t a_mutex = PTHREAD_MUTEX_INITIALIZER, b_mutex = PTHREAD_MUTEX_INITIALIZER;\n\
    static pthread_barrier_t both;\n\
    static void *other(void *x) { pthread_mutex_lock(&b_mutex); pthread_barrier_wait(&both);\n\
    pthread_mutex_lock(&a_mutex); return x; }\n\
    int main(void) { pthread_t t; pthread_barrier_init(&both, 0, 2);\n\
    pthread_mutex_lock(&a_mutex); pthread_create(&t, 0, other, 0); pthread_barrier_wait(&both);\n\
    pthread_mutex_lock(&b_mutex); return 0; }\n";

/// Four threads that find the mutex held, two of them by another function: main gives it up
/// once each of them sleeps. They then hold it one after the other.
const CONTENDED: &str = "#define _GNU_SOURCE\n#include <pthread.h>\n#include <stdio.h>\n\
    #include <unistd.h>\npthread_mutex_t hot_mutex = PTHREAD_MUTEX_INITIALIZER;\n\
    static int tids[4];\n\
    static void hold(int *x) { __atomic_store_n(x, gettid(), __ATOMIC_RELEASE);\n\
    pthread_mutex_lock(&hot_mutex); usleep(20000); pthread_mutex_unlock(&hot_mutex); }\n\
    static void *even(void *x) { hold(x); return x; }\n\
    static void *odd(void *x) { hold(x); return x; }\n\
    static int sleeps(int *at) { char name[64], state = 0; int tid; FILE *f;\n\
    while (!(tid = __atomic_load_n(at, __ATOMIC_ACQUIRE))) usleep(1000);\n\
    snprintf(name, 64, \"/proc/self/task/%d/stat\", tid); f = fopen(name, \"r\");\n\
    if (!f || fscanf(f, \"%*d %*s %c\", &state) != 1) return 0; fclose(f); return state == 'S'; }\n\
    int main(void) { pthread_t t[4]; pthread_mutex_lock(&hot_mutex);\n\
    for (int i = 0; i < 4; i++) pthread_create(t + i, 0, i % 2 ? odd : even, tids + i);\n\
    for (int i = 0; i < 4; i++) while (!sleeps(tids + i)) usleep(1000);\n\
    usleep(50000); pthread_mutex_unlock(&hot_mutex);\n\
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0); return 0; }\n";

const WIDTH: u32 = 390;

/// The page that `lockwork` writes with these arguments, on a phone's screen in the dark.
fn page(room: &Room, args: &[&str]) -> Browser {
    let file = room.path("page.html");
    let (command, rest) = args.split_first().expect("a command");
    let output = room.run(&[&[*command, "--html", &text(&file)], rest].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let mut browser = Browser::open(&room.path("browser"), &file, WIDTH);
    let width = browser.value("document.documentElement.scrollWidth");
    assert!(
        width.as_u64().expect("a width") <= u64::from(WIDTH),
        "{width}"
    );
    let color = browser.value("getComputedStyle(document.body).color");
    assert_eq!(color, "rgb(255, 255, 255)", "letters on a dark page");
    browser
}

/// The page on a recording of `CONTENDED`.
fn contended(room: &Room) -> Browser {
    let program = room.compile("contended", CONTENDED, &["-g", "-pthread"]);
    let file = text(&room.path("p.prof"));
    let output = room.run(&["profile", "--quiet", "-o", &file, "--", &program]);
    assert!(output.status.success(), "{}", stderr(&output));
    page(room, &["report", &file])
}

/// How many charts are shown. None is wider than its place, and no text is wider than its chart.
fn charts_that_fit(browser: &mut Browser) -> u64 {
    let shown = "[...document.querySelectorAll('figure.chart')].filter(f => f.clientWidth > 0)";
    let wide = format!("{shown}.filter(f => f.scrollWidth > f.clientWidth).length");
    assert_eq!(browser.value(&wide), 0, "charts scroll sideways");
    let cut = format!(
        "{shown}.flatMap(f => {{ const box = f.querySelector('svg').getBoundingClientRect(); \
         return [...f.querySelectorAll('text')].filter(t => {{ \
         const b = t.getBoundingClientRect(); return b.left < box.left || b.right > box.right; \
         }}).map(t => t.textContent.trim()); }}).join('; ')"
    );
    assert_eq!(browser.value(&cut), "", "texts that are cut off");
    let count = browser.value(&format!("{shown}.length"));
    count.as_u64().expect("a number")
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
    let mut browser = contended(&room);
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
    let empty = format!("{section}.querySelector('.empty').hidden");
    assert_eq!(
        browser.value(&empty),
        true,
        "there are bars in the whole run"
    );
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

/// Widths are rounded to a part of a pixel, shares in text to 0.1 %.
fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() < 0.002
}

#[test]
#[cfg_attr(
    not(has_chromium),
    ignore = "chromium-headless-shell is missing: pages are not tested in a browser; scripts/install-deps installs it"
)]
fn the_flame_graph_is_zoomed_and_searched() {
    let room = Room::new();
    let mut browser = contended(&room);
    let named = |name: &str| {
        format!(
            "[...document.querySelectorAll('.frames > *')].find(e => e.textContent === '{name}')"
        )
    };
    let part = |browser: &mut Browser, name: &str| {
        let of = format!(
            "(e => e.hidden ? 0 : e.getBoundingClientRect().width / \
             e.parentElement.getBoundingClientRect().width)({})",
            named(name)
        );
        browser.value(&of).as_f64().expect("a share")
    };
    let said = "document.querySelector('.flame .said').textContent";
    let locks = browser
        .value("[...document.querySelectorAll('.frames > .lock')].map(e => e.textContent).join()");
    assert_eq!(locks, "mutex hot_mutex,mutex hot_mutex");
    assert!(is_near(part(&mut browser, "all waits"), 1.0));
    let (even, odd) = (part(&mut browser, "even"), part(&mut browser, "odd"));
    assert!(even > 0.0 && odd > 0.0 && even + odd < 1.01, "{even} {odd}");

    // By the mouse: the callers stay, what is beside goes.
    browser.click(&named("even"));
    assert!(is_near(part(&mut browser, "even"), 1.0));
    assert!(is_near(part(&mut browser, "all waits"), 1.0));
    assert!(is_near(part(&mut browser, "odd"), 0.0));
    let text = browser.value(said);
    let text = text.as_str().expect("text");
    assert!(text.starts_with("even: ") && text.ends_with(" %"), "{text}");
    browser.click("document.querySelector('.flame button')");
    assert!(is_near(part(&mut browser, "odd"), odd));

    // By keys, from the search on.
    browser.click("document.querySelector('.flame input')");
    browser.call("Input.insertText", serde_json::json!({"text": "ODD"}));
    let found = browser.value("document.querySelector('.flame output').textContent");
    let found = found.as_str().expect("text");
    let share = found
        .strip_prefix("1 box, ")
        .and_then(|text| text.strip_suffix(" % of the time"))
        .and_then(|share| share.parse::<f64>().ok())
        .unwrap_or_else(|| panic!("{found}"));
    assert!(is_near(share / 100.0, odd), "{found}");
    assert_eq!(
        browser.value("[...document.querySelectorAll('.found')].map(e => e.textContent).join()"),
        "odd"
    );
    assert!(is_png(&browser.screenshot("flame-search")));
    let focus = "document.activeElement.textContent";
    browser.key("Tab");
    assert_eq!(browser.value(focus), "Whole graph");
    browser.key("Tab");
    assert_eq!(browser.value(focus), "even", "the box that was clicked");
    // The one that waited longer is on the left.
    let (there, back) = match even >= odd {
        true => ("ArrowRight", "ArrowLeft"),
        false => ("ArrowLeft", "ArrowRight"),
    };
    browser.key(there);
    assert_eq!(browser.value(focus), "odd");
    browser.key(back);
    assert_eq!(browser.value(focus), "even");
    browser.key("ArrowDown");
    assert_eq!(browser.value(focus), "hold");
    browser.key("ArrowDown");
    assert_eq!(browser.value(focus), "mutex hot_mutex");
    let text = browser.value(said);
    assert!(
        text.as_str()
            .is_some_and(|t| t.starts_with("mutex hot_mutex: ")),
        "{text}"
    );
    browser.key("ArrowUp");
    browser.key("ArrowUp");
    assert_eq!(browser.value(focus), "even");
    browser.key("Enter");
    assert!(is_near(part(&mut browser, "even"), 1.0));
    assert!(is_near(part(&mut browser, "odd"), 0.0));
    assert!(is_png(&browser.screenshot("flame-zoomed")));
    browser.key("Escape");
    assert!(is_near(part(&mut browser, "even"), even));
    assert!(is_near(part(&mut browser, "odd"), odd));
    browser.key("Home");
    assert_eq!(browser.value(focus), "all waits");
    assert!(is_png(&browser.screenshot("flame")));
}

#[test]
#[cfg_attr(
    not(has_chromium),
    ignore = "chromium-headless-shell is missing: pages are not tested in a browser; scripts/install-deps installs it"
)]
fn a_deadlock_is_a_cycle() {
    let room = Room::new();
    let program = room.compile("hangs", DEADLOCK, &["-g", "-pthread"]);
    let file = text(&room.path("p.prof"));
    let mut command = room.lockwork(&["profile", "--quiet", "-o", &file, "--", &program]);
    let mut running = Started::new(&mut command);
    let waits = || stdout(&room.run(&["report", "--deadlock", &file]));
    running.until(|| waits().contains("deadlock of 2 threads"));
    let mut browser = page(&room, &["report", &file]);
    running.signal(libc::SIGTERM);
    running.output();
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
    let few = ["compare", "-n", "4", "--warmup", "0", "--locks", "mutex"];
    let mut browser = page(&room, &[&few[..], &["--", "true"]].concat());
    assert_eq!(charts_that_fit(&mut browser), 2);
    // Each run of glibc, of the control and of the mutex is a dot.
    assert_eq!(
        browser.value("document.querySelectorAll('figure.narrow circle').length"),
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

/// A program whose result depends on its lock: with the mutex, the number of threads.
const RATED: &str = "case \"$LOCKWORK_LOCK\" in\n\
    mutex) echo \"rate: ${1}00\";;\n*) echo 'rate: 100';;\nesac";

#[test]
#[cfg_attr(
    not(has_chromium),
    ignore = "chromium-headless-shell is missing: pages are not tested in a browser; scripts/install-deps installs it"
)]
fn a_suite_has_its_table_and_a_chart_for_each_lock() {
    let room = Room::new();
    room.script("rated", RATED);
    let suite = room.path("suite.toml");
    let content = "locks = ['mutex', 'qspinlock_fair']\nrounds = 3\nthreads = [2, 8]\n\
                   [[program]]\nname = 'rated <b>'\ncommand = ['{dir}/rated', '{threads}']\n\
                   metric = 'rate: ([0-9]+)'\ntimeout = 86400\n\
                   [[program]]\nname = 'absent'\ncommand = ['no-such-program']\nthreads = [1]\n";
    std::fs::write(&suite, content).expect("a suite");
    let mut browser = page(&room, &["compare", "--suite", &text(&suite)]);
    let cells = "[...document.querySelectorAll('tbody tr')].map(row => \
        [...row.cells].slice(0, -1).map(cell => cell.innerText).join(' | '))";
    assert_eq!(
        browser.value(cells),
        serde_json::json!([
            "rated <b> | 2 | 2.00 (2.00 … 2.00) * | 1.00 (1.00 … 1.00)",
            "rated <b> | 8 | 8.00 (8.00 … 8.00) * | 1.00 (1.00 … 1.00)",
            "absent |  | skipped | skipped",
            "Geometric mean |  | 4.00 (4.00 … 4.00) | 1.00 (1.00 … 1.00)",
            "Worst |  | 2.00 | 1.00",
        ])
    );
    // A dot for each row and a diamond for the mean, where the axis has their ratios.
    let charts = "document.querySelectorAll('figure.narrow svg')";
    assert_eq!(charts_that_fit(&mut browser), 2);
    let x = |chart: usize, what: &str| {
        format!(
            "[...{charts}[{chart}].querySelectorAll('{what}')].map(e => \
             {{ const b = e.getBoundingClientRect(); return b.x + b.width / 2; }})"
        )
    };
    let dots = browser.value(&x(0, "circle"));
    let [two, eight] = [&dots[0], &dots[1]].map(|x| x.as_f64().expect("a place"));
    let ones = browser.value(&x(1, "circle"));
    let one = ones[0].as_f64().expect("a place");
    let mean = browser.value(&x(0, "polygon"))[0].as_f64();
    assert!(
        ((eight - one) / (two - one) - 3.0).abs() < 0.1,
        "logarithmic"
    );
    assert!(((mean.expect("a mean") - one) / (two - one) - 2.0).abs() < 0.1);
    assert_eq!(ones[0], ones[1]);
    let names = browser.value(&format!("{charts}[0].textContent"));
    let names = names.as_str().expect("text");
    for name in ["rated <b> (2)", "rated <b> (8)", "Geometric mean"] {
        assert!(names.contains(name), "{name}: {names}");
    }
    let shown = browser.value("document.body.innerText");
    for part in [
        "mutex: better than glibc in 2 of 2 rows",
        "skipped: absent: there is no program 'no-such-program' in PATH",
        "2 of 3 rows measured, 0 failed, 1 skipped with 1 program that cannot run here.",
    ] {
        assert!(
            shown.as_str().is_some_and(|s| s.contains(part)),
            "{part}: {shown}"
        );
    }
    assert!(is_png(&browser.screenshot("suite")));
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
    let suite = room.path("suite.toml");
    let content = format!("threads = [1]\n[[program]]\nname = 'a'\ncommand = ['{program}']\n");
    std::fs::write(&suite, content).expect("a suite");
    for (page, code) in [("/nowhere/c.html", 125), ("-", 2)] {
        let output = room.run(&["compare", "--suite", &text(&suite), "--html", page]);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
    }
    assert!(!ran.exists());
}
