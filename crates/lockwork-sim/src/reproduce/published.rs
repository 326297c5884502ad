// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The published tables, which the program carries inside itself.

use anyhow::{bail, Context, Result};
use serde::de::{DeserializeOwned, Error, Unexpected};
use serde::{Deserialize, Deserializer};

/// A file of `data/published/`: its name, and what it holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct File {
    pub name: &'static str,
    pub text: &'static str,
}

/// A published figure. All of them are above zero, so that relative errors
/// exist.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Figure(pub f64);

/// Columns whose numbers say what a row is of: threads, nodes or users.
const KEYS: [&str; 5] = ["cores", "n", "nodes", "users", "writers"];

impl<'de> Deserialize<'de> for Figure {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Figure, D::Error> {
        let number = f64::deserialize(from)?;
        match number.is_finite() && number > 0.0 {
            true => Ok(Figure(number)),
            false => Err(D::Error::invalid_value(
                Unexpected::Float(number),
                &"a number above zero",
            )),
        }
    }
}

impl File {
    /// Its rows.
    ///
    /// # Errors
    /// A row is not as `T` has it, which the message names; or there is none.
    pub fn rows<T: DeserializeOwned>(&self) -> Result<Vec<T>> {
        let rows: Result<Vec<T>, csv::Error> = self.reader().into_deserialize().collect();
        let rows = rows.with_context(|| format!("data/published/{} is wrong", self.name))?;
        if rows.is_empty() {
            bail!("data/published/{} has no rows", self.name);
        }
        Ok(rows)
    }

    /// How many published figures it has: all numbers but those in [`KEYS`].
    ///
    /// # Errors
    /// A row has another number of fields than the header.
    pub fn figures(&self) -> Result<usize> {
        let of = || format!("data/published/{} is wrong", self.name);
        let mut reader = self.reader();
        let columns = reader.headers().with_context(of)?.clone();
        let mut figures = 0;
        for row in reader.records() {
            let row = row.with_context(of)?;
            let fields = columns.iter().zip(&row);
            figures += fields
                .filter(|(column, text)| !KEYS.contains(column) && text.parse::<f64>().is_ok())
                .count();
        }
        Ok(figures)
    }

    fn reader(&self) -> csv::Reader<&'static [u8]> {
        csv::ReaderBuilder::new()
            .comment(Some(b'#'))
            .from_reader(self.text.as_bytes())
    }

    /// Where it is from: its first source line.
    ///
    /// # Errors
    /// It does not say.
    pub fn source(&self) -> Result<String> {
        let mut lines = self.text.lines();
        let source = lines.find_map(|line| line.strip_prefix("# source: "));
        let source = source.with_context(|| format!("data/published/{}: no source", self.name))?;
        Ok(source.trim().to_owned())
    }
}

/// The file of that name.
macro_rules! published {
    ($name:literal) => {
        $crate::reproduce::published::File {
            name: $name,
            text: include_str!(concat!("../../../../data/published/", $name)),
        }
    };
}
pub(crate) use published;

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Row {
        lock: String,
        ns: Figure,
    }

    fn read(text: &'static str) -> Result<Vec<Row>> {
        File {
            name: "x.csv",
            text,
        }
        .rows()
    }

    #[test]
    fn rows_are_read_past_comments() {
        let rows = read("# source: a mail, 2014\n# note: n\nlock,ns,more\n\"a, b\",1.5,\n");
        let row = Row {
            lock: "a, b".to_owned(),
            ns: Figure(1.5),
        };
        assert_eq!(rows.expect("rows"), [row]);
    }

    #[test]
    fn figures_are_numbers_that_are_no_keys() {
        let count = |text| {
            let file = File {
                name: "x.csv",
                text,
            };
            file.figures()
        };
        let text = "# source: a mail, 2\nuser_range,n,HT,ms,pct\n1-10,1,on,2.5,-3\n1-10,2,off,4,\n";
        assert_eq!(count(text).expect("figures"), 3);
        let error = count("n,ms\n1\n").expect_err("one field");
        assert!(format!("{error:#}").contains("x.csv"), "{error:#}");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, words) in [
            ("", "x.csv has no rows"),
            ("lock,ns\n", "x.csv has no rows"),
            ("lock,us\na,1\n", "missing field `ns`"),
            ("lock,ns\na,1\nb,x\n", "line: 3"),
            ("lock,ns\na,\n", "line: 2"),
            ("lock,ns\na,0\n", "a number above zero"),
            ("lock,ns\na,-1\n", "a number above zero"),
            ("lock,ns\na,NaN\n", "a number above zero"),
            ("lock,ns\na,1,2\n", "2 fields"),
        ] {
            let error = format!("{:#}", read(text).expect_err(text));
            assert!(error.contains("x.csv"), "{text}: {error}");
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn the_source_is_the_first_one() {
        let file = |text| File {
            name: "x.csv",
            text,
        };
        let text = "# source: one\n# source: two\na\n";
        assert_eq!(file(text).source().expect("a source"), "one");
        assert!(file("# note: one\na\n").source().is_err());
    }
}
