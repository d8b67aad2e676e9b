#===- BrewDependencies.cmake - Libraries that Brew requires ----------------===#
#
# Finds all libraries except LLVM (BrewMLIR.cmake) and GoogleTest (tests). Provides targets of
# CMake's own modules and of the packages' CMake files:
#
#   protobuf::libprotobuf, protobuf::protoc, ZLIB::ZLIB, JPEG::JPEG, PNG::PNG,
#   Threads::Threads, CLI11::CLI11, nlohmann_json::nlohmann_json
#
# For all other libraries, provides imported targets of Brew:
#
#   brew::LMDB, brew::LEVELDB, brew::HDF5, brew::DNNL, brew::GOMP, brew::OPENCV,
#   brew::SPDLOG, brew::HTTPLIB, brew::GIF
#
# To use a library in another folder, set CMAKE_PREFIX_PATH, or the cache entries
# BREW_NAME_INCLUDE and BREW_NAME_LIBRARY. scripts/setup installs libraries that Debian lacks
# into build/prefix.
#
#===-------------------------------------------------------------------------===#

find_package(Protobuf REQUIRED)
find_package(ZLIB REQUIRED)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(Threads REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
# Only training on several ranks needs MPI (libbrew_mpi).
option(BREW_MPI "Build the plugin for training on several ranks, if MPI is found" ON)
if(BREW_MPI)
  find_package(MPI COMPONENTS C)
endif()
if(NOT MPI_C_FOUND)
  message(STATUS "No MPI: nets are trained on one rank (apt-get install libopenmpi-dev)")
endif()

# brew_find(NAME PACKAGE [HEADER file] [LIBRARY name...]): creates the target brew::NAME from
# a header and a library. If one is missing, the error names the Debian package.
function(brew_find name package)
  cmake_parse_arguments(ARG "" "HEADER" "LIBRARY" ${ARGN})
  set(hint "apt-get install ${package}")
  if(package MATCHES "^scripts/")
    set(hint "run ${package}")
  endif()
  add_library(brew::${name} INTERFACE IMPORTED GLOBAL)
  if(ARG_HEADER)
    find_path(BREW_${name}_INCLUDE ${ARG_HEADER} PATH_SUFFIXES hdf5/serial opencv4)
    if(NOT BREW_${name}_INCLUDE)
      message(FATAL_ERROR "${ARG_HEADER} not found: ${hint}")
    endif()
    target_include_directories(brew::${name} SYSTEM INTERFACE ${BREW_${name}_INCLUDE})
  endif()
  if(ARG_LIBRARY)
    find_library(BREW_${name}_LIBRARY NAMES ${ARG_LIBRARY} PATH_SUFFIXES hdf5/serial)
    if(NOT BREW_${name}_LIBRARY)
      list(JOIN ARG_LIBRARY " or " names)
      message(FATAL_ERROR "The library ${names} was not found: ${hint}")
    endif()
    target_link_libraries(brew::${name} INTERFACE ${BREW_${name}_LIBRARY})
  endif()
endfunction()

brew_find(LMDB liblmdb-dev HEADER lmdb.h LIBRARY lmdb)
brew_find(LEVELDB libleveldb-dev HEADER leveldb/db.h LIBRARY leveldb)
brew_find(OPENCV_CORE libopencv-core-dev LIBRARY opencv_core)
brew_find(OPENCV libopencv-imgproc-dev HEADER opencv2/imgproc.hpp LIBRARY opencv_imgproc)
target_link_libraries(brew::OPENCV INTERFACE brew::OPENCV_CORE)

brew_find(GIF libgif-dev HEADER gif_lib.h LIBRARY gif)
brew_find(HTTPLIB libcpp-httplib-dev HEADER httplib.h LIBRARY cpp-httplib)

# oneDNN 3, from scripts/onednn or the system. Searches again if the cache names an
# older version.
list(PREPEND CMAKE_PREFIX_PATH ${PROJECT_SOURCE_DIR}/build/prefix)
function(brew_dnnl_version result)
  set(${result} 0 PARENT_SCOPE)
  set(header "${BREW_DNNL_INCLUDE}/oneapi/dnnl/dnnl_version.h")
  if(EXISTS "${header}")
    file(STRINGS "${header}" line
         REGEX "^#define DNNL_VERSION_MAJOR [0-9]+")
    string(REGEX MATCH "[0-9]+$" major "${line}")
    set(${result} ${major} PARENT_SCOPE)
  endif()
endfunction()
brew_dnnl_version(dnnl_version)
if(dnnl_version LESS 3)
  unset(BREW_DNNL_INCLUDE CACHE)
  unset(BREW_DNNL_LIBRARY CACHE)
endif()
brew_find(DNNL scripts/onednn HEADER oneapi/dnnl/dnnl.hpp LIBRARY dnnl)
brew_dnnl_version(dnnl_version)
if(dnnl_version LESS 3)
  message(FATAL_ERROR "oneDNN 3 or later is needed, and ${BREW_DNNL_INCLUDE} contains "
                      "version ${dnnl_version}: run scripts/onednn")
endif()
# Header-only spdlog and fmt, so that neither library is needed at run time.
brew_find(FMT libfmt-dev HEADER fmt/format.h)
brew_find(SPDLOG libspdlog-dev HEADER spdlog/spdlog.h)
target_link_libraries(brew::SPDLOG INTERFACE brew::FMT)
target_compile_definitions(brew::SPDLOG INTERFACE FMT_HEADER_ONLY SPDLOG_FMT_EXTERNAL)

# Prefers the static library: Debian's shared HDF5 depends on curl, OpenSSL, Kerberos
# and thirty more libraries for a driver that Brew does not use.
brew_find(HDF5 libhdf5-dev HEADER hdf5.h LIBRARY libhdf5_serial.a hdf5_serial hdf5)
if(BREW_HDF5_LIBRARY MATCHES "\\.a$")
  find_library(BREW_SZIP_LIBRARY sz)
  if(BREW_SZIP_LIBRARY)
    target_link_libraries(brew::HDF5 INTERFACE ${BREW_SZIP_LIBRARY})
  endif()
  target_link_libraries(brew::HDF5 INTERFACE ZLIB::ZLIB m ${CMAKE_DL_LIBS})
endif()

# oneDNN runs on GNU OpenMP's threads. Brew's runtime runs its kernels on the same threads,
# so that two thread pools never compete for the cores. This names the library explicitly,
# because clang's -fopenmp would link another OpenMP library.
find_library(BREW_GOMP_LIBRARY NAMES gomp libgomp.so.1)
if(NOT BREW_GOMP_LIBRARY)
  # The file to link is in GCC's own folder.
  find_program(BREW_GCC NAMES gcc gcc-12 gcc-13 gcc-14 REQUIRED)
  execute_process(COMMAND ${BREW_GCC} -print-file-name=libgomp.so
                  OUTPUT_VARIABLE gomp_path OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT IS_ABSOLUTE "${gomp_path}")
    message(FATAL_ERROR "libgomp (GNU OpenMP) was not found; install gcc")
  endif()
  set(BREW_GOMP_LIBRARY "${gomp_path}" CACHE FILEPATH "GNU OpenMP" FORCE)
endif()
brew_find(GOMP libgomp1 LIBRARY gomp)
