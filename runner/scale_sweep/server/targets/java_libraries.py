"""Libraries of the system that parts of Java programs need which are no Java, such as Netty's `epoll`."""

NATIVE = ("libdl.so.2", "libpthread.so.0", "librt.so.1", "libm.so.6", "libgcc_s.so.1")
