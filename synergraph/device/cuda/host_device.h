#pragma once

#ifdef __CUDACC__
#define SYNERGRAPH_HD __host__ __device__
#else
#define SYNERGRAPH_HD
#endif
