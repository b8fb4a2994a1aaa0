/// The settings of a worker's memory allocator, the same wherever a worker is started.
public enum WorkerMemory {
    /// Few arenas hold less free memory, and before the ninth arena glibc would count processors, from a file that no
    /// worker may open. Pictures are large blocks, for which a few large pages cost less than many small ones.
    public static let environment = ["MALLOC_ARENA_MAX": "2", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"]
}
