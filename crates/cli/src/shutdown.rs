//! Graceful termination by Ctrl-C and SIGTERM.

use purlin_lab::error::Problem;

/// Returns a future that completes at Ctrl-C or SIGTERM. From this call on these signals no longer end the program.
/// Must be called within a tokio runtime.
pub(crate) fn shutdown_signal() -> Result<impl Future<Output = ()>, Problem> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let failed = |error| Problem::new(format!("cannot listen for signals: {error}"));
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
        Ok(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    {
        // If the signal cannot be registered, the future never completes.
        Ok(async {
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }
}
