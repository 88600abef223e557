"""What ndarray.flags and ndarray.flat give."""


class Flags:
    """NumPy's flags of an array, by name or index."""

    _NAMES = {"C": "c_contiguous", "F": "f_contiguous", "W": "writeable", "O": "owndata", "A": "aligned",
              "C_CONTIGUOUS": "c_contiguous", "F_CONTIGUOUS": "f_contiguous", "WRITEABLE": "writeable",
              "OWNDATA": "owndata", "ALIGNED": "aligned", "CONTIGUOUS": "c_contiguous", "FORTRAN": "fortran",
              "FNC": "fnc", "FORC": "forc", "X": "writebackifcopy",
              "WRITEBACKIFCOPY": "writebackifcopy", "BEHAVED": "behaved", "B": "behaved", "CARRAY": "carray",
              "CA": "carray", "FARRAY": "farray", "FA": "farray"}  # fmt: skip

    def __init__(self, array):
        self._array = array

    @property
    def c_contiguous(self):
        """In C order without gaps."""
        return self._array._c_contiguous

    contiguous = c_contiguous

    @property
    def f_contiguous(self):
        """In Fortran order without gaps."""
        return self._array._f_contiguous

    @property
    def fortran(self):
        """In Fortran order and not in C order."""
        return self.f_contiguous and not self.c_contiguous

    fnc = fortran

    @property
    def forc(self):
        """In one of the two orders."""
        return self.f_contiguous or self.c_contiguous

    @property
    def owndata(self):
        """It is no view."""
        return self._array.base is None

    @property
    def aligned(self):
        """Always: device arrays are."""
        return True

    @property
    def writeable(self):
        """It may be written to."""
        return not self._array._readonly

    @writeable.setter
    def writeable(self, value):
        self._array._readonly = not value

    def __getitem__(self, name):
        return getattr(self, self._NAMES[name])

    def __setitem__(self, name, value):
        setattr(self, self._NAMES[name], value)

    def __eq__(self, other):
        return isinstance(other, Flags) and all(self[n] == other[n] for n in ("C", "F", "O", "W", "A"))

    __hash__ = None

    @property
    def writebackifcopy(self):
        """Never: no array is a copy that is written back."""
        return False

    @property
    def behaved(self):
        """Aligned and writeable."""
        return self.writeable

    @property
    def carray(self):
        """In C order and writeable."""
        return self.c_contiguous and self.writeable

    @property
    def farray(self):
        """In Fortran order alone and writeable."""
        return self.fortran and self.writeable

    def __repr__(self):
        shown = ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED", "WRITEBACKIFCOPY")
        return "".join(f"  {name} : {self[name]}\n" for name in shown)


class Flat:
    """The elements of an array in C order."""

    def __init__(self, array):
        self._array = array

    def _one_axis(self):
        return self._array._reshaped([self._array.size])

    def __len__(self):
        return self._array.size

    def __iter__(self):
        return iter(self._array.reshape(-1))

    def __array__(self, dtype=None, copy=None):
        return self._array.reshape(-1).__array__(dtype, copy)

    def __delitem__(self, key):
        raise TypeError("Cannot delete iterator elements")

    def _again_and_again(self, key, values):
        """The values, again and again, one for each element of the key; None where there are none."""
        from ._array import asarray
        from ._registry import TABLE
        from ._shapes import is_integer

        values = asarray(values)
        if is_integer(key):
            return values
        n = TABLE["arange"].function(self._array.size)[key].size
        if not values.size or not n:
            return None
        return TABLE["resize"].function(values, (n,))

    def __getitem__(self, key):
        made = self._array.reshape(-1)[key]
        return made.copy() if hasattr(made, "copy") else made

    def __setitem__(self, key, value):
        view = self._one_axis()
        if isinstance(value, (list, tuple)) or getattr(value, "ndim", 0):
            value = self._again_and_again(key, value)
            if value is None:
                return
        if view is not None:
            view[key] = value
            return
        whole = self._array.copy().reshape(-1)
        whole[key] = value
        self._array[...] = whole.reshape(self._array.shape)
