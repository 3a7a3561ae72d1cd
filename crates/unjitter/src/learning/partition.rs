//! Sessions in one place, and what they tell of parameters.
//!
//! Sums over sessions have no rounding, so they have the same bits however sessions are spread over threads,
//! processes and machines. Belief propagation begins from messages at the parameters of the model that the
//! sessions were prepared for, whatever was asked before, so an answer depends on nothing but the question.

use std::ops::AddAssign;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::data::SessionData;
use super::rows::add_session;
use super::sample::fold_of;
use crate::math::Exact;
use crate::model::{Fitted, Parts, Sums};
use crate::session::check_columns;
use crate::{Control, Error, Result, Session};

/// Sessions prepared for a model.
#[derive(Debug)]
pub struct Partition<'a> {
    parts: Parts,
    /// Name of each session, and who is in one fold.
    names: Vec<(String, String)>,
    data: Vec<SessionData<'a>>,
}

/// What sessions tell of parameters: a sum over them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Log evidence of stamps and known labels.
    pub value: Exact,
    /// Its derivatives in all unconstrained parameters.
    pub gradient: Vec<Exact>,
    /// The first session by name, if any, whose stamps the parameters make impossible.
    pub impossible: Option<String>,
}

/// The part of the sessions that is left out: which of how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// From 0.
    pub part: u64,
    /// How many there are.
    pub of: u64,
}

impl AddAssign<&Evidence> for Evidence {
    fn add_assign(&mut self, other: &Evidence) {
        self.value += &other.value;
        self.gradient.resize(self.gradient.len().max(other.gradient.len()), Exact::default());
        self.gradient.iter_mut().zip(&other.gradient).for_each(|(own, other)| *own += other);
        let first = [&self.impossible, &other.impossible].into_iter().flatten().min();
        self.impossible = first.cloned();
    }
}

impl<'a> Partition<'a> {
    /// Prepares sessions for a model without groups.
    pub fn new(fitted: &Fitted, sessions: &[Session<'a>], control: Control<'_>) -> Result<Self> {
        if !fitted.groups().is_empty() {
            return Err(Error::GroupsInParts);
        }
        let parts = fitted.parts.clone();
        let prepare = |(index, session): (usize, &Session<'a>)| {
            check_columns(session.name(), session.features().ncols(), fitted.features())?;
            let data = SessionData::new(index, session, &parts, fitted.time_unit, control);
            // Messages at the model's own parameters. Where these are impossible there are none.
            let mut sums = zeros(&parts);
            let _ = add_session(&parts, &data, &data.exchange, &fitted.params, control, &mut sums);
            let own = session.name().to_owned();
            let together = session.subject().unwrap_or(session.name()).to_owned();
            Ok(((own, together), data))
        };
        let found = sessions.par_iter().enumerate().map(prepare).collect::<Result<Vec<_>>>()?;
        control.stop_if_requested()?;
        let (names, data) = found.into_iter().unzip();
        Ok(Self { parts, names, data })
    }

    /// What the sessions, perhaps without some, tell of each of these vectors of unconstrained parameters.
    pub fn evaluate(
        &self,
        params: &[Vec<f64>],
        left_out: Option<LeftOut>,
        control: Control<'_>,
    ) -> Result<Vec<Evidence>> {
        let expected = self.parts.layout.dim();
        if let Some(found) = params.iter().map(Vec::len).find(|&found| found != expected) {
            return Err(Error::ParameterCount { found, expected });
        }
        let is_in = |k: &usize| {
            left_out.is_none_or(|LeftOut { part, of }| fold_of(&self.names[*k].1, of) != part)
        };
        let at = |params: &Vec<f64>| {
            let add = |mut sum: Evidence, k: usize| {
                self.add(k, params, control, &mut sum);
                sum
            };
            let zero =
                || Evidence { gradient: vec![Exact::default(); expected], ..Evidence::default() };
            let join = |mut sum: Evidence, other: Evidence| {
                sum += &other;
                sum
            };
            let kept = (0..self.data.len()).into_par_iter().filter(is_in);
            kept.fold(zero, add).reduce(zero, join)
        };
        let found = params.iter().map(at).collect();
        control.stop_if_requested()?;
        Ok(found)
    }

    /// Adds a session.
    fn add(&self, k: usize, params: &[f64], control: Control<'_>, sum: &mut Evidence) {
        let (session, mut own) = (&self.data[k], zeros(&self.parts));
        let exchange = session.exchange.clone();
        let tried = add_session(&self.parts, session, &exchange, params, control, &mut own);
        let first_of = |name: &String| sum.impossible.as_ref().is_none_or(|first| name < first);
        match tried {
            Ok(()) => {
                sum.value += own.value;
                let slopes = own.d_detector.iter().chain(&own.d_annotator);
                sum.gradient.iter_mut().zip(slopes).for_each(|(sum, &own)| *sum += own);
            }
            Err(_) => {
                sum.value += f64::NEG_INFINITY;
                if first_of(&self.names[k].0) {
                    sum.impossible = Some(self.names[k].0.clone());
                }
            }
        }
    }
}

fn zeros(parts: &Parts) -> Sums {
    let detector = parts.detector().len();
    Sums::zeros(detector, parts.layout.dim() - detector)
}
