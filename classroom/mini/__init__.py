"""The learner's own framework, `mini`: its stages, their checks, and whose file is used."""
