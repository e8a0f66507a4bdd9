"""Find the error in a tool's output: a function per family of tools, `find_<family>`, in the module that
`fingerprint.MODULES` names."""
