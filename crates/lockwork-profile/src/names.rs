// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What to call a lock and a call site in a report.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashSet};

use lockwork_report::text::cut;

use crate::model::{Lock, Profile};
use crate::symbols::{Frame, Symbolizer};

/// A name's columns.
pub const NAME: usize = 48;

/// Wrappers of the lock calls: their callers say more.
const WRAPPERS: &[&str] = &[
    "std::",
    "__gthread_",
    "__glibcxx_",
    "boost::",
    "core::",
    "alloc::",
    "absl::",
];

fn is_wrapper(frame: &Frame) -> bool {
    let name = qualified(&frame.function);
    WRAPPERS.iter().any(|w| name.starts_with(w))
}

/// The name in a signature, `R N::f<T>(A) const`: without what stands before it, nor the `<` of
/// `<T as Trait>::f`.
fn qualified(signature: &str) -> &str {
    let (mut depth, mut last) = (0_usize, ' ');
    let mut words = signature.split(|c| {
        let arrow = last == '-';
        last = c;
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' if arrow => {}
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ' ' && depth == 0
    });
    let first = words.next().unwrap_or_default();
    let named = words.find(|word| word.contains('('));
    let name = match named {
        Some(name) if !first.contains('(') => name,
        _ => first,
    };
    name.trim_start_matches('<')
}

/// The class and the last name of a function.
fn class_of(signature: &str) -> Option<(&str, &str)> {
    let name = qualified(signature);
    let (mut depth, mut at, mut end) = (0_usize, None, name.len());
    for (n, c) in name.char_indices() {
        match c {
            // `(anonymous namespace)` is a part of the name.
            '(' if depth == 0 && n > 0 && !name[..n].ends_with("::") => {
                end = n;
                break;
            }
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            ':' if depth == 0 && name[n..].starts_with("::") => at = Some(n),
            _ => {}
        }
    }
    let at = at?;
    Some((&name[..at], &name[at + 2..end]))
}

/// Whether a function has its class's name.
fn is_constructor(signature: &str) -> bool {
    class_of(signature).is_some_and(|(class, name)| {
        let own = class_of(class).map_or(class, |(_, own)| own);
        without_parameters(own) == without_parameters(name)
    })
}

/// `f` of `f<T>`.
fn without_parameters(name: &str) -> &str {
    name.split('<').next().unwrap_or_default()
}

/// What libraries of C call a lock, and to make one.
const LOCKS: &[&str] = &[
    "mutex",
    "mtx",
    "lock",
    "rwlock",
    "spinlock",
    "rwl",
    "cond",
    "condvar",
    "condition",
    "cv",
];
const MAKES: &[&str] = &["init", "new", "create", "alloc", "allocate", "make"];

/// Whether a function of C makes a lock for its caller, by its name: `uv_mutex_init`,
/// `CRYPTO_THREAD_lock_new`, `SDL_CreateMutex`.
fn makes_locks(function: &str) -> bool {
    if function.contains("::") {
        return false;
    }
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in qualified(function).chars().take_while(|c| *c != '(') {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if c.is_alphanumeric() {
            let word = words.last_mut().expect("there is one");
            word.extend(c.to_lowercase());
        }
    }
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    has(LOCKS) && has(MAKES)
}

/// The first function that is no wrapper, nor of the class whose constructor is called first.
fn past_constructor(frames: &[Frame]) -> Option<&Frame> {
    let own = frames.iter().filter(|frame| !is_wrapper(frame));
    let own: Vec<&Frame> = own
        .skip_while(|frame| makes_locks(&frame.function))
        .collect();
    let class = |frame: &&Frame| class_of(&frame.function).map(|(class, _)| class.to_owned());
    let first = class(own.first()?);
    let outside = own.iter().position(|frame| class(frame) != first);
    let inside = &own[..outside.unwrap_or(own.len())];
    match first.is_some() && inside.iter().any(|frame| is_constructor(&frame.function)) {
        true => outside.map(|at| own[at]),
        false => own.first().copied(),
    }
}

/// The functions outside of the one by which a call is named, the innermost first: those that it is
/// inlined into, and those of the other calls of the stack. Wrappers are left out.
fn outside_of_call(stack: &[Vec<Frame>]) -> Vec<&Frame> {
    let Some((call, outer)) = stack.split_first() else {
        return Vec::new();
    };
    let own = call.iter().position(|frame| !is_wrapper(frame));
    let into = call.iter().skip(own.map_or(call.len(), |own| own + 1));
    let all = into.chain(outer.iter().flatten());
    all.filter(|frame| !is_wrapper(frame)).collect()
}

/// Names of one process's locks and call sites.
pub struct Names<'a> {
    symbols: Symbolizer<'a>,
    /// Names that the program gave to several locks.
    shared: HashSet<&'a str>,
    locks: &'a [Lock],
    /// Names of variables that several locks are, as static ones of two files.
    shared_variables: OnceCell<HashSet<String>>,
    wrappers: &'a BTreeMap<u64, u64>,
}

impl<'a> Names<'a> {
    /// Of the process of this profile.
    pub fn new(profile: &'a Profile) -> Names<'a> {
        let given = profile.locks.iter().filter_map(|l| l.named.as_deref());
        let mut seen = HashSet::new();
        let shared = given.filter(|name| !seen.insert(*name)).collect();
        Names {
            symbols: Symbolizer::new(&profile.modules),
            shared,
            locks: &profile.locks,
            shared_variables: OnceCell::new(),
            wrappers: &profile.wrappers,
        }
    }

    /// Files that gave no names, and why.
    pub fn warnings(&self) -> Vec<String> {
        self.symbols.warnings()
    }

    /// The functions of a call, inlined ones first.
    pub fn frames(&self, address: u64) -> Vec<Frame> {
        self.symbols.frames(address)
    }

    /// The function that calls, past the wrappers that are inlined into it. Unknown: 0.
    pub fn site(&self, address: u64) -> String {
        if address == 0 {
            return "unknown".to_owned();
        }
        let frames = self.frames(address);
        let own = frames.iter().find(|frame| !is_wrapper(frame));
        own.or(frames.last())
            .map_or_else(|| format!("{address:#x}"), Frame::to_string)
    }

    /// The same in a line of a report, with the function that locks for it, as `Mutex::Lock()`
    /// does, unless that is one of a standard library.
    pub fn locker(&self, address: u64) -> String {
        let site = cut(&self.site(address), NAME);
        match self.wrappers.get(&address) {
            Some(call) if !self.is_wrapper(*call) => {
                format!("{site} through {}", cut(&self.site(*call), NAME))
            }
            _ => site,
        }
    }

    /// Who called the function that [`Names::site`] names, by a stack with its call first.
    pub fn callers(&self, stack: &[u64]) -> Vec<String> {
        let frames: Vec<Vec<Frame>> = stack.iter().map(|at| self.frames(*at)).collect();
        let outside = outside_of_call(&frames).into_iter();
        outside.map(Frame::to_string).collect()
    }

    /// Whether all functions of a call are wrappers: who called it says more.
    pub fn is_wrapper(&self, address: u64) -> bool {
        self.frames(address).iter().all(is_wrapper)
    }

    /// The function that makes a lock. The class of a lock has a constructor that makes all of
    /// them, so it is the first function outside of that class, if that is known; and so with functions
    /// of C that make locks for others.
    pub fn maker(&self, lock: &Lock) -> Option<String> {
        let made = lock.made?;
        let frames = lock.makers.iter().flat_map(|address| self.frames(*address));
        let frames: Vec<Frame> = frames.collect();
        let outside = past_constructor(&frames).map(Frame::to_string);
        Some(outside.unwrap_or_else(|| self.site(made)))
    }

    /// The variable that a lock is. Others of its name are told apart by their source files, or
    /// else by their addresses.
    fn variable(&self, lock: &Lock) -> Option<String> {
        let (name, source) = self.symbols.variable(lock.address)?;
        if !self.is_shared(&name) {
            return Some(name);
        }
        let local = source.map(|source| in_source(&name, &source));
        let local = local.filter(|local| !self.is_shared(local));
        Some(local.unwrap_or_else(|| format!("{name} {:#x}", lock.address)))
    }

    /// Whether other locks are variables of the same name, or of the same name and source.
    fn is_shared(&self, variable: &str) -> bool {
        let find = || {
            let unnamed = self.locks.iter().filter(|lock| lock.named.is_none());
            let variables = unnamed.filter_map(|lock| self.symbols.variable(lock.address));
            let names = variables.flat_map(|(name, source)| {
                let local = source.map(|source| in_source(&name, &source));
                std::iter::once(name).chain(local)
            });
            let mut seen = HashSet::new();
            names.filter(|name| !seen.insert(name.clone())).collect()
        };
        self.shared_variables.get_or_init(find).contains(variable)
    }

    /// A lock by the name that the program gave it, else by its variable, else by where it was
    /// initialized, else by its address and where it is used.
    pub fn lock(&self, lock: &Lock) -> String {
        match lock.named.as_deref() {
            Some(name) if self.shared.contains(name) => {
                return format!("{name} {:#x}", lock.address);
            }
            Some(name) => return name.to_owned(),
            None => {}
        }
        if let Some(variable) = self.variable(lock) {
            return variable;
        }
        if let Some(maker) = self.maker(lock) {
            return format!("{:#x} made by {maker}", lock.address);
        }
        let used = lock.sites.first().map(|site| self.site(site.address));
        format!(
            "{:#x} used by {}",
            lock.address,
            used.unwrap_or_else(|| "nobody".to_owned())
        )
    }
}

fn in_source(variable: &str, source: &str) -> String {
    format!("{variable} ({source})")
}

#[cfg(test)]
mod tests {
    use super::{is_constructor, makes_locks, outside_of_call, past_constructor, qualified};
    use crate::symbols::Frame;

    #[test]
    fn a_constructor_has_the_name_of_its_class() {
        for name in [
            "kyotocabinet::Mutex::Mutex()",
            "Mutex::Mutex(int)",
            "a::Lock<int>::Lock(int (*)(char))",
            "a::Lock<int>::Lock<char>(char)",
            "(anonymous namespace)::Mutex::Mutex()",
            "Mutex::Mutex() [clone .part.0]",
        ] {
            assert!(is_constructor(name), "{name}");
        }
        for name in [
            "main",
            "Mutex(int)",
            "Mutex::init()",
            "a::Mutex::~Mutex()",
            "(anonymous namespace)::f(Mutex::Mutex)",
            "kccachetest+0x1c55d",
        ] {
            assert!(!is_constructor(name), "{name}");
        }
    }

    #[test]
    fn functions_of_c_that_make_locks_for_others_are_known_by_their_names() {
        for name in [
            "uv_mutex_init",
            "uv_cond_init_r",
            "CRYPTO_THREAD_lock_new",
            "apr_thread_mutex_create",
            "inline_mysql_mutex_init(unsigned int, mysql_mutex_t*)",
            "PyThread_allocate_lock",
            "SDL_CreateMutex",
        ] {
            assert!(makes_locks(name), "{name}");
        }
        for name in [
            "main",
            "init_locks",
            "blocks_new",
            "open_lock",
            "cache_create",
            "Pool::new_lock()",
            "libx.so+0x1c55d",
        ] {
            assert!(!makes_locks(name), "{name}");
        }
    }

    #[test]
    fn callers_are_named_though_they_are_inlined() {
        let call = |functions: &[&str]| -> Vec<Frame> {
            let frames = functions.iter().map(|function| Frame {
                function: (*function).to_owned(),
                line: String::new(),
            });
            frames.collect()
        };
        let of = |stack: &[&[&str]]| -> Vec<String> {
            let stack: Vec<Vec<Frame>> = stack.iter().map(|names| call(names)).collect();
            let found = outside_of_call(&stack).into_iter();
            found.map(|frame| frame.function.clone()).collect()
        };
        // put() is inlined into serve(), and that into worker(), which run() calls.
        let inlined = ["std::mutex::lock()", "put()", "serve()", "worker()"];
        assert_eq!(
            of(&[&inlined, &["std::invoke()", "run()"], &["main"]]),
            ["serve()", "worker()", "run()", "main"]
        );
        assert_eq!(of(&[&["std::mutex::lock()"], &["put()"]]), ["put()"]);
        assert_eq!(of(&[&["put()"]]), [""; 0]);
        assert_eq!(of(&[]), [""; 0]);
    }

    #[test]
    fn the_maker_is_outside_of_the_class_of_the_lock() {
        let maker = |functions: &[&str]| {
            let frames = functions.iter().map(|function| Frame {
                function: (*function).to_owned(),
                line: String::new(),
            });
            let frames: Vec<Frame> = frames.collect();
            past_constructor(&frames).map(|frame| frame.function.clone())
        };
        let of = |functions: &[&str], expected: Option<&str>| {
            assert_eq!(maker(functions).as_deref(), expected, "{functions:?}");
        };
        of(
            &["k::Mutex::Mutex()", "k::DB::DB()", "main"],
            Some("k::DB::DB()"),
        );
        of(
            &[
                "k::Mutex::init()",
                "k::Mutex::Mutex()",
                "std::make()",
                "main",
            ],
            Some("main"),
        );
        of(&["k::DB::open()", "main"], Some("k::DB::open()"));
        of(&["start", "main"], Some("start"));
        of(&["uv_mutex_init", "open_loop", "main"], Some("open_loop"));
        of(
            &["CRYPTO_THREAD_lock_new", "new_lock", "X509_new", "main"],
            Some("X509_new"),
        );
        of(&["uv_mutex_init"], None);
        of(&["k::Mutex::Mutex()"], None);
        of(&[], None);
    }

    #[test]
    fn a_name_is_found_in_its_signature() {
        for (signature, name) in [
            ("main", "main"),
            (
                "void std::__invoke_impl<void, A>(A)",
                "std::__invoke_impl<void, A>(A)",
            ),
            (
                "std::vector<int> shop::sell<int>(int)",
                "shop::sell<int>(int)",
            ),
            ("std::mutex::lock()", "std::mutex::lock()"),
            ("shop::Till::open(int) const", "shop::Till::open(int)"),
            (
                "(anonymous namespace)::f(int)",
                "(anonymous namespace)::f(int)",
            ),
            (
                "<std::sync::Mutex<T> as Lock>::lock",
                "std::sync::Mutex<T> as Lock>::lock",
            ),
            (
                "<impl Fn(A) -> B for C>::call",
                "impl Fn(A) -> B for C>::call",
            ),
        ] {
            assert_eq!(qualified(signature), name, "{signature}");
        }
    }
}
