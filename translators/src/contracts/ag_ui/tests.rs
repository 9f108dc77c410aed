//! Hand-made frames, and the events derived from them.
