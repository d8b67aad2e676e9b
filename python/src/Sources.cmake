# The extension's sources, for the build folder and wheels: paths in BREW_PYTHON_SOURCES.
set(BREW_PYTHON_SOURCES
  Communicator.cpp Compiler.cpp Embedding.cpp Events.cpp ExitGuard.cpp HostLayers.cpp Reinforcement.cpp Module.cpp Options.cpp
  Session.cpp Trainer.cpp Weights.cpp)
list(TRANSFORM BREW_PYTHON_SOURCES PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
