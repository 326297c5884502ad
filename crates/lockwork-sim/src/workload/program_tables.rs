// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The tables of a workload of several locks, as they stand in its file.

use super::place::{Bytes, Count, Duration, Share};
use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LockTable {
    pub(super) name: String,
    pub(super) kind: Option<String>,
    pub(super) count: Option<Spanned<Count>>,
    pub(super) lines: Option<Spanned<Count>>,
    #[serde(default)]
    pub(super) packed: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QueueTable {
    pub(super) name: String,
    pub(super) kind: Option<String>,
    pub(super) capacity: Spanned<Count>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResourceTable {
    pub(super) name: String,
    #[serde(default)]
    pub(super) per: Per,
    pub(super) servers: Option<Spanned<Count>>,
    pub(super) wait: Wait,
    pub(super) rate: Option<Spanned<Rate>>,
}

#[derive(Clone, Copy, Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Per {
    #[default]
    Machine,
    Node,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Wait {
    Asleep,
    Busy,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rate {
    pub(super) gb_per_s: f64,
    pub(super) source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RoleTable {
    pub(super) name: String,
    pub(super) parts: Option<Spanned<Count>>,
    pub(super) steps: Vec<Spanned<StepTable>>,
}

/// One of `think`, `sleep`, `lock`, `put`, `get` and `use`, and what belongs to it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StepTable {
    pub(super) think: Option<Spanned<Duration>>,
    pub(super) sleep: Option<Spanned<Duration>>,
    pub(super) lock: Option<Spanned<String>>,
    pub(super) put: Option<Spanned<String>>,
    pub(super) get: Option<Spanned<String>>,
    #[serde(rename = "use")]
    pub(super) uses: Option<Spanned<String>>,
    pub(super) section: Option<Spanned<Duration>>,
    pub(super) read_section: Option<Spanned<Duration>>,
    pub(super) reads: Option<Spanned<Share>>,
    pub(super) inside: Option<Spanned<Vec<Spanned<StepTable>>>>,
    pub(super) time: Option<Spanned<Duration>>,
    pub(super) bytes: Option<Spanned<Bytes>>,
    pub(super) chance: Option<Spanned<Share>>,
}
