"""Files in, files out: readers, writers and the manifest beside an output."""
