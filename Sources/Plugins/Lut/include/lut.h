/* A filter has no header: its one symbol is declared in pipeline_plugin.h. */
