"""Goals in words, English or Chinese: which task they ask for, and what of the table they speak of. Pure."""
