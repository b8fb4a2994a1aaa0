/* Empty: a filter needs no header of its own, because its one symbol is declared in pipeline_plugin.h. */
