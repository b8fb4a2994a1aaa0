/// The setting of a worker's memory, the same wherever one is started.
public enum WorkerMemory {
    /// Fewer arenas hold less free memory; before a ninth, glibc would count processors by a file that no worker may
    /// open. Pictures are large blocks, and a few large pages cost less than many small ones.
    public static let environment = ["MALLOC_ARENA_MAX": "2", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"]
}
