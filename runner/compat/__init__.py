"""taosBenchmark's insert options and JSON files, read into a Job that our own load generator does.

Same work, same two result lines, so that scripts written for taosBenchmark go on working. Refuses, by name and all at
once, whatever the load generator cannot do: no option is dropped in silence. Refuses queries and subscriptions.
"""
