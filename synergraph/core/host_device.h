#pragma once

/// Marks functions that CUDA compilers make for the host and for devices.
#ifdef __CUDACC__
#define SYNERGRAPH_HD __host__ __device__
/// The same, with what it is given in registers.
#define SYNERGRAPH_HD_INLINE __host__ __device__ __forceinline__
#else
#define SYNERGRAPH_HD
#define SYNERGRAPH_HD_INLINE inline
#endif

/// Unrolls the loop that follows, or does not, where the compiler is one for devices.
#ifdef __CUDACC__
#define SYNERGRAPH_UNROLL _Pragma("unroll")
#define SYNERGRAPH_NO_UNROLL _Pragma("unroll 1")
#else
#define SYNERGRAPH_UNROLL
#define SYNERGRAPH_NO_UNROLL
#endif
