/* floor: half-size noir of JPEGs by libjpeg alone: luma decoded at 1/2, noir's table, encoded again. Nothing that does the job with the
 * same codec can do much less.
 *
 *     floor table      the table, as a PGM of 256 × 1, for everybody else
 *     floor version    of libjpeg
 *     floor            serves: the first line names files, separated by tabs; each further line a folder for their results
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

static unsigned char table[256];

/* As Sources/Plugins/Noir makes it. */
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

static void render(const char *from, const char *to) {
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

/* A line without its end; NULL at the end of all. */
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

static int serve(void) {
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
            snprintf(path, sizeof path, "%s/%zu.jpg", folder, i);
            render(files[i], path);
        }
        free(folder);
        answer("done");
    }
    return 0;
}

int main(int argc, char **argv) {
    make_table();
    if (argc == 1)
        return serve();
    if (strcmp(argv[1], "version") == 0)
        return puts(TEXT(LIBJPEG_TURBO_VERSION)) < 0;
    printf("P5\n256 1\n255\n");
    return fwrite(table, sizeof table, 1, stdout) != 1;
}
