#include "synergraph/train/make_evaluator.h"

#include "synergraph/train/cuda/cuda_evaluator.h"
#include "synergraph/train/make_fleet.h"

namespace synergraph {

Device evaluating(Device device) {
  device.precision = Precision::kFloat32;
  return device;
}

Device choose_evaluating(std::string_view name, const ModelConfig& model, int number) {
  FleetSettings shape;
  shape.model = model;
  shape.batch = 1;
  return choose_device(name, Precision::kFloat32, {&shape, 1}, number);
}

EvaluatorFactory evaluator_factory(const Device& device, const Model& model) {
  if (device.kind == DeviceKind::kCuda) return cuda_evaluators(device, model);
  return [&model] { return std::make_unique<Evaluator>(model); };
}

}  // namespace synergraph
