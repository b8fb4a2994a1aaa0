/* floor: the cost of the codecs alone. No program that does the same job with these codecs can be much cheaper.
 *
 *     floor table      noir's table, as a PGM of 256 × 1, for all other contenders
 *     floor version    the version of libjpeg
 *     floor noir       half-size noir of JPEGs: libjpeg decodes luma at 1/2, the table is applied, and libjpeg encodes
 *     floor webp       JPEGs of 4000 × 3000 in colour at 1600 × 1200, as WebPs: TurboJPEG decodes planes at 1/2,
 *                      every five samples become four, weighted by area, and libwebp encodes
 *
 * The last two read lines: the first names files, separated by tabs; each further line names a folder for their results.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <turbojpeg.h>
#include <webp/encode.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

static unsigned char table[256];

/* Makes the same table as Sources/Plugins/Noir. */
static void make_table(void) {
    for (int i = 0; i < 256; i++) {
        double low = 1 / (1 + exp(3)), y = 1 / (1 + exp(-6 * (i / 255.0 - 0.5)));
        table[i] = (unsigned char)lround((y - low) / (1 - 2 * low) * 255);
    }
}

static FILE *open_or_die(const char *path, const char *mode) {
    FILE *file = fopen(path, mode);
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    return file;
}

static void render_noir(const char *from, const char *to) {
    FILE *in = open_or_die(from, "rb"), *out = open_or_die(to, "wb");
    struct jpeg_error_mgr errors;
    struct jpeg_decompress_struct decoder = {.err = jpeg_std_error(&errors)};
    struct jpeg_compress_struct encoder = {.err = &errors};
    jpeg_create_decompress(&decoder);
    jpeg_create_compress(&encoder);

    jpeg_stdio_src(&decoder, in);
    jpeg_read_header(&decoder, TRUE);
    decoder.out_color_space = JCS_GRAYSCALE;
    decoder.scale_num = 1;
    decoder.scale_denom = 2;
    jpeg_start_decompress(&decoder);

    jpeg_stdio_dest(&encoder, out);
    encoder.image_width = decoder.output_width;
    encoder.image_height = decoder.output_height;
    encoder.input_components = 1;
    encoder.in_color_space = JCS_GRAYSCALE;
    jpeg_set_defaults(&encoder);
    jpeg_set_quality(&encoder, 85, TRUE);
    jpeg_start_compress(&encoder, TRUE);

    JSAMPROW row = malloc(decoder.output_width);
    while (decoder.output_scanline < decoder.output_height) {
        jpeg_read_scanlines(&decoder, &row, 1);
        for (JDIMENSION x = 0; x < decoder.output_width; x++)
            row[x] = table[row[x]];
        jpeg_write_scanlines(&encoder, &row, 1);
    }
    free(row);
    jpeg_finish_compress(&encoder);
    jpeg_finish_decompress(&decoder);
    jpeg_destroy_compress(&encoder);
    jpeg_destroy_decompress(&decoder);
    fclose(in);
    fclose(out);
}

static void check(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "floor: %s\n", what);
        exit(1);
    }
}

/* Returns a fifth of a sum of five samples, rounded. Vector instructions can multiply like this, but not divide. */
static unsigned char fifth(unsigned sum) { return (unsigned char)((uint16_t)(sum + 2) * 13108u >> 16); }

/* Makes four samples from every five, across and down, weighted by area. */
static void shrink(const unsigned char *from, int width, int height, unsigned char *to, int stride) {
    unsigned char *row = malloc((size_t)width);
    for (int y = 0; y < height * 4 / 5; y++) {
        const unsigned char *upper = from + (y + y / 4) * width, *lower = upper + width;
        unsigned part = 4 - y % 4;
        for (int x = 0; x < width; x++)
            row[x] = fifth(upper[x] * part + lower[x] * (5 - part));
        unsigned char *out = to + y * stride;
        for (const unsigned char *in = row; in < row + width; in += 5) {
            *out++ = fifth(in[0] * 4u + in[1]);
            *out++ = fifth(in[1] * 3u + in[2] * 2u);
            *out++ = fifth(in[2] * 2u + in[3] * 3u);
            *out++ = fifth(in[3] + in[4] * 4u);
        }
    }
    free(row);
}

static void render_webp(const char *from, const char *to) {
    FILE *in = open_or_die(from, "rb"), *out = open_or_die(to, "wb");
    check(fseek(in, 0, SEEK_END) == 0, "no end of the file");
    size_t size = (size_t)ftell(in);
    rewind(in);
    unsigned char *bytes = malloc(size);
    check(fread(bytes, 1, size, in) == size, "the file is cut");

    int width, height, sampling, space;
    tjhandle decoder = tjInitDecompress();
    check(tjDecompressHeader3(decoder, bytes, size, &width, &height, &sampling, &space) == 0, "no JPEG");
    check(width == 4000 && height == 3000 && sampling == TJSAMP_420, "not 4000 × 3000 in 4:2:0");
    unsigned char *planes[3];
    int widths[3] = {width / 2, width / 4, width / 4}, heights[3] = {height / 2, height / 4, height / 4};
    for (int i = 0; i < 3; i++)
        planes[i] = malloc((size_t)widths[i] * heights[i]);
    check(tjDecompressToYUVPlanes(decoder, bytes, size, planes, widths[0], widths, heights[0], 0) == 0, "a broken JPEG");
    tjDestroy(decoder);

    WebPConfig config;
    WebPPicture picture;
    WebPMemoryWriter writer;
    check(WebPConfigPreset(&config, WEBP_PRESET_DEFAULT, 85) && WebPPictureInit(&picture), "another libwebp");
    WebPMemoryWriterInit(&writer);
    picture.width = widths[0] * 4 / 5;
    picture.height = heights[0] * 4 / 5;
    picture.writer = WebPMemoryWrite;
    picture.custom_ptr = &writer;
    check(WebPPictureAlloc(&picture), "no memory");
    unsigned char *targets[3] = {picture.y, picture.u, picture.v};
    for (int i = 0; i < 3; i++) {
        shrink(planes[i], widths[i], heights[i], targets[i], i == 0 ? picture.y_stride : picture.uv_stride);
        free(planes[i]);
    }
    check(WebPEncode(&config, &picture), "libwebp can't write it");
    check(fwrite(writer.mem, 1, writer.size, out) == writer.size, "the result can't be written");
    WebPMemoryWriterClear(&writer);
    WebPPictureFree(&picture);
    free(bytes);
    fclose(in);
    fclose(out);
}

/* Reads a line, without its newline; NULL at the end of the input. */
static char *line(void) {
    char *text = NULL;
    size_t room = 0;
    ssize_t length = getline(&text, &room, stdin);
    if (length < 0)
        return NULL;
    text[strcspn(text, "\n")] = 0;
    return text;
}

static void answer(const char *word) {
    puts(word);
    fflush(stdout);
}

static int serve(void (*render)(const char *, const char *), const char *suffix) {
    char *names = line(), *folder;
    size_t count = 0, room = 1;
    for (const char *letter = names ? names : ""; *letter; letter++)
        room += *letter == '\t';
    char **files = calloc(room, sizeof *files);
    for (char *name = strtok(names, "\t"); name; name = strtok(NULL, "\t"))
        files[count++] = name;
    answer("ready");
    while ((folder = line()) != NULL) {
        for (size_t i = 0; i < count; i++) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%zu.%s", folder, i, suffix);
            render(files[i], path);
        }
        free(folder);
        answer("done");
    }
    return 0;
}

int main(int argc, char **argv) {
    const char *task = argc > 1 ? argv[1] : "";
    make_table();
    if (strcmp(task, "noir") == 0)
        return serve(render_noir, "jpg");
    if (strcmp(task, "webp") == 0)
        return serve(render_webp, "webp");
    if (strcmp(task, "version") == 0)
        return puts(TEXT(LIBJPEG_TURBO_VERSION)) < 0;
    check(strcmp(task, "table") == 0, "floor table, version, noir or webp");
    printf("P5\n256 1\n255\n");
    return fwrite(table, sizeof table, 1, stdout) != 1;
}
