// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A number of a machine's file: never without its unit and its source.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use toml::Spanned;

/// What a number counts.
pub trait Unit {
    /// The field that holds it.
    const NAME: &'static str;
    /// The largest that makes sense.
    const MAX: f64 = 1e12;
    /// Must it be whole, and 1 at least?
    const WHOLE: bool = false;
}

/// Nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ns;
/// Microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Us;
/// A share of something, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share;
/// So many times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times;
/// So many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count;
/// Gigahertz.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ghz;

impl Unit for Ns {
    const NAME: &'static str = "ns";
}
impl Unit for Us {
    const NAME: &'static str = "us";
}
impl Unit for Share {
    const NAME: &'static str = "share";
    const MAX: f64 = 1.0;
}
impl Unit for Times {
    const NAME: &'static str = "times";
    const MAX: f64 = 1e6;
}
impl Unit for Ghz {
    const NAME: &'static str = "ghz";
    const MAX: f64 = 100.0;
}
impl Unit for Count {
    const NAME: &'static str = "count";
    const MAX: f64 = 65_536.0;
    const WHOLE: bool = true;
}

/// What a number rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// A publication, or a measurement.
    Sourced,
    /// Nothing but a guess.
    Assumed,
    /// Fitted; the file's `[calibration]` says to what.
    Calibrated,
}

/// A number with its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure<U> {
    /// The number.
    pub value: f64,
    /// Where it is from.
    pub source: String,
    /// Where the number is in the file's text.
    pub span: Range<usize>,
    unit: PhantomData<U>,
}

impl<U: Unit> Figure<U> {
    /// A number and where it is from.
    pub fn new(value: f64, source: impl Into<String>) -> Figure<U> {
        Figure {
            value,
            source: source.into(),
            span: 0..0,
            unit: PhantomData,
        }
    }

    /// What it rests on: the source's first word, up to a colon, may say so.
    pub fn basis(&self) -> Basis {
        let first = self
            .source
            .split_once(':')
            .map_or(&*self.source, |(a, _)| a);
        match first.trim() {
            "assumed" => Basis::Assumed,
            "calibrated" => Basis::Calibrated,
            _ => Basis::Sourced,
        }
    }

    fn pattern() -> String {
        format!("{{ {} = NUMBER, source = \"WHERE FROM\" }}", U::NAME)
    }

    fn validate(value: f64) -> Result<(), String> {
        let name = U::NAME;
        if !value.is_finite() || value < 0.0 {
            return Err(format!("{name} is {value}; give a number from 0 on"));
        }
        if value > U::MAX {
            return Err(format!("{name} is {value}; give a number up to {}", U::MAX));
        }
        if U::WHOLE && (value.fract() != 0.0 || value < 1.0) {
            return Err(format!("{name} is {value}; give a whole number from 1 on"));
        }
        Ok(())
    }
}

impl<U: Unit> Serialize for Figure<U> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry(U::NAME, &self.value)?;
        map.serialize_entry("source", &self.source)?;
        map.end()
    }
}

impl<'de, U: Unit> Deserialize<'de> for Figure<U> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Figure<U>, D::Error> {
        deserializer.deserialize_any(FigureVisitor(PhantomData))
    }
}

struct FigureVisitor<U>(PhantomData<U>);

impl<U: Unit> FigureVisitor<U> {
    fn bare<E: Error, T>(&self, number: &dyn fmt::Display) -> Result<T, E> {
        Err(E::custom(format!(
            "the number {number} has no source; write {} (\"assumed\", if it is a guess)",
            Figure::<U>::pattern()
        )))
    }
}

impl<'de, U: Unit> Visitor<'de> for FigureVisitor<U> {
    type Value = Figure<U>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&Figure::<U>::pattern())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Figure<U>, E> {
        self.bare(&number)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Figure<U>, E> {
        self.bare(&number)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Figure<U>, A::Error> {
        let (mut value, mut source) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "source" => source = Some(map.next_value::<String>()?),
                name if name == U::NAME => {
                    let number = map.next_value::<Spanned<f64>>()?;
                    Figure::<U>::validate(*number.get_ref()).map_err(A::Error::custom)?;
                    value = Some(number);
                }
                other => {
                    return Err(A::Error::custom(format!(
                        "there is no `{other}` in a number; write {}",
                        Figure::<U>::pattern()
                    )))
                }
            }
        }
        let value = value.ok_or_else(|| {
            A::Error::custom(format!(
                "`{}` is missing; write {}",
                U::NAME,
                Figure::<U>::pattern()
            ))
        })?;
        match source.filter(|text| !text.trim().is_empty()) {
            Some(source) => Ok(Figure {
                span: value.span(),
                ..Figure::new(value.into_inner(), source)
            }),
            None => self.bare(value.get_ref()),
        }
    }
}
