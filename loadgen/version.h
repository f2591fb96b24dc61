/* The version of the program: given by the build, which reads it from pyproject.toml. */
#ifndef SCALE_VERSION_H
#define SCALE_VERSION_H

#ifndef SCALE_VERSION
#define SCALE_VERSION "0.0.0"
#endif

#endif
