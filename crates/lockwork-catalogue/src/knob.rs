// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Run-time knobs and thread slots, as `platform/user/user.h` offers them, and
//! the knobs of `platform/knobs.h`.
use crate::mirrors::RawKnob;
use crate::text::text;
use std::ffi::{c_char, c_int, CString};
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

/// The most threads that can be queued at once.
pub const MAX_SLOTS: u32 = 16383;

extern "C" {
    /// Those of the user world; ended by an entry without a name.
    static lkp_user_knobs: [RawKnob; 0];
    /// Those of the locks, in all worlds; ended likewise.
    static lk_knobs: [RawKnob; 0];
    fn lkp_user_knob_set(name: *const c_char, value: *const c_char) -> c_int;
    fn lkp_user_limit_slots(n: u32);
    fn lkp_user_slots_in_use() -> u32;
}

/// One run-time knob of the locks.
#[derive(Clone, Copy)]
pub struct Knob {
    raw: &'static RawKnob,
}

// SAFETY: constant, but for the value, which is accessed atomically.
unsafe impl Send for Knob {}
// SAFETY: as above.
unsafe impl Sync for Knob {}

impl Knob {
    /// The name to set it by.
    pub fn name(&self) -> &'static str {
        text(self.raw.name)
    }

    /// One line that says what it does and its unit.
    pub fn help(&self) -> &'static str {
        text(self.raw.help)
    }

    /// Its values' names from 0 up; empty where it is a number.
    pub fn words(&self) -> Vec<&'static str> {
        if self.raw.words.is_null() {
            return Vec::new();
        }
        text(self.raw.words).split(',').map(str::trim).collect()
    }

    /// The smallest value.
    pub fn min(&self) -> u32 {
        self.raw.min
    }

    /// The greatest value.
    pub fn max(&self) -> u32 {
        self.raw.max
    }

    /// The value it starts with.
    pub fn default(&self) -> u32 {
        self.raw.dflt
    }

    /// Whether it is for measurements and for those who know the locks.
    pub fn is_for_experts(&self) -> bool {
        self.raw.expert != 0
    }

    /// The value now.
    pub fn get(&self) -> u32 {
        // SAFETY: a C variable that lives as long as the program.
        unsafe { AtomicU32::from_ptr(self.raw.value) }.load(Ordering::Relaxed)
    }

    /// The value now, for messages: its word if it has words.
    pub fn shown(&self) -> String {
        let value = self.get();
        let word = self.words().get(value as usize).copied();
        word.map_or_else(|| value.to_string(), str::to_owned)
    }

    /// What it may be set to, for messages: words or a range.
    pub fn range(&self) -> String {
        let words = self.words();
        if words.is_empty() {
            format!("a number from {} to {}", self.min(), self.max())
        } else {
            format!("one of {}", words.join(", "))
        }
    }
}

impl fmt::Debug for Knob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Knob({}={})", self.name(), self.get())
    }
}

/// The entries of a table.
///
/// # Safety
/// `entry` starts a table of C that is constant and ends with an entry without a
/// name.
unsafe fn table(entry: *const [RawKnob; 0]) -> impl Iterator<Item = Knob> {
    let mut entry = entry.cast::<RawKnob>();
    std::iter::from_fn(move || {
        // SAFETY: not past the end, by the caller's promise: it is not passed.
        let raw = unsafe { entry.as_ref() }.filter(|raw| !raw.name.is_null())?;
        // SAFETY: another one follows.
        entry = unsafe { entry.add(1) };
        Some(Knob { raw })
    })
}

/// All knobs.
pub fn knobs() -> Vec<Knob> {
    // SAFETY: both are such tables.
    unsafe { table(&raw const lkp_user_knobs).chain(table(&raw const lk_knobs)) }.collect()
}

/// A knob was not set; nothing changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnobError {
    /// No knob has that name.
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// The knob cannot have that value.
    Range {
        /// The knob.
        name: String,
        /// The value asked for.
        value: String,
        /// What it may be.
        allowed: String,
    },
}

impl fmt::Display for KnobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, known } => {
                write!(
                    f,
                    "there is no knob named '{name}'; choose one of: {}",
                    known.join(", ")
                )
            }
            Self::Range {
                name,
                value,
                allowed,
            } => {
                write!(f, "the knob {name} cannot be '{value}'; it takes {allowed}")
            }
        }
    }
}

impl std::error::Error for KnobError {}

fn find(name: &str) -> Result<Knob, KnobError> {
    let known = knobs();
    let unknown = || KnobError::Unknown {
        name: name.to_owned(),
        known: known.iter().map(Knob::name).collect(),
    };
    let mut knobs = known.iter();
    let knob = knobs.find(|knob| knob.name() == name);
    knob.copied().ok_or_else(unknown)
}

/// Sets knob `name` from a number or one of its words.
pub fn set_knob(name: &str, value: &str) -> Result<(), KnobError> {
    let knob = find(name)?;
    let refused = || KnobError::Range {
        name: name.to_owned(),
        value: value.to_owned(),
        allowed: knob.range(),
    };
    let text = CString::new(value).map_err(|_| refused())?;
    // SAFETY: both are C strings.
    match unsafe { lkp_user_knob_set(knob.raw.name, text.as_ptr()) } {
        0 => Ok(()),
        _ => Err(refused()),
    }
}

/// For tests only: stores `value` in knob `name` past all its limits, and returns
/// what was there. So a test can have often what users have seldom: with
/// `osq_lock_depth` `u32::MAX` and `osq_keep_times` 0 every acquisition of a
/// `numa_osq` divides it and every release joins it. Does nothing else that setting
/// the knob does, such as learning clusters anew.
///
/// # Safety
/// The locks' code bears the value. Not every one is a mere number to compare
/// with: above its maximum `osq_pool` goes past the end of an array.
///
/// # Errors
/// [`KnobError::Unknown`].
pub unsafe fn force_knob(name: &str, value: u32) -> Result<u32, KnobError> {
    let knob = find(name)?;
    // SAFETY: a C variable that lives as long as the program.
    let variable = unsafe { AtomicU32::from_ptr(knob.raw.value) };
    Ok(variable.swap(value, Ordering::Relaxed))
}

/// At most `n` threads (1 to [`MAX_SLOTS`]) are given a queue slot from now on.
pub fn limit_slots(n: u32) {
    // SAFETY: no precondition.
    unsafe { lkp_user_limit_slots(n.clamp(1, MAX_SLOTS)) }
}

/// How many threads have a queue slot now.
pub fn slots_in_use() -> u32 {
    // SAFETY: no precondition.
    unsafe { lkp_user_slots_in_use() }
}
