//! Round trips while other actors compute without pause: `hog`.

use std::time::Instant;

use purlin_contender::{Hog, Participant, Probe};
use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::runtime::Runtime;

use crate::Outcome;

/// Sets a timer for each trip, and starts the trips.
struct First;

enum ToFirst {
    /// A timer has fired that was due at this time.
    Due(Instant),
    Back(Instant),
}

impl Actor for First {
    type Msg = ToFirst;
    type State = (ActorRef<ToPartner>, Participant);
    type Arguments = Self::State;

    async fn pre_start(
        &self,
        myself: ActorRef<ToFirst>,
        (partner, trips): Self::State,
    ) -> Result<Self::State, ActorProcessingErr> {
        for due in trips.due() {
            let left = due.saturating_duration_since(Instant::now());
            myself.send_after(left, move || ToFirst::Due(due));
        }
        Ok((partner, trips))
    }

    async fn handle(
        &self,
        myself: ActorRef<ToFirst>,
        message: ToFirst,
        (partner, trips): &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        let start = match message {
            ToFirst::Due(due) => Some(trips.start(due)),
            ToFirst::Back(start) => trips.back(start),
        };
        if trips.is_over() {
            partner.stop(None);
            myself.stop(None);
        } else if let Some(start) = start {
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
    runtime.block_on(async {
        let (partner, _) = Actor::spawn(None, Partner, probe.participant()).await?;
        Actor::spawn(None, First, (partner, probe.participant())).await?;
        for _ in 0..asked.hogs {
            Actor::spawn(None, Busy, probe.participant()).await?;
        }
        Ok::<_, ActorProcessingErr>(())
    })?;
    Ok(probe.run())
}
