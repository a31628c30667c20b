"""The Hugging Face hub, by its own client."""

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from superfed.core.errors import UserError
from superfed.data.fetch import HubFile, Listing

DISK = {errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST}


class HuggingFace:
    """``endpoint`` is for mirrors; without it, HF_ENDPOINT or the hub itself."""

    def __init__(self, endpoint: str | None = None) -> None:
        try:
            import huggingface_hub
            import huggingface_hub.errors
        except ImportError as error:
            raise UserError('fetching needs the hub\'s client; run pip install "superfed[hub]"') from error
        self._client: Any = huggingface_hub
        self._endpoint = endpoint

    def address(self, repo: str) -> str:
        return f"{self._api().endpoint}/datasets/{repo}"

    def listing(self, repo: str, revision: str | None) -> Listing:
        with self._sentences(repo, revision):
            info = self._api().dataset_info(repo, revision=revision, files_metadata=True)
        files = [HubFile(s.rfilename, s.size, s.lfs.sha256 if s.lfs else None) for s in info.siblings or []]
        terms = getattr(info.card_data, "license", None)
        return Listing(info.sha, tuple(files), ", ".join(terms) if isinstance(terms, list) else terms)

    def download(self, repo: str, commit: str, files: Sequence[str], folder: Path) -> None:
        with self._sentences(repo, commit, folder):
            self._client.snapshot_download(
                repo,
                repo_type="dataset",
                revision=commit,
                local_dir=folder,
                allow_patterns=list(files),
                endpoint=self._endpoint,
            )

    def _api(self) -> Any:
        return self._client.HfApi(endpoint=self._endpoint)

    @contextmanager
    def _sentences(self, repo: str, revision: str | None, folder: Path | None = None) -> Iterator[None]:
        errors = self._client.errors
        try:
            yield
        except errors.GatedRepoError as error:
            where = self.address(repo)
            raise UserError(
                f"{repo}: is gated; accept its terms at {where}, then log in with: hf auth login"
            ) from error
        except errors.RepositoryNotFoundError as error:
            raise UserError(f"{repo}: the hub has no such dataset, or does not show it to you") from error
        except errors.RevisionNotFoundError as error:
            raise UserError(f"{repo}: has no revision '{revision}'") from error
        except errors.HfHubHTTPError as error:
            raise UserError(f"{repo}: the hub does not give it out ({_first_line(error)})") from error
        except Exception as error:  # the client has changed its HTTP library once, and with it what may be raised
            if isinstance(error, OSError) and error.errno in DISK:
                raise UserError(f"{folder}: cannot be written ({error.strerror})") from error
            raise UserError(f"{repo}: the hub cannot be reached ({_first_line(error)}); is there a network?") from error


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
