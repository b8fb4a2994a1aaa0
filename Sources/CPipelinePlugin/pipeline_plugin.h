/* pipeline_plugin.h: how to write a filter for pipelined.
 *
 * A filter is a shared object that exports ONE symbol, a function:
 *
 *     const PipelineFilter *pipeline_filter(void);
 *
 * Its return value, valid for the life of the process, describes the filter and names the function that adds it to a
 * picture. Help, completion and the checks of chains all read this description. This is a complete filter:
 *
 *     #include <vips/vips.h>
 *     #include <pipeline_plugin.h>
 *
 *     static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
 *         return vips_gamma(input, output, "exponent", values[0].number, NULL);
 *     }
 *
 *     static const PipelineParameter parameters[] = {
 *         {.name = "amount", .type = PIPELINE_NUMBER, .minimum = 0.1, .maximum = 4, .default_value = "1.2",
 *          .help = "above 1 the middle tones become brighter"}};
 *
 *     static const PipelineFilter filter = {
 *         PIPELINE_FILTER_LAYOUT, .traits = PIPELINE_POINTWISE | PIPELINE_CURVE, .name = "glow", .version = "1.0",
 *         .summary = "brightens the middle tones", .parameter_count = 1, .parameters = parameters, .apply = apply};
 *
 *     const PipelineFilter *pipeline_filter(void) { return &filter; }
 *
 *     cc -shared -fPIC -o glow.so glow.c $(pkg-config --cflags --libs vips)
 *     pipectl plugins try glow.so amount=2 in.jpg out.jpg     one picture, in a worker as in service
 *     pipectl plugins check glow.so                           does it keep this contract?
 *
 * Put it into a plugin folder (/usr/local/lib/pipelined/plugins, or plugins/ of `pipelined --root`), and `pipectl reload`.
 *
 * THE HOST is `pipelined-render`, a process that renders one picture at a time. It loads filters at startup, before it
 * reads any foreign byte, and then confines itself. It never unloads a filter; new processes load a newer version of
 * its file. If a filter can't be loaded, crashes or blocks during loading, or describes itself wrongly, the host leaves
 * it out, with a warning that names file and reason.
 *
 * A PICTURE is a lazy `VipsImage` (libvips): `apply` adds operations to it and returns; pixels flow later, while the result is saved,
 * in several threads. The operations that `apply` sets up must not change once it has returned.
 *
 *   - It is sRGB or grey, gamma-encoded, with 8 or 16 bits per sample (VIPS_FORMAT_UCHAR or VIPS_FORMAT_USHORT): 1 or 3 bands, and perhaps
 *     a last band of alpha, not premultiplied (vips_image_hasalpha tells). It may be as small as 1 × 1.
 *   - The filter may read it once, from top to bottom, as it comes out of its decoder; reading a neighbourhood is fine.
 *     PIPELINE_WHOLE_PICTURE asks for more.
 *   - The result has 1 to 4 bands likewise, with samples of any format: the host rounds them, and converts them to the
 *     input's format. Its interpretation must be right, and alpha that came in must go out.
 *   - Metadata (EXIF, ICC profile and the like) stays with the picture if libvips' operations make it from the input.
 *   - The same picture and values always give the same result: the host may render a picture again after a crash.
 *
 * WHAT IT MAY DO. A filter opens files below its resource folder only, reaches no network, and starts no process. The
 * worker is confined: a filter that tries fails its picture. Threads are allowed, after loading. A filter that crashes
 * or hangs also fails its picture, with its name in the message. After several crashes the recipes that use it wait
 * until it is replaced.
 *
 * WORDS. Names (of filter and parameters) have 1 to 40 lower-case letters, digits and `-`. Summary, help and other texts are one line of
 * UTF-8, of at most 400 bytes. There are at most 64 parameters, and 64 choices for each.
 *
 * VERSIONS. PIPELINE_PLUGIN_ABI counts incompatible contracts, and the host loads only filters of its own contract.
 * Within a contract this header is append-only: fields are added at the ends of structs, where 0 asks for nothing, and
 * never change their meaning. Each side states the sizes that it was compiled with, so that older filters run in newer
 * hosts, and newer filters in older hosts, which ignore unknown fields.
 *
 * This header needs nothing but libc. It is C11 and C++17; C++ before 20 has no `.name =` in initialisers, and writes the fields in their order.
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

/* Put this before the definition of `pipeline_filter`: it stays visible even if the plugin hides all other symbols. */
#define PIPELINE_EXPORT __attribute__((visibility("default")))

/* The version of this contract. */
#define PIPELINE_PLUGIN_ABI 1

/* libvips' picture. Include <vips/vips.h> to work with it. */
struct _VipsImage;

/* The type of a parameter's values. */
typedef enum PipelineParameterType {
    PIPELINE_NUMBER = 0,  /* a decimal number: value.number */
    PIPELINE_INTEGER = 1, /* a whole number:   value.number */
    PIPELINE_BOOLEAN = 2, /* yes or no:        value.number is 1 or 0 */
    PIPELINE_CHOICE = 3,  /* one of `choices`: value.text */
    PIPELINE_COLOUR = 4,  /* `#rrggbb`:        value.text */
    PIPELINE_TEXT = 5     /* any text:         value.text */
} PipelineParameterType;

/* A parameter is written after the filter's name in a chain: `noir contrast=1.2`. */
typedef struct PipelineParameter {
    const char *name;
    PipelineParameterType type;
    double minimum; /* of a number or integer, inclusive */
    double maximum;
    /* As it would be written in a chain; NULL if the parameter must be given. */
    const char *PIPELINE_NULLABLE default_value;
    const char *const PIPELINE_NULLABLE *PIPELINE_NULLABLE choices; /* of a choice; ends with NULL */
    const char *PIPELINE_NULLABLE unit; /* "px", "%", … */
    const char *help;
} PipelineParameter;

/* A parameter's value, which the host has checked against the description. This struct never grows. */
typedef struct PipelineValue {
    double number;
    const char *PIPELINE_NULLABLE text;
} PipelineValue;

/* Traits: promises that let the host choose a faster way to the same result, and requests to the host. */
typedef enum PipelineTrait {
    /* The result depends on luma alone: Rec. 601 weights of the gamma-encoded values. The host hands over that luma as one
     * colour band. It reads a JPEG's luma without decoding any colour, and a WebP's without converting any. */
    PIPELINE_LUMA_ONLY = 1 << 0,
    /* Each pixel of the result depends only on the same pixel of the input, wherever it lies. The host may then move the filter
     * behind a resize that follows it, where there are fewer pixels. */
    PIPELINE_POINTWISE = 1 << 1,
    /* The result's width or height differ from the input's. This excludes PIPELINE_POINTWISE. */
    PIPELINE_CHANGES_SIZE = 1 << 2,
    /* A pointwise filter in which each colour band of the result depends only on the same band of the input (or on luma,
     * together with PIPELINE_LUMA_ONLY), and which leaves alpha as it is: a table. The host takes alpha off, runs the filter
     * over a picture of 256 × 1 or 65536 × 1 pixels that holds every value once, uses the result as the table, and puts alpha
     * back; several filters in a row become one table. To the filter, this is a picture like any other. A worker may reuse a
     * table for later pictures of the same chain. This needs PIPELINE_POINTWISE. */
    PIPELINE_CURVE = 1 << 3,
    /* The filter draws text: the host lets it read the system's fonts. */
    PIPELINE_DRAWS_TEXT = 1 << 4,
    /* The filter reads pixels in another order than from top to bottom (it turns or mirrors), more than once, or in
     * `apply` (it measures). The host then hands over a picture in memory, which costs memory and time. */
    PIPELINE_WHOLE_PICTURE = 1 << 5
} PipelineTrait;

/* The importance of a log line. */
typedef enum PipelineLogLevel {
    PIPELINE_LOG_WARNING = 0, /* the picture is made, but somebody should know */
    PIPELINE_LOG_NOTICE = 1   /* worth reading, now and then */
} PipelineLogLevel;

/* The host's services for a filter. They are valid only while `apply` runs. */
typedef struct PipelineHost {
    size_t size; /* sizeof(PipelineHost), as the host was compiled */
    /* Says why the filter can't do its work; `apply` then returns nonzero. The text is copied. It is one line, for the
     * person who dropped the picture. */
    void (*fail)(const struct PipelineHost *host, const char *message);
    /* Writes a line to the service's log, with the names of filter and picture. The text is copied. For each picture the host
     * writes at most as many lines as FilterLines= in [Daemon] allows, then the number of omitted lines. */
    void (*log)(const struct PipelineHost *host, PipelineLogLevel level, const char *message);
    /* Nonzero once the job is cancelled: a slow `apply` checks this now and then, and returns nonzero. The host itself stops
     * libvips' later work. */
    int (*cancelled)(const struct PipelineHost *host);
    /* The path of the filter's own folder, which it may read: the folder with the filter's name in the first plugin folder that
     * has one (`watermark/` for watermark), as found when the filter was loaded. NULL if there is none. */
    const char *PIPELINE_NULLABLE resources;
    /* The path of that folder, even if it does not exist; messages name it. `pipectl reload` finds a new folder. */
    const char *own_folder;
} PipelineHost;

typedef struct PipelineFilter {
    /* PIPELINE_FILTER_LAYOUT: the layout that this filter was compiled with. */
    uint32_t abi;
    uint32_t filter_size;
    uint32_t parameter_size;
    uint32_t traits;  /* PipelineTrait, or-ed */
    const char *name; /* the stage's name in a chain */
    const char *version;
    const char *summary; /* what it does to a picture */
    size_t parameter_count;
    const PipelineParameter *PIPELINE_NULLABLE parameters;
    /* Adds the filter to `input`. The host keeps its own reference to `input`, and takes over the reference in `output`.
     * `values` has one value for each parameter, in the order of their declaration.
     * Returns 0, or nonzero after `host->fail` or with libvips' own error buffer set. */
    int (*apply)(
        const PipelineHost *host, const PipelineValue *values, struct _VipsImage *input,
        struct _VipsImage *PIPELINE_NULLABLE *PIPELINE_NULLABLE output);
    /* The fields from here on are optional. */
    const char *PIPELINE_NULLABLE author;
    /* Names of parameters, ended by NULL. The host refuses a chain that gives none of them. A parameter counts as
     * given when its value differs from the default. */
    const char *const PIPELINE_NULLABLE *PIPELINE_NULLABLE at_least_one_of;
    /* Names of parameters, likewise. The host refuses a chain that gives more than one of them. */
    const char *const PIPELINE_NULLABLE *PIPELINE_NULLABLE at_most_one_of;
} PipelineFilter;

/* The first three fields of a PipelineFilter, in its initialiser. */
#define PIPELINE_FILTER_LAYOUT PIPELINE_PLUGIN_ABI, sizeof(PipelineFilter), sizeof(PipelineParameter)

/* The one symbol. The host calls it once, after it has loaded the shared object. */
PIPELINE_EXPORT const PipelineFilter *pipeline_filter(void);

#ifdef __clang__
#pragma clang assume_nonnull end
#pragma clang diagnostic pop
#endif

#ifdef __cplusplus
}
#endif

#endif
