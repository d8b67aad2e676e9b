# The extension's sources, for the build folder and wheels: paths in BREW_PYTHON_SOURCES.
set(BREW_PYTHON_SOURCES
  Communicator.cpp Compiler.cpp Embedding.cpp Events.cpp ExitGuard.cpp HostLayers.cpp Reinforcement.cpp Module.cpp Options.cpp
  Session.cpp Solver.cpp Trainer.cpp Update.cpp Weights.cpp)
list(TRANSFORM BREW_PYTHON_SOURCES PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
# Update rules must compute the same values on all machines.
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/Update.cpp PROPERTIES
  COMPILE_OPTIONS "-O3;-fno-math-errno;-ffp-contract=off")
