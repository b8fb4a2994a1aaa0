/* SQLite, with wrappers for a constant that Swift can't import because it is a cast, and for a variadic function. */
#include <sqlite3.h>

static inline sqlite3_destructor_type csqlite_transient(void) {
    return SQLITE_TRANSIENT;
}

/* sqlite3_config(SQLITE_CONFIG_MEMSTATUS). Must be called before the first connection is opened. */
static inline int csqlite_count_memory(int counts) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, counts);
}
