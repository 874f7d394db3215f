//! Call with an error that can be passed on.

/// Same as `call!`, with the error as text; ractor's contains the message, which need not be `Sync`.
macro_rules! ask {
    ($($call:tt)*) => {
        ractor::call!($($call)*).map_err(|error| error.to_string())
    };
}
pub(super) use ask;
