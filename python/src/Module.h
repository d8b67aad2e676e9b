//===- Module.h - Bindings of the extension brew._core ----------*- C++ -*-===//
#pragma once

#include <nanobind/nanobind.h>

namespace brew::python {

void bindCommunicator(nanobind::module_ &module);
void bindCompiler(nanobind::module_ &module);
void bindEmbedding(nanobind::module_ &module);
void bindOptions(nanobind::module_ &module);
void bindSession(nanobind::module_ &module);
void bindTrainer(nanobind::module_ &module);
void bindReinforcement(nanobind::module_ &module);
void bindWeights(nanobind::module_ &module);

} // namespace brew::python
