/*===- host_plugin.h - Host layers for Brew's tools ---------------*- C -*-===*\
|*
|* A plugin is a shared object with layers that the tools then know
|* (host_layer.h): `brewc --host-plugin FILE.so` asks them for shapes, `brew-run
|* --host-plugin FILE.so` calls them to compute. It exports one function:
|*
|*   const brew_host_layer *brew_host_layers(size_t *count) {
|*     static brew_host_layer layers[1] = {...};
|*     *count = 1;
|*     return layers;
|*   }
|*
|* It needs to be linked to nothing of Brew.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_HOST_PLUGIN_H
#define BREW_HOST_PLUGIN_H

#include <brew/host_layer.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Defined by the plugin: its layers and how many there are, valid until the
 * process ends. NULL: the tool says that the plugin failed. */
BREW_API const brew_host_layer *brew_host_layers(size_t *count);

#ifdef __cplusplus
}
#endif

#endif
