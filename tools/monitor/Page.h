//===- Page.h - The monitor's page ------------------------------*- C++ -*-===//
#pragma once

namespace brew::monitor {

/// The complete page. It has no external references except to its server.
extern const char *const kPage;

} // namespace brew::monitor
