//! What differs between groups of stamps: clocks, people, several annotators of one session.

mod clocks;
mod drawn;
mod gradient;
mod people;
