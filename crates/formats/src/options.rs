//! Option contracts and their prices, after study C.
