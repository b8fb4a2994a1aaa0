/* TurboJPEG's plain C interface. */
#include <turbojpeg.h>
