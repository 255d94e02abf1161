# cmake -DLIBRARY=... -DINTO=FOLDER -P: copies a shared library and those that it needs into a folder, but not what every system has
# that programs in C++ run on.
file(GET_RUNTIME_DEPENDENCIES LIBRARIES ${LIBRARY} RESOLVED_DEPENDENCIES_VAR needed UNRESOLVED_DEPENDENCIES_VAR missing
     POST_EXCLUDE_REGEXES "/ld-linux[^/]*$" "/lib(c|m|dl|rt|pthread|gcc_s|stdc\\+\\+)\\.so\\.[0-9]+$")
if(missing)
  message(FATAL_ERROR "${LIBRARY} needs ${missing}: not found")
endif()
foreach(library ${LIBRARY} ${needed})
  file(REAL_PATH ${library} file)
  cmake_path(GET library FILENAME name)
  file(COPY_FILE ${file} ${INTO}/${name})
endforeach()
