"""`sentinel backup` and `sentinel restore`: the ledger with its checkpoint and its keys, out of and into the place that the settings name."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gateway.cli.config import config_file, require_ledger, settings_or_exit
from gateway.cli.options import Config, Json
from gateway.cli.output import console, fail, log_to_stderr, show_json
from gateway.core.errors import NotFound, SentinelError

if TYPE_CHECKING:
    from gateway.core.settings import Settings
    from gateway.ledger.backup import BackupPlace


def backup(
    *,
    directory: Annotated[Path, typer.Argument(help="Where the backup is put, in a directory of its own.")],
    with_master_key: Annotated[
        bool,
        typer.Option(
            "--with-master-key",
            help="Copy the file of the master key too. Everybody who reads the backup can then write to the ledger.",
        ),
    ] = False,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Back up the ledger with its checkpoint and the issued keys. The gateways may run meanwhile.

    A copy of SQLite is verified whole before the backup counts; one of PostgreSQL (pg_dump) is when it is restored. The master key is not in it
    unless you say so: keep it in a secret store.
    """
    from gateway.core.times import SystemClock
    from gateway.ledger.backup import back_up

    settings = settings_or_exit(config_file(config), as_json=as_json)
    try:
        require_ledger(settings)
        done = back_up(_place(settings, with_master_key=with_master_key), directory, SystemClock().now())
    except SentinelError as error:
        fail(error, as_json=as_json)
    if as_json:
        show_json(
            {"directory": str(done.directory), "records": done.records, "schema": done.schema, "files": done.files}
        )
        return
    console.print(f"{done.records} record(s) are in {done.directory}: {', '.join(done.files)}.", markup=False)
    if not with_master_key:
        console.print("The master key is not in it: without the same one nothing of it can be read or checked.")


def restore(
    *,
    directory: Annotated[Path, typer.Argument(help="A backup: a directory that `sentinel backup` made.")],
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Restore a backup into the empty place that the settings name, and verify it whole. No gateway may run there.

    A backup that is older than the checkpoint of the settings is refused: records would be lost.
    """
    from gateway.core.settings import without_password
    from gateway.ledger.backup import restore as restored

    settings = settings_or_exit(config_file(config), as_json=as_json)
    try:
        place = _place_of(settings, directory)
        done = restored(place, directory)
    except SentinelError as error:
        fail(error, as_json=as_json)
    if as_json:
        show_json({"verified": done.records, "checkpoint": done.checkpoint.size if done.checkpoint else None})
        return
    console.print(
        f"{done.records} record(s) were restored to {without_password(settings.ledger_url)} and verified.", markup=False
    )
    if place.keep_master_key is not None:
        console.print(
            "The master key came with the backup, so this proves that the backup is whole, and not whose it is: restore only one that nobody else could write to."
        )


def _place(settings: "Settings", *, with_master_key: bool = False) -> "BackupPlace":
    """Raises `errors.SettingsInvalid`, `errors.NotFound`."""
    log_to_stderr()
    from gateway.identity.master_key import FILE_NAME
    from gateway.ledger.backup import BackupPlace
    from gateway.ledger.ledger_keys import checkpoint_path, ledger_keys, master_key_of

    file = settings.data / FILE_NAME
    if with_master_key and not file.is_file():
        raise NotFound(
            f"There is no file of the master key at {file}: it comes from the settings. Keep it in your secret store, and leave --with-master-key out."
        )
    return BackupPlace(
        url=settings.ledger_url,
        checkpoint=checkpoint_path(settings),
        master_key=file if with_master_key else None,
        keys=ledger_keys(master_key_of(settings, create=False)),
    )


def _place_of(settings: "Settings", backup_directory: Path) -> "BackupPlace":
    """The place that a backup is restored to: with the master key of the backup where there is none and the settings give none.

    Raises `errors.SettingsInvalid`.
    """
    log_to_stderr()
    from gateway.identity.master_key import FILE_NAME, copied_key, keep_key
    from gateway.ledger.backup import MASTER_KEY, BackupPlace
    from gateway.ledger.ledger_keys import checkpoint_path, ledger_keys

    source, target = backup_directory / MASTER_KEY, settings.data / FILE_NAME
    if settings.master_key.get_secret_value() or target.exists() or not source.is_file():
        return _place(settings)
    key = copied_key(source)
    return BackupPlace(
        url=settings.ledger_url,
        checkpoint=checkpoint_path(settings),
        master_key=None,
        keys=ledger_keys(key),
        keep_master_key=lambda: keep_key(target, key),
    )
