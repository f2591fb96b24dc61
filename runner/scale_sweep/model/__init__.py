"""The data classes of the project, frozen: requests, plans, measurements, results."""

from scale_sweep.model.declared import *
from scale_sweep.model.declared_parts import *
from scale_sweep.model.derived import *
from scale_sweep.model.events import *
from scale_sweep.model.fitted import *
from scale_sweep.model.loads import *
from scale_sweep.model.measured import *
from scale_sweep.model.observed import *
from scale_sweep.model.planned import *
from scale_sweep.model.questions import *
from scale_sweep.model.resources import *
from scale_sweep.model.samples import *
