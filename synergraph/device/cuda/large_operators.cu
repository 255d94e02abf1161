#include "synergraph/device/cuda/large_operators.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "synergraph/device/cuda/device_memory.h"
#include "synergraph/device/cuda/large_kernels.h"
#include "synergraph/device/cuda/pinned_memory.h"

namespace synergraph::cuda {
namespace {

/// Doubles of one operator on the device, in this order.
enum Array {
  kWhole,
  kScale,
  kDown,
  kColumn,
  kForward,
  kDiagonal,
  kFactor,
  kStay,  // of the walk
  kSignal,
  kSurvival,  // the newest states
  kPeak,
  kSum,
  kPrevious,
  kTimes,
  kPassing,
  kMass,
  kArrays
};

/// Entries a number of which is a whole number of cache lines.
std::size_t padded(std::size_t count) {
  return (count + 31) / 32 * 32;
}

}  // namespace

struct LargeOperators::Parts {
  Parts(const LargeHeads& system, LargeWorkspace& workspace, cudaStream_t queue);

  int operators() const { return system.heads == 1 ? 1 : system.heads + 2; }
  bool is_head(int op) const { return op < system.heads; }
  bool made() const { return system.maker != nullptr; }
  double* array(int op, Array which) const {
    return memory.numbers.data() + (static_cast<std::size_t>(op) * kArrays + which) * pitch;
  }
  double* on_host(int op, Array which) {
    return memory.host.data() + (static_cast<std::size_t>(op) * kArrays + which) * pitch;
  }
  /// Strips are in one of two places; see SweepLanes.
  Entries entries(int op, Held held, int place = 0) const;
  FloatType type(int op) const {
    return is_head(op) ? (made() ? system.maker->type() : system.type) : FloatType::kFloat64;
  }
  void find_sums();
  void prepare_walks();
  void prepare_combination();
  void fetch(int op, Array which) {
    require(cudaMemcpyAsync(on_host(op, which), array(op, which), n * sizeof(double),
                            cudaMemcpyDeviceToHost, stream),
            "copy from the device");
  }
  void put(int op, Array which) {
    require(cudaMemcpyAsync(array(op, which), on_host(op, which), n * sizeof(double),
                            cudaMemcpyHostToDevice, stream),
            "copy to the device");
  }
  void wait(const char* what) {
    require(cudaGetLastError(), what);
    require(cudaStreamSynchronize(stream), what);
  }
  std::size_t head_strip_bytes() const {
    return made() ? static_cast<std::size_t>(system.heads) * strip * item_size(system.maker->type())
                  : 0;
  }
  std::byte* head_strips(int place) const {
    return memory.head_strips.data() + static_cast<std::size_t>(place) * head_strip_bytes();
  }
  double* combined_strips(int place) const {
    return memory.combined_strips.data() + static_cast<std::size_t>(place) * 2 * strip;
  }
  CombineJob combine_job(int place) const {
    return {memory.head_entries.data() + place * system.heads,
            system.heads,
            system.nodes,
            memory.head_weights.data(),
            memory.head_columns.data(),
            combined_strips(place),
            combined_strips(place) + strip};
  }
  /// Queues the strips that begin at column `first`: of heads that are made, and of their sums.
  void queue_strips(int first, int place, bool sums, cudaStream_t in);

  LargeHeads system;
  cudaStream_t stream;
  std::size_t n;
  std::size_t pitch;
  std::size_t strip;  // numbers of a strip
  LargeWorkspace& memory;
  std::vector<OperatorSums> sums;
};

LargeOperators::Parts::Parts(const LargeHeads& given, LargeWorkspace& workspace, cudaStream_t queue)
    : system(given),
      stream(queue),
      n(static_cast<std::size_t>(given.nodes)),
      pitch(padded(n)),
      strip(n * kStrip),
      memory(workspace) {
  const auto count = static_cast<std::size_t>(operators());
  const std::size_t chunks = static_cast<std::size_t>(chunks_of(system.nodes));
  memory.numbers.reserve(count * kArrays * pitch);
  memory.host.reserve(count * kArrays * pitch);
  memory.places.reserve(count * pitch);
  memory.host_places.reserve(count * pitch);
  memory.worst.reserve(count * padded(kSteps + 1));
  memory.host_worst.reserve(count * padded(kSteps + 1));
  memory.states.reserve(2 * count * n * kSteps);
  memory.partial.reserve(2 * count * chunks * kStrip * kSteps);
  memory.hitting_partial.reserve(count * chunks * kStrip);
  if (count > 1) memory.combined_strips.reserve(SweepLanes::kPlaces * 2 * strip);
  if (made()) memory.head_strips.reserve(SweepLanes::kPlaces * head_strip_bytes());
  constexpr std::size_t kListBytes = 1 << 10;
  memory.lists.reserve(3 * count * kListBytes);
  memory.host_lists.reserve(3 * count * kListBytes);
  prepare_large_kernels();
  sums.resize(count);
  find_sums();
  prepare_combination();
  prepare_walks();
}

void LargeOperators::Parts::queue_strips(int first, int place, bool of_sums, cudaStream_t in) {
  if (made()) system.maker->queue_strips(first, head_strips(place), in);
  if (of_sums) queue_combined_strip(combine_job(place), first, type(0), in);
}

Entries LargeOperators::Parts::entries(int op, Held held, int place) const {
  const auto at = static_cast<std::size_t>(op);
  const std::size_t block = held == Held::kRows ? n * kBlock : strip;
  const std::int64_t stride = held == Held::kRows ? system.nodes : kStrip;
  if (!is_head(op))
    return {combined_strips(place) + (op == system.heads ? 0 : strip), FloatType::kFloat64, stride,
            nullptr, held};
  if (!made())
    return {system.data[at], system.type, system.stride, array(op, kScale), Held::kWhole};
  const FloatType element = system.maker->type();
  return {head_strips(place) + at * block * item_size(element), element, stride, array(op, kScale),
          held};
}

/// The sums of heads.
void LargeOperators::Parts::find_sums() {
  const auto heads = static_cast<std::size_t>(system.heads);
  DeviceMemory<int>& flags = memory.flags;
  flags.reserve(2 * heads);
  require(cudaMemsetAsync(flags.data(), 0, 2 * heads * sizeof(int), stream), "memory of the GPU");
  std::vector<SumsJob> jobs;
  for (int h = 0; h < system.heads; ++h) {
    SumsJob job;
    job.entries = entries(h, Held::kOneStrip);
    job.nodes = system.nodes;
    job.begin = system.begin;
    job.after = system.after;
    job.sums = {array(h, kWhole),     array(h, kScale),        array(h, kDown),
                array(h, kColumn),    array(h, kForward),      array(h, kDiagonal),
                flags.data() + 2 * h, flags.data() + 2 * h + 1};
    jobs.push_back(job);
  }
  DeviceMemory<SumsJob>& on_device = memory.jobs;
  on_device.reserve(heads);
  on_device.upload(jobs.data(), heads, stream);
  if (made()) {
    system.maker->queue_sums(jobs, on_device.data(), stream);
  } else {
    memory.column_partial.reserve(heads * static_cast<std::size_t>(chunks_of(system.nodes)) * n);
    cuda::queue_sums(on_device.data(), system.heads, system.nodes, system.type,
                     memory.column_partial.data(), stream);
  }
  std::vector<int> found(2 * heads);
  flags.download(found.data(), found.size(), stream);
  for (int h = 0; h < system.heads; ++h)
    for (const Array which : {kWhole, kColumn, kForward, kDiagonal}) fetch(h, which);
  wait("sums of attention");
  for (int h = 0; h < system.heads; ++h) {
    OperatorSums& of = sums[static_cast<std::size_t>(h)];
    const auto copy = [&](Array which) {
      return std::vector<double>(on_host(h, which), on_host(h, which) + n);
    };
    of.whole = copy(kWhole);
    of.column = copy(kColumn);
    of.forward = copy(kForward);
    of.diagonal = copy(kDiagonal);
    of.bad_rows = found[2 * static_cast<std::size_t>(h)];
    of.all_go_down = found[2 * static_cast<std::size_t>(h) + 1] == 0;
  }
}

/// The sums of the operators behind the heads follow from those of the heads.
void LargeOperators::Parts::prepare_combination() {
  if (operators() == 1) return;
  const auto heads = static_cast<std::size_t>(system.heads);
  OperatorSums& diffusion = sums[heads];
  OperatorSums& walk = sums[heads + 1];
  for (OperatorSums* of : {&diffusion, &walk})
    of->column = of->forward = of->diagonal = std::vector<double>(n, 0.0);
  std::vector<double> columns(heads * n, 0.0);
  std::vector<double> down(n, 0.0);
  for (std::size_t h = 0; h < heads; ++h) {
    const OperatorSums& of = sums[h];
    const double weight = system.weights[h];
    for (std::size_t j = 0; j < n; ++j) {
      diffusion.column[j] += weight * of.column[j];
      diffusion.forward[j] += weight * of.forward[j];
      diffusion.diagonal[j] += weight * of.diagonal[j];
      const double each = of.column[j] > 0.0 ? weight / of.column[j] : 0.0;
      columns[h * n + j] = each;
      walk.forward[j] += each * of.forward[j];
      walk.diagonal[j] += each * of.diagonal[j];
    }
    if (weight > 0.0) diffusion.all_go_down = diffusion.all_go_down && of.all_go_down;
  }
  for (std::size_t j = 0; j < n; ++j) walk.column[j] = 1.0;
  // What a row of the combination passes on, for passing probabilities.
  for (std::size_t h = 0; h < heads; ++h) {
    fetch(static_cast<int>(h), kDown);
    fetch(static_cast<int>(h), kScale);
  }
  wait("sums of attention");
  for (std::size_t h = 0; h < heads; ++h) {
    const double* of = on_host(static_cast<int>(h), kDown);
    const double* scale = on_host(static_cast<int>(h), kScale);
    for (std::size_t i = 0; i < n; ++i) down[i] += system.weights[h] * (of[i] * scale[i]);
  }
  std::copy(down.begin(), down.end(), on_host(system.heads, kDown));
  put(system.heads, kDown);
  memory.head_weights.reserve(heads);
  memory.head_weights.upload(system.weights.data(), heads, stream);
  memory.head_columns.reserve(heads * n);
  memory.head_columns.upload(columns.data(), heads * n, stream);
  memory.head_entries.reserve((SweepLanes::kPlaces + 1) * heads);
  std::vector<Entries> list;
  for (int place = 0; place < SweepLanes::kPlaces; ++place)
    for (int h = 0; h < system.heads; ++h) list.push_back(entries(h, Held::kOneStrip, place));
  for (int h = 0; h < system.heads; ++h) list.push_back(entries(h, Held::kRows));
  memory.head_entries.upload(list.data(), list.size(), stream);
  wait("sums of attention");
}

/// Factors and staying probabilities of the walks, and the states at time 0.
void LargeOperators::Parts::prepare_walks() {
  for (int op = 0; op < operators(); ++op) {
    const OperatorSums& of = sums[static_cast<std::size_t>(op)];
    double* factor = on_host(op, kFactor);
    double* stay = on_host(op, kStay);
    for (std::size_t j = 0; j < n; ++j) {
      const double mass = of.column[j];
      factor[j] = mass > 0.0 ? 1.0 / mass : 0.0;
      // Nothing may get lost in many steps: where a node is seldom left, the forward mass and the
      // chance to stay sum to one.
      const double leave = of.forward[j] * factor[j];
      stay[j] = !(mass > 0.0) ? 1.0 : leave <= 0.5 ? 1.0 - leave : of.diagonal[j] * factor[j];
    }
    factor[n - 1] = stay[n - 1] = 0.0;  // the sink's survival is 0
    std::copy(of.column.begin(), of.column.end(), on_host(op, kMass));
    std::copy(of.forward.begin(), of.forward.end(), on_host(op, kForward));
    std::copy(of.diagonal.begin(), of.diagonal.end(), on_host(op, kDiagonal));
    std::fill_n(on_host(op, kSurvival), n, 1.0);
    on_host(op, kSurvival)[n - 1] = 0.0;
    std::fill_n(on_host(op, kSignal), n, 0.0);
    on_host(op, kSignal)[n - 1] = 1.0;
    for (const Array which : {kFactor, kStay, kMass, kForward, kDiagonal, kSurvival, kSignal})
      put(op, which);
  }
  wait("states of walks");
}

LargeOperators::LargeOperators(const LargeHeads& heads, LargeWorkspace& workspace,
                               cudaStream_t stream)
    : parts_(std::make_unique<Parts>(heads, workspace, stream)) {}

LargeOperators::~LargeOperators() = default;

int LargeOperators::nodes() const {
  return parts_->system.nodes;
}
int LargeOperators::heads() const {
  return parts_->system.heads;
}

const OperatorSums& LargeOperators::sums(int op) const {
  return parts_->sums[static_cast<std::size_t>(op)];
}

void LargeOperators::restart_signal(int op) {
  Parts& p = *parts_;
  std::fill_n(p.on_host(op, kSignal), p.n, 0.0);
  p.on_host(op, kSignal)[p.n - 1] = 1.0;
  p.put(op, kSignal);
  p.wait("states of signals");
}

void LargeOperators::sweep(std::span<const SweepTask> tasks) {
  Parts& p = *parts_;
  // Flows of heads first, then of sums of heads: each kind has one element type.
  std::vector<PanelFlow> panels[2];
  std::vector<HittingFlow> hittings[2];
  const auto count = static_cast<std::size_t>(p.operators());
  const std::size_t chunks = static_cast<std::size_t>(chunks_of(p.system.nodes));
  bool sums = false;
  for (const SweepTask& task : tasks) {
    const int op = task.op;
    const std::size_t kind = p.is_head(op) ? 0 : 1;
    sums = sums || kind == 1;
    PanelFlow flow;
    flow.op = op;
    flow.nodes = p.system.nodes;
    const auto memory = [&](std::size_t place) {
      flow.states = p.memory.states.data() + place * p.n * kSteps;
      flow.partial = p.memory.partial.data() + place * chunks * kStrip * kSteps;
    };
    if (task.signal) {
      PanelFlow signal = flow;
      signal.stay = p.array(op, kDiagonal);
      signal.now = p.array(op, kSignal);
      memory(static_cast<std::size_t>(op));
      signal.states = flow.states;
      signal.partial = flow.partial;
      signal.first = 1;  // the start does not count: at later panels, it is but one step of many
      signal.peak = p.array(op, kPeak);
      signal.place = p.memory.places.data() + static_cast<std::size_t>(op) * p.pitch;
      panels[kind].push_back(signal);
    }
    if (task.survival) {
      PanelFlow survival = flow;
      survival.factor = p.array(op, kFactor);
      survival.stay = p.array(op, kStay);
      survival.now = p.array(op, kSurvival);
      memory(count + static_cast<std::size_t>(op));
      survival.states = flow.states;
      survival.partial = flow.partial;
      survival.count = task.count;
      survival.sum = p.array(op, kSum);
      survival.previous = p.array(op, kPrevious);
      survival.worst = p.memory.worst.data() + static_cast<std::size_t>(op) * padded(kSteps + 1);
      require(cudaMemsetAsync(survival.worst, 0, (kSteps + 1) * sizeof(double), p.stream),
              "memory of the GPU");
      panels[kind].push_back(survival);
    }
    if (task.hitting) {
      HittingFlow hitting;
      hitting.op = op;
      hitting.nodes = flow.nodes;
      hitting.mass = p.array(op, kMass);
      hitting.forward = p.array(op, kForward);
      hitting.times = p.array(op, kTimes);
      hitting.partial =
          p.memory.hitting_partial.data() + static_cast<std::size_t>(op) * chunks * kStrip;
      hittings[kind].push_back(hitting);
    }
  }
  std::byte* next = p.memory.host_lists.data();
  const auto put = [&](auto& list, int place) {
    for (auto& flow : list) flow.entries = p.entries(flow.op, Held::kOneStrip, place);
    std::memcpy(next, list.data(), list.size() * sizeof(list[0]));
    const auto* there = reinterpret_cast<decltype(list.data())>(
        p.memory.lists.data() + (next - p.memory.host_lists.data()));
    next += (list.size() * sizeof(list[0]) + 255) / 256 * 256;
    return there;
  };
  const PanelFlow* panel_lists[2][SweepLanes::kPlaces];
  const HittingFlow* hitting_lists[2][SweepLanes::kPlaces];
  for (int kind = 0; kind < 2; ++kind)
    for (int place = 0; place < SweepLanes::kPlaces; ++place) {
      panel_lists[kind][place] = put(panels[kind], place);
      hitting_lists[kind][place] = put(hittings[kind], place);
    }
  p.memory.lists.upload(p.memory.host_lists.data(),
                        static_cast<std::size_t>(next - p.memory.host_lists.data()), p.stream);
  const int nodes = p.system.nodes;
  SweepLanes& lanes = p.memory.lanes;
  lanes.begin.record(p.stream);
  lanes.begin.hold(lanes.maker);
  for (const Stream& user : lanes.users) lanes.begin.hold(user);
  for (int strip = strips_of(nodes) - 1, place = 0; strip >= 0; --strip, place ^= 1) {
    const int first = strip * kStrip;
    for (const Event& used : lanes.used[place])
      if (strip + SweepLanes::kPlaces < strips_of(nodes)) used.hold(lanes.maker);
    p.queue_strips(first, place, sums, lanes.maker);
    lanes.made[place].record(lanes.maker);
    for (int user = 0; user < SweepLanes::kUsers; ++user) {
      const cudaStream_t stream = lanes.users[user];
      const int kind = user % 2;
      const FloatType type = kind == 0 ? p.type(0) : FloatType::kFloat64;
      lanes.made[place].hold(stream);
      if (user < 2 && !panels[kind].empty())
        queue_panel_strip(panel_lists[kind][place], static_cast<int>(panels[kind].size()), nodes,
                          first, type, stream);
      if (user >= 2 && !hittings[kind].empty())
        queue_hitting_strip(hitting_lists[kind][place], static_cast<int>(hittings[kind].size()),
                            nodes, first, type, stream);
      lanes.used[place][user].record(stream);
    }
  }
  for (const auto& place : lanes.used)
    for (const Event& used : place) used.hold(p.stream);
  for (const SweepTask& task : tasks) {
    if (task.signal) {
      p.fetch(task.op, kPeak);
      p.fetch(task.op, kSignal);
      const std::size_t at = static_cast<std::size_t>(task.op) * p.pitch;
      require(cudaMemcpyAsync(p.memory.host_places.data() + at, p.memory.places.data() + at,
                              p.n * sizeof(int), cudaMemcpyDeviceToHost, p.stream),
              "copy from the device");
    }
    if (task.survival)
      for (const Array which : {kSum, kPrevious, kSurvival}) p.fetch(task.op, which);
    if (task.hitting) p.fetch(task.op, kTimes);
  }
  require(cudaMemcpyAsync(p.memory.host_worst.data(), p.memory.worst.data(),
                          count * padded(kSteps + 1) * sizeof(double), cudaMemcpyDeviceToHost,
                          p.stream),
          "copy from the device");
  p.wait("steps of attention");
}

SignalPanel LargeOperators::signal(int op) const {
  Parts& p = *parts_;
  return {p.on_host(op, kPeak),
          p.memory.host_places.data() + static_cast<std::size_t>(op) * p.pitch,
          p.on_host(op, kSignal)};
}

SurvivalPanel LargeOperators::survival(int op) const {
  Parts& p = *parts_;
  return {p.on_host(op, kSum), p.on_host(op, kPrevious), p.on_host(op, kSurvival),
          p.memory.host_worst.data() + static_cast<std::size_t>(op) * padded(kSteps + 1)};
}

const double* LargeOperators::hitting(int op) const {
  return parts_->on_host(op, kTimes);
}

double LargeOperators::signal_at(int op, int j, int k) const {
  Parts& p = *parts_;
  if (k == kSteps) return p.on_host(op, kSignal)[j];
  double value = 0.0;
  const std::size_t at =
      (static_cast<std::size_t>(op) * p.n + static_cast<std::size_t>(j)) * kSteps;
  require(cudaMemcpyAsync(&value, p.memory.states.data() + at + k, sizeof(double),
                          cudaMemcpyDeviceToHost, p.stream),
          "copy from the device");
  p.wait("steps of attention");
  return value;
}

std::vector<std::vector<double>> LargeOperators::passing(std::span<const PassingTask> tasks) {
  Parts& p = *parts_;
  std::vector<PassingFlow> flows[2];
  int begin = p.system.nodes;
  for (const PassingTask& task : tasks) {
    const std::size_t kind = p.is_head(task.op) ? 0 : 1;
    double* passing = p.array(task.op, kPassing);
    require(cudaMemsetAsync(passing, 0, p.n * sizeof(double), p.stream), "memory of the GPU");
    flows[kind].push_back({p.entries(task.op, Held::kRows), p.system.nodes, task.target,
                           p.array(task.op, kDown), passing});
    begin = std::min(begin, task.target / kBlock * kBlock);
  }
  std::byte* next = p.memory.host_lists.data();
  const PassingFlow* lists[2] = {};
  for (int kind = 0; kind < 2; ++kind) {
    std::memcpy(next, flows[kind].data(), flows[kind].size() * sizeof(PassingFlow));
    lists[kind] = reinterpret_cast<const PassingFlow*>(p.memory.lists.data() +
                                                       (next - p.memory.host_lists.data()));
    next += (flows[kind].size() * sizeof(PassingFlow) + 255) / 256 * 256;
  }
  p.memory.lists.upload(p.memory.host_lists.data(),
                        static_cast<std::size_t>(next - p.memory.host_lists.data()), p.stream);
  CombineJob job;
  if (!flows[1].empty()) {
    job = p.combine_job(0);
    job.heads += SweepLanes::kPlaces * p.system.heads;  // as rows
    job.columns = nullptr;
    job.walk = nullptr;
  }
  for (int first = begin; first < p.system.nodes; first += kBlock) {
    if (p.made()) p.system.maker->queue_rows(first, p.system.nodes, p.head_strips(0), p.stream);
    if (!flows[1].empty())
      queue_combined_rows(job, first, p.system.nodes, job.diffusion, p.type(0), p.stream);
    for (int kind = 0; kind < 2; ++kind)
      if (!flows[kind].empty())
        queue_passing_rows(lists[kind], static_cast<int>(flows[kind].size()), first,
                           kind == 0 ? p.type(0) : FloatType::kFloat64, p.stream);
  }
  for (const PassingTask& task : tasks) p.fetch(task.op, kPassing);
  p.wait("passing probabilities");
  std::vector<std::vector<double>> found;
  for (const PassingTask& task : tasks) {
    const double* from = p.on_host(task.op, kPassing);
    found.emplace_back(from, from + p.n);
  }
  return found;
}

}  // namespace synergraph::cuda
