/* SQLite, with the one constant that Swift cannot import because it is a cast. */
#include <sqlite3.h>

static inline sqlite3_destructor_type csqlite_transient(void) {
    return SQLITE_TRANSIENT;
}
