/* zimg, which resizes one plane of bytes. Its calls need ZIMG_API_VERSION, a macro that Swift can't import. */
#include <stddef.h>
#include <zimg.h>

/* The size of a plane of bytes, and the part of it to resize, in pixels. Each row must begin at a multiple of 64 bytes,
 * which is the strictest alignment that the vector instructions of any processor require. */
typedef struct {
    unsigned width, height;
    double left, top, active_width, active_height;
} czimg_plane;

static inline zimg_image_format czimg_format(const czimg_plane *plane) {
    zimg_image_format format;
    zimg_image_format_default(&format, ZIMG_API_VERSION);
    format.width = plane->width;
    format.height = plane->height;
    format.pixel_type = ZIMG_PIXEL_BYTE;
    format.color_family = ZIMG_COLOR_GREY;
    format.pixel_range = ZIMG_RANGE_FULL;
    format.active_region.left = plane->left;
    format.active_region.top = plane->top;
    format.active_region.width = plane->active_width;
    format.active_region.height = plane->active_height;
    return format;
}

/* Creates a lanczos3 resizer; NULL on failure. Release it with zimg_filter_graph_free. */
static inline zimg_filter_graph *czimg_lanczos3(const czimg_plane *from, unsigned width, unsigned height) {
    czimg_plane to = {width, height, 0, 0, width, height};
    zimg_image_format source = czimg_format(from), target = czimg_format(&to);
    zimg_graph_builder_params parameters;
    zimg_graph_builder_params_default(&parameters, ZIMG_API_VERSION);
    parameters.resample_filter = ZIMG_RESIZE_LANCZOS;
    parameters.filter_param_a = 3;
    /* ZIMG_CPU_AUTO excludes AVX-512, which would save no time here. With AVX-512, zimg 3.0.4 computes single columns wrongly
     * when a plane becomes 2 to 2.6 times smaller. */
    parameters.cpu_type = ZIMG_CPU_AUTO;
    return zimg_filter_graph_build(&source, &target, &parameters);
}

/* Resizes a plane; returns 0 on success. `memory` must have as many bytes as zimg_filter_graph_get_tmp_size returns. */
static inline int czimg_run(
    const zimg_filter_graph *resizer, const void *from, ptrdiff_t from_stride, void *to, ptrdiff_t to_stride, void *memory) {
    zimg_image_buffer_const source = {ZIMG_API_VERSION, {{from, from_stride, ZIMG_BUFFER_MAX}}};
    zimg_image_buffer target = {ZIMG_API_VERSION, {{to, to_stride, ZIMG_BUFFER_MAX}}};
    return zimg_filter_graph_process(resizer, &source, &target, memory, NULL, NULL, NULL, NULL);
}
