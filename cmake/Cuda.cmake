# With SYNERGRAPH_CUDA: the compiler for GPUs. Architectures: those of the A100 and the H100, and what the driver compiles for
# later ones; CMAKE_CUDA_ARCHITECTURES names others.
if(SYNERGRAPH_CUDA)
  set(CMAKE_CUDA_ARCHITECTURES "80-real;90" CACHE STRING "GPU architectures")
  set(CMAKE_CUDA_RUNTIME_LIBRARY None)  # the targets link CUDA::cudart_static themselves
  enable_language(CUDA)
  set(CMAKE_CUDA_IMPLICIT_LINK_LIBRARIES)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake before 3.26 does not know it
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  # The host compiler's own folders are not to be named again: their order matters.
  list(APPEND CMAKE_CUDA_IMPLICIT_INCLUDE_DIRECTORIES ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
  find_package(CUDAToolkit REQUIRED)
endif()
