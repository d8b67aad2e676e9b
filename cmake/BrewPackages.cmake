#===- BrewPackages.cmake - Debian packages ---------------------------------===#
#
# `cpack -G DEB` in the build folder: brew-runtime, brew-mpi, brew-compiler and brew-dev, one
# for each component of BrewInstall.cmake.
#
#===-------------------------------------------------------------------------===#

set(CPACK_PACKAGE_NAME brew)
set(CPACK_PACKAGE_VENDOR Brew)
set(BREW_PACKAGE_MAINTAINER "Brew developers <brew@example.invalid>" CACHE STRING
    "Name and address of who builds the Debian packages")
set(CPACK_PACKAGE_CONTACT "${BREW_PACKAGE_MAINTAINER}")
# CPACK_PACKAGE_DESCRIPTION_SUMMARY stays CMake's default: CPack would begin the descriptions of all
# packages with another one.
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL ${brew_components} dev)
if(TARGET brew_mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
endif()
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# dpkg-shlibdeps reads the names and versions of the packages that the files depend on.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
foreach(library IN LISTS brew_bundled)
  get_filename_component(folder ${library} DIRECTORY)
  list(APPEND CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${folder})
endforeach()
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(same_version "(= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME brew-runtime)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION science)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "Runs compiled Caffe nets
 brew-run trains, tests and executes plans that brewc compiled from Caffe nets;
 brew-data makes the databases that they read; libbrew_runtime does the same in
 other programs. No compiler is needed.")
# Other packages with programs of the same names.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONFLICTS "caffe-tools-cpu, caffe-tools-cuda")
set(CPACK_DEBIAN_MPI_PACKAGE_NAME brew-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_SECTION science)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "brew-runtime ${same_version}, openmpi-bin")
set(CPACK_DEBIAN_MPI_DESCRIPTION "Trains Caffe nets on several ranks
 The plugin with which brew-runtime trains on several processes, connected by Open
 MPI.")
set(CPACK_DEBIAN_COMPILER_PACKAGE_NAME brew-compiler)
set(CPACK_DEBIAN_COMPILER_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMPILER_PACKAGE_DEPENDS "brew-runtime ${same_version}")
set(CPACK_DEBIAN_COMPILER_DESCRIPTION "Compiles Caffe nets
 brewc, and libbrew_compiler for other programs, compile Caffe's prototxts to
 plans that brew-run executes.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME brew-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "brew-runtime ${same_version}")
if(BREW_BUILD_COMPILER)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", brew-compiler ${same_version}")
endif()
set(CPACK_DEBIAN_DEV_DESCRIPTION "Compiler and runtime for Caffe nets, for other programs
 The headers of libbrew_runtime and libbrew_compiler, and the files by which CMake
 and pkg-config find these libraries.")

include(CPack)
