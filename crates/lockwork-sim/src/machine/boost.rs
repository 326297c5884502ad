// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The clock of a socket's cores, by how many of them are active.

use super::fault::Fault;
use super::file::Boost;
use super::topology::Shape;

/// By number of active cores of a socket, 0 too: how many times as long as with all of them
/// active a core takes for its own steps. Empty: always as long.
pub(super) fn slowness(steps: &[Boost], shape: &Shape) -> Result<Vec<f64>, Fault> {
    let Some(last) = steps.last() else {
        return Ok(Vec::new());
    };
    let cores = shape.dies * shape.clusters * shape.cores;
    let mut by_cores = vec![1.0; cores + 1];
    let mut from = 0;
    for step in steps {
        let to = usize::try_from(*step.cores.get_ref()).unwrap_or(0);
        if to < from.max(1) || to > cores {
            let why = format!(
                "the steps of [[boost]] are for more and more active cores of a socket, 1 to {cores}"
            );
            return Err(Fault::at(step.cores.span(), why));
        }
        if step.clock.value <= 0.0 {
            return Err(Fault::at(step.clock.span.clone(), "a clock is above 0"));
        }
        by_cores[from..=to].fill(last.clock.value / step.clock.value);
        from = to + 1;
    }
    match from > cores {
        true => Ok(by_cores),
        false => Err(Fault::at(
            last.cores.span(),
            format!("the last step of [[boost]] is for all {cores} cores of a socket"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{from_text, load};

    const FILE: &str = include_str!("../../../../data/machines/westmere-ex-4s.toml");

    fn with(steps: &[(i64, f64)]) -> Result<Vec<f64>, String> {
        let steps = steps.iter().map(|(cores, ghz)| {
            format!("[[boost]]\ncores = {cores}\nclock = {{ ghz = {ghz}, source = \"a test\" }}\n")
        });
        let text = format!("{FILE}\n{}", steps.collect::<String>());
        let loaded = from_text("m", &text).map_err(|error| error.to_string())?;
        Ok(loaded.machine.slowness)
    }

    #[test]
    fn steps_say_how_long_a_core_takes() {
        let slowness = with(&[(2, 3.0), (10, 1.5)]).expect("sound");
        assert_eq!(slowness[..4], [0.5, 0.5, 0.5, 1.0]);
        assert_eq!(slowness.len(), 11);
        assert_eq!(with(&[]), Ok(Vec::new()));
        assert_eq!(load("epyc-7551").expect("it").slowness.len(), 33);
    }

    #[test]
    fn steps_that_make_no_sense_are_refused() {
        for (steps, why) in [
            (&[(2, 3.0)][..], "all 10 cores"),
            (&[(0, 3.0), (10, 2.4)], "more and more"),
            (&[(5, 3.0), (5, 2.8), (10, 2.4)], "more and more"),
            (&[(11, 3.0)], "1 to 10"),
            (&[(2, 0.0), (10, 2.4)], "above 0"),
        ] {
            let error = with(steps).expect_err(why);
            assert!(error.contains(why), "{error}");
        }
    }
}
