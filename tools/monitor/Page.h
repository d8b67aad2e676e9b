//===- Page.h - The monitor's page ------------------------------*- C++ -*-===//
#pragma once

namespace brew::monitor {

/// The whole page: it refers to nothing outside of itself but its server.
extern const char *const kPage;

} // namespace brew::monitor
