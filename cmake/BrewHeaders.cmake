#===- BrewHeaders.cmake - Headers of other projects, precompiled -----------===#
#
# The headers of the standard library, protobuf and MLIR (BrewMLIR.cmake) take most of
# the time to compile a file. Headers of Brew are not included: they change, and a
# compile cache shares the precompiled headers between clones.
#
#   brew_add_headers(NAME <header>...)
#       creates a target with these headers, compiled as for a library.
#   brew_reuse_headers(NAME target...)
#       compiles the targets with the precompiled headers of NAME. All their sources
#       must be C++. They must use the project's flags, but may add definitions.
#   brew_system_headers (target)
#       the standard library's and protobuf's.
#   brew_tool_headers (target)
#       the standard library's and CLI11's, for tools.
#
#===-------------------------------------------------------------------------===#

function(brew_add_headers name)
  # CMake requires a source.
  add_library(${name} STATIC ${PROJECT_SOURCE_DIR}/cmake/Headers.cpp)
  target_precompile_headers(${name} PRIVATE ${ARGN})
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # Reproducible, so that a compile cache finds it.
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

function(brew_reuse_headers name)
  foreach(target ${ARGN})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL EXECUTABLE)
      # The headers are compiled as for libraries; executables may contain such code, too.
      set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${target} PRIVATE -fPIC)
    endif()
    target_precompile_headers(${target} REUSE_FROM ${name})
  endforeach()
endfunction()

set(BREW_PROTOBUF_HEADERS
  <google/protobuf/descriptor.h>
  <google/protobuf/extension_set.h>
  <google/protobuf/generated_enum_reflection.h>
  <google/protobuf/generated_message_reflection.h>
  <google/protobuf/generated_message_util.h>
  <google/protobuf/io/coded_stream.h>
  <google/protobuf/message.h>
  <google/protobuf/repeated_field.h>
  <google/protobuf/unknown_field_set.h>)
# Not <filesystem>: its std::quoted() hides the project's quoted() in calls with strings.
set(BREW_STANDARD_HEADERS
  <algorithm> <array> <cmath> <cstring> <deque> <fstream> <functional> <map>
  <memory> <mutex> <optional> <set> <sstream> <string> <unordered_map> <vector>)
brew_add_headers(brew_system_headers ${BREW_STANDARD_HEADERS} ${BREW_PROTOBUF_HEADERS})
target_link_libraries(brew_system_headers PRIVATE protobuf::libprotobuf)
brew_add_headers(brew_tool_headers <CLI/CLI.hpp> ${BREW_STANDARD_HEADERS})
target_link_libraries(brew_tool_headers PRIVATE CLI11::CLI11)
