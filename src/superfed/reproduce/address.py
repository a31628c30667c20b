"""Where in the paper something belongs: ``table/dataset/setting/method``, the name of a cell."""


class Addressed:
    """Has the name of a cell."""

    @property
    def address(self) -> str:
        raise NotImplementedError

    @property
    def table(self) -> str:
        return self.address.split("/")[0]

    @property
    def dataset(self) -> str:
        return self.address.split("/")[1]

    @property
    def setting(self) -> str:
        return self.address.split("/")[2]

    @property
    def method(self) -> str:
        return self.address.split("/")[3]
