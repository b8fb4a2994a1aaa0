/* watermark: a text or a picture, laid over a corner.
 *
 * `size` is the mark's width, which is reduced if the picture has too little room. A text has a soft shadow, so that it is
 * readable on any picture: a light text has a dark shadow, and a dark text a light one. A grey picture stays grey if the mark
 * is grey. Transparent pixels become as opaque as the mark above them. */
#include <pipeline_vips.h>

enum { TEXT, PICTURE, POSITION, OPACITY, SIZE, MARGIN, COLOUR, FONT, SHADOW, PARAMETER_COUNT };

static const char *const places[] = {PIPELINE_PLACES, NULL};

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [TEXT] =
        {.name = "text",
         .type = PIPELINE_TEXT,
         .default_value = "",
         .help = "what to write; or else give a picture"},
    [PICTURE] =
        {.name = "picture",
         .type = PIPELINE_TEXT,
         .default_value = "",
         .help = "the name of a file in the filter's folder, such as logo.png"},
    [POSITION] =
        {.name = "position",
         .type = PIPELINE_CHOICE,
         .default_value = "bottom-right",
         .choices = places,
         .help = "where it is"},
    [OPACITY] =
        {.name = "opacity",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 1,
         .default_value = "0.6",
         .help = "how opaque it is"},
    [SIZE] =
        {.name = "size",
         .type = PIPELINE_NUMBER,
         .minimum = 1,
         .maximum = 100,
         .default_value = "25",
         .unit = "%",
         .help = "how wide it is, in hundredths of the picture's width"},
    [MARGIN] =
        {.name = "margin",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 50,
         .default_value = "3",
         .unit = "%",
         .help = "how far from the edges, in hundredths of the short side"},
    [COLOUR] =
        {.name = "colour",
         .type = PIPELINE_COLOUR,
         .default_value = "#ffffff",
         .help = "the text's colour"},
    [FONT] =
        {.name = "font",
         .type = PIPELINE_TEXT,
         .default_value = "sans bold",
         .help = "the text's font, as Pango names it"},
    [SHADOW] =
        {.name = "shadow",
         .type = PIPELINE_BOOLEAN,
         .default_value = "yes",
         .help = "whether the text has a shadow"},
};

/* The mark: a picture of its colours, with one band or three, and a mask of their opacity, 0 to 255. */
typedef struct Mark {
    VipsImage *colours, *mask;
} Mark;

static void release(Mark *mark) {
    pipeline_release(&mark->colours);
    pipeline_release(&mark->mask);
}

/* Draws the text at a font size in points; one point is one pixel here. The resolution must never change: when it does, Debian
 * 12's Pango discards its fonts, and may crash if its thread is still looking for a font (libvips issue 3660). */
static int letters(const PipelineValue *values, double points, VipsImage **out) {
    char size[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(size, sizeof size, "%.2f", VIPS_MAX(1, points));
    /* Pango reads markup, so escape the text. */
    char *text = g_markup_escape_text(values[TEXT].text, -1), *font = g_strdup_printf("%s %s", values[FONT].text, size);
    int failed = vips_text(out, text, "font", font, NULL);
    g_free(text);
    g_free(font);
    return failed;
}

/* Draws the text as large as fits into this width and height. */
static int draw(const PipelineHost *host, const PipelineValue *values, int width, int height, VipsImage **out) {
    PIPELINE_OWNED VipsImage *measure = NULL, *twice = NULL;
    if (letters(values, 40, &measure) || letters(values, 80, &twice))
        return -1;
    /* Without a font Pango draws boxes, which do not grow with the font size. */
    if (measure->Xsize == twice->Xsize)
        return pipeline_refuse(host, "there are no fonts to write with; install some, such as fonts-dejavu-core");
    double scale = VIPS_MIN((double)width / measure->Xsize, (double)height / measure->Ysize);
    return letters(values, 40 * scale, out);
}

/* The text of the latest picture. Pictures of one size, from one chain, get the same text. */
static struct {
    GMutex lock;
    VipsImage *mask;
    char *text, *font;
    int width, height;
} latest;

static int write_text(const PipelineHost *host, const PipelineValue *values, int width, int height, Mark *mark) {
    const char *text = values[TEXT].text, *font = values[FONT].text;
    int failed = 0;
    g_mutex_lock(&latest.lock);
    if (!latest.mask || latest.width != width || latest.height != height || strcmp(latest.text, text) != 0
        || strcmp(latest.font, font) != 0) {
        g_clear_object(&latest.mask);
        g_free(latest.text);
        g_free(latest.font);
        latest.text = g_strdup(text);
        latest.font = g_strdup(font);
        latest.width = width;
        latest.height = height;
        failed = draw(host, values, width, height, &latest.mask);
    }
    if (!failed)
        mark->mask = g_object_ref(latest.mask);
    g_mutex_unlock(&latest.lock);
    if (failed)
        return -1;
    double rgb[3];
    pipeline_colour(values[COLOUR].text, UINT8_MAX, rgb);
    mark->colours = vips_image_new_from_image(mark->mask, rgb, rgb[0] == rgb[1] && rgb[1] == rgb[2] ? 1 : 3);
    return mark->colours == NULL;
}

static int read_picture(const PipelineHost *host, const PipelineValue *values, int width, int height, Mark *mark) {
    const char *name = values[PICTURE].text;
    if (host->resources == NULL)
        return pipeline_refuse(
            host, "there is no folder to find '%s' in; make %s, put it there, then `pipectl reload`", name,
            host->own_folder);
    if (strchr(name, '/'))
        return pipeline_refuse(host, "'%s' is no name of a file in %s; write it without a folder", name, host->resources);
    char *path = g_build_filename(host->resources, name, NULL);
    gboolean is_there = g_file_test(path, G_FILE_TEST_EXISTS);
    PIPELINE_OWNED VipsImage *small = NULL, *samples = NULL, *whole = NULL, *memory = NULL;
    int failed = is_there && vips_thumbnail(path, &small, width, "height", height, NULL);
    g_free(path);
    if (!is_there)
        return pipeline_refuse(host, "there is no picture '%s' in %s; put it there", name, host->resources);
    return failed || vips_cast(small, &samples, VIPS_FORMAT_UCHAR, "shift", TRUE, NULL)
        || (vips_image_hasalpha(samples) ? vips_copy(samples, &whole, NULL) : vips_addalpha(samples, &whole, NULL))
        || !(memory = vips_image_copy_memory(whole)) || pipeline_colours(memory, &mark->colours)
        || vips_extract_band(memory, &mark->mask, memory->Bands - 1, NULL);
}

/* Makes the text's shadow, which is wider and softer than the text, and lies slightly to the right and below. *reach is the
 * number of pixels by which the shadow's picture extends beyond the text on each side. */
static int cast_shadow(const Mark *text, int *reach, Mark *shadow) {
    int size = VIPS_MAX(1, text->mask->Ysize / 20);
    double bright = 0;
    *reach = 3 * size;
    PIPELINE_OWNED VipsImage *around = NULL;
    if (vips_embed(
            text->mask, &around, *reach + size, *reach + size, text->mask->Xsize + 2 * *reach,
            text->mask->Ysize + 2 * *reach, NULL)
        || vips_gaussblur(around, &shadow->mask, size, NULL) || vips_avg(text->colours, &bright, NULL))
        return -1;
    shadow->colours = vips_image_new_from_image1(shadow->mask, bright < 128 ? UINT8_MAX : 0);
    return shadow->colours == NULL;
}

/* Blends the mark into a premultiplied picture. `most` is the largest value of the picture's samples. Only the part under the
 * mark is computed; the rest of the picture passes. */
static int lay(VipsImage *under, int most, const Mark *mark, double opacity, int left, int top, VipsImage **out) {
    PIPELINE_OWNED VipsImage *bands = NULL, *samples = NULL, *opaque = NULL, *over = NULL, *mask = NULL, *shown = NULL;
    PIPELINE_OWNED VipsImage *part = NULL, *blend = NULL, *round = NULL, *same = NULL, *marked = NULL;
    VipsRect whole = {0, 0, under->Xsize, under->Ysize}, place = {left, top, mark->mask->Xsize, mark->mask->Ysize};
    vips_rect_intersectrect(&whole, &place, &place);
    if (vips_rect_isempty(&place))
        return vips_copy(under, out, NULL);
    int x = left - place.left, y = top - place.top;
    VipsImage *thrice[] = {mark->colours, mark->colours, mark->colours};
    int times = mark->colours->Bands < pipeline_colour_bands(under) ? 3 : 1;
    return vips_bandjoin(thrice, &bands, times, NULL)
        || vips_linear1(bands, &samples, (double)most / UINT8_MAX, 0, "uchar", under->BandFmt == VIPS_FORMAT_UCHAR, NULL)
        || (vips_image_hasalpha(under) ? vips_bandjoin_const1(samples, &opaque, most, NULL)
                                       : vips_copy(samples, &opaque, NULL))
        || vips_embed(opaque, &over, x, y, place.width, place.height, NULL)
        || vips_linear1(mark->mask, &mask, opacity, 0, "uchar", TRUE, NULL)
        || vips_embed(mask, &shown, x, y, place.width, place.height, NULL)
        || vips_extract_area(under, &part, place.left, place.top, place.width, place.height, NULL)
        || vips_ifthenelse(shown, over, part, &blend, "blend", TRUE, NULL)
        || (vips_band_format_isint(under->BandFmt) ? vips_rint(blend, &round, NULL) : vips_copy(blend, &round, NULL))
        || vips_cast(round, &same, under->BandFmt, NULL)
        || vips_insert(under, same, &marked, place.left, place.top, NULL)
        || vips_copy(marked, out, "interpretation", under->Type, NULL);
}

static int stamp(const PipelineValue *values, VipsImage *input, const Mark *mark, int left, int top, VipsImage **output) {
    PIPELINE_OWNED VipsImage *picture = NULL, *plain = NULL, *shaded = NULL, *marked = NULL;
    double opacity = values[OPACITY].number;
    int most = pipeline_most(input);
    if ((mark->colours->Bands == 3 ? pipeline_rgb(input, &picture) : vips_copy(input, &picture, NULL))
        || pipeline_premultiply(picture, &plain))
        return -1;
    if (*values[TEXT].text && values[SHADOW].number != 0) {
        Mark shadow = {NULL, NULL};
        int reach = 0;
        int failed = cast_shadow(mark, &reach, &shadow)
            || lay(plain, most, &shadow, 0.8 * opacity, left - reach, top - reach, &shaded);
        release(&shadow);
        if (failed)
            return -1;
    }
    return lay(shaded ? shaded : plain, most, mark, opacity, left, top, &marked)
        || pipeline_unpremultiply(marked, input, output);
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    gboolean is_text = *values[TEXT].text != 0;
    int margin = (int)lround(pipeline_length(values[MARGIN].number, "%", input));
    int across = VIPS_MAX(1, input->Xsize - 2 * margin), down = VIPS_MAX(1, input->Ysize - 2 * margin);
    int width = VIPS_CLIP(1, (int)lround(values[SIZE].number / 100 * input->Xsize), across);
    Mark mark = {NULL, NULL};
    double x, y;
    pipeline_place(values[POSITION].text, &x, &y);
    int failed = is_text ? write_text(host, values, width, down, &mark) : read_picture(host, values, width, down, &mark);
    if (!failed) {
        int left = margin + (int)lround(x * (across - mark.mask->Xsize));
        int top = margin + (int)lround(y * (down - mark.mask->Ysize));
        failed = stamp(values, input, &mark, left, top, output);
    }
    release(&mark);
    return failed;
}

static const char *const marks[] = {"text", "picture", NULL};

static const PipelineFilter watermark = {
    PIPELINE_FILTER_LAYOUT,
    .name = "watermark",
    .version = "1.0.0",
    .summary = "a text or a picture in a corner",
    .traits = PIPELINE_DRAWS_TEXT,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .at_least_one_of = marks,
    .at_most_one_of = marks,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &watermark;
}
