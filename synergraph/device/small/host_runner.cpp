#include <cstring>

#include "synergraph/device/small/host_team.h"
#include "synergraph/device/small/measure_matrix.h"
#include "synergraph/device/small/runner.h"

namespace synergraph::small {
namespace {

template <class T>
T read(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

double HostTeam::load(const void* at, FloatType type) const {
  switch (type) {
    case FloatType::kFloat16:
      return static_cast<double>(half_to_float(read<std::uint16_t>(at)));
    case FloatType::kBFloat16:
      return static_cast<double>(bfloat_to_float(read<std::uint16_t>(at)));
    case FloatType::kFloat32:
      return static_cast<double>(read<float>(at));
    case FloatType::kFloat64:
      break;
  }
  return read<double>(at);
}

std::span<const Result> HostRunner::run(const Attention& attention, std::span<const Task> tasks,
                                        std::span<const Job> jobs,
                                        std::span<const double> weights) {
  results_.assign(jobs.size(), {});
  memory_.resize(static_cast<std::size_t>(Memory::doubles(kMostNodes, true)) + 2);
  // Pairs lie on boundaries of 16 bytes.
  double* memory = memory_.data() + reinterpret_cast<std::uintptr_t>(memory_.data()) % 16 / 8;
  const Work work{attention, tasks.data(), jobs.data(), weights.data(), results_.data()};
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    HostTeam team;
    measure_job(team, work, static_cast<int>(k), memory);
  }
  return results_;
}

}  // namespace synergraph::small
