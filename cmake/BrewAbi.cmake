# brew_set_abi(TARGET HEADER MACRO): sets the suffix of the shared library's soname to its ABI
# version, the value of MACRO in the public header.
function(brew_set_abi target header macro)
  set(header ${PROJECT_SOURCE_DIR}/include/brew/${header})
  file(STRINGS ${header} line REGEX "^#define ${macro} [0-9]+$")
  if(NOT line MATCHES "[0-9]+$")
    message(FATAL_ERROR "${header} has no ${macro}")
  endif()
  set_target_properties(${target} PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${CMAKE_MATCH_0})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
endfunction()
