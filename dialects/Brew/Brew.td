//===- Brew.td - The whole dialect, for documentation -----------*- tablegen -*-===//
include "dialects/Brew/BrewLayerOps.td"
