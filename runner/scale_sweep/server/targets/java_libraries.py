"""Libraries of the system that parts of Java programs need which are no Java, such as Netty's `epoll`.

They are in jars, so that `ldd` of a server's programs does not name them. Refuses to know the jars.
"""

NATIVE = ("libdl.so.2", "libpthread.so.0", "librt.so.1", "libm.so.6", "libgcc_s.so.1")
