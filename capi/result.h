#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "capi/arrays.h"
#include "capi/synergraph.h"

/// What was measured: the report that the program would print, and its numbers.
struct sg_result {
  using Report =
      std::variant<synergraph::AnalyzeReport, synergraph::GraphReport, synergraph::HeadsReport,
                   synergraph::ReproduceReport, synergraph::AgreementReport,
                   synergraph::CompareReport, synergraph::capi::SystemArrays>;

  explicit sg_result(Report measured);
  sg_result(const sg_result&) = delete;
  sg_result& operator=(const sg_result&) = delete;

  Report report;
  std::vector<synergraph::capi::NamedArray> arrays;
  std::vector<sg_array> views;
};
