/* The contract is only a header; compiling this file proves that it needs no other header. */
#include "pipeline_plugin.h"

_Static_assert(sizeof(PipelineParameterType) == sizeof(int), "enums of the contract are ints");
