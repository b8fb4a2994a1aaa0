/// The settings of the memory allocator in workers, shared by all code that starts workers.
public enum WorkerMemory {
    /// Limits malloc to two arenas, because fewer arenas keep less unused memory. Without a limit, glibc would also
    /// count the processors before it creates a ninth arena, by reading a file that workers are not allowed to open.
    /// Switches huge pages on, because pictures are large blocks, for which a few large pages cost less than many small
    /// pages.
    public static let environment = ["MALLOC_ARENA_MAX": "2", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"]
}
