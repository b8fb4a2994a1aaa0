/* libvips for Swift: a static inline wrapper for each variadic call that Swift needs. */
#ifndef PIPELINED_CVIPS_SHIM_H
#define PIPELINED_CVIPS_SHIM_H

#include <gio/gio.h>
#include <vips/vips.h>

/* Loaders, which read sequentially from a source. */

static inline int cvips_jpegload(VipsSource *source, VipsImage **out, VipsFailOn fail_on, int shrink) {
    return vips_jpegload_source(
        source, out, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", fail_on, "shrink", shrink, NULL);
}

static inline int cvips_pngload(VipsSource *source, VipsImage **out, VipsFailOn fail_on) {
    return vips_pngload_source(source, out, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", fail_on, NULL);
}

static inline int cvips_webpload(VipsSource *source, VipsImage **out, VipsFailOn fail_on, double scale) {
    return vips_webpload_source(
        source, out, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", fail_on, "scale", scale, NULL);
}

/* Loads all frames, each below the previous one. */
static inline int cvips_webpload_frames(VipsSource *source, VipsImage **out, VipsFailOn fail_on) {
    return vips_webpload_source(source, out, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", fail_on, "n", -1, NULL);
}

/* Loads a page, or a subdirectory of the page if `subdirectory` is not -1. */
static inline int cvips_tiffload(VipsSource *source, VipsImage **out, VipsFailOn fail_on, int page, int subdirectory) {
    return vips_tiffload_source(
        source, out, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", fail_on, "page", page, "subifd", subdirectory, NULL);
}

static inline int cvips_gifload(VipsSource *source, VipsImage **out, VipsFailOn fail_on) {
    return vips_gifload_source(source, out, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", fail_on, NULL);
}

static inline int cvips_gifload_frames(VipsSource *source, VipsImage **out, VipsFailOn fail_on) {
    return vips_gifload_source(source, out, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", fail_on, "n", -1, NULL);
}

static inline int cvips_heifload(VipsSource *source, VipsImage **out, VipsFailOn fail_on) {
    return vips_heifload_source(source, out, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", fail_on, NULL);
}

/* Savers, which write to a target. */

static inline int cvips_jpegsave(
    VipsImage *in, VipsTarget *target, int quality, gboolean interlace, VipsForeignSubsample chroma, gboolean strip) {
    return vips_jpegsave_target(
        in, target, "Q", quality, "interlace", interlace, "subsample_mode", chroma, "strip", strip, NULL);
}

static inline int cvips_jpegsave_memory(VipsImage *in, void **bytes, size_t *length, gboolean strip) {
    return vips_jpegsave_buffer(in, bytes, length, "strip", strip, NULL);
}

static inline int cvips_black(VipsImage **out, int width, int height, int bands) {
    return vips_black(out, width, height, "bands", bands, NULL);
}

static inline int cvips_pngsave(
    VipsImage *in, VipsTarget *target, int compression, gboolean interlace, gboolean strip) {
    return vips_pngsave_target(
        in, target, "compression", compression, "interlace", interlace, "strip", strip, NULL);
}

/* The caller frees `bytes` with g_free. */
static inline int cvips_pngsave_memory(VipsImage *in, void **bytes, size_t *length, gboolean strip) {
    return vips_pngsave_buffer(in, bytes, length, "strip", strip, NULL);
}

static inline int cvips_pngsave_plain(VipsImage *in, VipsTarget *target) {
    return vips_pngsave_target(in, target, "compression", 0, "filter", VIPS_FOREIGN_PNG_FILTER_NONE, NULL);
}

static inline int cvips_webpsave(
    VipsImage *in, VipsTarget *target, int quality, int effort, gboolean lossless, gboolean strip) {
    return vips_webpsave_target(
        in, target, "Q", quality, "effort", effort, "lossless", lossless, "strip", strip, NULL);
}

/* The caller frees `bytes` with g_free. */
static inline int cvips_webpsave_memory(
    VipsImage *in, void **bytes, size_t *length, int quality, int effort, gboolean lossless) {
    return vips_webpsave_buffer(in, bytes, length, "Q", quality, "effort", effort, "lossless", lossless, NULL);
}

static inline int cvips_tiffsave(
    VipsImage *in, VipsTarget *target, VipsForeignTiffCompression compression,
    VipsForeignTiffPredictor predictor, gboolean strip) {
    return vips_tiffsave_target(
        in, target, "compression", compression, "predictor", predictor, "strip", strip, NULL);
}

static inline int cvips_heifsave(
    VipsImage *in, VipsTarget *target, VipsForeignHeifCompression compression, int quality, int bitdepth,
    int effort, VipsForeignSubsample chroma, gboolean strip) {
    return vips_heifsave_target(
        in, target, "compression", compression, "Q", quality, "bitdepth", bitdepth, "effort", effort,
        "subsample_mode", chroma, "strip", strip, NULL);
}

/* Takes a distance instead of a quality, because the scale of quality differs between versions of libvips. */
static inline int cvips_jxlsave(VipsImage *in, VipsTarget *target, double distance, int effort, gboolean lossless) {
    return vips_jxlsave_target(in, target, "distance", distance, "effort", effort, "lossless", lossless, NULL);
}

static inline int cvips_gifsave(VipsImage *in, VipsTarget *target, int effort, gboolean strip) {
    return vips_gifsave_target(in, target, "effort", effort, "strip", strip, NULL);
}

/* Returns the bytes in a memory target that has ended. The caller must unref `blob`; until then, the bytes stay
 * valid. */
static inline const void *cvips_target_bytes(VipsTarget *target, VipsBlob **blob, size_t *length) {
    g_object_get(target, "blob", blob, NULL);
    return *blob ? vips_blob_get(*blob, length) : NULL;
}

/* Creates a source that reads and seeks through the caller's functions, which receive `data` as the last argument. The
 * source calls `release` when it no longer needs `data`. */
static inline VipsSource *cvips_source_new(
    gint64 (*read)(VipsSourceCustom *source, void *bytes, gint64 count, void *data),
    gint64 (*seek)(VipsSourceCustom *source, gint64 offset, int whence, void *data), void *data,
    void (*release)(void *data, GClosure *closure)) {
    VipsSourceCustom *source = vips_source_custom_new();
    if (!source) {
        release(data, NULL);
        return NULL;
    }
    g_signal_connect_data(source, "read", G_CALLBACK(read), data, release, (GConnectFlags)0);
    g_signal_connect(source, "seek", G_CALLBACK(seek), data);
    return VIPS_SOURCE(source);
}

/* Creates a target that writes, reads and seeks through the caller's functions, which receive `data` as the last
 * argument. */
static inline VipsTarget *cvips_target_new(
    gint64 (*write)(VipsTargetCustom *target, const void *bytes, gint64 count, void *data),
    gint64 (*read)(VipsTargetCustom *target, void *bytes, gint64 count, void *data),
    gint64 (*seek)(VipsTargetCustom *target, gint64 offset, int whence, void *data), void *data) {
    VipsTargetCustom *target = vips_target_custom_new();
    if (!target) return NULL;
    g_signal_connect(target, "write", G_CALLBACK(write), data);
    g_signal_connect(target, "read", G_CALLBACK(read), data);
    g_signal_connect(target, "seek", G_CALLBACK(seek), data);
    return VIPS_TARGET(target);
}

/* Objects. */

static inline gboolean cvips_is_image(VipsImage *image) {
    return VIPS_IS_IMAGE(image);
}

static inline guint cvips_references(VipsImage *image) {
    return (guint)g_atomic_int_get((gint *)&G_OBJECT(image)->ref_count);
}

/* If a blob field of `image` does not own its bytes, makes the field own a copy of the bytes. Some loaders, such as
 * heifload of libvips 8.14, free the bytes with their image. But other pictures share the field by reference, and may
 * outlive that image. */
static inline void *cvips_own_blob(VipsImage *image, const char *name, GValue *value, void *unused) {
    (void)image; (void)name; (void)unused;
    if (G_VALUE_TYPE(value) != VIPS_TYPE_BLOB) return NULL;
    VipsArea *area = (VipsArea *)g_value_get_boxed(value);
    if (area && area->data && !area->free_fn) {
        area->data = g_memdup2(area->data, area->length);
        area->free_fn = (VipsCallbackFn)vips_area_free_cb;
    }
    return NULL;
}

static inline void cvips_own_blobs(VipsImage *image) {
    vips_image_map(image, cvips_own_blob, NULL);
}

/* Creates a picture with the metadata fields of `in`, but without pixels. */
static inline VipsImage *cvips_header(VipsImage *in) {
    VipsImage *out = vips_image_new();
    if (out && vips_image_pipelinev(out, VIPS_DEMAND_STYLE_ANY, in, NULL)) {
        g_object_unref(out);
        return NULL;
    }
    return out;
}

/* Errors. */

static inline void cvips_error(const char *domain, const char *text) {
    vips_error(domain, "%s", text);
}

/* Signals. */

/* From now on libvips calls `eval` while it computes the pixels of `image`, and `posteval` at the end of the
 * computation. cvips_off_evaluation stops these calls. */
static inline void cvips_on_evaluation(
    VipsImage *image, void (*eval)(VipsImage *image, VipsProgress *progress, void *data),
    void (*posteval)(VipsImage *image, VipsProgress *progress, void *data), void *data) {
    vips_image_set_progress(image, TRUE);
    g_signal_connect(image, "eval", G_CALLBACK(eval), data);
    g_signal_connect(image, "posteval", G_CALLBACK(posteval), data);
}

static inline void cvips_off_evaluation(VipsImage *image, void *data) {
    g_signal_handlers_disconnect_by_data(image, data);
}

/* Operations. */

static inline int cvips_copy(VipsImage *in, VipsImage **out) {
    return vips_copy(in, out, NULL);
}

static inline int cvips_reinterpret(VipsImage *in, VipsImage **out, VipsInterpretation interpretation) {
    return vips_copy(in, out, "interpretation", interpretation, NULL);
}

static inline int cvips_set_resolution(VipsImage *in, VipsImage **out, double xres, double yres) {
    return vips_copy(in, out, "xres", xres, "yres", yres, NULL);
}

static inline int cvips_resize(VipsImage *in, VipsImage **out, double scale, double vscale, VipsKernel kernel) {
    return vips_resize(in, out, scale, "vscale", vscale, "kernel", kernel, NULL);
}

static inline int cvips_crop(VipsImage *in, VipsImage **out, int left, int top, int width, int height) {
    return vips_extract_area(in, out, left, top, width, height, NULL);
}

/* Extends the picture at the bottom. The new pixels are black; if the picture has alpha, they are transparent. */
static inline int cvips_extend(VipsImage *in, VipsImage **out, int height) {
    return vips_embed(in, out, 0, 0, in->Xsize, height, NULL);
}

static inline int cvips_autorot(VipsImage *in, VipsImage **out) {
    return vips_autorot(in, out, NULL);
}

static inline int cvips_premultiply(VipsImage *in, VipsImage **out, double opaque) {
    return vips_premultiply(in, out, "max_alpha", opaque, NULL);
}

static inline int cvips_unpremultiply(VipsImage *in, VipsImage **out, double opaque) {
    return vips_unpremultiply(in, out, "max_alpha", opaque, NULL);
}

static inline int cvips_linear(VipsImage *in, VipsImage **out, double factor) {
    return vips_linear1(in, out, factor, 0, NULL);
}

static inline int cvips_avg(VipsImage *in, double *average) {
    return vips_avg(in, average, NULL);
}

static inline int cvips_max(VipsImage *in, double *largest) {
    return vips_max(in, largest, NULL);
}

static inline int cvips_low_16_bits(VipsImage *in, VipsImage **out) {
    return vips_andimage_const1(in, out, 65535, NULL);
}

static inline int cvips_rint(VipsImage *in, VipsImage **out) {
    return vips_rint(in, out, NULL);
}

static inline int cvips_cast(VipsImage *in, VipsImage **out, VipsBandFormat format, gboolean shift) {
    return vips_cast(in, out, format, "shift", shift, NULL);
}

static inline int cvips_flatten(VipsImage *in, VipsImage **out, VipsArrayDouble *background) {
    return vips_flatten(in, out, "background", background, NULL);
}

static inline int cvips_icc_transform(
    VipsImage *in, VipsImage **out, const char *output, const char *fallback, VipsIntent intent, int depth) {
    return vips_icc_transform(
        in, out, output, "embedded", TRUE, "input_profile", fallback, "intent", intent, "black_point_compensation", TRUE, "depth", depth, NULL);
}

static inline int cvips_colourspace(VipsImage *in, VipsImage **out, VipsInterpretation space) {
    return vips_colourspace(in, out, space, NULL);
}

static inline int cvips_extract_bands(VipsImage *in, VipsImage **out, int first, int count) {
    return vips_extract_band(in, out, first, "n", count, NULL);
}

/* Computes rounded Rec. 601 luma from three bands of 8 or 16 bits, and keeps a fourth band. Uses integers, because
 * vips_recomb's floating-point arithmetic takes several times as long. */
static inline int cvips_luma_rows(VipsRegion *out, void *sequence, void *unused, void *alpha, gboolean *stop) {
    VipsRegion *in = (VipsRegion *)sequence;
    const VipsRect *area = &out->valid;
    int step = in->im->Bands, made = out->im->Bands;
    (void)unused; (void)alpha; (void)stop;
    if (vips_region_prepare(in, area)) return -1;
    for (int y = area->top; y < area->top + area->height; y++) {
        if (in->im->BandFmt == VIPS_FORMAT_UCHAR) {
            const VipsPel *from = VIPS_REGION_ADDR(in, area->left, y);
            VipsPel *to = VIPS_REGION_ADDR(out, area->left, y);
            for (int x = 0; x < area->width; x++, from += step, to += made) {
                to[0] = (VipsPel)((19595u * from[0] + 38470u * from[1] + 7471u * from[2] + 32768u) >> 16);
                if (made == 2) to[1] = from[3];
            }
        } else {
            const guint16 *from = (const guint16 *)VIPS_REGION_ADDR(in, area->left, y);
            guint16 *to = (guint16 *)VIPS_REGION_ADDR(out, area->left, y);
            for (int x = 0; x < area->width; x++, from += step, to += made) {
                to[0] = (guint16)((19595ull * from[0] + 38470ull * from[1] + 7471ull * from[2] + 32768ull) >> 16);
                if (made == 2) to[1] = from[3];
            }
        }
    }
    return 0;
}

static inline int cvips_luma(VipsImage *in, VipsImage **out) {
    VipsImage *luma = vips_image_new();
    if (vips_image_pipelinev(luma, VIPS_DEMAND_STYLE_THINSTRIP, in, NULL)) {
        g_object_unref(luma);
        return -1;
    }
    luma->Bands = in->Bands - 2;
    luma->Type = in->BandFmt == VIPS_FORMAT_USHORT ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_B_W;
    /* Keeps the input alive as long as the result. */
    g_object_ref(in);
    vips_object_local(luma, in);
    if (vips_image_generate(luma, vips_start_one, cvips_luma_rows, vips_stop_one, in, NULL)) {
        g_object_unref(luma);
        return -1;
    }
    *out = luma;
    return 0;
}

/* Copies rows of `in` to memory, without its metadata. The copy must not be linked to `in`: when libvips has computed a
 * picture, it discards the rows that all linked pictures have read ahead, and decoders can't return to those rows. */
static inline int cvips_rows(VipsImage *in, VipsImage **out, int top, int height) {
    VipsRegion *region = vips_region_new(in);
    VipsImage *image = vips_image_new_memory();
    vips_image_init_fields(
        image, in->Xsize, height, in->Bands, in->BandFmt, VIPS_CODING_NONE, in->Type, in->Xres, in->Yres);
    int failed = !region || vips_image_write_prepare(image);
    for (int y = 0; y < height && !failed; y += 16) {
        VipsRect area = {0, top + y, in->Xsize, VIPS_MIN(16, height - y)};
        failed = vips_region_prepare(region, &area);
        for (int row = 0; row < area.height && !failed; row++)
            memcpy(
                VIPS_IMAGE_ADDR(image, 0, y + row), VIPS_REGION_ADDR(region, 0, area.top + row),
                VIPS_IMAGE_SIZEOF_LINE(image));
    }
    if (region) g_object_unref(region);
    if (failed) {
        g_object_unref(image);
        return -1;
    }
    *out = image;
    return 0;
}

/* Creates a picture of `count` frames, each below the previous one. Every frame has the size of `first`, and the
 * picture has the metadata of `first`. `frame` returns the pixels of a frame, or NULL on failure. The pixels stay valid
 * until `frame` is called for another frame. `frame` is called for each row, from top to bottom: a thread that needs
 * later rows waits for the other threads. */
typedef struct {
    const void *(*frame)(int number, void *data);
    void *data;
} CVipsStrip;

static inline int cvips_strip_rows(VipsRegion *out, void *sequence, void *first, void *closure, gboolean *stop) {
    const VipsRect *area = &out->valid;
    int height = ((VipsImage *)first)->Ysize;
    size_t pixel = VIPS_IMAGE_SIZEOF_PEL(out->im), row = pixel * out->im->Xsize;
    CVipsStrip *strip = (CVipsStrip *)closure;
    (void)sequence; (void)stop;
    for (int y = area->top; y < area->top + area->height; y++) {
        const char *pixels = (const char *)strip->frame(y / height, strip->data);
        if (!pixels) return -1;
        memcpy(VIPS_REGION_ADDR(out, area->left, y), pixels + y % height * row + area->left * pixel, area->width * pixel);
    }
    return 0;
}

static inline int cvips_strip(
    VipsImage *first, VipsImage **out, int count, const void *(*frame)(int number, void *data), void *data) {
    VipsImage *image = vips_image_new();
    CVipsStrip *strip = VIPS_NEW(image, CVipsStrip);
    strip->frame = frame;
    strip->data = data;
    if (vips_image_pipelinev(image, VIPS_DEMAND_STYLE_THINSTRIP, first, NULL)) {
        g_object_unref(image);
        return -1;
    }
    image->Ysize = first->Ysize * count;
    g_object_ref(first);
    vips_object_local(image, first);
    int failed = vips_image_generate(image, NULL, cvips_strip_rows, NULL, first, strip) || vips_sequential(image, out, NULL);
    g_object_unref(image);
    return failed ? -1 : 0;
}

/* Blackens the rows that the reader of `in` could not read and left uninitialised. After each read, `count` returns the
 * number of rows that are present; all later rows become black. A picture without any row is an error. `count` and
 * `release` receive `data`. libvips calls `release` when it frees the picture. */
typedef struct {
    int (*count)(void *data);
    void *data;
} CVipsPresentRows;

static inline int cvips_copy_present_rows(VipsRegion *out, void *sequence, void *unused, void *closure, gboolean *stop) {
    VipsRegion *in = (VipsRegion *)sequence;
    const VipsRect *area = &out->valid;
    const CVipsPresentRows *present = (const CVipsPresentRows *)closure;
    (void)unused; (void)stop;
    if (vips_region_prepare(in, area)) return -1;
    int rows = present->count(present->data);
    if (rows >= area->top + area->height) return vips_region_region(out, in, area, area->left, area->top);
    if (rows == 0) {
        vips_error("png", "%s", "not enough data for a row");
        return -1;
    }
    vips_region_black(out);
    for (int y = area->top; y < rows; y++)
        memcpy(VIPS_REGION_ADDR(out, area->left, y), VIPS_REGION_ADDR(in, area->left, y), VIPS_REGION_SIZEOF_LINE(out));
    return 0;
}

static inline int cvips_present_rows(
    VipsImage *in, VipsImage **out, int (*count)(void *data), void *data, void (*release)(void *data)) {
    VipsImage *image = vips_image_new();
    CVipsPresentRows *present = VIPS_NEW(image, CVipsPresentRows);
    present->count = count;
    present->data = data;
    g_object_set_data_full(G_OBJECT(image), "pipelined-present-rows", data, release);
    g_object_ref(in);
    vips_object_local(image, in);
    if (vips_image_pipelinev(image, VIPS_DEMAND_STYLE_THINSTRIP, in, NULL) ||
        vips_image_generate(image, vips_start_one, cvips_copy_present_rows, vips_stop_one, in, present)) {
        g_object_unref(image);
        return -1;
    }
    *out = image;
    return 0;
}

/* Creates an 8-bit picture with the size and metadata of `in`. `next` returns its rows from top to bottom. When `next`
 * returns NULL, that row and all further rows are copied from `in`. `next` and `release` receive `data`. libvips calls
 * `release` when it frees the picture. */
typedef struct {
    const VipsPel *(*next)(void *data);
    void *data;
    /* The index of the row that the next call of `next` returns. */
    int row;
    /* Whether `next` has returned NULL. */
    gboolean is_over;
} CVipsRows;

static inline int cvips_copy_rows(VipsRegion *out, void *sequence, void *in, void *read, gboolean *stop) {
    VipsRegion *from = (VipsRegion *)sequence;
    CVipsRows *rows = (CVipsRows *)read;
    const VipsRect *area = &out->valid;
    int y = area->top;
    (void)in; (void)stop;
    if (!rows->is_over && y < rows->row) {
        vips_error("png", "out of order read at line %d", rows->row);
        return -1;
    }
    while (!rows->is_over && y < area->top + area->height) {
        const VipsPel *pixels = rows->next(rows->data);
        rows->is_over = !pixels;
        if (!pixels || rows->row++ < y) continue;
        memcpy(
            VIPS_REGION_ADDR(out, area->left, y), pixels + area->left * VIPS_IMAGE_SIZEOF_PEL(out->im),
            VIPS_REGION_SIZEOF_LINE(out));
        y++;
    }
    if (y == area->top + area->height) return 0;
    VipsRect rest = {area->left, y, area->width, area->top + area->height - y};
    if (vips_region_prepare(from, &rest)) return -1;
    for (; y < area->top + area->height; y++)
        memcpy(VIPS_REGION_ADDR(out, area->left, y), VIPS_REGION_ADDR(from, area->left, y), VIPS_REGION_SIZEOF_LINE(out));
    return 0;
}

static inline int cvips_read_rows(
    VipsImage *in, VipsImage **out, const VipsPel *(*next)(void *data), void *data, void (*release)(void *data)) {
    VipsImage *image = vips_image_new();
    CVipsRows *rows = VIPS_NEW(image, CVipsRows);
    *rows = (CVipsRows){next, data, 0, FALSE};
    g_object_set_data_full(G_OBJECT(image), "pipelined-rows", data, release);
    /* Keeps the input alive as long as the result. */
    g_object_ref(in);
    vips_object_local(image, in);
    /* Computes the picture in strips, like libvips' own reader. */
    int failed = vips_image_pipelinev(image, VIPS_DEMAND_STYLE_THINSTRIP, in, NULL)
        || vips_image_generate(image, vips_start_one, cvips_copy_rows, vips_stop_one, in, rows)
        || vips_sequential(image, out, "tile_height", VIPS__FATSTRIP_HEIGHT, NULL);
    g_object_unref(image);
    return failed ? -1 : 0;
}

/* Computes the picture, and passes its rows from top to bottom to `take`. `take` receives `data`, and returns -1 to
 * stop. */
typedef struct {
    int (*take)(void *data, const VipsPel *row);
    void *data;
} CVipsSink;

static inline int cvips_take_rows(VipsRegion *region, VipsRect *area, void *sink) {
    const CVipsSink *to = (const CVipsSink *)sink;
    for (int y = area->top; y < area->top + area->height; y++)
        if (to->take(to->data, VIPS_REGION_ADDR(region, 0, y))) return -1;
    return 0;
}

static inline int cvips_sink_rows(VipsImage *in, int (*take)(void *data, const VipsPel *row), void *data) {
    CVipsSink sink = {take, data};
    return vips_sink_disc(in, cvips_take_rows, &sink);
}

/* Creates an 8-bit picture whose rows `fill` computes on demand. `fill` and `release` receive `data`. libvips calls
 * `release` when it frees the picture. */
static inline VipsImage *cvips_made_rows(
    int width, int height, int bands,
    int (*fill)(VipsRegion *out, void *sequence, void *data, void *unused, gboolean *stop), void *data,
    void (*release)(void *data)) {
    VipsImage *image = vips_image_new();
    vips_image_init_fields(
        image, width, height, bands, VIPS_FORMAT_UCHAR, VIPS_CODING_NONE,
        bands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB, 1, 1);
    g_object_set_data_full(G_OBJECT(image), "pipelined-rows", data, release);
    if (vips_image_pipelinev(image, VIPS_DEMAND_STYLE_THINSTRIP, NULL) ||
        vips_image_generate(image, NULL, fill, NULL, data, NULL)) {
        g_object_unref(image);
        return NULL;
    }
    return image;
}

/* The first pixel of row `y` that the region contains. */
static inline VipsPel *cvips_row(VipsRegion *region, int y) {
    return VIPS_REGION_ADDR(region, region->valid.left, y);
}

static inline int cvips_replicate(VipsImage *in, VipsImage **out, int across, int down) {
    return vips_replicate(in, out, across, down, NULL);
}

static inline int cvips_identity(VipsImage **out, int bands, gboolean is_wide) {
    return vips_identity(out, "bands", bands, "ushort", is_wide, NULL);
}

static inline int cvips_maplut(VipsImage *in, VipsImage **out, VipsImage *table) {
    return vips_maplut(in, out, table, NULL);
}

static inline int cvips_bandjoin(VipsImage **in, VipsImage **out, int count) {
    return vips_bandjoin(in, out, count, NULL);
}

/* Contact sheets: several pictures on a grey background. */

static inline int cvips_flatten_grey(VipsImage *in, VipsImage **out, double grey) {
    VipsArrayDouble *ground = vips_array_double_newv(1, grey);
    int status = vips_flatten(in, out, "background", ground, NULL);
    vips_area_unref(VIPS_AREA(ground));
    return status;
}

/* The result has 8 bits per sample, even if `factor` is a fraction. */
static inline int cvips_linear_grey(VipsImage *in, VipsImage **out, double factor, double offset) {
    return vips_linear1(in, out, factor, offset, "uchar", TRUE, NULL);
}

static inline int cvips_gravity(
    VipsImage *in, VipsImage **out, VipsCompassDirection direction, int width, int height, double grey) {
    VipsArrayDouble *ground = vips_array_double_newv(1, grey);
    int status = vips_gravity(
        in, out, direction, width, height, "extend", VIPS_EXTEND_BACKGROUND, "background", ground, NULL);
    vips_area_unref(VIPS_AREA(ground));
    return status;
}

static inline int cvips_join_below(VipsImage *upper, VipsImage *lower, VipsImage **out, int gap, double grey) {
    VipsArrayDouble *ground = vips_array_double_newv(1, grey);
    int status = vips_join(
        upper, lower, out, VIPS_DIRECTION_VERTICAL, "shim", gap, "expand", TRUE, "background", ground, NULL);
    vips_area_unref(VIPS_AREA(ground));
    return status;
}

static inline int cvips_arrayjoin(VipsImage **in, VipsImage **out, int count, int across, int gap, double grey) {
    VipsArrayDouble *ground = vips_array_double_newv(1, grey);
    int status = vips_arrayjoin(in, out, count, "across", across, "shim", gap, "background", ground, NULL);
    vips_area_unref(VIPS_AREA(ground));
    return status;
}

/* Draws text as a mask. The text is Pango markup. Lines wrap at `width` pixels if `width` is above 0. The resolution is
 * fixed, because Debian 12's Pango may crash when the resolution changes. */
static inline int cvips_text(VipsImage **out, const char *text, const char *font, int width) {
    return width > 0 ? vips_text(out, text, "font", font, "width", width, "align", VIPS_ALIGN_CENTRE, NULL)
                     : vips_text(out, text, "font", font, NULL);
}

/* Operations by name. libvips describes their arguments with GObject's type macros, which Swift can't use. */

/* The type of an operation's argument; 0 if the operation has no such argument. */
static inline GType cvips_argument_type(VipsOperation *operation, const char *name) {
    GParamSpec *argument = g_object_class_find_property(G_OBJECT_GET_CLASS(operation), name);
    return argument ? argument->value_type : 0;
}

static inline void cvips_set_object(VipsOperation *operation, const char *name, void *object) {
    g_object_set(operation, name, object, NULL);
}

static inline void cvips_set_integer(VipsOperation *operation, const char *name, int value) {
    g_object_set(operation, name, value, NULL);
}

static inline void cvips_set_number(VipsOperation *operation, const char *name, double value) {
    g_object_set(operation, name, value, NULL);
}

static inline void cvips_set_text(VipsOperation *operation, const char *name, const char *value) {
    g_object_set(operation, name, value, NULL);
}

/* Returns the picture in one of the operation's output arguments. The caller owns the reference. */
static inline VipsImage *cvips_get_image(VipsOperation *operation, const char *name) {
    VipsImage *image = NULL;
    g_object_get(operation, name, &image, NULL);
    return image;
}

static inline gboolean cvips_is_integer(GType type) {
    return type == G_TYPE_INT || type == G_TYPE_BOOLEAN;
}
static inline gboolean cvips_is_number(GType type) { return type == G_TYPE_DOUBLE; }
static inline gboolean cvips_is_text(GType type) { return type == G_TYPE_STRING; }
static inline gboolean cvips_is_enumeration(GType type) { return G_TYPE_IS_ENUM(type) || G_TYPE_IS_FLAGS(type); }

#endif
