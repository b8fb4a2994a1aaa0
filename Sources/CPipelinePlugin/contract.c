/* The contract is only a header. Compiling this file proves that the contract needs no other header of the project. */
#include "pipeline_plugin.h"

_Static_assert(sizeof(PipelineParameterType) == sizeof(int), "enums of the contract are ints");
