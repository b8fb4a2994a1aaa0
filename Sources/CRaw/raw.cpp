#include "CRaw.h"

#include <dlfcn.h>
#include <libraw/libraw.h>

#include <new>

#define HAS_LIST_OF_PREVIEWS LIBRAW_COMPILE_CHECK_VERSION_NOTLESS(0, 21)

namespace {

/* The stream from which LibRaw reads a file. It has a buffer, because LibRaw often reads single bytes. */
class Stream final : public LibRaw_abstract_datastream {
    const craw_source source;
    int64_t place = 0, start = 0, count = 0;
    unsigned char buffer[1 << 16];

    ssize_t fetch(void *bytes, size_t wanted, int64_t offset) {
        int64_t left = source.size > offset ? source.size - offset : 0;
        if ((int64_t)wanted > left) {
            int64_t end = offset + (int64_t)wanted - source.size;
            if (end > missed) missed = end;
            wanted = (size_t)left;
        }
        return wanted == 0 ? 0 : source.read(source.context, bytes, wanted, offset);
    }

    bool fill() {
        start = place;
        int64_t left = source.size > place ? source.size - place : 0;
        count = left < (int64_t)sizeof buffer ? left : (int64_t)sizeof buffer;
        ssize_t got = count == 0 ? 0 : source.read(source.context, buffer, (size_t)count, place);
        count = got > 0 ? got : 0;
        if (count == 0 && place + 1 - source.size > missed) missed = place + 1 - source.size;
        return count > 0;
    }

    bool is_ready() const { return place >= start && place < start + count; }

public:
    int64_t missed = 0;

    explicit Stream(const craw_source &source) : source(source) {}

    int valid() override { return 1; }
    INT64 tell() override { return place; }
    INT64 size() override { return source.size; }
    int eof() override { return place >= source.size; }
#if !HAS_LIST_OF_PREVIEWS
    void *make_jas_stream() override { return nullptr; }
#endif

    int read(void *bytes, size_t size, size_t items) override {
        size_t wanted, got = 0;
        if (size == 0 || __builtin_mul_overflow(size, items, &wanted)) return 0;
        auto *to = (unsigned char *)bytes;
        if (is_ready()) {
            got = (size_t)(start + count - place);
            if (got > wanted) got = wanted;
            memcpy(to, buffer + (place - start), got);
            place += (int64_t)got;
        }
        while (got < wanted) {
            ssize_t more = fetch(to + got, wanted - got, place);
            if (more <= 0) break;
            got += (size_t)more;
            place += more;
        }
        return (int)(got / size);
    }

    int seek(INT64 offset, int whence) override {
        int64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? place : source.size, to;
        if (__builtin_add_overflow(from, (int64_t)offset, &to)) return -1;
        place = to < 0 ? 0 : to > source.size + (1 << 20) ? source.size + (1 << 20) : to;
        return 0;
    }

    int get_char() override {
        if (!is_ready() && !fill()) {
            place++;
            return EOF;
        }
        return buffer[place++ - start];
    }

    char *gets(char *text, int size) override {
        int length = 0;
        while (length < size - 1) {
            int next = get_char();
            if (next == EOF) break;
            text[length++] = (char)next;
            if (next == '\n') break;
        }
        if (size > 0) text[length] = 0;
        return length > 0 ? text : nullptr;
    }

    int scanf_one(const char *format, void *value) override {
        char word[64];
        int length = 0, next;
        do next = get_char();
        while (next == ' ' || (next >= 9 && next <= 13));
        for (; next != EOF && next != ' ' && !(next >= 9 && next <= 13) && next != 0; next = get_char())
            if (length < (int)sizeof word - 1) word[length++] = (char)next;
        word[length] = 0;
        return length > 0 ? sscanf(word, format, value) : EOF;
    }
};

/* Turns exceptions into error codes, because no exception may reach Swift. LibRaw's vectors throw an exception if
 * memory runs out. */
template <typename Body> int guarded(Body body) {
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return LIBRAW_UNSUFFICIENT_MEMORY;
    } catch (...) {
        return LIBRAW_UNSPECIFIED_ERROR;
    }
}

/* LibRaw is built with OpenMP. Keeps OpenMP from starting a thread for each processor. Applies only to the calling
 * thread. */
void use_one_thread() {
    using Call = void (*)(int);
    static const auto call = (Call)dlsym(RTLD_DEFAULT, "omp_set_num_threads");
    if (call) call(1);
}

int tell(void *context, enum LibRaw_progress stage, int done, int total);

} // namespace

struct craw_file {
    const craw_source source;
    Stream stream;
    LibRaw raw;

    explicit craw_file(const craw_source &source) : source(source), stream(source) {
        raw.set_progress_handler(tell, this);
    }
};

namespace {
int tell(void *context, enum LibRaw_progress stage, int done, int total) {
    const craw_source &source = ((craw_file *)context)->source;
    return source.progress(source.context, stage, done, total);
}
} // namespace

craw_file *craw_open(const craw_source *source, int *error) {
    craw_file *file = nullptr;
    use_one_thread();
    *error = guarded([&] {
        file = new craw_file(*source);
        return file->raw.open_datastream(&file->stream);
    });
    if (*error == LIBRAW_SUCCESS) return file;
    craw_close(file);
    return nullptr;
}

void craw_close(craw_file *file) {
    guarded([&] {
        delete file;
        return 0;
    });
}

int craw_preview_count(craw_file *file) {
#if HAS_LIST_OF_PREVIEWS
    int count = file->raw.imgdata.thumbs_list.thumbcount;
    return count < LIBRAW_THUMBNAIL_MAXCOUNT ? count : LIBRAW_THUMBNAIL_MAXCOUNT;
#else
    return file->raw.imgdata.thumbnail.tlength > 0 ? 1 : 0;
#endif
}

craw_preview craw_preview_at(craw_file *file, int index) {
#if HAS_LIST_OF_PREVIEWS
    const libraw_thumbnail_item_t &item = file->raw.imgdata.thumbs_list.thumblist[index];
    return {item.twidth, item.theight, item.tlength, item.tformat == LIBRAW_INTERNAL_THUMBNAIL_JPEG};
#else
    (void)index;
    const libraw_thumbnail_t &item = file->raw.imgdata.thumbnail;
    return {item.twidth, item.theight, item.tlength, true};
#endif
}

int craw_read_preview(craw_file *file, int index, const void **bytes, size_t *length, bool *is_jpeg) {
    int error = guarded([&] {
#if HAS_LIST_OF_PREVIEWS
        return file->raw.unpack_thumb_ex(index);
#else
        (void)index;
        return file->raw.unpack_thumb();
#endif
    });
    const libraw_thumbnail_t &preview = file->raw.imgdata.thumbnail;
    *bytes = preview.thumb;
    *length = preview.thumb ? preview.tlength : 0;
    *is_jpeg = preview.tformat == LIBRAW_THUMBNAIL_JPEG;
    return error;
}

int craw_read_header(craw_file *file, craw_header *header) {
    libraw_data_t &data = file->raw.imgdata;
    *header = {};
    header->raw_width = data.sizes.raw_width;
    header->raw_height = data.sizes.raw_height;
    header->flip = data.sizes.flip;
    header->colours = data.idata.colors;
    header->filters = data.idata.filters;
    header->dng_version = data.idata.dng_version;
    snprintf(header->make, sizeof header->make, "%s", data.idata.make);
    snprintf(header->model, sizeof header->model, "%s", data.idata.model);
    snprintf(header->artist, sizeof header->artist, "%s", data.other.artist);
    header->timestamp = data.other.timestamp;
    header->iso = data.other.iso_speed;
    header->shutter = data.other.shutter;
    header->aperture = data.other.aperture;
    header->focal_length = data.other.focal_len;
    int width = data.sizes.width, height = data.sizes.height;
    data.params.user_flip = 0;
    int error = guarded([&] { return file->raw.adjust_sizes_info_only(); });
    header->width = data.sizes.iwidth;
    header->height = data.sizes.iheight;
    header->is_stretched = header->width != width || header->height != height;
    return error;
}

int craw_develop(craw_file *file, const craw_settings *settings, int *data_errors) {
    libraw_output_params_t &wanted = file->raw.imgdata.params;
    wanted.half_size = settings->half_size;
    wanted.output_bps = settings->bits;
    wanted.use_camera_wb = settings->camera_white_balance;
    wanted.no_auto_bright = !settings->automatic_brightness;
    wanted.gamm[0] = settings->gamma_power;
    wanted.gamm[1] = settings->gamma_slope;
    wanted.output_color = 1; /* sRGB */
    wanted.user_flip = 0;
    return guarded([&] {
        int error = file->raw.unpack();
        *data_errors = file->raw.error_count();
        return error == LIBRAW_SUCCESS ? file->raw.dcraw_process() : error;
    });
}

void craw_developed(craw_file *file, int *width, int *height, int *bands, int *bits) {
    file->raw.get_mem_image_format(width, height, bands, bits);
}

int craw_copy_pixels(craw_file *file, void *pixels, int stride) {
    return guarded([&] { return file->raw.copy_mem_image(pixels, stride, 0); });
}

int64_t craw_missed(const craw_file *file) { return file->stream.missed; }

const char *craw_words(int error) { return libraw_strerror(error); }
bool craw_is_cancelled(int error) { return error == LIBRAW_CANCELLED_BY_CALLBACK; }
bool craw_is_end(int error) { return error == LIBRAW_IO_ERROR; }
bool craw_is_unknown(int error) { return error == LIBRAW_FILE_UNSUPPORTED; }
bool craw_is_out_of_memory(int error) { return error == LIBRAW_UNSUFFICIENT_MEMORY || error == LIBRAW_TOO_BIG; }

const int craw_loading = LIBRAW_PROGRESS_LOAD_RAW;
const int craw_interpolating = LIBRAW_PROGRESS_INTERPOLATE;
const int craw_converting = LIBRAW_PROGRESS_CONVERT_RGB;
