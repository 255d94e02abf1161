#include "synergraph/device/cuda/large_operators.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "synergraph/core/array_math.h"
#include "synergraph/device/cuda/device_memory.h"
#include "synergraph/device/cuda/device_powers.h"
#include "synergraph/device/cuda/large_kernels.h"
#include "synergraph/device/cuda/pinned_memory.h"

namespace synergraph::cuda {
using large::OperatorSums;
using large::SignalPanel;
using large::SurvivalPanel;
using large::SweepTask;
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
  kMass,     // of hitting times; of a published walk, what is left of the entries where it is cut
  kMissing,  // what rows leave out
  kLimitedPeak,
  kArrays
};

/// Entries a number of which is a whole number of cache lines.
std::size_t padded(std::size_t count) {
  return (count + 31) / 32 * 32;
}

}  // namespace

struct LargeOperators::Parts {
  Parts(const LargeHeads& system, LargeWorkspace& workspace, cudaStream_t queue);

  /// Operators with entries of their own.
  int bases() const { return system.heads == 1 ? 1 : system.heads + 2; }
  int operators() const { return system.published ? 2 * bases() : bases(); }
  bool is_published(int op) const { return op >= bases(); }
  int base_of(int op) const { return is_published(op) ? op - bases() : op; }
  bool is_head(int op) const { return base_of(op) < system.heads; }
  bool has_missing() const { return system.missing_mass; }
  bool made() const { return system.maker != nullptr; }
  double* array(int op, Array which) const {
    return memory.numbers.data() + (static_cast<std::size_t>(op) * kArrays + which) * pitch;
  }
  double* on_host(int op, Array which) {
    return memory.host.data() + (static_cast<std::size_t>(op) * kArrays + which) * pitch;
  }
  /// Strips are in one of two places; see SweepLanes.
  Entries entries(int op, Held held, int place = 0) const;
  int* cuts(int op) const { return memory.cuts.data() + static_cast<std::size_t>(op) * pitch; }
  CutColumns cut_columns(int base) const;
  FloatType type(int op) const {
    return is_head(op) ? (made() ? system.maker->type() : system.type) : FloatType::kFloat64;
  }
  void find_sums();
  void prepare_walks();
  void prepare_walk(int op);
  void prepare_combination();
  void take_published(int op);
  void find_published_combination();
  int* limited_places(int op) const {
    return memory.places.data() + static_cast<std::size_t>(operators() + op) * pitch;
  }
  int kind_of(int op) const { return (is_published(op) ? 2 : 0) + (is_head(op) ? 0 : 1); }
  struct Flows;
  void add_flow(const SweepTask& task, bool is_signal, Flows& flows);
  void add_hitting(int op, Flows& flows);
  void fetch_found(const SweepTask& task);
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
  const auto flows = count + static_cast<std::size_t>(bases());  // signals, then survivals
  memory.places.reserve(2 * count * pitch);
  memory.host_places.reserve(2 * count * pitch);
  memory.worst.reserve(count * padded(kSteps + 1));
  memory.host_worst.reserve(count * padded(kSteps + 1));
  memory.missing_flow.reserve(flows * kSteps);
  memory.host_missing_flow.reserve(flows * kSteps);
  // Published walks give nothing to the node for missing mass.
  std::fill_n(memory.host_missing_flow.data(), flows * kSteps, 0.0);
  require(cudaMemsetAsync(memory.missing_flow.data(), 0, flows * kSteps * sizeof(double), stream),
          "memory of the GPU");
  if (system.published) memory.cuts.reserve(count * pitch);
  memory.states.reserve(flows * n * kSteps);
  memory.partial.reserve(flows * chunks * kStrip * kSteps);
  memory.hitting_partial.reserve(count * chunks * kStrip);
  if (system.heads > 1) memory.combined_strips.reserve(SweepLanes::kPlaces * 2 * strip);
  if (made()) memory.head_strips.reserve(SweepLanes::kPlaces * head_strip_bytes());
  constexpr std::size_t kListBytes = 1 << 10;
  memory.lists.reserve((3 * count + 4) * kListBytes);
  memory.host_lists.reserve((3 * count + 4) * kListBytes);
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
  if (is_published(op)) {
    Entries cut = entries(base_of(op), held, place);
    cut.cut = cuts(op);
    cut.part = array(op, kMass);
    return cut;
  }
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

CutColumns LargeOperators::Parts::cut_columns(int base) const {
  if (!system.published) return {};
  const int op = bases() + base;
  return {cuts(op), array(op, kMass), array(op, kForward), array(op, kStay)};
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
    job.sums = {array(h, kWhole),
                array(h, kScale),
                array(h, kDown),
                array(h, kColumn),
                array(h, kForward),
                array(h, kDiagonal),
                has_missing() ? array(h, kMissing) : nullptr,
                flags.data() + 2 * h,
                flags.data() + 2 * h + 1};
    job.cut = cut_columns(h);
    job.as_given = system.as_given;
    jobs.push_back(job);
  }
  DeviceMemory<SumsJob>& on_device = memory.jobs;
  on_device.reserve(heads);
  on_device.upload(jobs.data(), heads, stream);
  if (made()) {
    system.maker->queue_sums(jobs, on_device.data(), stream);
  } else {
    memory.column_partial.reserve(heads * static_cast<std::size_t>(chunks_of(system.nodes)) * n);
    cuda::queue_sums(on_device.data(), system.heads, system.nodes, system.type, system.published,
                     memory.column_partial.data(), stream);
  }
  std::vector<int> found(2 * heads);
  flags.download(found.data(), found.size(), stream);
  for (int h = 0; h < system.heads; ++h)
    for (const Array which : {kWhole, kColumn, kForward, kDiagonal, kMissing})
      if (which != kMissing || has_missing()) fetch(h, which);
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
    if (has_missing()) {
      of.missing = copy(kMissing);
      of.missing_forward = total(of.missing.data(), system.nodes);
      of.missing_mass = 1.0 + of.missing_forward;
    }
    of.bad_rows = found[2 * static_cast<std::size_t>(h)];
    of.all_go_down = found[2 * static_cast<std::size_t>(h) + 1] == 0;
  }
}

/// The sums of the operators behind the heads follow from those of the heads.
void LargeOperators::Parts::prepare_combination() {
  if (system.heads == 1) return;
  const auto heads = static_cast<std::size_t>(system.heads);
  OperatorSums& diffusion = sums[heads];
  OperatorSums& walk = sums[heads + 1];
  for (OperatorSums* of : {&diffusion, &walk})
    of->column = of->forward = of->diagonal = std::vector<double>(n, 0.0);
  if (has_missing()) {
    diffusion.missing = walk.missing = std::vector<double>(n, 0.0);
    walk.missing_own = 0.0;
  }
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
    for (std::size_t i = 0; i < of.missing.size(); ++i) {
      diffusion.missing[i] += weight * of.missing[i];
      walk.missing[i] += weight * (of.missing[i] / of.missing_mass);
    }
    if (has_missing()) {
      diffusion.missing_forward += weight * of.missing_forward;
      walk.missing_forward += weight * (of.missing_forward / of.missing_mass);
      walk.missing_own += weight / of.missing_mass;
    }
    if (weight > 0.0) diffusion.all_go_down = diffusion.all_go_down && of.all_go_down;
  }
  for (std::size_t j = 0; j < n; ++j) walk.column[j] = 1.0;
  diffusion.missing_mass = 1.0 + diffusion.missing_forward;
  for (const int op : {system.heads, system.heads + 1}) {
    const OperatorSums& of = sums[static_cast<std::size_t>(op)];
    if (!has_missing()) break;
    std::copy(of.missing.begin(), of.missing.end(), on_host(op, kMissing));
    put(op, kMissing);
  }
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

/// What the published walk leaves of the columns of all heads together, strip by strip.
void LargeOperators::Parts::find_published_combination() {
  const int op = system.heads;
  const int cut = bases() + op;
  SumsJob job;
  job.entries = entries(op, Held::kOneStrip);
  job.nodes = system.nodes;
  job.sums.diagonal = array(op, kDiagonal);
  job.sums.down = array(op, kDown);
  job.sums.column = array(cut, kTimes);  // known: they lie where nothing else is yet
  job.sums.forward = array(cut, kPassing);
  job.cut = cut_columns(op);
  memory.jobs.reserve(1);
  memory.jobs.upload(&job, 1, stream);
  memory.column_partial.reserve(static_cast<std::size_t>(chunks_of(system.nodes)) * kStrip);
  for (int first = 0; first < system.nodes; first += kStrip) {
    queue_strips(first, 0, true, stream);
    queue_column_sums(memory.jobs.data(), 1, system.nodes, first, FloatType::kFloat64, true,
                      memory.column_partial.data(), stream);
  }
  wait("sums of attention");
}

/// The sums of a published walk, found where its columns are cut.
void LargeOperators::Parts::take_published(int op) {
  fetch(op, kForward);
  fetch(op, kStay);
  wait("sums of attention");
  OperatorSums& of = sums[static_cast<std::size_t>(op)];
  of.column.assign(n, 1.0);
  of.forward.assign(on_host(op, kForward), on_host(op, kForward) + n);
  of.diagonal.assign(on_host(op, kStay), on_host(op, kStay) + n);
  if (has_missing())
    of.missing.assign(n, 0.0);  // its node keeps all it has
  else
    of.forward.front() = 0.0;
}

/// The factors and staying probabilities of a walk.
void LargeOperators::Parts::prepare_walk(int op) {
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
  const bool traps = of.has_trap();
  for (std::size_t j = 0; j < n; ++j) {
    const bool trapped = traps && !(of.forward[j] > 0.0);
    on_host(op, kMass)[j] = !traps ? of.column[j] : trapped ? 1.0 : 0.0;
    on_host(op, kForward)[j] = trapped ? 1.0 : of.forward[j];
  }
  std::copy(of.diagonal.begin(), of.diagonal.end(), on_host(op, kDiagonal));
  for (const Array which : {kMass, kForward, kDiagonal}) put(op, which);
}

/// Factors and staying probabilities of the walks, and the states at time 0.
void LargeOperators::Parts::prepare_walks() {
  for (int op = 0; op < operators(); ++op) {
    if (is_published(op)) continue;
    prepare_walk(op);
    std::fill_n(on_host(op, kSignal), n, 0.0);
    on_host(op, kSignal)[n - 1] = 1.0;
    put(op, kSignal);
  }
  if (system.published && system.heads > 1) find_published_combination();
  const int published = system.published ? std::min(bases(), system.heads + 1) : 0;
  for (int base = 0; base < published; ++base) take_published(bases() + base);
  for (int op = 0; op < operators(); ++op) {
    on_host(op, kStay)[n - 1] = 0.0;  // the sink's survival is 0
    if (!is_published(op)) on_host(op, kFactor)[n - 1] = 0.0;
    std::fill_n(on_host(op, kSurvival), n, 1.0);
    on_host(op, kSurvival)[n - 1] = 0.0;
    for (const Array which : {kFactor, kStay, kSurvival})
      if (which != kFactor || !is_published(op)) put(op, which);
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

/// The flows of a sweep. Each kind has one element type, and walks that are cut or not: flows of
/// heads, then of sums of heads, then the same of published walks.
struct LargeOperators::Parts::Flows {
  static constexpr int kKinds = 4;
  std::vector<PanelFlow> panels[kKinds];
  std::vector<HittingFlow> hittings[kKinds];
  bool sums = false;     ///< some are of sums of heads
  bool missing = false;  ///< some give to a node for missing mass
};

/// The signal, or the survival, of a task.
void LargeOperators::Parts::add_flow(const SweepTask& task, bool is_signal, Flows& flows) {
  const int op = task.op;
  const auto at = static_cast<std::size_t>(op);
  const std::size_t chunks = static_cast<std::size_t>(chunks_of(system.nodes));
  const std::size_t place = is_signal ? at : static_cast<std::size_t>(bases()) + at;
  PanelFlow flow;
  flow.op = op;
  flow.nodes = system.nodes;
  flow.states = memory.states.data() + place * n * kSteps;
  flow.partial = memory.partial.data() + place * chunks * kStrip * kSteps;
  if (has_missing() && !is_published(op)) {
    flow.missing = array(op, kMissing);
    flow.missing_flow = memory.missing_flow.data() + place * kSteps;
    flows.missing = true;
  }
  if (is_signal) {
    flow.stay = array(op, kDiagonal);
    flow.now = array(op, kSignal);
    flow.first = 1;  // the start does not count: at later panels, it is but one step of many
    flow.peak = array(op, kPeak);
    flow.place = memory.places.data() + at * pitch;
    if (task.last < kSteps) {
      flow.last = task.last;
      flow.limited_peak = array(op, kLimitedPeak);
      flow.limited_place = limited_places(op);
    }
  } else {
    flow.factor = is_published(op) ? nullptr : array(op, kFactor);
    flow.stay = array(op, kStay);
    flow.now = array(op, kSurvival);
    flow.count = task.count;
    flow.sum = array(op, kSum);
    flow.previous = array(op, kPrevious);
    flow.worst = memory.worst.data() + at * padded(kSteps + 1);
    require(cudaMemsetAsync(flow.worst, 0, (kSteps + 1) * sizeof(double), stream),
            "memory of the GPU");
  }
  flows.panels[kind_of(op)].push_back(flow);
}

void LargeOperators::Parts::add_hitting(int op, Flows& flows) {
  HittingFlow hitting;
  hitting.op = op;
  hitting.nodes = system.nodes;
  hitting.mass = array(op, kMass);
  hitting.forward = array(op, kForward);
  hitting.times = array(op, kTimes);
  hitting.partial = memory.hitting_partial.data() +
                    static_cast<std::size_t>(op * chunks_of(system.nodes)) * kStrip;
  flows.hittings[kind_of(op)].push_back(hitting);
}

void LargeOperators::sweep(std::span<const SweepTask> tasks) {
  Parts& p = *parts_;
  Parts::Flows flows;
  for (const SweepTask& task : tasks) {
    flows.sums = flows.sums || !p.is_head(task.op);
    if (task.signal) p.add_flow(task, true, flows);
    if (task.survival) p.add_flow(task, false, flows);
    if (task.hitting) p.add_hitting(task.op, flows);
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
  constexpr int kKinds = Parts::Flows::kKinds;
  const PanelFlow* panel_lists[kKinds][SweepLanes::kPlaces];
  const HittingFlow* hitting_lists[kKinds][SweepLanes::kPlaces];
  for (int kind = 0; kind < kKinds; ++kind)
    for (int place = 0; place < SweepLanes::kPlaces; ++place) {
      panel_lists[kind][place] = put(flows.panels[kind], place);
      hitting_lists[kind][place] = put(flows.hittings[kind], place);
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
    p.queue_strips(first, place, flows.sums, lanes.maker);
    lanes.made[place].record(lanes.maker);
    for (int user = 0; user < SweepLanes::kUsers; ++user) {
      const cudaStream_t stream = lanes.users[user];
      lanes.made[place].hold(stream);
      for (int kind = user % 2; kind < kKinds; kind += 2) {
        const FloatType type = kind % 2 == 0 ? p.type(0) : FloatType::kFloat64;
        const auto& panels = flows.panels[kind];
        const auto& hittings = flows.hittings[kind];
        if (user < 2 && !panels.empty())
          queue_panel_strip(panel_lists[kind][place], static_cast<int>(panels.size()), nodes, first,
                            type, kind >= 2, stream);
        if (user >= 2 && !hittings.empty())
          queue_hitting_strip(hitting_lists[kind][place], static_cast<int>(hittings.size()), nodes,
                              first, type, stream);
      }
      lanes.used[place][user].record(stream);
    }
  }
  for (const auto& place : lanes.used)
    for (const Event& used : place) used.hold(p.stream);
  for (int kind = 0; kind < kKinds && flows.missing; ++kind)
    if (!flows.panels[kind].empty())
      queue_missing(panel_lists[kind][0], static_cast<int>(flows.panels[kind].size()), nodes,
                    p.stream);
  for (const SweepTask& task : tasks) p.fetch_found(task);
  const auto count = static_cast<std::size_t>(p.operators());
  p.memory.worst.download(p.memory.host_worst.data(), count * padded(kSteps + 1), p.stream);
  if (flows.missing)
    p.memory.missing_flow.download(p.memory.host_missing_flow.data(),
                                   (count + static_cast<std::size_t>(p.bases())) * kSteps,
                                   p.stream);
  p.wait("steps of attention");
}

void LargeOperators::Parts::fetch_found(const SweepTask& task) {
  const auto fetch_places = [&](std::size_t at) {
    require(cudaMemcpyAsync(memory.host_places.data() + at, memory.places.data() + at,
                            n * sizeof(int), cudaMemcpyDeviceToHost, stream),
            "copy from the device");
  };
  if (task.signal) {
    fetch(task.op, kPeak);
    fetch(task.op, kSignal);
    fetch_places(static_cast<std::size_t>(task.op) * pitch);
    if (task.last < kSteps) {
      fetch(task.op, kLimitedPeak);
      fetch_places(static_cast<std::size_t>(operators() + task.op) * pitch);
    }
  }
  if (task.survival)
    for (const Array which : {kSum, kPrevious, kSurvival}) fetch(task.op, which);
  if (task.hitting) fetch(task.op, kTimes);
}

SignalPanel LargeOperators::signal(int op) const {
  Parts& p = *parts_;
  const auto at = static_cast<std::size_t>(op);
  const int* const places = p.memory.host_places.data();
  return {p.on_host(op, kPeak),
          places + at * p.pitch,
          p.on_host(op, kSignal),
          p.on_host(op, kLimitedPeak),
          places + (static_cast<std::size_t>(p.operators()) + at) * p.pitch,
          p.memory.host_missing_flow.data() + at * kSteps};
}

SurvivalPanel LargeOperators::survival(int op) const {
  Parts& p = *parts_;
  const auto at = static_cast<std::size_t>(op);
  return {p.on_host(op, kSum), p.on_host(op, kPrevious), p.on_host(op, kSurvival),
          p.memory.host_worst.data() + at * padded(kSteps + 1),
          p.memory.host_missing_flow.data() + (static_cast<std::size_t>(p.bases()) + at) * kSteps};
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

/// The matrix whose powers are wanted, brought to a store of its own, strip by strip.
std::unique_ptr<WalkPowers> LargeOperators::powers(int op, PowersOf of,
                                                   const Execution& execution) try {
  Parts& p = *parts_;
  const bool walk = of == PowersOf::kWalk;
  const OperatorSums& sums = p.sums[static_cast<std::size_t>(op)];
  std::vector<double> leave(p.n);
  if (!walk) {
    p.fetch(op, kDown);
    p.fetch(op, kScale);
    p.wait("sums of attention");
  }
  for (std::size_t j = 0; j < p.n; ++j) {
    const double down = p.on_host(op, kDown)[j] * (p.is_head(op) ? p.on_host(op, kScale)[j] : 1.0);
    leave[j] = walk ? (sums.column[j] > 0.0 ? sums.forward[j] / sums.column[j] : 0.0)
                    : down / (down + sums.diagonal[j]);
  }
  if (walk) leave.back() = 0.0;
  PowersPlan plan;
  plan.nodes = p.system.nodes;
  plan.extra = p.has_missing() ? 1 : 0;
  plan.of_walk = walk;
  if (plan.extra == 1)
    leave.insert(leave.begin(), walk ? sums.missing_forward / sums.missing_mass : 0.0);
  if (!walk) leave.front() = 0.0;
  plan.factor = walk ? p.array(op, kFactor) : nullptr;
  plan.stay = walk ? p.array(op, kStay) : p.array(op, kDiagonal);
  plan.missing = plan.extra == 1 ? p.array(op, kMissing) : nullptr;
  plan.missing_factor = walk ? 1.0 / sums.missing_mass : 1.0;
  plan.leave = std::move(leave);
  auto store = std::make_unique<DevicePowers>(std::move(plan), p.stream);
  for (int first = 0; first < p.system.nodes; first += kStrip) {
    p.queue_strips(first, 0, !p.is_head(op), p.stream);
    store->take_strip(p.entries(op, Held::kOneStrip, 0), first, p.type(op));
  }
  p.wait("powers of attention");
  const std::size_t capacity = store->capacity();
  return std::make_unique<WalkPowers>(std::move(store), capacity, execution);
} catch (const DeviceFull&) {
  return nullptr;
}

}  // namespace synergraph::cuda
