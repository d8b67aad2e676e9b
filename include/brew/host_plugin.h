/*===- host_plugin.h - Host layers for Brew's tools ---------------*- C -*-===*\
|*
|* A plugin is a shared object that adds host layers (host_layer.h) to the
|* tools: `brewc --host-plugin FILE.so` calls them for shapes, `brew-run
|* --host-plugin FILE.so` calls them to compute. It exports one function:
|*
|*   const brew_host_layer *brew_host_layers(size_t *count) {
|*     static brew_host_layer layers[1] = {...};
|*     *count = 1;
|*     return layers;
|*   }
|*
|* A plugin does not link with Brew's libraries.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_HOST_PLUGIN_H
#define BREW_HOST_PLUGIN_H

#include <brew/host_layer.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Defined by the plugin: returns its layers and writes their number. The layers
 * must remain valid until the process ends. Returns NULL if the plugin failed,
 * which the tool reports. */
BREW_API const brew_host_layer *brew_host_layers(size_t *count);

#ifdef __cplusplus
}
#endif

#endif
