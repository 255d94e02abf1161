# Debian packages: `cpack -G DEB` in a build that was configured with -DCMAKE_INSTALL_PREFIX=/usr (scripts/release.sh does both). The program, the
# library of the C interface and what compiles against both are three packages.
set(SYNERGRAPH_MAINTAINER "The synergraph authors <synergraph@packages.invalid>" CACHE STRING "Who answers for the Debian packages: name and address")
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL program library development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGE_NAME synergraph)
set(CPACK_PACKAGE_VENDOR synergraph)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "exact speed and fidelity of attention in Transformers")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/FinishDebianFiles.cmake)
set(CPACK_POST_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/FinishDebianFiles.cmake)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${SYNERGRAPH_MAINTAINER})
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY >=)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME synergraph)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS gnuplot-nox)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "synergraph measures Transformer attention and other feedforward graphs:
mixing times of random walks to the last token, the minimax fidelity of
diffusion, and the synergy of several heads. All numbers are exact.

This package contains the program. Its figures need gnuplot.")

set(library_package libsynergraph${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library_package})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/triggers)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "synergraph measures how fast and how faithfully attention moves
information to the last token.

This package contains the shared library of its C interface.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libsynergraph-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${library_package} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}), libfmt-dev, libzip-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "synergraph measures how fast and how faithfully attention moves
information to the last token.

This package contains the header of the C interface, and the headers,
static libraries and CMake package of the C++ library.")

# Every package has its licence and its changes.
foreach(component program library development)
  string(TOUPPER ${component} key)
  set(folder ${PROJECT_BINARY_DIR}/debian/${component})
  file(READ ${PROJECT_SOURCE_DIR}/LICENSE license)
  string(REGEX MATCH "Copyright[^\n]*" copyright "${license}")
  string(REGEX REPLACE "^.*Copyright[^\n]*\n+" "" license "${license}")
  string(STRIP "${license}" license)
  string(REPLACE "\n\n" "\n.\n" license "${license}")
  string(REPLACE "\n" "\n " license " ${license}")
  string(REGEX REPLACE "^Copyright *(\\([cC]\\))? *" "" copyright "${copyright}")
  file(WRITE ${folder}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: synergraph\n\n"
                                 "Files: *\nCopyright: ${copyright}\nLicense: Expat\n\nLicense: Expat\n${license}\n")
  string(TIMESTAMP day "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH, where it is set
  file(WRITE ${folder}/changelog.Debian "synergraph (${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
                                        "  * Release ${PROJECT_VERSION}; CHANGELOG.md of the sources says what changed.\n\n -- ${SYNERGRAPH_MAINTAINER}  ${day}\n")
  install(FILES ${folder}/copyright ${folder}/changelog.Debian DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${key}_PACKAGE_NAME}
          COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
include(CPack)
