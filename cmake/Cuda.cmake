# SYNERGRAPH_CUDA: whether to build for GPUs; AUTO: if a compiler for them is found that works. SYNERGRAPH_WITH_CUDA is what came of it.
# Architectures: those of the A100 and the H100, and what the driver compiles for later ones; CMAKE_CUDA_ARCHITECTURES names others.
set(SYNERGRAPH_CUDA OFF CACHE STRING "Train on GPUs: OFF, ON, or AUTO: if a CUDA compiler is found")
set_property(CACHE SYNERGRAPH_CUDA PROPERTY STRINGS OFF ON AUTO)
set(SYNERGRAPH_WITH_CUDA ${SYNERGRAPH_CUDA})
if(SYNERGRAPH_CUDA STREQUAL "AUTO")
  include(CheckLanguage)
  check_language(CUDA)  # compiles something: a compiler that does not work here counts as none
  if(CMAKE_CUDA_COMPILER)
    find_package(CUDAToolkit QUIET)
  endif()
  set(SYNERGRAPH_WITH_CUDA OFF)
  if(CMAKE_CUDA_COMPILER AND TARGET CUDA::cudart_static)
    set(SYNERGRAPH_WITH_CUDA ON)
  endif()
  message(STATUS "Training on GPUs: ${SYNERGRAPH_WITH_CUDA}")
endif()

if(SYNERGRAPH_WITH_CUDA)
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
