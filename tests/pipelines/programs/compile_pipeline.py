"""Compiles a pipeline of a program without running the rest of it: PROGRAM FUNCTION."""

import runpy
import sys

import kfp

function = runpy.run_path(sys.argv[1])[sys.argv[2]]
kfp.compiler.Compiler().compile(function, f"{sys.argv[2]}.yaml")
