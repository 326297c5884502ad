// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A lock as users write it: a policy and its knobs, `mutex:spin_budget=0`.

use anyhow::Result;
use lockwork_report::bail_usage;
use lockwork_report::settings::{self, Setting};

use crate::knobs;
use crate::policy::{self, Interposer, Policy};

/// The interposer ignores longer settings.
const LONGEST: usize = 95;

/// A policy with settings.
#[derive(Clone, Debug)]
pub struct LockSpec {
    /// The policy.
    pub policy: &'static Policy,
    /// Knobs to set, each at most once.
    pub settings: Vec<Setting>,
    /// The name to show: the policy and the settings that are its own.
    pub label: String,
}

impl LockSpec {
    /// Reads `name[:knob=value[:knob=value…]]`; `shared` settings apply to it
    /// as well unless it has its own value for the knob.
    pub fn parse(text: &str, shared: &[Setting]) -> Result<LockSpec> {
        let mut parts = text.split(':');
        let policy = policy::find(parts.next().unwrap_or_default().trim())?;
        let mut settings = Vec::new();
        for part in parts {
            let (name, value) = settings::setting(part)?;
            validate(&name, &value)?;
            settings::put(&mut settings, (name, value));
        }
        if policy.interposer != Interposer::Lockwork {
            return LockSpec::plain(policy, &settings);
        }
        read_by(&settings, &[policy])?;
        let mut label = policy.name.to_string();
        for (name, value) in &settings {
            label += &format!(":{name}={value}");
        }
        for (name, value) in shared {
            if !settings.iter().any(|(own, _)| own == name) {
                settings.push((name.clone(), value.clone()));
            }
        }
        Ok(LockSpec {
            policy,
            settings,
            label,
        })
    }

    /// glibc's own locks have no knobs.
    fn plain(policy: &'static Policy, settings: &[Setting]) -> Result<LockSpec> {
        if let Some((name, _)) = settings.first() {
            bail_usage!(
                "{} has no knobs, so '{name}' cannot be set on it; leave it out",
                policy.name
            );
        }
        Ok(LockSpec {
            policy,
            settings: Vec::new(),
            label: policy.name.to_string(),
        })
    }

    /// The settings as the interposer reads them: `k=v,k=v`.
    pub fn settings_text(&self) -> String {
        let pairs: Vec<String> = self
            .settings
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        pairs.join(",")
    }
}

/// Refuses a setting that none of these policies reads.
pub fn read_by(settings: &[Setting], policies: &[&Policy]) -> Result<()> {
    let ours = |policy: &&&Policy| policy.interposer == Interposer::Lockwork;
    let names: Vec<&str> = policies
        .iter()
        .filter(ours)
        .map(|policy| policy.name)
        .collect();
    let others: Vec<&str> = policy::POLICIES.iter().map(|policy| policy.name).collect();
    settings::read_by_one(
        settings.iter().map(|(name, _)| name.as_str()),
        &names,
        &others,
        |name, knob| {
            let policy = policy::find(name).ok();
            let ours = policy.filter(|policy| policy.interposer == Interposer::Lockwork);
            // Whatever a mutex becomes, it sleeps and is waited with as the mutex is.
            ours.is_some_and(|policy| {
                let locks = policy.locks.iter().flatten();
                let mut locks = locks.chain(&["mutex", "cond"]);
                locks.any(|lock| settings::reads(lock, knob))
            })
        },
    )
}

/// Will the interposer take this setting?
pub fn validate(name: &str, value: &str) -> Result<()> {
    knobs::validate(name, value)?;
    if name.len() + 1 + value.len() > LONGEST {
        bail_usage!("'{name}={value}' is longer than {LONGEST} characters; write it shorter");
    }
    Ok(())
}
