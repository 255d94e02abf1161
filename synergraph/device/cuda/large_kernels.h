#pragma once

#include <cuda_runtime_api.h>

#include <span>

#include "synergraph/device/cuda/large_layout.h"

namespace synergraph::cuda {

// Kernels over large matrices. Lists of jobs and flows lie in the device's memory. Every function
// queues work in the stream and returns. Sums are in a fixed order: the same numbers give the same
// bytes.

/// All sums of MatrixSums, of `count` matrices of at most `nodes` nodes and one element type.
/// `partial` holds chunks_of(nodes) x nodes numbers for each of them. `cut`: some jobs want to know
/// where the published walk cuts columns.
void queue_sums(const SumsJob* jobs, int count, int nodes, FloatType type, bool cut,
                double* partial, cudaStream_t stream);
/// The sums of columns alone, of rows that have their scales, in the strip of columns that begins
/// at `first`; a negative `first`: in all columns.
void queue_column_sums(const SumsJob* jobs, int count, int nodes, int first, FloatType type,
                       bool cut, double* partial, cudaStream_t stream);

/// One strip of columns, from `first` on, of a panel of steps of all flows. Strips behind it are
/// finished. All entries are of one type, and all of published walks or none.
void queue_panel_strip(const PanelFlow* flows, int count, int nodes, int first, FloatType type,
                       bool cut, cudaStream_t stream);
/// What the states of a finished panel give to the node for missing mass.
void queue_missing(const PanelFlow* flows, int count, int nodes, cudaStream_t stream);
/// The same of hitting times.
void queue_hitting_strip(const HittingFlow* flows, int count, int nodes, int first, FloatType type,
                         cudaStream_t stream);
/// kBlock rows, from `first` on, of passing probabilities. Rows before them are finished.
void queue_passing_rows(const PassingFlow* flows, int count, int first, FloatType type,
                        cudaStream_t stream);

/// The strip of columns from `first` on of the sums of heads, rows `first` .. nodes - 1; or kBlock
/// rows from `first` on with all columns up to them, kept as rows of `row_length` entries.
void queue_combined_strip(const CombineJob& job, int first, FloatType type, cudaStream_t stream);
void queue_combined_rows(const CombineJob& job, int first, std::int64_t row_length, double* rows,
                         FloatType type, cudaStream_t stream);

/// Lets kernels have the shared memory that they ask for.
void prepare_large_kernels();

}  // namespace synergraph::cuda
