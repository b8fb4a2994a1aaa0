import Foundation
import PipelineModel
import TestTools
import Testing
import WorkerProtocol

/// Tests the additional files that a filter may read.
struct FilterResourceTests {
    private static let attempts = """
        #define _GNU_SOURCE
        #include <errno.h>
        #include <fcntl.h>
        #include <dirent.h>
        #include <stdio.h>
        """

    /// Compiles a filter `reader`. Its body finds the filter's own folder in `host->resources`.
    private func reader(_ body: String, folder: TemporaryFolder, changes: String = "") throws {
        let plugin = Plugin(name: "reader", body: body, changes: changes)
        try Plugin.compile(Self.attempts + "\n" + plugin.source, to: folder.path + "/reader.so")
    }

    private func makeResources(_ folder: TemporaryFolder) throws {
        try FileManager.default.createDirectory(atPath: folder.path + "/reader", withIntermediateDirectories: true)
        try Data("42\n".utf8).write(to: URL(fileURLWithPath: folder.path + "/reader/value"))
    }

    @Test("A filter reads and lists its own folder")
    func reads() throws {
        let folder = try TemporaryFolder()
        try makeResources(folder)
        try reader(
            """
            char path[4096];
            snprintf(path, sizeof path, "%s/value", host->resources);
            FILE *file = fopen(path, "r");
            int value = 0, names = 0;
            if (!file || fscanf(file, "%d", &value) != 1) { host->fail(host, strerror(errno)); return -1; }
            fclose(file);
            DIR *list = opendir(host->resources);
            while (list && readdir(list)) names++;
            if (!list) { host->fail(host, strerror(errno)); return -1; }
            closedir(list);
            return vips_linear1(in, out, 0, value + names, NULL);
            """, folder: folder)
        let worker = try WorkerProcess(plugins: [folder.path])
        #expect(worker.hello.missing == [])
        let result = try worker.render(Pixels.colourful(8, 8).file(.png), "reader | save format=png")
        // The filter adds the number in its file, 42, and the number of names in its folder: `.`, `..` and the file's
        // name.
        #expect(try Pixels(result)[3, 3] == [45, 45, 45])
    }

    @Test("A filter's folder is the one in the first plugin folder that has it, wherever the filter's file lies")
    func first() throws {
        let (plugins, resources) = (try TemporaryFolder(), try TemporaryFolder())
        try reader("host->fail(host, host->resources); return -1;", folder: plugins)
        try makeResources(plugins)
        try makeResources(resources)
        let source = try Pixels.colourful(8, 8).file(.png)
        let own = try WorkerProcess(plugins: [plugins.path]).failure(source, "reader")
        #expect(own.message == plugins.path + "/reader")
        let other = try WorkerProcess(plugins: [plugins.path], "--resources", resources.path).failure(source, "reader")
        #expect(other.message == resources.path + "/reader")
    }

    @Test(
        "A filter can neither write there nor open anything elsewhere",
        arguments: [
            ("%s/value", "O_WRONLY"), ("%s/value", "O_RDWR"), ("%s/value", "O_RDONLY | O_TRUNC"),
            ("%s/new", "O_RDONLY | O_CREAT, 0600"), ("%s", "O_TMPFILE | O_RDWR, 0600"), ("/etc/passwd", "O_RDONLY"),
            ("%s/../reader.so", "O_RDONLY"), ("%s/..", "O_RDONLY | O_DIRECTORY"), ("/usr/share/fonts", "O_RDONLY"),
        ])
    func opensNothingElse(path: String, flags: String) throws {
        let folder = try TemporaryFolder()
        try makeResources(folder)
        try reader(
            """
            char path[4096];
            snprintf(path, sizeof path, "\(path)", host->resources);
            int file = open(path, \(flags));
            host->fail(host, file < 0 ? strerror(errno) : "it was opened");
            return -1;
            """, folder: folder)
        let worker = try WorkerProcess(plugins: [folder.path])
        let failure = try worker.failure(Pixels.colourful(8, 8).file(.png), "reader")
        #expect(
            failure.stage == WorkerFailure.confinement || failure.message == String(cString: strerror(EACCES)),
            "\(failure)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/reader")
        #expect(names == ["value"])
        #expect(try String(contentsOfFile: folder.path + "/reader/value", encoding: .utf8) == "42\n")
    }

    @Test("Without Landlock a filter can read nothing, and the picture's failure says so")
    func withoutLandlock() throws {
        let folder = try TemporaryFolder()
        try makeResources(folder)
        try reader(
            "open(host->resources, O_RDONLY); return vips_copy(in, out, NULL);", folder: folder)
        // This thread starts too early for Landlock to restrict it, so the worker is treated as one that has no
        // Landlock. The thread waits for a lock, and makes no refused system call on the way there.
        try Plugin.compile(
            """
            #include <pthread.h>
            static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
            static void *wait(void *nothing) { pthread_mutex_lock(&held); return nothing; }
            __attribute__((constructor)) static void begin(void) {
                pthread_t thread;
                pthread_mutex_lock(&held);
                pthread_create(&thread, NULL, wait, NULL);
            }
            """, to: folder.path + "/thread.so")
        let worker = try WorkerProcess(plugins: [folder.path])
        let failure = try worker.failure(Pixels.colourful(8, 8).file(.png), "reader")
        #expect(failure.message == "the filter 'reader' tried to open \(folder.path)/reader")
        #expect(failure.advice?.contains("only where Landlock keeps it from all else; here it does not") == true)
    }

    @Test("A filter that asks for fonts draws text, and a filter that does not is told that it may not")
    func fonts() throws {
        let folder = try TemporaryFolder()
        let body = """
            VipsImage *text = NULL, *flat = NULL;
            int failed = vips_text(&text, "Wagon", "font", "sans 40", NULL)
                || vips_embed(text, &flat, 0, 0, in->Xsize, in->Ysize, NULL) || vips_copy(flat, out, "interpretation", VIPS_INTERPRETATION_B_W, NULL);
            if (text) g_object_unref(text);
            if (flat) g_object_unref(flat);
            return failed;
            """
        let source = try Pixels(200, 80) { _, _ in [0, 0, 0] }.file(.png)
        try reader(body, folder: folder, changes: ".traits = PIPELINE_DRAWS_TEXT")
        let worker = try WorkerProcess(plugins: [folder.path])
        for _ in 1...2 {
            let drawn = try Pixels(worker.render(source, "reader | save format=png"))
            #expect(drawn.samples.contains { $0 > 200 } && drawn.samples.contains(0))
        }
        try reader(body, folder: folder)
        let failure = try WorkerProcess(plugins: [folder.path]).failure(source, "reader")
        #expect(failure.stage == WorkerFailure.confinement, "\(failure)")
    }
}
