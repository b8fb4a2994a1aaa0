/* pipeline_plugin.h: how to write a filter for pipelined.
 *
 * A filter is a shared object that exports ONE symbol, a function:
 *
 *     const PipelineFilter *pipeline_filter(void);
 *
 * The function returns a description of the filter, which must stay valid until the process ends. The description
 * contains a pointer to the function that applies the filter to a picture. Help, completion and the checks of chains
 * all use the description. This is a complete filter:
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
 *     pipectl plugins try glow.so amount=2 in.jpg out.jpg     renders one picture, in a worker like the daemon's
 *     pipectl plugins check glow.so                           checks that the filter keeps this contract
 *
 * Put glow.so into a plugin folder (/usr/local/lib/pipelined/plugins, or plugins/ in the folder of `pipelined --root`),
 * then run `pipectl reload`.
 *
 * THE HOST is `pipelined-render`, a process that renders one picture at a time. It loads filters when it starts, before
 * it reads any byte of a picture, and then confines itself. It never unloads a filter; only new processes load a newer
 * version of the file. If a filter can't be loaded, crashes or blocks during loading, or has an invalid description,
 * the host leaves it out, and logs a warning with the file and the reason.
 *
 * A PICTURE is a lazy `VipsImage` (libvips): `apply` adds operations to it and returns. libvips computes the pixels
 * later, while the host saves the result, in several threads. After `apply` has returned, the filter must not change
 * its operations.
 *
 *   - The input is sRGB or grey, gamma-encoded, with 8 or 16 bits per sample (VIPS_FORMAT_UCHAR or VIPS_FORMAT_USHORT).
 *     It has 1 or 3 colour bands, and may have an alpha band after them, not premultiplied (see vips_image_hasalpha).
 *     It may be as small as 1 × 1.
 *   - The filter may read the input only once, from top to bottom, because the decoder produces it in that order.
 *     Reading the neighbourhood of each pixel is fine. A filter that needs more must have the trait
 *     PIPELINE_WHOLE_PICTURE.
 *   - The result, too, has 1 or 3 colour bands and perhaps alpha, but it may have more or fewer bands than the input.
 *     Its samples may have any format: the host rounds them, and converts them to the input's format. The result's
 *     interpretation must be right. If the input has alpha, the result must have alpha.
 *   - Metadata (EXIF, ICC profile and the like) stays with the picture if libvips' operations make the result from the
 *     input.
 *   - The same picture and values must always give the same result: the host may render a picture again after a crash.
 *
 * WHAT IT MAY DO. A filter may open only files below its resource folder. It may not use the network, or start a
 * process. The host is confined: if a filter tries any of this, the picture fails. A filter may start threads, but not
 * during loading. If a filter crashes or hangs, the picture fails with a message that names the filter. After several
 * crashes, the recipes that use the filter wait until its file is replaced.
 *
 * WORDS. The names of filters and parameters consist of 1 to 40 lower-case letters, digits and `-`. Summary, help and
 * every other text must be one line of UTF-8 with at most 400 bytes. A filter has at most 64 parameters, and each of
 * them at most 64 choices.
 *
 * VERSIONS. PIPELINE_PLUGIN_ABI is the version of this contract. It grows only with an incompatible change, and the
 * host loads only filters with its own version. Within a version, new fields are added only at the ends of structs. In
 * a new field, 0 means that the filter does not use the field. No field ever changes its meaning. Filter and host both
 * state the sizes of the structs that they were compiled with. So older filters run in newer hosts, and newer filters
 * run in older hosts, which ignore unknown fields.
 *
 * This header needs only libc. It compiles as C11 and C++17. C++ before C++20 has no `.name =` in initialisers; there,
 * write all fields in their order.
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

/* Put PIPELINE_EXPORT before the definition of `pipeline_filter`, so that the function stays visible even if the plugin
 * hides all other symbols. */
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
    PIPELINE_TEXT = 5,    /* any text:         value.text */
    /* A file in the recipes' folder. Its name is value.text, which is empty if neither the chain nor the default names
     * a file. `host->file` returns the file's bytes. */
    PIPELINE_FILE = 6
} PipelineParameterType;

/* A parameter is written after the filter's name in a chain: `noir contrast=1.2`. */
typedef struct PipelineParameter {
    const char *name;
    PipelineParameterType type;
    double minimum; /* for numbers and integers; both limits are inclusive */
    double maximum;
    /* The default value, as written in a chain; NULL if a chain must give the parameter. */
    const char *PIPELINE_NULLABLE default_value;
    /* The choices of a PIPELINE_CHOICE, or the endings that the name of a PIPELINE_FILE may have, such as ".cube". Ends
     * with NULL. */
    const char *const PIPELINE_NULLABLE *PIPELINE_NULLABLE choices;
    const char *PIPELINE_NULLABLE unit; /* "px", "%", … */
    const char *help;
} PipelineParameter;

/* A parameter's value, which the host has checked against the parameter's description. This struct never grows. */
typedef struct PipelineValue {
    double number;
    const char *PIPELINE_NULLABLE text;
} PipelineValue;

/* Traits of a filter: promises that let the host render the same result faster, and requests to the host. */
typedef enum PipelineTrait {
    /* The result depends on luma alone: the sum of the gamma-encoded values with Rec. 601 weights. The input then has
     * luma as its only colour band. The host reads luma from a JPEG without decoding any colour, and from a WebP
     * without converting any colour. */
    PIPELINE_LUMA_ONLY = 1 << 0,
    /* Each pixel of the result depends only on the value of the same pixel of the input, and not on its position. If a
     * resize follows in the chain, the host may run it first, so that the filter has fewer pixels to process. */
    PIPELINE_POINTWISE = 1 << 1,
    /* The result's width or height differs from the input's. This trait excludes PIPELINE_POINTWISE. */
    PIPELINE_CHANGES_SIZE = 1 << 2,
    /* A table could replace the filter: each colour band of the result depends only on the same band of the input (or
     * on luma, together with PIPELINE_LUMA_ONLY), and alpha does not change. The host runs the filter over a picture of
     * 256 × 1 or 65536 × 1 pixels that contains every value once, without alpha. To the filter, the picture of all
     * values is a picture like any other. The result is the table, which the host applies to the colours of the real
     * picture. Several such filters in a row become one table, and a worker may reuse a table for later pictures of the
     * same chain. This trait requires PIPELINE_POINTWISE. */
    PIPELINE_CURVE = 1 << 3,
    /* The filter draws text: the host lets it read the system's fonts. */
    PIPELINE_DRAWS_TEXT = 1 << 4,
    /* The filter reads pixels in an order other than top to bottom (for example to mirror the picture), more than once,
     * or already in `apply` (to measure the picture). The host then keeps the input in memory, which costs memory and
     * time. */
    PIPELINE_WHOLE_PICTURE = 1 << 5,
    /* The filter only moves pixels, or adds pixels of one colour at the edges; `arrange` says where. The host may then
     * move the pixels itself. It moves the samples of a JPEG or a WebP in the form in which the file stores them, which
     * costs almost nothing. */
    PIPELINE_MOVES_PIXELS = 1 << 6,
    /* The gain map of an HDR picture still fits the result: an HDR screen may brighten each pixel of the result by the
     * same factor as the same pixel of the input. With PIPELINE_LUMA_ONLY the host reduces the gain map to luma.
     * Without this trait, the result has no gain map, unless the filter only moves pixels. This trait excludes
     * PIPELINE_CHANGES_SIZE. */
    PIPELINE_KEEPS_GAIN_MAP = 1 << 7,
    /* The filter asks the host for texts of the picture, by `host->text`. This trait excludes PIPELINE_POINTWISE. */
    PIPELINE_READS_TEXTS = 1 << 8
} PipelineTrait;

/* A text that belongs to a picture: from the list that named the picture, or else from the picture's own metadata. */
typedef enum PipelineText {
    PIPELINE_CAPTION = 0, /* describes the picture; may have several lines */
    PIPELINE_CREDIT = 1   /* the name to print beside the picture */
} PipelineText;

/* Where a filter with the trait PIPELINE_MOVES_PIXELS puts the pixels of its input. Before the host calls `arrange`, it
 * fills this struct with an arrangement that changes nothing. */
typedef struct PipelineArrangement {
    /* The part of the input that the result shows, in pixels. It lies within the input, or encloses all of it. If it
     * encloses the input, opaque `colour` (red, green and blue from 0 to 255) fills the space around the input. */
    int left, top, width, height;
    uint8_t colour[3];
    /* Nonzero mirrors the part, left to right. */
    uint8_t is_mirrored;
    /* Clockwise quarter turns, after the mirroring. */
    int quarters;
} PipelineArrangement;

/* The importance of a log line. */
typedef enum PipelineLogLevel {
    PIPELINE_LOG_WARNING = 0, /* the filter succeeds, but somebody should know about a problem */
    PIPELINE_LOG_NOTICE = 1   /* information that is worth reading now and then */
} PipelineLogLevel;

/* The host's services for a filter. They are valid only while `apply` runs. */
typedef struct PipelineHost {
    size_t size; /* sizeof(PipelineHost) in the host */
    /* Reports why the filter failed; `apply` must then return nonzero. The message is one line for the person who
     * dropped the picture. The host copies the message. */
    void (*fail)(const struct PipelineHost *host, const char *message);
    /* Writes a line to the daemon's log, with the names of the filter and the picture. The host copies the message. For
     * each picture, the host writes at most as many lines as FilterLines= in [Daemon] allows, then the number of
     * omitted lines. */
    void (*log)(const struct PipelineHost *host, PipelineLogLevel level, const char *message);
    /* Returns nonzero once the job is cancelled. A slow `apply` should check this now and then, and then return
     * nonzero. After `apply` has returned, the host itself stops libvips if the job is cancelled. */
    int (*cancelled)(const struct PipelineHost *host);
    /* The path of the filter's own folder, which the filter may read. The folder has the filter's name (`watermark/`
     * for watermark), and lies in the first plugin folder that contains such a folder. The host looks for the folder
     * when it loads the filter. NULL if the host found no such folder. */
    const char *PIPELINE_NULLABLE resources;
    /* For messages: the path of the filter's own folder, even if the folder does not exist. If somebody creates the
     * folder later, the host finds it after `pipectl reload`. */
    const char *own_folder;
    /* With the trait PIPELINE_READS_TEXTS: returns a text of the picture, of at most 2000 bytes of UTF-8, or NULL if
     * the picture has none. The text is valid until `apply` returns. An older host, with a smaller `size`, does not
     * have this function. */
    const char *PIPELINE_NULLABLE (*PIPELINE_NULLABLE text)(const struct PipelineHost *host, PipelineText which);
    /* Returns the bytes of a PIPELINE_FILE, and stores their number in `size`; returns NULL if the chain names no file.
     * `value` is one of the values that `apply` has received. The daemon reads the file when it starts and at each
     * `pipectl reload`, so all pictures of a chain get the same bytes. The bytes are valid until `apply` returns. An
     * older host, with a smaller `size`, does not have this function. */
    const void *PIPELINE_NULLABLE (*PIPELINE_NULLABLE file)(
        const struct PipelineHost *host, const PipelineValue *value, size_t *size);
} PipelineHost;

typedef struct PipelineFilter {
    /* PIPELINE_FILTER_LAYOUT sets this and the next two fields: the layout that this filter was compiled with. */
    uint32_t abi;
    uint32_t filter_size;
    uint32_t parameter_size;
    uint32_t traits;  /* PipelineTrait, or-ed */
    const char *name; /* the stage's name in a chain */
    const char *version;
    const char *summary; /* what the filter does to a picture */
    size_t parameter_count;
    const PipelineParameter *PIPELINE_NULLABLE parameters;
    /* Applies the filter to `input`, and stores the result in `output`. The host keeps its own reference to `input`,
     * and takes over the reference in `output`. `values` has one value for each parameter, in the order of their
     * declaration. Returns 0 on success. Returns nonzero on failure, after it has called `host->fail` or set libvips'
     * error buffer. */
    int (*apply)(
        const PipelineHost *host, const PipelineValue *values, struct _VipsImage *input,
        struct _VipsImage *PIPELINE_NULLABLE *PIPELINE_NULLABLE output);
    /* The fields from here on are optional. */
    const char *PIPELINE_NULLABLE author;
    /* Names of parameters, ended by NULL. The host refuses a chain that gives none of these parameters. A parameter
     * counts as given if its value differs from the default. */
    const char *const PIPELINE_NULLABLE *PIPELINE_NULLABLE at_least_one_of;
    /* Names of parameters, ended by NULL. The host refuses a chain that gives more than one of these parameters. */
    const char *const PIPELINE_NULLABLE *PIPELINE_NULLABLE at_most_one_of;
    /* With the trait PIPELINE_MOVES_PIXELS: describes the result of `apply` for a picture of this size. Returns 0 on
     * success. Returns nonzero if `apply` would fail, or if the result depends on the pixels; the host then calls
     * `apply`. */
    int (*PIPELINE_NULLABLE arrange)(
        const PipelineHost *host, const PipelineValue *values, int width, int height, PipelineArrangement *arrangement);
    /* Names of parameters, ended by NULL. In a chain that gives one of these parameters, the traits PIPELINE_LUMA_ONLY,
     * PIPELINE_CURVE and PIPELINE_KEEPS_GAIN_MAP don't hold: the filter then gets all colours. A parameter counts as
     * given if its value differs from the default. */
    const char *const PIPELINE_NULLABLE *PIPELINE_NULLABLE needs_colours;
} PipelineFilter;

/* The first three fields of a PipelineFilter, in its initialiser. */
#define PIPELINE_FILTER_LAYOUT PIPELINE_PLUGIN_ABI, sizeof(PipelineFilter), sizeof(PipelineParameter)

/* The only symbol that a filter exports. The host calls this function once, after it has loaded the shared object. */
PIPELINE_EXPORT const PipelineFilter *pipeline_filter(void);

#ifdef __clang__
#pragma clang assume_nonnull end
#pragma clang diagnostic pop
#endif

#ifdef __cplusplus
}
#endif

#endif
