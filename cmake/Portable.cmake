# SYNERGRAPH_PORTABLE names a folder that scripts/portable_libraries.sh made. With it, what wheels contain is linked with the static libraries
# of that folder, with a static libstdc++, and against an older glibc. Only linking differs: turning this on or off compiles nothing again.
set(SYNERGRAPH_PORTABLE "" CACHE PATH "Folder of scripts/portable_libraries.sh: link for wheels; empty: link with this system's libraries")
add_library(synergraph_portable INTERFACE)
if(SYNERGRAPH_PORTABLE)
  set(portable ${SYNERGRAPH_PORTABLE})
  foreach(file lib/libfmt.a lib/libzip.a lib/libz.a lib/older_glibc.o sysroot)
    if(NOT EXISTS ${portable}/${file})
      message(FATAL_ERROR "SYNERGRAPH_PORTABLE: ${portable} has no ${file}; scripts/portable_libraries.sh FOLDER makes such a folder")
    endif()
  endforeach()
  set_target_properties(LibZip::LibZip PROPERTIES IMPORTED_LOCATION ${portable}/lib/libzip.a
                                                  INTERFACE_LINK_LIBRARIES ${portable}/lib/libz.a)
  get_target_property(configurations fmt::fmt IMPORTED_CONFIGURATIONS)
  foreach(configuration ${configurations})
    set_target_properties(fmt::fmt PROPERTIES IMPORTED_LOCATION_${configuration} ${portable}/lib/libfmt.a)
  endforeach()
  # The folders come first: the compiler would look for libc in its own system before it looks in the older one.
  set(system ${portable}/sysroot/usr/lib/${CMAKE_CXX_LIBRARY_ARCHITECTURE})
  target_link_options(synergraph_portable INTERFACE --sysroot=${portable}/sysroot -B${system} -L${system} -L${portable}/sysroot/lib/${CMAKE_CXX_LIBRARY_ARCHITECTURE}
                                                    -static-libstdc++ LINKER:--gc-sections)
  target_link_libraries(synergraph_portable INTERFACE ${portable}/lib/older_glibc.o -lpthread -ldl -lrt -lm)
endif()
