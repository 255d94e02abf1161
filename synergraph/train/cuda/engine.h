#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "synergraph/model/config.h"
#include "synergraph/train/adam.h"
#include "synergraph/train/data.h"
#include "synergraph/train/precision.h"

namespace synergraph::cuda {

/// What the models of an engine have in common.
struct EngineSettings {
  ModelConfig model;
  AdamOptions adam;
  double dropout = 0.1;
  int batch = 50;
  Precision precision = Precision::kTf32;
};

/// The numbers of a model in training, in the order of ParameterLayout.
struct Numbers {
  float* parameters;
  float* first_moment;
  float* second_moment;
};

/// The steps of one member: its sequences in order, `batch` of them a step.
struct EngineWork {
  int member = 0;
  std::span<const std::int32_t> rows;
};

/// The sums over a step's sequences.
struct EngineResult {
  double loss = 0.0;
  std::int64_t correct = 0;
};

/// The sums over a member's judged sequences, and the number of their targets that count.
struct JudgedResult {
  EngineResult sums;
  std::int64_t positions = 0;
};

/// Why the kernels do not run on the current device, as "built for other GPUs"; empty: they do.
std::string kernel_trouble();

/// Models of one shape in training on a GPU. See Fleet.
class Engine {
 public:
  Engine(int device, const EngineSettings& settings);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  int add(const Numbers& numbers, std::uint32_t step, std::uint64_t seed, const TrainingData& data);
  void remove(int member);
  std::vector<std::vector<EngineResult>> run(std::span<const EngineWork> work);
  /// The members in evaluation mode on their judged sequences, multiplied in float32.
  std::vector<JudgedResult> judge(std::span<const int> members);
  /// The member's numbers, and its steps so far.
  std::uint32_t save(int member, const Numbers& numbers) const;

  /// The gradient of each member's last step is kept from now on.
  void keep_gradients();
  /// The gradient of the member's last step, in the order of ParameterLayout.
  std::vector<float> gradient(int member) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace synergraph::cuda
