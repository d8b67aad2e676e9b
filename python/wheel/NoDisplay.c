/*===- NoDisplay.c - Replacement of libGLX in wheels ----------------------===*
 *
 * Debian's libopencv_core is linked to libGLX, for windows that Brew never
 * opens, and libGLX to the libraries of X11, which many systems lack. These
 * stubs are the functions that libopencv_core needs; there is no OpenGL
 * context.
 *
 *===----------------------------------------------------------------------===*/

void *glXGetCurrentContext(void);
void *glXGetCurrentDisplay(void);
void *glXGetProcAddressARB(const unsigned char *name);

void *glXGetCurrentContext(void) { return 0; }
void *glXGetCurrentDisplay(void) { return 0; }
void *glXGetProcAddressARB(const unsigned char *name) {
  (void)name;
  return 0;
}
