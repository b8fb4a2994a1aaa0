/* The contract is a header alone; this file shows to the compiler that it stands by itself. */
#include "pipeline_plugin.h"

_Static_assert(sizeof(PipelineParameterType) == sizeof(int), "enums of the contract are ints");
