/* waits: a filter that takes time but uses no processor. It simulates work on the processors that a fleet has and a
 * single machine lacks. */
#include <pipeline_plugin.h>
#include <unistd.h>
#include <vips/vips.h>

enum { SECONDS, PARAMETER_COUNT };

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [SECONDS] = {.name = "seconds", .type = PIPELINE_NUMBER, .minimum = 0, .maximum = 3600, .default_value = "1", .help = "how long it waits"},
};

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    usleep((useconds_t)(values[SECONDS].number * 1e6));
    return vips_copy(input, output, NULL);
}

static const PipelineFilter waits = {
    PIPELINE_FILTER_LAYOUT,
    .name = "waits",
    .version = "1.0.0",
    .summary = "waits, and changes nothing",
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &waits;
}
