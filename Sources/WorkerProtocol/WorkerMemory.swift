/// The settings of the memory allocator in workers, shared by all code that starts workers.
public enum WorkerMemory {
    /// Fewer arenas keep less unused memory. Besides, before glibc creates a ninth arena, it counts the processors by
    /// reading a file that workers are not allowed to open. Huge pages are on, because pictures are large blocks, for
    /// which a few large pages cost less than many small pages.
    public static let environment = ["MALLOC_ARENA_MAX": "2", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"]
}
