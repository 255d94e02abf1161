#pragma once

/// Runs many independent multiply-adds in registers, with the widest of this CPU; returns how many.
double spend_multiply_adds();
