// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Why an acquisition costs what it does: one sentence, chosen by rules from the figures. The
//! rules are in the order in which they are asked; the first that holds speaks. One that needs
//! a figure that the world does not see does not hold. Of a program the recorder knows more than
//! these figures: each lock's waits and holds. So there its rules speak.

use crate::account::Account;
use crate::quantity::Quantity;
use lockwork_profile::NOTHING;
use lockwork_report::finding::Finding;

/// What explains the figures.
pub(crate) fn why(account: &Account) -> Finding {
    if let Some(found) = &account.recorded {
        return found.clone();
    }
    let rules: [fn(&Account) -> Option<Finding>; 10] = [
        unused,
        uncontended,
        preempted_holder,
        wakes_nobody,
        woken_for_nothing,
        convoy,
        remote_lines,
        lost_cpu,
        taken_again,
        moving_lines,
    ];
    let found = rules.iter().find_map(|rule| rule(account));
    found.unwrap_or_else(|| unclear(account))
}

fn finding(
    account: &Account,
    rule: &'static str,
    why: &str,
    evidence: &[Quantity],
    advice: &str,
) -> Finding {
    Finding {
        rule,
        why: why.to_owned(),
        evidence: (evidence.iter())
            .filter(|&&one| account.value(one).is_some())
            .map(|&one| account.told(one))
            .collect(),
        advice: advice.to_owned(),
    }
}

fn unused(account: &Account) -> Option<Finding> {
    (account.value(Quantity::Acquisitions)? == 0.0).then(|| {
        finding(
            account,
            "unused",
            "Nobody acquired it.",
            &[Quantity::Acquisitions],
            "Nothing is explained by this run: make it longer, or see whether the program locks \
             through glibc.",
        )
    })
}

/// Few acquisitions that find it held may be long waits.
fn uncontended(account: &Account) -> Option<Finding> {
    let waited = account.value(Quantity::Waited).unwrap_or(0.0);
    (account.value(Quantity::Contended)? < 0.01 && waited < NOTHING).then(|| {
        finding(
            account,
            "uncontended",
            "Threads hardly ever find it held, so it costs what the call itself costs.",
            &[Quantity::Contended, Quantity::Waited, Quantity::Cpu],
            "No other lock brings much here.",
        )
    })
}

/// Of a program whose threads hardly waited for locks; `tried` and `unseen` say why nobody knows
/// that.
pub(crate) fn nothing_to_win(
    account: &Account,
    tried: Option<String>,
    unseen: Option<String>,
) -> Finding {
    let advice = "No other lock brings much here. `lockwork profile` also times the waits for \
                  condition variables.";
    let (rule, why, advice) = match (&tried, &unseen) {
        (Some(tried), _) => (
            "tries",
            tried.as_str(),
            "See how long the program repeats them.",
        ),
        (None, Some(unseen)) => (
            "unseen",
            unseen.as_str(),
            "See what `lockwork profile` says of the condition variables, and measure: `lockwork \
             compare`.",
        ),
        (None, None) => ("uncontended", "Threads hardly wait for its locks.", advice),
    };
    let evidence = [Quantity::Waited, Quantity::Contended];
    finding(account, rule, why, &evidence, advice)
}

/// Against threads that lose their CPU.
fn fewer_threads(account: &Account) -> &'static str {
    match account.sleeps {
        Some(true) => "Use no more threads than CPUs. Its waiters sleep already.",
        _ => "Use no more threads than CPUs, or a lock whose waiters sleep.",
    }
}

fn preempted_holder(account: &Account) -> Option<Finding> {
    (account.value(Quantity::PreemptedHolders)? >= 1e-3).then(|| {
        finding(
            account,
            "holder-preempted",
            "Its holders lose their CPU while they hold it, and all others wait that long.",
            &[Quantity::PreemptedHolders, Quantity::Involuntary],
            fewer_threads(account),
        )
    })
}

fn wakes_nobody(account: &Account) -> Option<Finding> {
    let wakeups = account.value(Quantity::Wakeups)?;
    let futile = account.value(Quantity::FutileWakeups)?;
    (wakeups * futile >= 0.05 && futile >= 0.5).then(|| {
        finding(
            account,
            "wakes-nobody",
            "Unlocks make system calls that find nobody asleep.",
            &[Quantity::Wakeups, Quantity::FutileWakeups],
            "A lock that knows its sleepers: the library's mutex rather than the interposer's, \
             which has to call for foreign code.",
        )
    })
}

fn woken_for_nothing(account: &Account) -> Option<Finding> {
    let wakeups = account.value(Quantity::Wakeups)?;
    (wakeups >= 0.05 && account.value(Quantity::UsefulWakeups)? < 0.5).then(|| {
        finding(
            account,
            "woken-for-nothing",
            "Most threads that are woken find the lock taken again, and sleep once more.",
            &[Quantity::Wakeups, Quantity::UsefulWakeups],
            "Spin longer before a sleep (spin_budget), or a lock that hands over.",
        )
    })
}

/// Sleeps, or where they are not seen the switches that come with them.
fn convoy(account: &Account) -> Option<Finding> {
    let sleeps = account.value(Quantity::Sleeps);
    let each = sleeps.or_else(|| account.value(Quantity::Voluntary))?;
    (each >= 0.5).then(|| {
        finding(
            account,
            "convoy",
            "Each hand-over wakes a thread that sleeps, and that takes longer than a short section.",
            &[Quantity::Sleeps, Quantity::Wakeups, Quantity::Voluntary],
            "Let waiters spin longer before they sleep: by another lock, or by a greater spin_budget \
             where the lock reads that knob.",
        )
    })
}

fn lines(account: &Account) -> Option<f64> {
    let all: Option<Vec<f64>> = Quantity::LINES
        .iter()
        .map(|&one| account.value(one))
        .collect();
    all.map(|all| all.iter().sum())
}

fn remote_lines(account: &Account) -> Option<Finding> {
    let (remote, all) = (account.value(Quantity::LinesRemote)?, lines(account)?);
    (remote >= 0.5 && remote >= 0.3 * all).then(|| {
        finding(
            account,
            "remote-lines",
            "Its lines move between sockets, and so does the lock.",
            &[Quantity::LinesRemote, Quantity::HandoverRemote],
            "A lock that hands over within a cluster or a socket for a while, such as mutex_numa; \
             or keep the threads that share it on one socket.",
        )
    })
}

fn lost_cpu(account: &Account) -> Option<Finding> {
    (account.value(Quantity::Involuntary)? >= 0.01).then(|| {
        finding(
            account,
            "off-cpu",
            "Threads lose their CPU, or yield it, while they wait or hold.",
            &[Quantity::Involuntary, Quantity::Sleeps],
            fewer_threads(account),
        )
    })
}

/// Few acquisitions wait then, but each for many sections.
fn taken_again(account: &Account) -> Option<Finding> {
    let (near, waited) = (Quantity::HandoverCore, Quantity::Waited);
    (account.value(near)? >= 0.75 && account.value(waited)? >= 0.1).then(|| {
        finding(
            account,
            "taken-again",
            "Who releases it mostly takes it again at once, while others wait.",
            &[near, Quantity::Contended, waited],
            "Do more between two acquisitions, or less inside. A lock with a fair queue hands over \
             each time; then its lines move, too.",
        )
    })
}

fn moving_lines(account: &Account) -> Option<Finding> {
    (lines(account)? >= 1.0).then(|| {
        finding(
            account,
            "short-but-many",
            "Its sections are short but many: lines of the lock move between CPUs.",
            &[
                Quantity::Contended,
                Quantity::LinesCluster,
                Quantity::LinesSocket,
                Quantity::LockedInstructions,
            ],
            "Take it less often, or divide what it guards.",
        )
    })
}

fn unclear(account: &Account) -> Finding {
    let waits = account
        .value(Quantity::Waited)
        .is_some_and(|w| w >= NOTHING);
    let why = match waits {
        true => "Threads wait for it, and no rule explains why.",
        false => "No rule explains it: none of the figures that are seen here is large.",
    };
    let advice = match lines(account) {
        Some(_) => "`lockwork sim` with these options and --locks all shows what the others do.",
        None => "lockwork explain sim sees lines, hand-overs and holders as well.",
    };
    let waited = waits.then_some(Quantity::Waited);
    let others = [Quantity::Sleeps, Quantity::Involuntary, Quantity::Cpu];
    let evidence: Vec<Quantity> = waited.into_iter().chain(others).collect();
    finding(account, "unclear", why, &evidence, advice)
}
