/// How a worker's memory is set up, wherever one is started.
public enum WorkerMemory {
    /// Few arenas hold less that is free; and before a ninth glibc would ask how many processors there are, by a file that no worker may open.
    /// Pictures are large blocks, and few large pages of them cost less than many small ones.
    public static let environment = ["MALLOC_ARENA_MAX": "2", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"]
}
