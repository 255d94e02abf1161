"""`python -m synergraph`: the program, as the command `synergraph` runs it."""

from synergraph_program import main

if __name__ == "__main__":
    main()
