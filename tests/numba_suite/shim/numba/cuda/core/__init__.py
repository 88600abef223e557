from numba.core import errors
from numba.cuda.core import config
