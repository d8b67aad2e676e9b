#===- BrewInstall.cmake - Rules of `cmake --install` -----------------------===#
#
# Components, each a Debian package (BrewPackages.cmake):
#
#   runtime   brew-run, brew-data, libbrew_runtime, libbrew_common and libbrew_opencv
#   mpi       libbrew_mpi, if MPI was found: training on several ranks
#   compiler  brewc and libbrew_compiler; needs runtime's libbrew_common
#   dev       headers, CMake package, pkg-config files, the names to link with
#
# Manual pages come from docs/, completions from the tools' own options. Installed files
# find each other by relative paths, so that a prefix can be moved.
#
#===-------------------------------------------------------------------------===#

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(BREW_INSTALL_CMAKEDIR ${CMAKE_INSTALL_LIBDIR}/cmake/Brew CACHE STRING
    "Where BrewConfig.cmake goes")
set(BREW_INSTALL_BASHDIR ${CMAKE_INSTALL_DATADIR}/bash-completion/completions CACHE STRING
    "Where bash's completions go")
set(BREW_INSTALL_ZSHDIR ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions CACHE STRING
    "Where zsh's completions go")

set(brew_runtime_tools brew-run brew-data)
set(brew_compiler_tools brewc)
set(brew_components runtime)
if(BREW_BUILD_COMPILER)
  list(APPEND brew_components compiler)
endif()

# --- Libraries -------------------------------------------------------------
# Exported as Brew::runtime and Brew::compiler, which depend on Brew::common.
set_target_properties(brew_common PROPERTIES INSTALL_RPATH "$ORIGIN" EXPORT_NAME common)
install(TARGETS brew_common EXPORT BrewCommonTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_SKIP)
install(EXPORT BrewCommonTargets NAMESPACE Brew::
  DESTINATION ${BREW_INSTALL_CMAKEDIR} COMPONENT dev)
# Must be in the folder of libbrew_runtime, which opens it at run time.
set_target_properties(brew_opencv PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS brew_opencv LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
if(TARGET brew_mpi) # must be beside libbrew_runtime, too
  install(TARGETS brew_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi)
endif()
# Installs oneDNN into a private folder, so that it does not conflict with other packages.
# `brew_bundled` is empty if the system's own folders contain oneDNN.
get_filename_component(dnnl_library ${BREW_DNNL_LIBRARY} REALPATH)
set(runtime_rpath "$ORIGIN")
set(brew_bundled)
get_filename_component(own_prefix ${PROJECT_SOURCE_DIR}/build/prefix REALPATH)
string(FIND "${dnnl_library}" "${own_prefix}/" own_prefix_position)
if(own_prefix_position EQUAL 0)
  set(brew_bundled ${dnnl_library})
  string(APPEND runtime_rpath ":$ORIGIN/brew")
  install(FILES ${brew_bundled} DESTINATION ${CMAKE_INSTALL_LIBDIR}/brew
          PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ COMPONENT runtime)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/build/prefix/share/doc/onednn
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/brew-runtime COMPONENT runtime)
endif()
set(export_runtime BrewRuntimeTargets)
set(export_compiler BrewCompilerTargets)
foreach(component IN LISTS brew_components)
  set_target_properties(brew_${component} PROPERTIES
    INSTALL_RPATH "$<IF:$<STREQUAL:${component},runtime>,${runtime_rpath},$ORIGIN>"
    EXPORT_NAME ${component}
    INTERFACE_INCLUDE_DIRECTORIES "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>")
  install(TARGETS brew_${component} EXPORT ${export_${component}}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component}
            NAMELINK_COMPONENT dev
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT ${export_${component}} NAMESPACE Brew::
    DESTINATION ${BREW_INSTALL_CMAKEDIR} COMPONENT dev)
endforeach()

# --- Headers, CMake package, pkg-config ------------------------------------
set(headers_left_out)
if(NOT BREW_BUILD_COMPILER)
  set(headers_left_out PATTERN "compiler.*" EXCLUDE)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/brew
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev ${headers_left_out})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/BrewConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/BrewConfig.cmake
  INSTALL_DESTINATION ${BREW_INSTALL_CMAKEDIR} NO_SET_AND_CHECK_MACRO)
# Before 1.0, every minor version may break users of the libraries.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/BrewConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/BrewConfig.cmake
              ${PROJECT_BINARY_DIR}/package/BrewConfigVersion.cmake
  DESTINATION ${BREW_INSTALL_CMAKEDIR} COMPONENT dev)

set(what_runtime "Runs compiled Caffe nets")
set(what_compiler "Compiles Caffe nets")
file(RELATIVE_PATH prefix_from_pkgconfig
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(component IN LISTS brew_components)
  set(what ${what_${component}})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/brew.pc.in
    ${PROJECT_BINARY_DIR}/package/brew-${component}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/brew-${component}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endforeach()

# --- Tools, their manual pages and completions -----------------------------
find_program(BREW_LOWDOWN lowdown DOC "Makes manual pages from docs/")
if(NOT BREW_LOWDOWN)
  message(STATUS "No lowdown: manual pages are left out (apt-get install lowdown)")
endif()
file(RELATIVE_PATH libraries_from_tools
  ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set(install_files)
foreach(component IN LISTS brew_components)
  foreach(tool IN LISTS brew_${component}_tools)
    # In packages of scripts/gpu-check, brew-run has a folder of its own.
    set_property(TARGET ${tool} APPEND PROPERTY
                 INSTALL_RPATH "$ORIGIN/${libraries_from_tools}")
    install(TARGETS ${tool} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
            COMPONENT ${component})

    if(BREW_LOWDOWN)
      set(page ${PROJECT_BINARY_DIR}/package/${tool}.1)
      add_custom_command(OUTPUT ${page}
        COMMAND ${CMAKE_COMMAND} -DLOWDOWN=${BREW_LOWDOWN} -DTOOL=${tool}
          -DTEXT=${PROJECT_SOURCE_DIR}/docs/${tool}.md -DPAGE=${page}
          -P ${CMAKE_CURRENT_LIST_DIR}/ManPage.cmake
        DEPENDS ${PROJECT_SOURCE_DIR}/docs/${tool}.md ${CMAKE_CURRENT_LIST_DIR}/ManPage.cmake
        VERBATIM)
      list(APPEND install_files ${page})
      install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
              COMPONENT ${component})
    endif()

    foreach(shell bash zsh)
      set(script ${PROJECT_BINARY_DIR}/package/${tool}.${shell})
      add_custom_command(OUTPUT ${script}
        COMMAND ${tool} --completion=${shell} > ${script}
        DEPENDS ${tool} VERBATIM)
      list(APPEND install_files ${script})
    endforeach()
    install(FILES ${PROJECT_BINARY_DIR}/package/${tool}.bash
      DESTINATION ${BREW_INSTALL_BASHDIR} RENAME ${tool} COMPONENT ${component})
    install(FILES ${PROJECT_BINARY_DIR}/package/${tool}.zsh
      DESTINATION ${BREW_INSTALL_ZSHDIR} RENAME _${tool} COMPONENT ${component})
  endforeach()
endforeach()
if(BREW_BUILD_COMPILER)
  set_property(TARGET caffe APPEND PROPERTY
               INSTALL_RPATH "$ORIGIN/${libraries_from_tools}")
  install(TARGETS caffe RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
endif()
add_custom_target(brew-install-files ALL DEPENDS ${install_files})

# Links to brew-data with the names of Caffe's tools.
foreach(name convert_imageset compute_image_mean extract_features)
  install(PROGRAMS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name}
          DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
endforeach()

foreach(component ${brew_components} dev)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/brew-${component} RENAME copyright
    COMPONENT ${component})
endforeach()
