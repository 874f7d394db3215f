//! Session: one experiment in progress, with its remaining lanes and their answers.

use serde_json::Value;

use super::calibrate::{NextRun, STEP_TRIES, TRIES, evaluate, hit, rescaled, taken};
use super::executor::{Executor, Request};
use super::outcome::{Entrant, InvalidSample, Lane, Outcome, Step, Stop, Taken};
use super::record::{Record, Watch};
use super::shuffle::order;
use crate::contender::{Failure, Reply};
use crate::experiments::{Experiment, Params, Point, SamplingMode, Scaled};
use crate::profile::{Budget, FEWEST, Profile};

/// Sampling of one experiment: its lanes, and the outcome so far.
pub(super) struct Session<'a> {
    experiment: &'static Experiment,
    points: Vec<Point>,
    budget: &'a Budget,
    seed: u64,
    executor: &'a mut dyn Executor,
    watch: &'a mut dyn Watch,
    lanes: Vec<Runner>,
    outcome: Outcome,
    /// Number of completed rounds, and of invalid samples at the end of the last one.
    whole: (usize, usize),
}

/// A lane with its contender's position; a lane that is out receives no further requests.
struct Runner {
    place: usize,
    out: bool,
    lane: Lane,
}

/// Purpose of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    WarmUp,
    Step,
    Sample { round: usize, order: usize },
}

/// An answer, and why it is invalid if it is.
struct Answer {
    reply: Reply,
    invalid: Option<String>,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        experiment: &'static Experiment,
        entrants: &[Entrant],
        profile: Profile,
        budget: &'a Budget,
        seed: u64,
        executor: &'a mut dyn Executor,
        watch: &'a mut dyn Watch,
    ) -> Self {
        let points = (experiment.points)(profile);
        let lanes =
            entrants.iter().flat_map(|entrant| lanes_of(experiment, entrant, &points)).collect();
        Self {
            experiment,
            points,
            budget,
            seed,
            executor,
            watch,
            lanes,
            outcome: Outcome::default(),
            whole: (0, 0),
        }
    }

    /// Warms up every lane at every point and sets the calibrated parameters.
    pub(super) fn calibrate(&mut self) -> Result<(), Stop> {
        for lane in order(self.lanes.len(), self.seed, self.experiment.id, 0) {
            for point in 0..self.points.len() {
                match self.points[point].scaled {
                    Some(scaled) if scaled.stepped => self.find_by_steps(lane, point, scaled)?,
                    Some(scaled) => self.find_by_time(lane, point, scaled)?,
                    // In this mode each sample includes its own warm-up.
                    None if self.experiment.mode == SamplingMode::FreshProcess => {}
                    None => drop(self.ask(lane, point, None, Purpose::WarmUp)?),
                }
            }
        }
        Ok(())
    }

    /// Runs every lane once at every point per round.
    pub(super) fn rounds(&mut self) -> Result<(), Stop> {
        let points = self.points.len();
        let rounds = self.experiment.mode.rounds(self.budget.rounds);
        for round in 1..=rounds {
            let turns = order(self.lanes.len() * points, self.seed, self.experiment.id, round);
            for (order, at) in (1..).zip(turns) {
                let (lane, point) = (at / points, at % points);
                let purpose = Purpose::Sample { round, order };
                let Some(answer) = self.ask(lane, point, None, purpose)? else {
                    continue;
                };
                let taken = &mut self.lanes[lane].lane.points[point];
                match answer.invalid {
                    None => taken.replies.push((round, answer.reply)),
                    Some(reason) => self.outcome.invalid.push(InvalidSample {
                        experiment: self.experiment.id.into(),
                        contender: self.lanes[lane].lane.label.clone(),
                        round,
                        params: self.lanes[lane].lane.points[point].params.clone(),
                        reason,
                    }),
                }
            }
            self.whole = (round, self.outcome.invalid.len());
            self.watch.round(round, rounds);
        }
        Ok(())
    }

    /// Returns the outcome of the completed rounds, if there are enough of them.
    pub(super) fn so_far(mut self) -> Option<Box<Outcome>> {
        let (rounds, invalid) = self.whole;
        self.outcome.invalid.truncate(invalid);
        for point in self.lanes.iter_mut().flat_map(|runner| &mut runner.lane.points) {
            point.replies.retain(|(round, _)| *round <= rounds);
        }
        (rounds >= FEWEST).then(|| Box::new(self.finish()))
    }

    pub(super) fn finish(mut self) -> Outcome {
        let lanes = self.lanes.into_iter();
        self.outcome.lanes = lanes.filter(|runner| !runner.out).map(|runner| runner.lane).collect();
        self.outcome
    }

    fn find_by_time(&mut self, lane: usize, point: usize, scaled: Scaled) -> Result<(), Stop> {
        let target = self.budget.sample_ns * scaled.share;
        let mut value = scaled.start.min(scaled.cap);
        for run in 1..=TRIES {
            let asked = Some((scaled.param, value));
            let Some(answer) = self.ask(lane, point, asked, Purpose::WarmUp)? else {
                return Ok(());
            };
            let next_run = evaluate(&scaled, value, taken(&answer.reply), target);
            let (NextRun::Again(next) | NextRun::Accepted(next)) = next_run;
            value = next;
            // WHY: the first run is cold, so its duration is only a first estimate.
            if run > 1 && matches!(next_run, NextRun::Accepted(_)) {
                break;
            }
        }
        self.set_param(lane, point, scaled, value);
        Ok(())
    }

    /// Runs 10 calls, then the number of calls that takes each of the step durations.
    fn find_by_steps(&mut self, lane: usize, point: usize, scaled: Scaled) -> Result<(), Stop> {
        let asked = Some((scaled.param, scaled.start));
        let Some(first) = self.ask(lane, point, asked, Purpose::Step)? else {
            return Ok(());
        };
        let (mut value, mut elapsed) = (scaled.start, first.reply.elapsed_ns);
        self.step(lane, point, None, value, elapsed);
        for target in self.budget.steps_ns {
            for _ in 0..STEP_TRIES {
                value = rescaled(value, elapsed, target, 1e6).min(scaled.cap);
                let asked = Some((scaled.param, value));
                let Some(answer) = self.ask(lane, point, asked, Purpose::Step)? else {
                    return Ok(());
                };
                elapsed = answer.reply.elapsed_ns;
                if hit(elapsed, target) {
                    break;
                }
            }
            self.step(lane, point, Some(target), value, elapsed);
        }
        let value = rescaled(value, elapsed, self.budget.sample_ns, 1e6).min(scaled.cap);
        self.set_param(lane, point, scaled, value);
        Ok(())
    }

    fn set_param(&mut self, lane: usize, point: usize, scaled: Scaled, value: u64) {
        let params = &mut self.lanes[lane].lane.points[point].params;
        params.insert(scaled.param.into(), value.into());
    }

    fn step(&mut self, lane: usize, point: usize, target_ns: Option<f64>, n: u64, elapsed_ns: u64) {
        let mode = self.points[point].params.get("mode").and_then(Value::as_str);
        let us = elapsed_ns as f64 / 1000.0;
        let step = Step {
            experiment: self.experiment.id.into(),
            contender: self.lanes[lane].lane.label.clone(),
            mode: mode.unwrap_or_default().into(),
            target_ns,
            elapsed_ns,
            n,
            calls_per_us: if us > 0.0 { n as f64 / us } else { 0.0 },
            us_per_call: us / n as f64,
            hit: target_ns.is_none_or(|target| hit(elapsed_ns, target)),
        };
        let aim = match target_ns {
            None => "first calls".to_owned(),
            Some(target) => format!("{} ms", target / 1e6),
        };
        self.watch.print(&format!(
            "{} {} {}, {aim}: {:.4} calls/µs, {:.6} µs/call, n = {n}{}",
            step.experiment,
            step.contender,
            step.mode,
            step.calls_per_us,
            step.us_per_call,
            if step.hit { "" } else { " (missed by more than 10 %)" },
        ));
        self.outcome.steps.push(step);
    }

    /// Sends one request; returns `None` if the lane is out, or is taken out by this answer.
    fn ask(
        &mut self,
        lane: usize,
        point: usize,
        scaled: Option<(&str, u64)>,
        purpose: Purpose,
    ) -> Result<Option<Answer>, Stop> {
        let runner = &self.lanes[lane];
        if runner.out {
            return Ok(None);
        }
        let mut params = runner.lane.points[point].params.clone();
        if let Some((name, value)) = scaled {
            params.insert(name.into(), value.into());
        }
        let (kind, round, order) = match purpose {
            Purpose::WarmUp => ("warm-up", None, None),
            Purpose::Step => ("step", None, None),
            Purpose::Sample { round, order } => ("sample", Some(round), Some(order)),
        };
        let request = Request {
            experiment: self.experiment.id,
            params: &params,
            // WHY: the protocol's numbers are below 2^63.
            seed: self.seed.wrapping_add(round.unwrap_or(0) as u64) & i64::MAX as u64,
            round,
            mode: self.experiment.mode,
        };
        let answer = self.executor.run(runner.place, &request);
        // WHY: no sample was taken, so there is no record to store.
        if matches!(answer, Err(Failure::Interrupted)) {
            return Err(Stop::Interrupted(None));
        }
        let invalid =
            answer.as_ref().ok().and_then(|reply| self.why_invalid(&params, reply, purpose));
        let problem = answer.as_ref().err().map(Failure::to_string);
        let kept = self.watch.record(&Record {
            kind,
            experiment: self.experiment.id,
            contender: &runner.lane.label,
            round,
            order,
            fresh_process: request.mode == SamplingMode::FreshProcess
                || self.budget.fresh && round.is_some(),
            wall_ns: answer.as_ref().ok().map(|reply| reply.wall_ns),
            stolen_ms: answer.as_ref().ok().and_then(|reply| reply.stolen_ms),
            params: &params,
            reply: answer.as_ref().ok().map(|reply| &reply.raw),
            invalid: invalid.as_deref(),
            problem: problem.as_deref(),
        });
        kept.map_err(Stop::Problem)?;
        match answer {
            Ok(reply) if invalid.is_none() && reply.extra("starved") == Some(1) => {
                let Reply { sent, received, .. } = reply;
                let how = format!("starves: {received} of {sent} round trips came back in time");
                let reported = self.take_out(lane, &how);
                self.outcome.starved.push(reported);
                Ok(None)
            }
            Ok(reply) => Ok(Some(Answer { reply, invalid })),
            Err(failure) => {
                let reported = self.take_out(lane, &failure.to_string());
                self.outcome.lost.push(reported);
                Ok(None)
            }
        }
    }

    fn why_invalid(&self, params: &Params, reply: &Reply, purpose: Purpose) -> Option<String> {
        if let Err(invalid) = (self.experiment.check)(params, reply) {
            return Some(invalid.0);
        }
        // WHY: the first ten calls of a step can take less than a clock tick.
        let timed = matches!(purpose, Purpose::Sample { .. }) && reply.ops > 0;
        (timed && reply.elapsed_ns == 0).then(|| "no time has passed".to_owned())
    }

    /// Takes a lane out of this experiment and reports why; for the natural variant, all lanes of
    /// the contender. Returns the label and the reason as reported.
    fn take_out(&mut self, lane: usize, why: &str) -> (String, String) {
        let Runner { place, lane: Lane { label, variant, natural, .. }, .. } = &self.lanes[lane];
        let (place, natural) = (*place, *natural);
        let (label, variant) = (label.clone(), variant.clone());
        let how = match variant.as_ref().filter(|_| !natural) {
            Some(variant) => format!("{variant}: {why}"),
            None => why.to_owned(),
        };
        for runner in self.lanes.iter_mut().filter(|runner| runner.place == place) {
            runner.out |= natural || runner.lane.variant == variant;
        }
        self.watch.print(&format!("{} {label}: {how}", self.experiment.id));
        (label, how)
    }
}

/// Returns one lane, or one per variant of the contender.
fn lanes_of(experiment: &Experiment, entrant: &Entrant, points: &[Point]) -> Vec<Runner> {
    let named = entrant.variants.get(experiment.id).filter(|_| experiment.variants);
    let variants: Vec<Option<&String>> = match named {
        Some(names) if !names.is_empty() => names.iter().map(Some).collect(),
        _ => vec![None],
    };
    let lane = |(index, variant): (usize, Option<&String>)| {
        let points = points.iter().map(|point| {
            let mut params = point.params.clone();
            if let Some(variant) = variant {
                params.insert("variant".into(), variant.as_str().into());
            }
            Taken { x: point.x, params, replies: Vec::new() }
        });
        Runner {
            place: entrant.place,
            out: false,
            lane: Lane {
                label: entrant.label.clone(),
                variant: variant.cloned(),
                natural: index == 0,
                points: points.collect(),
            },
        }
    };
    variants.into_iter().enumerate().map(lane).collect()
}
