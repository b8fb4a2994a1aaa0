#include <pipeline_plugin.h>
