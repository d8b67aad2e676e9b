#===- BrewMLIR.cmake - Finds LLVM, MLIR and LLD for the compiler -----------===#
#
# Included by the top CMakeLists if BREW_BUILD_COMPILER is on. Provides:
#
#   add_mlir_dialect, mlir_tablegen, add_public_tablegen_target, add_mlir_doc
#       MLIR's own functions, for the ODS files.
#   brew_tablegen(FILE generator-option...)
#       mlir_tablegen for a .td file whose includes are relative to the top of the
#       sources.
#   brew_add_mlir_library(NAME source... [DEPENDS tablegen-target...]
#                         [LINK library...])
#       a static library that sees MLIR's headers as system headers, some of them
#       precompiled, and links brew_mlir.
#   brew_mlir (target)
#       MLIR and LLVM.
#   lldELF (target)
#       the ELF linker as a library; it is linked in-process.
#   LLVM_EXTERNAL_LIT, BREW_FILECHECK, BREW_NOT, BREW_MLIR_OPT,
#   BREW_LLVM_OBJDUMP, LLVM_TOOLS_BINARY_DIR
#       the tools that tests run.
#
#===-------------------------------------------------------------------------===#

# The packages have a prefix of their own. An explicit CMAKE_PREFIX_PATH or MLIR_DIR has
# precedence.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)
find_package(LLD 22.1 REQUIRED CONFIG HINTS ${LLVM_INSTALL_PREFIX})
message(STATUS "MLIR ${LLVM_PACKAGE_VERSION} in ${LLVM_INSTALL_PREFIX}")

if(NOT TARGET MLIRIR OR NOT TARGET LLVMCore OR NOT TARGET Polly)
  message(FATAL_ERROR "Brew links the static libraries of LLVM, Polly and MLIR; the packages "
                      "found in ${MLIR_DIR} and ${LLVM_DIR} lack some")
endif()
if(NOT LLVM_ENABLE_RTTI)
  message(FATAL_ERROR "Brew needs an LLVM built with RTTI")
endif()

list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# mlir_tablegen uses the folder's include path by default.
macro(brew_tablegen)
  mlir_tablegen(${ARGN}
    EXTRA_INCLUDES ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${MLIR_INCLUDE_DIRS}
    DEPENDS brew_enum_cases)
endmacro()

# LLD initialises every target of LLVM, to compile bitcode; Brew passes it only objects for
# x86-64. Empty initialisers replace those for other targets, which would make up nine
# tenths of brewc.
set(other_targets ${LLVM_TARGETS_TO_BUILD})
list(REMOVE_ITEM other_targets X86)
set(initialisers "")
foreach(machine IN LISTS other_targets)
  foreach(part TargetInfo Target TargetMC AsmPrinter AsmParser)
    string(APPEND initialisers "void LLVMInitialize${machine}${part}(void) {}\n")
  endforeach()
endforeach()
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/OtherTargets.c CONTENT "${initialisers}")
add_library(brew_other_targets STATIC ${CMAKE_CURRENT_BINARY_DIR}/OtherTargets.c)

# Links LLVM's static libraries: loading and binding the shared one took a third of brewc's
# time on a small net. The packages' MLIR and LLD require the shared library; a program
# with both would register options and passes twice.
add_library(brew_llvm INTERFACE)
llvm_map_components_to_libnames(llvm_libraries
  core support irreader bitwriter passes lto dtlto object option mc
  frontendopenmp debuginfodwarf debuginfopdb
  X86CodeGen X86AsmParser X86Desc X86Info)
target_link_libraries(brew_llvm INTERFACE brew_other_targets ${llvm_libraries})
# Removes unused code, and the debug information of some of the packages' objects.
target_link_options(brew_llvm INTERFACE -Wl,--gc-sections
                    $<$<CONFIG:Release>:-Wl,--strip-debug>)
foreach(library ${MLIR_EXPORTED_TARGETS} ${LLD_EXPORTED_TARGETS})
  get_target_property(type ${library} TYPE)
  if(NOT type STREQUAL STATIC_LIBRARY)
    continue()
  endif()
  get_target_property(needed ${library} INTERFACE_LINK_LIBRARIES)
  if("LLVM" IN_LIST needed)
    list(TRANSFORM needed REPLACE "^LLVM$" brew_llvm)
    set_target_properties(${library} PROPERTIES INTERFACE_LINK_LIBRARIES "${needed}")
  endif()
endforeach()

# Never link libMLIR beside these.
add_library(brew_mlir INTERFACE)
target_link_libraries(brew_mlir INTERFACE
  MLIRParser MLIRPass MLIRTransforms MLIRIR MLIRSupport
  MLIRAffineDialect MLIRArithDialect MLIRControlFlowDialect MLIRFuncDialect
  MLIRIndexDialect MLIRLinalgDialect MLIRLinalgTransforms MLIRLinalgUtils
  MLIRLLVMDialect MLIRMathDialect MLIRMathTransforms MLIRMemRefDialect
  MLIRMemRefTransforms MLIRSCFDialect MLIRSCFTransforms MLIRSCFUtils
  MLIRTensorDialect MLIRTensorUtils MLIRUBDialect MLIRVectorDialect
  MLIRArithUtils MLIRArithTransforms MLIRAffineUtils MLIRAffineTransforms
  MLIRDialectUtils MLIRLLVMCommonConversion
  MLIRAffineToStandard MLIRArithToLLVM MLIRControlFlowToLLVM MLIRFuncToLLVM
  MLIRIndexToLLVM MLIRMathToLibm MLIRMathToLLVM MLIRMemRefToLLVM
  MLIRReconcileUnrealizedCasts MLIRSCFToControlFlow MLIRUBToLLVM
  MLIRVectorToLLVM MLIRVectorToLLVMPass MLIRVectorToSCF
  MLIRBuiltinToLLVMIRTranslation MLIRLLVMToLLVMIRTranslation MLIRTargetLLVMIRExport
  brew_llvm)

separate_arguments(BREW_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
# Checks indices of std::vector as LLVM's containers check theirs: every build of the
# compiler stops at an index out of range.
list(APPEND BREW_LLVM_DEFINITIONS -D_GLIBCXX_ASSERTIONS)

# Precompiles MLIR's headers, which otherwise take 2 to 4 seconds in every file, and the
# dialects that half of the files include.
brew_add_headers(brew_mlir_headers
  <mlir/Dialect/Affine/IR/AffineOps.h>
  <mlir/Dialect/Arith/IR/Arith.h>
  <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/Dialect/Linalg/IR/Linalg.h>
  <mlir/Dialect/Math/IR/Math.h>
  <mlir/Dialect/MemRef/IR/MemRef.h>
  <mlir/Dialect/SCF/IR/SCF.h>
  <mlir/Dialect/Tensor/IR/Tensor.h>
  <mlir/IR/BuiltinOps.h>
  <mlir/IR/IRMapping.h>
  <mlir/IR/Matchers.h>
  <mlir/IR/PatternMatch.h>
  <mlir/Pass/PassManager.h>
  <mlir/Transforms/GreedyPatternRewriteDriver.h>
  <llvm/ADT/StringSet.h>
  <llvm/ADT/TypeSwitch.h>
  ${BREW_PROTOBUF_HEADERS})
target_include_directories(brew_mlir_headers SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_compile_definitions(brew_mlir_headers PUBLIC ${BREW_LLVM_DEFINITIONS})

# For targets that include MLIR and use the flags of the project.
function(brew_reuse_mlir_headers target)
  brew_reuse_headers(brew_mlir_headers ${target})
endfunction()

function(brew_add_mlir_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(${name} PUBLIC ${BREW_LLVM_DEFINITIONS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} brew_mlir)
  brew_reuse_mlir_headers(${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# Keeps a cached value that a user set; replaces the empty default of AddLLVM.
if(NOT LLVM_EXTERNAL_LIT)
  set(LLVM_EXTERNAL_LIT ${LLVM_TOOLS_BINARY_DIR}/lit CACHE FILEPATH "lit" FORCE)
endif()
find_program(BREW_FILECHECK FileCheck HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH)
find_program(BREW_NOT not HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH)
find_program(BREW_MLIR_OPT mlir-opt HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH)
find_program(BREW_LLVM_OBJDUMP llvm-objdump HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH)
