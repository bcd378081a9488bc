"""Goals in words, asked of generated tables: what came out beside a truth that other code has computed."""
