"""Settings of nvmath, as attributes of `config`."""


class Config:
    """`config.check_finite`: True: jitted functions raise FloatingPointError where a result has nan or inf."""

    __slots__ = ("check_finite",)

    def __init__(self):
        self.check_finite = False

    def __repr__(self):
        return f"<nvmath config: check_finite={self.check_finite}>"


config = Config()
