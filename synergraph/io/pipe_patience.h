#pragma once

#include <chrono>

namespace synergraph {

/// How long a named pipe may be without a program at its other end: programs that are started
/// together, one to write and one to read, need a moment.
inline constexpr auto kPipePatience = std::chrono::seconds(2);
inline constexpr auto kBetweenLooks = std::chrono::milliseconds(20);

}  // namespace synergraph
