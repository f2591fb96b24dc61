"""taosBenchmark's subscribe files: topics made, and read by consumers until no message comes any more."""
