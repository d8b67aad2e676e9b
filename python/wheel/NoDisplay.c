/*===- NoDisplay.c - In the place of libGLX in wheels ---------------------===*
 *
 * Debian's libopencv_core is linked to libGLX, for windows that nothing here
 * opens, and libGLX to the libraries of X11, which many systems have not.
 * These are the functions that it needs; there is no context of OpenGL.
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
