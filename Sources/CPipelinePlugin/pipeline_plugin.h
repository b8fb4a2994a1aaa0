/* pipeline_plugin.h: how to write a filter for pipelined.
 *
 * A filter is a shared object that exports ONE symbol, a function:
 *
 *     const PipelineFilter *pipeline_filter(void);
 *
 * What it returns, valid for the life of the process, describes the filter and names the function that extends a picture by it. Help, checking of
 * chains and completion all read this description; nothing is said twice.
 *
 * The host is `pipelined-render`, a worker process that renders one picture at a time. A picture is a
 * lazy `VipsImage` (libvips): `apply` adds operations to it and returns; pixels flow later, while
 * the result is saved. A filter is never told a file name and must open none: the worker is
 * confined once its plugins are loaded, and a picture whose filter tries for files, network or processes fails. Threads are
 * allowed, after loading.
 *
 * This header is append-only: fields are added at the end, and never change their meaning. It needs
 * nothing but libc.
 */
#ifndef PIPELINE_PLUGIN_H
#define PIPELINE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#pragma clang assume_nonnull begin
#define PIPELINE_NULLABLE _Nullable
#else
#define PIPELINE_NULLABLE
#endif

/* The version of this contract. The host loads filters of exactly this version. */
#define PIPELINE_PLUGIN_ABI 1

/* libvips' picture. Include <vips/vips.h> to work with it. */
struct _VipsImage;

/* What the values of a parameter may be. */
typedef enum PipelineParameterType {
    PIPELINE_NUMBER = 0,  /* a decimal number: value.number */
    PIPELINE_INTEGER = 1, /* a whole number:   value.number */
    PIPELINE_BOOLEAN = 2, /* yes or no:        value.number is 1 or 0 */
    PIPELINE_CHOICE = 3,  /* one of `choices`: value.text */
    PIPELINE_COLOUR = 4,  /* `#rrggbb`:        value.text */
    PIPELINE_TEXT = 5     /* any text:         value.text */
} PipelineParameterType;

/* What may be written after the filter's name in a chain: `noir contrast=1.2`. */
typedef struct PipelineParameter {
    const char *name; /* lower-case letters, digits and `-` */
    PipelineParameterType type;
    double minimum; /* of a number or integer, inclusive */
    double maximum;
    const char *default_value; /* as it would be written in a chain */
    const char *const PIPELINE_NULLABLE *PIPELINE_NULLABLE choices; /* of a choice; ends with NULL */
    const char *PIPELINE_NULLABLE unit; /* "px", "%", … */
    const char *help; /* one line */
} PipelineParameter;

/* A value of a parameter, checked by the host against its description. */
typedef struct PipelineValue {
    double number;
    const char *PIPELINE_NULLABLE text;
} PipelineValue;

/* Traits: promises that let the host choose a faster way to the same result. */
typedef enum PipelineTrait {
    /* The result depends on luma alone: Rec. 601 weights of the gamma-encoded values. The host may hand over
     * a picture of one band that is this luma already. */
    PIPELINE_LUMA_ONLY = 1 << 0,
    /* Each pixel of the result depends on the same pixel of the input alone. */
    PIPELINE_POINTWISE = 1 << 1,
    /* The result's width or height differ from the input's. */
    PIPELINE_CHANGES_SIZE = 1 << 2
} PipelineTrait;

/* What the host offers to a filter while `apply` runs. */
typedef struct PipelineHost {
    /* Says why the filter can't do its work; `apply` then returns nonzero. The text is copied. */
    void (*fail)(const struct PipelineHost *host, const char *message);
} PipelineHost;

typedef struct PipelineFilter {
    uint32_t abi;     /* PIPELINE_PLUGIN_ABI */
    const char *name; /* the stage's name in a chain: lower-case letters, digits and `-` */
    const char *version;
    const char *summary; /* one line: what it does to a picture */
    uint32_t traits;     /* PipelineTrait, or-ed */
    size_t parameter_count;
    const PipelineParameter *PIPELINE_NULLABLE parameters;
    /* Extends `input` by the filter. The host keeps its own reference to `input`; the one set in `output` becomes the
     * host's. `values` holds one value for each parameter, in the order of their declaration. Input is sRGB or grey
     * (gamma-encoded), 8 or 16 bit, with or without an alpha band as its last.
     * Returns 0, or nonzero after `host->fail` or with libvips' own error buffer set. */
    int (*apply)(
        const PipelineHost *host, const PipelineValue *values, struct _VipsImage *input,
        struct _VipsImage *PIPELINE_NULLABLE *PIPELINE_NULLABLE output);
} PipelineFilter;

/* The one symbol. Called once, after the shared object has been loaded. */
const PipelineFilter *pipeline_filter(void);

#ifdef __clang__
#pragma clang assume_nonnull end
#pragma clang diagnostic pop
#endif

#ifdef __cplusplus
}
#endif

#endif
