"""One module per kind of evidence; each turns a scrubbed session into drafts of lessons."""
