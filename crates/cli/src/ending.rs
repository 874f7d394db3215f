//! How a command that runs until it is told to end is told.

use purlin_lab::error::Problem;

/// From now on being asked to end, by Ctrl-C or SIGTERM, does not end the program but this future. Must be
/// called within a tokio runtime.
pub(crate) fn asked_to_end() -> Result<impl Future<Output = ()>, Problem> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let deaf = |error| Problem::new(format!("cannot listen for signals: {error}"));
        let mut interrupt = signal(SignalKind::interrupt()).map_err(deaf)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(deaf)?;
        Ok(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    {
        // What cannot be listened for never comes.
        Ok(async {
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }
}
