//===- CallWindow.h - Windows of vendor calls --------------------*- C++
//-*-===//
#pragma once

#include "dialects/Plan/PlanDialect.h"
#include "runtime/plan/plan.pb.h"

namespace brew::compiler {

/// Sets the window of a call over one to three spatial dimensions. Padding at
/// their ends follows from the extents; it is written where it is not that
/// before.
void setWindow(planir::ConvolutionOp conv, plan::Window &window);

} // namespace brew::compiler
