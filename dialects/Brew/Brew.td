//===- Brew.td - The whole dialect, for documentation -----------*- tablegen -*-===//
include "dialects/Brew/BrewOps.td"
include "dialects/Brew/BrewCore.td"
include "dialects/Brew/layers/Convolution.td"
include "dialects/Brew/layers/Pooling.td"
include "dialects/Brew/layers/Elementwise.td"
include "dialects/Brew/layers/Reduction.td"
include "dialects/Brew/layers/Loss.td"
include "dialects/Brew/layers/Solver.td"
