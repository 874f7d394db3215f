//! Round trips while other actors compute without pause: `hog`.
//!
//! The thread that serves the lab starts the trips and ends the run. It is not a thread of the
//! runtime.

use std::time::Instant;

use purlin_contender::{Hog, Participant, Probe, Tell};
use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::runtime::Runtime;

use crate::Outcome;

/// Starts the trips.
struct First;

enum ToFirst {
    Told(Tell),
    Back(Instant),
}

impl Actor for First {
    type Msg = ToFirst;
    type State = (ActorRef<ToPartner>, Participant);
    type Arguments = Self::State;

    async fn pre_start(
        &self,
        _: ActorRef<ToFirst>,
        state: Self::State,
    ) -> Result<Self::State, ActorProcessingErr> {
        Ok(state)
    }

    async fn handle(
        &self,
        myself: ActorRef<ToFirst>,
        message: ToFirst,
        (partner, participant): &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        let next = match message {
            ToFirst::Told(Tell::Start(due)) => Some(due),
            ToFirst::Told(Tell::End) => {
                partner.stop(None);
                myself.stop(None);
                None
            }
            ToFirst::Back(start) => participant.back(start),
        };
        if let Some(start) = next {
            partner.cast(ToPartner(start, myself))?;
        }
        Ok(())
    }
}

/// Sends each message back. Holds its participant until it stops.
struct Partner;

struct ToPartner(Instant, ActorRef<ToFirst>);

impl Actor for Partner {
    type Msg = ToPartner;
    type State = Participant;
    type Arguments = Participant;

    async fn pre_start(
        &self,
        _: ActorRef<ToPartner>,
        participant: Participant,
    ) -> Result<Participant, ActorProcessingErr> {
        Ok(participant)
    }

    async fn handle(
        &self,
        _: ActorRef<ToPartner>,
        ToPartner(start, first): ToPartner,
        _: &mut Participant,
    ) -> Result<(), ActorProcessingErr> {
        // Fails if the run has ended and the first actor has stopped.
        let _ = first.cast(ToFirst::Back(start));
        Ok(())
    }
}

/// Computes until the run is stopped.
struct Busy;

impl Actor for Busy {
    type Msg = ();
    type State = Participant;
    type Arguments = Participant;

    async fn pre_start(
        &self,
        _: ActorRef<()>,
        participant: Participant,
    ) -> Result<Participant, ActorProcessingErr> {
        Ok(participant)
    }

    async fn post_start(
        &self,
        myself: ActorRef<()>,
        participant: &mut Participant,
    ) -> Result<(), ActorProcessingErr> {
        participant.compute();
        myself.stop(None);
        Ok(())
    }
}

pub(crate) fn hog(runtime: &Runtime, asked: Hog) -> Outcome {
    let probe = Probe::new(asked);
    let first = runtime.block_on(async {
        let (partner, _) = Actor::spawn(None, Partner, probe.participant()).await?;
        let (first, _) = Actor::spawn(None, First, (partner, probe.participant())).await?;
        for _ in 0..asked.hogs {
            Actor::spawn(None, Busy, probe.participant()).await?;
        }
        Ok::<_, ActorProcessingErr>(first)
    })?;
    Ok(probe.run(move |what| {
        let _ = first.cast(ToFirst::Told(what));
    }))
}
