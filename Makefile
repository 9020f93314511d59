# Short names for what contributors run most. A learner needs none of this: python3 start.py.
PYTHON = .venv/bin/python
unexport PYTHON  # given on the command line, it would choose the device PYTHON

.PHONY: lab test lint bench course site

lab:     ## set up and open JupyterLab
	python3 start.py

test:    ## every check; ARGS="tests/unit -k dtype" runs pytest alone with these
	python3 start.py test $(ARGS)

lint:    ## ruff and mypy
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy

bench:   ## measure beside other libraries; QUICK=1 fewer rows, KEEP=dir keeps all there is, ARGS=--help
ifdef DEVICES
	$(PYTHON) -m benchmarks.devices $(DEVICES) $(ARGS)
else
	$(PYTHON) -m benchmarks $(if $(QUICK),--quick) $(if $(KEEP),--keep $(KEEP)) $(ARGS)
endif

course:  ## the learners' notebooks and projects from the worked ones, run again; READMEs' examples
	$(PYTHON) -m classroom course $(ARGS)
	$(PYTHON) -m tests.course.refresh

site:    ## the course as a web site, in _site/; needs pip install -e .[site]
	$(PYTHON) -m classroom site $(ARGS)
