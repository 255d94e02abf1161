# Flags shared by every target of this project, as interface targets: `synergraph_warnings`, `synergraph_optimise`
# and, for what is shipped, `synergraph_harden`. None reaches the projects that use the installed library.

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

# What is shipped is hardened in release builds: files are hostile. tests/package/check_hardening.sh looks at the binaries. The folder of the
# sources stays out of them, so that builds in two folders give the same bytes.
add_library(synergraph_harden INTERFACE)
option(SYNERGRAPH_HARDEN "Harden release builds: checked calls, guarded stacks, read-only tables of addresses" ON)
if(SYNERGRAPH_HARDEN AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT SYNERGRAPH_SANITIZE)
  include(CheckCXXSourceCompiles)
  set(fortify 2)
  set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
  check_cxx_source_compiles("#include <cstring>\nint main() { return 0; }" SYNERGRAPH_HAS_FORTIFY_3)
  unset(CMAKE_REQUIRED_FLAGS)
  if(SYNERGRAPH_HAS_FORTIFY_3)
    set(fortify 3)
  endif()
  set(guards -fstack-protector-strong -fstack-clash-protection)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    list(APPEND guards -fcf-protection=full)
  endif()
  list(JOIN guards "," guards_of_host)
  set(hosts "$<COMPILE_LANGUAGE:C,CXX>")
  target_compile_options(synergraph_harden INTERFACE
    $<$<AND:$<CONFIG:Release>,${hosts}>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=${fortify};${guards};-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.>
    $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CUDA>>:-Xcompiler=${guards_of_host}>)
  target_link_options(synergraph_harden INTERFACE $<$<CONFIG:Release>:LINKER:-z,relro,-z,now,-z,noexecstack>)
endif()

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
