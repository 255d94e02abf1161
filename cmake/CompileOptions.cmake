# Flags shared by every target of this project, as two interface targets: `synergraph_warnings` and
# `synergraph_optimise`. Neither reaches the projects that use the installed library.

add_library(synergraph_warnings INTERFACE)
target_compile_options(synergraph_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion $<$<BOOL:${SYNERGRAPH_WERROR}>:-Werror>>)
# GCC 12 warns about "literal" + std::string in its own headers (bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(synergraph_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
  if(SYNERGRAPH_PRECOMPILE)  # it takes what was precompiled for ours
    target_compile_options(synergraph_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>)
  endif()
endif()

if(CMAKE_UNITY_BUILD)  # a room's files as one: names of one file are around in the next
  target_compile_options(synergraph_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow>)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # A loop that Clang cannot vectorise at a low optimisation level is slower there, not wrong.
  target_compile_options(synergraph_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-pass-failed>)
endif()

# Floating point: fused multiply-add everywhere, no value-changing reassociation. `-fopenmp-simd` only
# enables the vectorisation pragmas; it brings no OpenMP runtime. The code that gains from newer
# instructions is in synergraph/core/kernels.
add_library(synergraph_optimise INTERFACE)
target_compile_options(synergraph_optimise INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=fast -fno-math-errno -fno-trapping-math -fopenmp-simd>)

if(SYNERGRAPH_SANITIZE)
  add_compile_options(-fsanitize=${SYNERGRAPH_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SYNERGRAPH_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC's sanitizers hide initialisations from this warning; it then fires inside <regex>.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
  if(SYNERGRAPH_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
