function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGV} failed (${status}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${SCRATCH}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix)
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
run(${SCRATCH}/build/consumer)
if(NOT output MATCHES "mixing time 10")
  message(FATAL_ERROR "unexpected output: ${output}")
endif()
run(${SCRATCH}/prefix/bin/synergraph --version)

# The manual page and the completions lie where man(1) and the shells look for them.
foreach(file share/man/man1/synergraph.1 share/bash-completion/completions/synergraph
             share/zsh/site-functions/_synergraph share/fish/vendor_completions.d/synergraph.fish)
  if(NOT EXISTS ${SCRATCH}/prefix/${file})
    message(FATAL_ERROR "${file} is not installed")
  endif()
endforeach()
