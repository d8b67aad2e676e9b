#===- BrewCommon.cmake - The library that compiler and runtime share -------===#
#
#   brew_add_schema(NAME <path of a schema, without .proto>...)
#       creates the object library NAME with the C++ code of the schemas. Each schema is
#       registered under its path from the top of the sources, because a program may
#       contain another caffe.proto.
#   brew_add_common()
#       creates libbrew_common: support/, plan/, formats/ and caffe/ in one private shared
#       library, so that a process that loads both compiler and runtime registers the
#       schemas once. The library does not use LLVM.
#
#===-------------------------------------------------------------------------===#

function(brew_add_schema name)
  set(sources)
  foreach(schema ${ARGN})
    set(generated ${PROJECT_BINARY_DIR}/${schema}.pb.cc ${PROJECT_BINARY_DIR}/${schema}.pb.h)
    get_filename_component(folder ${PROJECT_BINARY_DIR}/${schema} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(
      OUTPUT ${generated}
      COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR}
              --cpp_out=${PROJECT_BINARY_DIR} ${schema}.proto
      DEPENDS ${PROJECT_SOURCE_DIR}/${schema}.proto
      VERBATIM)
    list(APPEND sources ${generated})
  endforeach()
  # Disable warnings in generated code.
  set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS -w)
  add_library(${name} OBJECT ${sources})
  # Other targets include the headers, so these are generated first.
  add_custom_target(${name}_schemas DEPENDS ${sources})
  target_link_libraries(${name} PUBLIC $<BUILD_INTERFACE:protobuf::libprotobuf>)
endfunction()

function(brew_add_common)
  if(BREW_HDF5_LIBRARY MATCHES "\\.a$")
    # The static library is compiled for executables, which may address the C library's
    # variables directly; in a shared library, its code would get copies of these variables.
    # StandardStreams.c is a separate library, because the precompiled headers are for C++.
    add_library(brew_standard_streams OBJECT
      ${PROJECT_SOURCE_DIR}/formats/hdf5/StandardStreams.c)
    set(hdf5_objects $<TARGET_OBJECTS:brew_standard_streams>)
    set(hdf5_options LINKER:--wrap=stdout LINKER:--wrap=stderr)
  endif()
  set(object_libraries brew_support brew_plan brew_formats brew_caffe)
  set(objects)
  foreach(library ${object_libraries})
    list(APPEND objects $<TARGET_OBJECTS:${library}>)
  endforeach()
  add_library(brew_common SHARED ${objects} ${hdf5_objects})
  add_dependencies(brew_common brew_plan_schemas brew_formats_schemas)
  set_target_properties(brew_common PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(brew_common PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>)
  target_link_libraries(brew_common
    PUBLIC $<BUILD_INTERFACE:protobuf::libprotobuf>
    PRIVATE JPEG::JPEG PNG::PNG ZLIB::ZLIB Threads::Threads
            brew::LMDB brew::LEVELDB brew::HDF5)
  set_target_properties(brew_common PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION})
  # Hide the symbols of static libraries (HDF5), so that the process may contain another
  # copy of them. RPATH, not RUNPATH, which would hide brew-run's RPATH from this library's
  # dependencies in a package of scripts/gpu-check.
  target_link_options(brew_common PRIVATE LINKER:--exclude-libs,ALL
    LINKER:--disable-new-dtags ${hdf5_options})
endfunction()
