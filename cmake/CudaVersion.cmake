set(SYNERGRAPH_LEAST_CUDA 12.0)  # C++20, cudaInitDevice
# cuda_version_trouble(<variable> <version>): why a compiler of that version will not do; empty when it will.
function(cuda_version_trouble result version)
  set(${result} "" PARENT_SCOPE)
  if(version VERSION_LESS SYNERGRAPH_LEAST_CUDA)
    set(${result} "CUDA ${version} is too old: ${SYNERGRAPH_LEAST_CUDA} is needed" PARENT_SCOPE)
  endif()
endfunction()
