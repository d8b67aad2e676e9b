#===- BrewDependencies.cmake - What Brew is built with -----------------------===#
#
# Everything but LLVM (BrewMLIR.cmake) and GoogleTest (where tests are) is found
# here, once. CMake's own modules and the packages' files where they are of use:
#
#   protobuf::libprotobuf, protobuf::protoc, ZLIB::ZLIB, JPEG::JPEG, PNG::PNG,
#   Threads::Threads, CLI11::CLI11, nlohmann_json::nlohmann_json
#
# For the rest imported targets of the same kind. A library in an unusual place is
# given by CMAKE_PREFIX_PATH, or by the cache entries BREW_NAME_INCLUDE and
# BREW_NAME_LIBRARY:
#
#   brew::LMDB, brew::LEVELDB, brew::HDF5, brew::DNNL, brew::GOMP, brew::SPDLOG
#
#===-------------------------------------------------------------------------===#

find_package(Protobuf REQUIRED)
find_package(ZLIB REQUIRED)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(Threads REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)

# brew_find(NAME PACKAGE [HEADER file] [LIBRARY name...]): the target brew::NAME from a
# header and a library, or an error that tells the Debian package to install.
function(brew_find name package)
  cmake_parse_arguments(ARG "" "HEADER" "LIBRARY" ${ARGN})
  add_library(brew::${name} INTERFACE IMPORTED GLOBAL)
  if(ARG_HEADER)
    find_path(BREW_${name}_INCLUDE ${ARG_HEADER} PATH_SUFFIXES hdf5/serial)
    if(NOT BREW_${name}_INCLUDE)
      message(FATAL_ERROR "${ARG_HEADER} not found: apt-get install ${package}")
    endif()
    target_include_directories(brew::${name} SYSTEM INTERFACE ${BREW_${name}_INCLUDE})
  endif()
  if(ARG_LIBRARY)
    find_library(BREW_${name}_LIBRARY NAMES ${ARG_LIBRARY} PATH_SUFFIXES hdf5/serial)
    if(NOT BREW_${name}_LIBRARY)
      list(JOIN ARG_LIBRARY " or " names)
      message(FATAL_ERROR "The library ${names} was not found: apt-get install ${package}")
    endif()
    target_link_libraries(brew::${name} INTERFACE ${BREW_${name}_LIBRARY})
  endif()
endfunction()

brew_find(LMDB liblmdb-dev HEADER lmdb.h LIBRARY lmdb)
brew_find(LEVELDB libleveldb-dev HEADER leveldb/db.h LIBRARY leveldb)
# Not through its CMake package, which would ask for OpenCL's headers.
brew_find(DNNL libdnnl-dev HEADER oneapi/dnnl/dnnl.hpp LIBRARY dnnl)
# spdlog and fmt as headers only, so that nothing needs either library where it runs.
brew_find(FMT libfmt-dev HEADER fmt/format.h)
brew_find(SPDLOG libspdlog-dev HEADER spdlog/spdlog.h)
target_link_libraries(brew::SPDLOG INTERFACE brew::FMT)
target_compile_definitions(brew::SPDLOG INTERFACE FMT_HEADER_ONLY SPDLOG_FMT_EXTERNAL)

# The static library where there is one: Debian's shared HDF5 pulls in curl,
# OpenSSL, Kerberos and thirty more for a driver nobody uses here.
brew_find(HDF5 libhdf5-dev HEADER hdf5.h LIBRARY libhdf5_serial.a hdf5_serial hdf5)
if(BREW_HDF5_LIBRARY MATCHES "\\.a$")
  find_library(BREW_SZIP_LIBRARY sz)
  if(BREW_SZIP_LIBRARY)
    target_link_libraries(brew::HDF5 INTERFACE ${BREW_SZIP_LIBRARY})
  endif()
  target_link_libraries(brew::HDF5 INTERFACE ZLIB::ZLIB m ${CMAKE_DL_LIBS})
endif()

# oneDNN runs on GNU OpenMP's threads. The runtime starts its kernels on the
# same team, so that two pools never compete for the cores. The library is
# named explicitly: clang's -fopenmp would bring another one.
find_library(BREW_GOMP_LIBRARY NAMES gomp libgomp.so.1)
if(NOT BREW_GOMP_LIBRARY)
  # GCC keeps the file to link in a folder of its own.
  find_program(BREW_GCC NAMES gcc gcc-12 gcc-13 gcc-14 REQUIRED)
  execute_process(COMMAND ${BREW_GCC} -print-file-name=libgomp.so
                  OUTPUT_VARIABLE gomp_path OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT IS_ABSOLUTE "${gomp_path}")
    message(FATAL_ERROR "libgomp (GNU OpenMP) was not found; install gcc")
  endif()
  set(BREW_GOMP_LIBRARY "${gomp_path}" CACHE FILEPATH "GNU OpenMP" FORCE)
endif()
brew_find(GOMP libgomp1 LIBRARY gomp)
